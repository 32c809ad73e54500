#include "webhook/findings/tag_war.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <set>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/identity/uids.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::uint64_t kWritesMin = 2;  // of each side: one write each is two people's one change
constexpr std::size_t kReturnsMin = 1;
constexpr std::size_t kTagValuesMax = 4;
constexpr std::size_t kTimesMax = 64;  // of one object; more within the window say nothing more
constexpr std::size_t kEventsMax = 8;  // Event objects of one object that live at once
// An object's change and the write that follows arrive by two streams.
constexpr std::chrono::seconds kStreamSkew{5};

using Milliseconds = std::chrono::milliseconds;

template <typename T>
void KeepLast(std::deque<T>& items, std::size_t count) {
  while (items.size() > count) items.pop_front();
}

void DropBefore(std::deque<Timestamp>& times, Timestamp begin) {
  while (!times.empty() && times.front() < begin) times.pop_front();
}

}  // namespace

std::string RateForPeople(double per_minute) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1f", per_minute);
  return std::string(text.data(), static_cast<std::size_t>(std::max(length, 0)));
}

// The acts of one side of a conflict within the window.
struct TagWarDetector::Activity {
  std::vector<Write> writes;  // by time
  std::vector<Timestamp> returns;
  std::vector<Timestamp> spec_changes;
  std::vector<Slot> objects;  // those that did it

  std::optional<Timestamp> first() const {
    std::optional<Timestamp> out;
    if (!writes.empty()) out = writes.front().at;
    if (!returns.empty()) out = out ? std::min(*out, returns.front()) : returns.front();
    return out;
  }

  Timestamp last() const {
    Timestamp out{};
    if (!writes.empty()) out = writes.back().at;
    if (!returns.empty()) out = std::max(out, returns.back());
    return out;
  }

  // Writes since `begin` that no change of the own spec explains.
  std::uint64_t OwnWrites(Timestamp begin) const {
    std::uint64_t count = 0;
    for (const Write& write : writes) count += write.at >= begin ? write.count : 0;
    const auto explained = static_cast<std::uint64_t>(
        std::count_if(spec_changes.begin(), spec_changes.end(),
                      [&](Timestamp at) { return at + kStreamSkew >= begin; }));
    return count > explained ? count - explained : 0;
  }

  std::size_t Returns(Timestamp begin) const {
    return static_cast<std::size_t>(
        std::count_if(returns.begin(), returns.end(), [&](Timestamp at) { return at >= begin; }));
  }

  bool Fights(Timestamp begin) const {
    return OwnWrites(begin) >= kWritesMin || Returns(begin) >= kReturnsMin;
  }

  // How long this side may be silent in a war that goes on.
  Milliseconds Patience(Timestamp begin) const {
    Milliseconds longest{0};
    std::optional<Timestamp> before;
    for (const Write& write : writes) {
      if (write.at < begin) continue;
      if (before) longest = std::max(longest, write.at - *before);
      before = write.at;
    }
    return std::max<Milliseconds>(kTagWarQuiet, 3 * longest);
  }

  // Writes per minute since `begin`, by the sender's clock where it gave one: the counts include
  // writes that are dropped on the way, and late arrival does not matter.
  double Rate(Timestamp begin) const {
    std::uint64_t count = 0;
    const Write* earliest = nullptr;
    const Write* latest = nullptr;
    for (const Write& write : writes) {
      if (write.at < begin) continue;
      if (earliest != nullptr) count += write.count;
      if (earliest == nullptr) earliest = &write;
      latest = &write;
    }
    if (count == 0) return 0;
    Milliseconds span = latest->at - earliest->at;
    if (earliest->stamp && latest->stamp && *latest->stamp > *earliest->stamp) {
      span = *latest->stamp - *earliest->stamp;
    }
    if (span <= Milliseconds(0)) return 0;
    return static_cast<double>(count) * 60'000.0 / static_cast<double>(span.count());
  }
};

void TagWarDetector::MakeRoom(Timestamp now) {
  if (tracked_.size() < kTrackedMax) return;
  std::erase_if(tracked_, [&](const auto& entry) {
    return !entry.second.is_contested && entry.second.touched + kTagWarWindow < now;
  });
  // Still full: many objects are written to at once. Those of no conflict are worth least.
  for (auto it = tracked_.begin(); it != tracked_.end() && tracked_.size() > kTrackedMax * 3 / 4;) {
    it = it->second.is_contested ? std::next(it) : tracked_.erase(it);
  }
}

TagWarDetector::Tracked& TagWarDetector::Track(const Uid& uid, Timestamp received) {
  if (!tracked_.contains(uid)) MakeRoom(received);
  Tracked& tracked = tracked_[uid];
  tracked.touched = received;
  const Timestamp begin = received - kTagWarWindow;
  while (!tracked.writes.empty() && tracked.writes.front().at < begin) tracked.writes.pop_front();
  DropBefore(tracked.spec_changes, begin);
  DropBefore(tracked.returns, begin);
  return tracked;
}

void TagWarDetector::OnEvent(const UpdateEvent& event, bool listed, Timestamp received) {
  Tracked& tracked = Track(event.object, received);
  const auto known = tracked.counts.find(event.event);
  std::uint64_t writes = 0;
  if (known != tracked.counts.end()) {
    writes = event.count > known->second ? event.count - known->second : 0;
  } else if (!listed) {
    // The watch brings an Event when it grows: at least the last write is new. How many came before
    // nobody saw is history.
    writes = 1;
  }
  if (known != tracked.counts.end() && writes == 0) return;
  if (known == tracked.counts.end() && tracked.counts.size() >= kEventsMax) tracked.counts.clear();
  tracked.counts[event.event] = event.count;
  if (writes == 0) return;
  tracked.writes.push_back({received, writes, event.last});
  KeepLast(tracked.writes, kTimesMax);
}

void TagWarDetector::OnObject(const Uid& uid, std::int64_t generation,
                              std::optional<std::uint64_t> tags, Timestamp received) {
  if (!tracked_.contains(uid)) return;  // neither contested nor written to
  Tracked& tracked = Track(uid, received);
  if (tracked.generation && generation > *tracked.generation) {
    const std::int64_t steps = generation - *tracked.generation;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(steps, kTimesMax); ++i) {
      tracked.spec_changes.push_back(received);
    }
    KeepLast(tracked.spec_changes, kTimesMax);
  }
  const bool is_same = tracked.generation && generation == *tracked.generation;
  if (tracked.generation && generation < *tracked.generation) return;  // late
  tracked.generation = generation;
  if (!tags) return;
  if (!is_same) tracked.tags.clear();
  if (!tracked.tags.empty() && tracked.tags.back() == *tags) return;
  const auto former = std::find(tracked.tags.begin(), tracked.tags.end(), *tags);
  if (former != tracked.tags.end()) {
    tracked.returns.push_back(received);
    KeepLast(tracked.returns, kTimesMax);
    tracked.tags.erase(former);
  }
  tracked.tags.push_back(*tags);
  KeepLast(tracked.tags, kTagValuesMax);
}

void TagWarDetector::SetConflicts(std::span<const Conflict> conflicts) {
  std::map<KeyText, Contested> next;
  for (auto& [uid, tracked] : tracked_) tracked.is_contested = false;
  for (const Conflict& conflict : conflicts) {
    Contested contested{conflict, std::nullopt};
    const auto known = contested_.find(conflict.owner.key);
    if (known != contested_.end()) contested.war = std::move(known->second.war);
    for (const ConflictSide& side : conflict.sides) {
      for (const ConflictObject& object : side.objects) {
        if (object.managed) tracked_[object.uid].is_contested = true;
      }
    }
    next.insert_or_assign(conflict.owner.key, std::move(contested));
  }
  contested_ = std::move(next);
}

TagWarDetector::Activity TagWarDetector::ActivityOf(const ConflictSide& side, Timestamp now) const {
  Activity out;
  const Timestamp begin = now - kTagWarWindow;
  const auto recent = [&](Timestamp at) { return at >= begin; };
  for (const ConflictObject& object : side.objects) {
    const auto found = tracked_.find(object.uid);
    if (found == tracked_.end()) continue;
    const Tracked& tracked = found->second;
    const bool is_active = !tracked.writes.empty() || !tracked.returns.empty();
    if (is_active) out.objects.push_back(object.slot);
    std::copy_if(tracked.writes.begin(), tracked.writes.end(), std::back_inserter(out.writes),
                 [&](const Write& write) { return recent(write.at); });
    std::copy_if(tracked.returns.begin(), tracked.returns.end(), std::back_inserter(out.returns),
                 recent);
    std::copy_if(tracked.spec_changes.begin(), tracked.spec_changes.end(),
                 std::back_inserter(out.spec_changes), recent);
  }
  std::stable_sort(out.writes.begin(), out.writes.end(),
                   [](const Write& a, const Write& b) { return a.at < b.at; });
  std::sort(out.returns.begin(), out.returns.end());
  return out;
}

std::optional<TagWar> TagWarDetector::WarOver(const Contested& contested, Timestamp now) const {
  std::vector<Activity> sides;
  std::vector<Timestamp> firsts;
  for (const ConflictSide& side : contested.conflict.sides) {
    Activity activity = ActivityOf(side, now);
    const std::optional<Timestamp> first = activity.first();
    if (!first) continue;
    firsts.push_back(*first);
    sides.push_back(std::move(activity));
  }
  if (sides.size() < 2) return std::nullopt;
  // It takes two: the writes of one side before the other's first are no war.
  std::sort(firsts.begin(), firsts.end());
  TagWar war;
  war.key = contested.conflict.owner.key;
  war.since = contested.war ? contested.war->since : firsts[1];
  const Timestamp begin = std::max(war.since, now - kTagWarWindow);
  std::size_t fighting = 0;
  std::uint64_t by_events = 0;
  for (const Activity& side : sides) {
    if (!side.Fights(begin) || now - side.last() > side.Patience(begin)) continue;
    ++fighting;
    war.fighters.insert(war.fighters.end(), side.objects.begin(), side.objects.end());
    war.writes += side.OwnWrites(begin) + side.Returns(begin);
    war.writes_per_minute += side.Rate(begin);
    war.last = std::max(war.last, side.last());
    by_events += side.OwnWrites(begin);
  }
  if (fighting < 2) return std::nullopt;
  war.by_tags = by_events == 0;
  std::sort(war.fighters.begin(), war.fighters.end());
  return war;
}

std::vector<TagWar> TagWarDetector::Running(Timestamp now) {
  std::vector<TagWar> out;
  for (auto& [key, contested] : contested_) {
    contested.war = WarOver(contested, now);
    if (contested.war) out.push_back(*contested.war);
  }
  return out;
}

std::vector<TagWar> TagWarDetector::Known() const {
  std::vector<TagWar> out;
  for (const auto& [key, contested] : contested_) {
    if (contested.war) out.push_back(*contested.war);
  }
  return out;
}

std::vector<LiveFinding> TagWarDetector::Find(Timestamp now) {
  std::vector<LiveFinding> out;
  for (const TagWar& war : Running(now)) {
    const Conflict& conflict = contested_.at(war.key).conflict;
    LiveFinding finding = FindingOf(conflict);
    finding.detector = Detector::kTagWar;
    finding.mode = Mode::kEnforce;
    finding.since = war.since;
    std::string fighters;
    for (const Slot& slot : war.fighters) {
      fighters.append(fighters.empty() ? "" : " and ").append(FullNameOf(slot));
    }
    finding.cause = fighters + " overwrite each other's settings of " + conflict.resource +
                    " since " + FormatTimestamp(war.since) + ", although both look healthy. " +
                    DeletionEffect(conflict);
    finding.evidence = std::to_string(war.writes);
    finding.evidence += war.by_tags ? " changes of status.atProvider.tags at constant generation"
                                    : " writes to AWS (Events UpdatedExternalResource)";
    finding.evidence += " in the last 30 minutes";
    if (war.writes_per_minute > 0) {
      finding.evidence += ", " + RateForPeople(war.writes_per_minute) + " a minute";
    }
    finding.evidence += "; the last one at " + FormatTimestamp(war.last);
    out.push_back(std::move(finding));
  }
  return out;
}

const TagWar* WarAt(std::span<const TagWar> wars, const KeyText& key) {
  const auto found =
      std::find_if(wars.begin(), wars.end(), [&](const TagWar& war) { return war.key == key; });
  return found == wars.end() ? nullptr : &*found;
}

namespace {

std::uint64_t NumberOf(Value value) {
  const std::string_view text = value.text();
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() ? number : 0;
}

}  // namespace

std::optional<UpdateEvent> ReadUpdateEvent(Value event, std::string_view cluster) {
  if (event.Child("reason").text() != kUpdateEventReason) return std::nullopt;
  const Value involved = event.Child("involvedObject");
  UpdateEvent out;
  out.event = UidIn(cluster, event.Child("metadata").Child("uid").text());
  out.object = UidIn(cluster, involved.Child("uid").text());
  if (out.event.empty() || out.object.empty()) return std::nullopt;
  const Value series = event.Child("series");
  const std::uint64_t counted =
      std::max(NumberOf(event.Child("count")), NumberOf(series.Child("count")));
  out.count = std::max<std::uint64_t>(counted, 1);
  for (const Value time : {series.Child("lastObservedTime"), event.Child("lastTimestamp"),
                           event.Child("firstTimestamp"), event.Child("eventTime")}) {
    if (!out.last && time.is_string()) out.last = ParseTimestamp(time.text());
  }
  return out;
}

namespace {

// More conflicts than this are read with the passes over the registry only.
constexpr std::size_t kConflictsEachTime = 1000;

const GroupKind& EventsKind() {
  static const GroupKind kKind{"", "Event"};
  return kKind;
}

// Detectors ownership-conflict and tag-war.
class ConflictsAndWars final : public Examiner {
 public:
  std::vector<DetectorKind> Kinds(const std::string& /*webhook*/) const override {
    return {AlwaysFollowed({"", "v1", EventsKind().kind, "events", true},
                           std::string(kUpdateEventSelector))};
  }

  void OnSighted(const ObservedVersion& observed, Timestamp now) override {
    if (observed.role != Role::kManaged) return;
    if (observed.dormant) {
      dormant_.insert(observed.facts.uid);
    } else {
      dormant_.erase(observed.facts.uid);
    }
    std::optional<std::uint64_t> tags;
    if (observed.has_tags) tags = observed.tags_digest;
    wars_.OnObject(observed.facts.uid, observed.generation, tags, now);
  }
  void OnGone(const Uid& uid, const Slot& /*slot*/) override { dormant_.erase(uid); }
  void OnKindState(const KindStatus& status) override {
    if (status.kind.group_kind() != EventsKind()) return;
    are_events_live_ = status.state == KindState::kWatched;
  }
  void OnOther(const OtherObject& other) override {
    if (other.kind.group_kind() != EventsKind() || other.gone) return;
    const auto event = ReadUpdateEvent(other.object, other.cluster);
    if (event) wars_.OnEvent(*event, !are_events_live_, other.at);
  }

  void BeginPass() override { is_due_ = true; }

  Result<void> Examine(const Examination& at) override {
    if (std::exchange(is_due_, false) || count_ <= kConflictsEachTime) {
      TRUCE_ASSIGN_OR_RETURN(std::vector<Conflict> conflicts, AllConflicts(at.store, at.deadline));
      count_ = conflicts.size();
      at.watched.With([&](const auto&) {
        for (Conflict& conflict : conflicts) MarkDormant(conflict);
        wars_.SetConflicts(conflicts);
      });
      std::vector<LiveFinding> found;
      for (const Conflict& conflict : conflicts) found.push_back(FindingOf(conflict));
      at.report(Detector::kOwnershipConflict, std::move(found));
    }
    at.report(Detector::kTagWar, at.watched.With([&](WatchedCluster& cluster) {
      std::vector<LiveFinding> found = wars_.Find(at.now);
      cluster.wars = wars_.Known();
      return found;
    }));
    return {};
  }

 private:
  void MarkDormant(Conflict& conflict) const {
    for (ConflictSide& side : conflict.sides) {
      for (ConflictObject& object : side.objects) {
        if (dormant_.contains(object.uid)) object.dormant = FlavourFor(object.slot.group).dormant;
      }
    }
  }

  TagWarDetector wars_;
  std::set<Uid> dormant_;         // managed resources, as seen last
  bool are_events_live_ = false;  // they come from the watch, not from a list
  std::size_t count_ = 0;         // of conflicts; of the one who examines, as the next
  bool is_due_ = true;
};

}  // namespace

constinit const DetectorInfo kTagWarInfo{
    "tag-war",
    Severity::kCritical,
    "Managed resources of one cloud resource overwrite each other now.",
    "The registry has two owners' declarations of one resource, and both sides write: within 30 "
    "minutes the count of each object's Event UpdatedExternalResource grew twice, writes that "
    "follow a change of the object's own spec left out; or tags left a value and came back to it "
    "while nobody changed the object. It is over after 11 silent minutes.",
    Make<ConflictsAndWars>,
    "TagWar",
    NamesOthers::kAnywhere};

constinit const DetectorInfo kOwnershipConflictInfo{
    "ownership-conflict",
    Severity::kWarning,
    "One cloud resource is managed by more than one owner.",
    "Two rows of the registry with one key, each of an object that writes or deletes the resource, "
    "under two roots that are not of one chain. Labels and tags are never believed. The condition "
    "ACK.Terminal of an object without ACK's finalizer tells that it manages nothing for now.",
    nullptr,
    "OwnershipConflict",
    NamesOthers::kAnywhere};

}  // namespace truce
