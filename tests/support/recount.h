// Recount: whether the counts that a store keeps are those of its ownerships.
#ifndef TRUCE_TESTS_SUPPORT_RECOUNT_H_
#define TRUCE_TESTS_SUPPORT_RECOUNT_H_

#include <string>
#include <vector>

#include "registry/store/store.h"

namespace truce::testing {

// Whether what is owned in `place` counts for `range`.
bool IsIn(const OwnedRange& range, const Place& place);

// Every count of `store` that differs from what counting all its ownerships anew gives, in words;
// empty when all agree. Nobody may write meanwhile.
std::vector<std::string> Miscounts(const Store& store);
// The same of all its `owners`, where the caller has them.
std::vector<std::string> Miscounts(const Store& store, const std::vector<Owner>& owners);

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_RECOUNT_H_
