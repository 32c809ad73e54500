// KeyCopy: everything that the registry keeps of one key, and how another registry takes it in.
#ifndef TRUCE_REGISTRY_OWNERSHIP_LISTS_KEY_COPY_H_
#define TRUCE_REGISTRY_OWNERSHIP_LISTS_KEY_COPY_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/rows.h"

namespace truce {

class Facts;
class Ledger;

// Owner::party, shape, state, leaf and contested are left at their defaults: the registry that
// takes the copy derives them. Not in any copy: the audit log, settings, and objects that neither
// declare a key nor stand above one that does.
struct KeyCopy {
  KeyText key;
  std::optional<Owner> owner;         // none: it is only observed
  std::vector<Row> rows;              // by RowId
  std::vector<Object> objects;        // of the rows, and what stands above those, by uid
  std::vector<Agreement> agreements;  // by id
  std::vector<ResourceName> names;    // further ones, by name

  bool operator==(const KeyCopy&) const = default;
};

// Empty but for the key when the registry knows nothing of it.
KeyCopy CopyOf(const KeyText& key, const Facts& facts);

// What makes `copies` no possible state of a registry, in words: a key or an id that stands twice,
// a managed key without owner, a row without its object and the like. Nothing: they are sound. An
// object may stand in several copies; the youngest version counts, as with TakeCopies.
std::optional<std::string> FaultOf(const std::vector<KeyCopy>& copies);

enum class CopyAction : std::uint8_t {
  kNew,          // nothing is known of the key
  kOwned,        // the registry holds exactly this
  kConflicting,  // the registry knows something else of the key, of an object or of an id
};
std::string_view Name(CopyAction action);

struct CopyPlan {
  struct Line {
    CopyAction action = CopyAction::kNew;
    std::optional<Owner> holder;  // who owns the key at present
    std::string why;              // of a conflict, in words
  };
  std::vector<Line> lines;  // one for each copy, in their order
};

// Keys under which a public id may stand already.
using KeysOfId = std::map<PublicId, std::vector<KeyText>>;

// What taking `copies` would do on `facts`. Pure.
CopyPlan PlanCopies(const std::vector<KeyCopy>& copies, const KeysOfId& ids, const Facts& facts);

// The changes that take in what the plan calls new, each key with a line in the audit log; ids and
// times are kept. FaultOf(copies) is nothing, `plan` was made of them on the ledger's facts, and
// the ledger is empty.
Changes TakeCopies(const std::vector<KeyCopy>& copies, const CopyPlan& plan,
                   const std::string& actor, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LISTS_KEY_COPY_H_
