// The invariants of DESIGN.md that one state of the registry can show.
#ifndef TRUCE_TESTS_SUPPORT_INVARIANTS_H_
#define TRUCE_TESTS_SUPPORT_INVARIANTS_H_

#include <string>
#include <vector>

namespace truce {

struct StoreContents;

// Every breach in words, sorted; empty when the state is sound. Checks:
//   I1  one owner per key; public ids are unique
//   I7  rows are keyed by uid, and every row's object is known
//   I12 every owner has an audit entry that made its root the owner
//   I13 a name belongs to one resource: a further name stands once, is no key with owner or rows,
//       and points to one
//   I17 no resource has two located names (a key with its account is one)
//   and: a managed key has an owner · an owner has a managing row or an explicit record, never both
//   · derived fields agree with the rows · a row's root is its object's root · replays keep one row
//   per id · agreements have an owner, and an accepted transfer is its word
std::vector<std::string> CheckInvariants(const StoreContents& contents);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_INVARIANTS_H_
