// What must hold in the simulation, after every step and when it is quiet.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "registry/identity/key_accounts.h"
#include "registry/identity/uids.h"
#include "registry/ownership/brake.h"
#include "tests/model/scene.h"
#include "tests/model/simulated_kinds.h"
#include "tests/model/watch_simulation.h"
#include "tests/support/audit_only_grew.h"
#include "tests/support/invariants.h"
#include "tests/support/memory_store.h"
#include "tests/support/recount.h"
#include "tests/support/store_contents.h"

namespace truce {
namespace {

// What each resource is called, but for its account: what told that may be gone.
using NamesById = std::map<ResourceId, KeyText>;
NamesById NamesIn(const StoreContents& contents) {
  NamesById names;
  for (const Owner& owner : contents.owners) names[owner.id] = WithAccount(owner.key, {});
  for (const ObservedResource& each : contents.observed) names[each.id] = WithAccount(each.key, {});
  return names;
}

std::string Describe(const Row& row, const NamesById& names) {
  return names.at(row.id.resource).text + " " + row.id.uid.text + " " +
         std::string(Name(row.id.state)) + " " + ForPeople(row.slot) + " below " +
         ForPeople(row.root) + " " + std::string(Name(row.intent)) +
         (row.terminating ? " terminating" : "") + (row.managed ? " managed" : "");
}
// `real` is left out: what a process has not seen since its start may have come true meanwhile.
std::string Describe(const Owner& owner) {
  return owner.key.text + " " + owner.id.text + " " + ForPeople(owner.root) + " " +
         owner.party.text + " " + std::string(Name(owner.record)) + " " +
         std::string(Name(owner.state)) + " " + (owner.leaf ? ForPeople(*owner.leaf) : "no leaf") +
         (owner.contested ? " contested" : "");
}
std::string Describe(const Object& object) {
  return object.uid.text + " " + ForPeople(object.slot) + " below " +
         (object.parent ? ForPeople(*object.parent) : "none") + " root " + ForPeople(object.root);
}

using Lines = std::set<std::string>;
Lines LinesOf(const std::vector<Row>& rows, const NamesById& names) {
  Lines lines;
  for (const Row& row : rows) lines.insert(Describe(row, names));
  return lines;
}
template <typename T>
Lines LinesOf(const std::vector<T>& items) {
  Lines lines;
  for (const T& item : items) lines.insert(Describe(item));
  return lines;
}

}  // namespace

// What people would call the owner: a composed resource remembers its claim, also when that or the
// composite is gone.
Slot WatchSimulation::RootOf(const SimulatedObject& object) const {
  if (!object.claim) return SlotOf(object);
  return {"local", kClaimKind.group, kClaimKind.kind, object.claim->ns, object.claim->name};
}

std::optional<std::string> WatchSimulation::CheckStep() {
  std::map<std::string, std::set<Slot>> managers;
  for (const auto& [kind, places] : cluster_.objects()) {
    for (const auto& [place, object] : places) {
      if (object.exempt || object.bucket.empty() || object.intent == Intent::kObserves) continue;
      if (kind == kCompositeKind && !options_.map_composite) continue;
      managers[object.kind.kind == kTableKind.kind ? "table " + object.bucket : object.bucket]
          .insert(RootOf(object));
    }
  }
  if (options_.disasters == 0 && !options_.remaps) {
    for (const auto& [bucket, roots] : managers) {
      if (roots.size() > 1)
        broken_.push_back("S1: bucket " + bucket + " has " + std::to_string(roots.size()) +
                          " managers");
    }
  }
  StoreContents after = ContentsOf(real_store_).value();
  for (const std::string& breach : CheckInvariants(after)) broken_.push_back("S2: " + breach);
  for (const std::string& wrong : testing::Miscounts(real_store_, after.owners))
    broken_.push_back("S2: " + wrong);
  if (!testing::AuditOnlyGrew(before_, after)) broken_.push_back("I12: the audit log was changed");
  if (const auto breach = CheckBrake(after)) broken_.push_back(*breach);
  before_ = std::move(after);
  if (broken_.empty()) return std::nullopt;
  return broken_.front();
}

// Of real keys, whose end is in the audit log. Two hours of the brake may touch.
std::optional<std::string> WatchSimulation::CheckBrake(const StoreContents& contents) const {
  std::size_t released = 0;
  for (std::size_t i = contents.audit.size(); i-- > 0;) {
    const AuditEntry& entry = contents.audit[i];
    if (clock_.Now() - entry.at >= kBrakePeriod) break;
    if (entry.cause.starts_with("brake released")) return std::nullopt;
    if (entry.cause.starts_with("absent from the cluster")) ++released;
  }
  const std::size_t limit = 2 * 2 * BrakeLimit(options_.crowd + 20);
  if (released <= limit) return std::nullopt;
  return "I11: " + std::to_string(released) + " released by absence without command";
}

std::optional<std::string> WatchSimulation::CheckHeldBack(const StoreContents& contents) const {
  const Reconciler& reconciler = process_->watcher().reconciler();
  for (const Row& row : contents.rows) {
    const SimulatedObject* live =
        cluster_.Find({row.slot.group, row.slot.kind}, row.slot.ns, row.slot.name);
    if (live != nullptr && live->uid == MetadataUid(row.id.uid)) continue;
    if (reconciler.missing().contains(row.id.uid)) continue;
    if (!reconciler.FrozenFor(GroupKindOf(row.slot)).empty()) continue;
    return "Q0: phantom row that nobody holds back: " + Describe(row, NamesIn(contents));
  }
  return std::nullopt;
}

namespace {

bool IsNameOf(const KeyText& name, const SimulatedObject& object) {
  if (object.kind != kTableKind) return name == scene::BucketKey(object.bucket);
  return name.text.starts_with("dynamodb/Table|") && name.text.ends_with("|name=" + object.bucket);
}

}  // namespace

std::optional<std::string> WatchSimulation::CheckRows(const StoreContents& contents) {
  const NamesById names = NamesIn(contents);
  std::set<std::pair<std::string, std::string>> rows;  // uid, bucket
  for (const Row& row : contents.rows) {
    const KeyText& name = names.at(row.id.resource);
    const SimulatedObject* live =
        cluster_.Find({row.slot.group, row.slot.kind}, row.slot.ns, row.slot.name);
    if (live == nullptr || live->uid != MetadataUid(row.id.uid) || !IsNameOf(name, *live) ||
        row.id.state != RowState::kSeen) {
      return "Q1: phantom row " + name.text + " of " + ForPeople(row.slot) + " " + row.id.uid.text +
             " " + std::string(Name(row.id.state));
    }
    rows.emplace(live->uid, live->bucket);
  }
  for (const auto& [kind, places] : cluster_.objects()) {
    if (kind == kXrdKind || kind == kDefinitionKind || kind == kConfigKind ||
        (kind == kCompositeKind && !options_.map_composite))
      continue;
    for (const auto& [place, object] : places) {
      if (!object.bucket.empty() && !rows.contains({object.uid, object.bucket}))
        return "Q2: no row of " + ForPeople(SlotOf(object)) + " for " + object.bucket;
    }
  }
  return std::nullopt;
}
namespace {

std::optional<std::string> Difference(const Lines& ours, const Lines& theirs) {
  for (const std::string& item : ours) {
    if (theirs.contains(item)) continue;
    std::string text = "ours only: " + item;
    for (const std::string& other : theirs) {
      if (!ours.contains(other)) text += "\n  theirs only: " + other;
    }
    return text;
  }
  for (const std::string& item : theirs) {
    if (!ours.contains(item)) return "theirs only: " + item;
  }
  return std::nullopt;
}

}  // namespace

// Whether a link above the object is of record only: it states a parent that is not there, or that
// does not name it back. Its chain stays as it was recorded (Adoption); a rebuild cannot know it.
bool WatchSimulation::IsOfRecord(const SimulatedObject& object) const {
  const bool is_managed = object.kind.kind == kBucketKind.kind || object.kind == kTableKind;
  const std::optional<ObjectRef>& stated = is_managed ? object.controller : object.claim;
  if (!stated) return false;
  const SimulatedObject* parent =
      cluster_.Find({stated->group, stated->kind}, stated->ns, stated->name);
  if (parent == nullptr || (!stated->uid.empty() && parent->uid != stated->uid.text)) return true;
  const bool named =
      std::any_of(parent->resources.begin(), parent->resources.end(), [&](const ObjectRef& ref) {
        return ref.group == object.kind.group && ref.kind == object.kind.kind &&
               ref.name == object.name && ref.ns == object.ns;
      });
  return !named || IsOfRecord(*parent);
}

std::optional<std::string> WatchSimulation::CheckRebuild(const StoreContents& contents) {
  MemoryStore fresh;
  FakeClock clock(clock_.Now());
  std::uint64_t ids = 0;
  SimulatedProcess rebuild({cluster_, fresh, clock, random_, policy_, rules_, Quick()}, now_, ids);
  rebuild.Advance(kTtl * 2);
  const StoreContents rebuilt = ContentsOf(fresh).value();
  std::set<std::string> of_record;  // uids
  for (const auto& [kind, places] : cluster_.objects()) {
    for (const auto& [place, object] : places) {
      if (IsOfRecord(object)) of_record.insert(object.uid);
    }
  }
  const auto rows_of = [&](const StoreContents& state) {
    std::vector<Row> rows = state.rows;
    for (Row& row : rows) {
      if (of_record.contains(std::string(MetadataUid(row.id.uid)))) row.root = {};
    }
    return LinesOf(rows, NamesIn(state));
  };
  if (const auto rows = Difference(rows_of(contents), rows_of(rebuilt))) return "Q3: row " + *rows;
  const auto objects_of = [&](std::vector<Object> objects) {
    for (Object& object : objects) {
      if (!of_record.contains(std::string(MetadataUid(object.uid)))) continue;
      object.root = {};
      object.parent.reset();
    }
    return LinesOf(objects);
  };
  if (const auto objects = Difference(objects_of(contents.objects), objects_of(rebuilt.objects)))
    return "Q3: object " + *objects;
  return CheckOwners(contents, rebuilt, of_record);
}

std::optional<std::string> WatchSimulation::CheckOwners(const StoreContents& contents,
                                                        const StoreContents& rebuilt,
                                                        const std::set<std::string>& of_record) {
  // Which of several managers is the incumbent is recorded, and who is above an object of record.
  std::map<ResourceId, std::set<Slot>> managers;
  std::set<ResourceId> unsettled;
  for (const Row& row : contents.rows) {
    const ResourceId& id = row.id.resource;
    if (Manages(row)) managers[id].insert(row.root);
    if (of_record.contains(std::string(MetadataUid(row.id.uid)))) unsettled.insert(id);
  }
  std::map<KeyText, const Owner*> theirs;
  for (const Owner& owner : rebuilt.owners) theirs[WithAccount(owner.key, {})] = &owner;
  for (const Owner& owner : contents.owners) {
    const auto other = theirs.find(WithAccount(owner.key, {}));
    if (other == theirs.end()) {
      if (owner.record == Record::kNone) return "Q3: owned without declaration: " + owner.name;
      continue;
    }
    const bool same = owner.root == other->second->root && owner.party == other->second->party;
    const bool recorded = owner.record != Record::kNone || managers[owner.id].size() > 1 ||
                          unsettled.contains(owner.id);
    if (!same && !recorded) {
      return "Q3: " + owner.name + " is owned by " + ForPeople(owner.root) +
             ", in the rebuild by " + ForPeople(other->second->root);
    }
    theirs.erase(other);
  }
  if (!theirs.empty()) return "Q3: owned in the rebuild only: " + theirs.begin()->second->name;
  return std::nullopt;
}

// A new process on the same store sees everything again: nothing may change by that. Only that a
// resource exists may have become known.
std::optional<std::string> WatchSimulation::CheckReplay(const StoreContents& contents) {
  Restart();
  process_->Advance(kTtl);
  const StoreContents again = ContentsOf(real_store_).value();
  if (const auto rows = Difference(LinesOf(contents.rows, NamesIn(contents)),
                                   LinesOf(again.rows, NamesIn(again)))) {
    return "Q4: row " + *rows;
  }
  if (const auto owners = Difference(LinesOf(contents.owners), LinesOf(again.owners)))
    return "Q4: owner " + *owners;
  if (const auto objects = Difference(LinesOf(contents.objects), LinesOf(again.objects)))
    return "Q4: object " + *objects;
  std::set<ResourceId> real;
  for (const Owner& owner : again.owners) {
    if (owner.real) real.insert(owner.id);
  }
  for (const Owner& owner : contents.owners) {
    if (owner.real && !real.contains(owner.id)) return "Q4: not real any more: " + owner.name;
  }
  before_ = again;
  return std::nullopt;
}

std::string WatchSimulation::Told(const std::string& what) const {
  std::string text = what + "\n" + process_->Describe();
  const StoreContents contents = ContentsOf(real_store_).value();
  for (const Owner& owner : contents.owners)
    text += "\n    owner " + Describe(owner) + (owner.real ? " real" : "");
  const NamesById names = NamesIn(contents);
  for (const Row& row : contents.rows) text += "\n    row " + Describe(row, names);
  for (const Object& object : contents.objects) text += "\n    object " + Describe(object);
  return text;
}

std::optional<std::string> WatchSimulation::Quiet() {
  Say("quiet");
  fence_.TakeOverAtCall(0);
  if (!process_->leads()) FailOver();
  GoOn([this] { former_->Settle(); });
  former_.reset();
  store_.Mend();
  if (!mapped_) SetMapping(true);
  FinishDefinitions(true);  // those half gone go
  process_->Advance(kTtl);
  FinishDefinitions(true);  // and come back, empty
  process_->Advance(kTtl * 3);
  if (auto broken = CheckStep()) return broken;
  if (auto broken = CheckHeldBack(ContentsOf(real_store_).value())) return Told(*broken);
  if (!process_->watcher().ReleaseBrake(process_->now(), std::nullopt, "operator", "quiet").ok())
    return "the brake could not be released";
  process_->Advance(kTtl * 3);
  now_ = process_->now();
  if (auto broken = CheckStep()) return broken;
  const StoreContents contents = ContentsOf(real_store_).value();
  if (auto broken = CheckRows(contents)) return Told(*broken);
  if (auto broken = CheckRebuild(contents)) return Told(*broken);
  if (auto broken = CheckReplay(contents)) return Told(*broken);
  return std::nullopt;
}

}  // namespace truce
