// Import: lists of resources that are owned outside the cluster, taken in as a whole. A list may
// also reserve names for a time (Owner::until): the record is an imported one that is not real yet,
// and the import that follows confirms it.
#ifndef TRUCE_REGISTRY_OWNERSHIP_LISTS_IMPORT_H_
#define TRUCE_REGISTRY_OWNERSHIP_LISTS_IMPORT_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/rows.h"

namespace truce {

class AllFacts;
class Ledger;

// One resource of a list. `resource.key` is not empty.
struct ImportedResource {
  DeclaredResource resource;
  std::string service;
  std::string contact;
  std::string address;  // its place at its source: "aws_s3_bucket.artifacts"
};

struct ImportList {
  std::string source;  // its name, for ever the same: "terraform:network"
  std::vector<ImportedResource> resources;
  // Releases resources that the source named before and names no longer, unless they are protected,
  // or only reserved.
  bool retire = false;
  // The source only reserves them, before it creates them: first moment at which that no longer
  // holds. Its earlier reservations hold until then; its imports stay imports.
  std::optional<Timestamp> until = {};
};

// How long a source may reserve a name.
inline constexpr std::chrono::minutes kReservedMin{10};
inline constexpr std::chrono::minutes kReservedMax{24 * 60};

enum class ImportAction : std::uint8_t {
  kNew,          // nobody owns it
  kOwned,        // imported from this source already
  kChanged,      // the same, with another service, contact, ARN or address, or reserved before
  kConflicting,  // somebody else owns it, or may: the same name in an account not known yet
};
std::string_view Name(ImportAction action);

struct ImportPlan {
  // One for each resource of the list, in its order. A key that comes twice is kOwned the second
  // time.
  struct Line {
    ImportAction action = ImportAction::kNew;
    std::optional<Owner> holder;  // the present owner
  };
  std::vector<Line> lines;
  // By key; empty unless the list retires.
  std::vector<Owner> retired;
  std::vector<Owner> kept;  // to be retired, but protected
  // Holders of resources that the list claims and will not claim any more.
  std::vector<Owner> unclaimed;
};

// The changes that `list` would make on `facts`. Passes over all imported owners when the list
// retires.
ImportPlan PlanImport(const ImportList& list, const AllFacts& facts);

// Does all of `plan`, each with a line in the audit log. Of its conflicting lines the list's claim
// is kept, as a conflict beside the holder, until the list names it no more and retires, or
// inherits it. `plan` was made of the same list on the ledger's facts.
void ApplyImport(const ImportList& list, const ImportPlan& plan, const std::string& actor,
                 Ledger& ledger);

// At most `limit` resources whose reservation by a list no longer holds at `now`, by key.
std::vector<ResourceId> DueReservations(const AllFacts& facts, Timestamp now, std::size_t limit);
// Ends the reservation of the resource at its time: the name is free, or its oldest other
// manager's. Protected or not: nothing was created. False: there is none, or it holds.
bool EndReservation(const ResourceId& id, Ledger& ledger);
// Ends it before its time, for its source. False: `source` has not reserved it.
bool EndReservation(const ResourceId& id, std::string_view source, const std::string& actor,
                    Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LISTS_IMPORT_H_
