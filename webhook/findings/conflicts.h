// Detector ownership-conflict: keys that two or more chains manage, and how to end that without
// losing the resource. Facts in, plain values out.
//
// Rule: a key that two sides have: managing declarations that are not of one chain, or one beside a
// record (imported or orphaned). Evidence: the registry's rows and records. Never from labels or
// tags.
#ifndef TRUCE_WEBHOOK_FINDINGS_CONFLICTS_H_
#define TRUCE_WEBHOOK_FINDINGS_CONFLICTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/findings_book.h"

namespace truce {

class Store;
struct TagWar;

// One object that manages the key.
struct ConflictObject {
  Slot slot;
  Uid uid;
  Intent intent = Intent::kDeletes;
  bool seen = false;  // it exists; else only its reservation does
  bool terminating = false;
  bool managed = true;  // a managed resource, not a mapped claim or composite
  // The condition by which it manages nothing for now (FlavourSpec::dormant), as the watch saw it.
  std::string_view dormant = {};
  Timestamp since{};  // Row::created

  bool operator==(const ConflictObject&) const = default;
};

// One chain that manages the key: a root with its objects. Two branches of one root are two sides.
// Or a record: a list that names the resource (ImportRoot), or the root that left it orphaned.
struct ConflictSide {
  Slot root;
  // While no object is in the root's slot: the topmost living object of the chain. Empty: the root.
  Slot speaker;
  Record record = Record::kNone;
  std::string service;
  std::string contact;
  bool incumbent = false;  // the owner of record
  // That its oldest object was made, or what that made (Row::created); of a record, that it began.
  Timestamp since{};
  // Managed resources first, then by slot; none of a record, else never empty.
  std::vector<ConflictObject> objects;

  bool operator==(const ConflictSide&) const = default;
};

struct Conflict {
  Owner owner;
  std::string resource;             // S3 bucket "prod-artifacts"
  std::vector<ConflictSide> sides;  // at least two; the incumbent first, then by since, root

  bool operator==(const Conflict&) const = default;
};

// The conflict at `owner`'s key, or one without sides when there is none (any more).
Conflict ConflictAt(const Owner& owner, const Facts& facts);

// At most `limit` conflicts of keys after `after`, by key. `last` is the key to go on from; empty
// when there are no more.
struct ConflictPage {
  std::vector<Conflict> conflicts;
  KeyText last;
};
ConflictPage ConflictsAfter(const AllFacts& facts, const KeyText& after, std::size_t limit);

// The conflicts of the registry by key, read a page at a time; at most 20,000. Errors: the store's.
Result<std::vector<Conflict>> AllConflicts(const Store& store, Deadline deadline);

// The steps by which one side keeps the resource and nobody loses it. In order;
// never empty. The one wording of `truce conflicts`, findings, Events and resolutions.
std::vector<std::string> ResolutionSteps(const Conflict& conflict);

// The effect of just deleting one of them.
std::string DeletionEffect(const Conflict& conflict);

// ObjectStorage team-a/artifacts of service "a" in cluster "prod" since 2026-11-21T07:52:08Z; with
// the group if another side would have the same text.
std::string SideForPeople(const ConflictSide& side, const Conflict& conflict);

// The finding of one conflict.
LiveFinding FindingOf(const Conflict& conflict);

// The object that speaks for `root`: itself, or while no object is in its slot the topmost living
// one above `below`, an object of its chain; `root` where none is known.
Slot SpeakerFor(const Slot& root, const Slot& below, const Facts& facts);

// "S3 bucket \"prod-artifacts\"", for an owner.
std::string ResourceForPeople(const Owner& owner);

// A finding about what `owner` owns, in mode audit.
LiveFinding FindingAbout(Detector detector, const Owner& owner);

// A line per conflict: resource, owner of record, who manages it too, since when, and whether they
// fight now. `wide`: below it for each what deleting does and the steps that end it.
std::string ConflictsText(std::span<const Conflict> conflicts, std::span<const TagWar> wars,
                          bool wide);

// The meaning of one conflict, and the steps that end it, as a numbered list.
std::string ConflictText(const Conflict& conflict, const TagWar* war);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_CONFLICTS_H_
