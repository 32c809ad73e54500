// The invariants of DESIGN.md that one state of the registry can show.
#ifndef TRUCE_TESTS_SUPPORT_INVARIANTS_H_
#define TRUCE_TESTS_SUPPORT_INVARIANTS_H_

#include <string>
#include <vector>

namespace truce {

struct StoreContents;

// Every breach in words, sorted; empty when the state is sound. Checks:
//   I1  one owner per resource
//   I7  rows are keyed by uid, and every row's object is known
//   I12 every owner has an audit entry that made its root the owner
//   I13 a name belongs to one resource, which has an owner or rows; in each spelling it stands once
//   I14 a resource with an owner or rows has a name that is no former id; a managed one has an
//       owner
//   I17 no resource has two located names
//   and: people are shown the best name, of what is only observed, too · an owner has a managing
//   row or an explicit record, never both · derived fields agree with the rows · a row's root is
//   its object's root · replays keep one row per id · agreements have an owner, and an accepted
//   transfer is its word
std::vector<std::string> CheckInvariants(const StoreContents& contents);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_INVARIANTS_H_
