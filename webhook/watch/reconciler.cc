#include "webhook/watch/reconciler.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace truce {
namespace {

// Whatever the earlier version may have made, the later one still declares.
bool StaysDeclared(const ObjectFacts& earlier, const ObjectFacts& later) {
  const auto stays = [](const DeclaredResource& a, const DeclaredResource& b) {
    const bool demoted = a.intent != Intent::kObserves && b.intent == Intent::kObserves;
    return a.key() == b.key() && !demoted &&
           std::ranges::all_of(a.names, [&](const DeclaredName& name) {
             return std::ranges::count(b.names, name.text, &DeclaredName::text) > 0;
           });
  };
  return std::equal(earlier.resources.begin(), earlier.resources.end(), later.resources.begin(),
                    later.resources.end(), stays);
}

// Of the objects that `sights` tell of, those that end and declared the same all the time: false.
std::map<Uid, bool> ChangedOrLive(const std::vector<Sight>& sights) {
  std::map<Uid, const ObjectFacts*> last;
  std::map<Uid, bool> out;
  for (const Sight& sight : sights) {
    const ObjectFacts& facts = sight.observed->facts;
    last[facts.uid] = &facts;
    out[facts.uid] = !sight.deleted;
  }
  for (const Sight& sight : sights) {
    const Uid& uid = sight.observed->facts.uid;
    if (!StaysDeclared(sight.observed->facts, *last[uid])) out[uid] = true;
  }
  return out;
}

// The list that waits to be applied has all of them, each declaring what it did all the time.
bool AreListed(const std::vector<Sight>& sights, const KindHistory& kind) {
  if (sights.empty()) return true;
  std::unordered_map<std::string_view, const ObjectFacts*> listed;
  for (const auto& observed : kind.collected) {
    listed.emplace(observed->facts.uid.text, &observed->facts);
  }
  return std::all_of(sights.begin(), sights.end(), [&](const Sight& sight) {
    const auto found = listed.find(sight.observed->facts.uid.text);
    return found != listed.end() && StaysDeclared(sight.observed->facts, *found->second);
  });
}

}  // namespace

void Reconciler::SetTerminating(const GroupKind& kind, bool terminating) {
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->terminating = terminating;
}

void Reconciler::BeginGap(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->gap = true;
  history->marked = false;
  history->goes_on.reset();
  history->Break();
  // What it told so far says nothing of the gap: a proof waits until the new watch has come as far.
  history->passed.reset();
  asks_.Overtake(kind);
}

void Reconciler::Forget(const GroupKind& kind) {
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->apply_known = true;
}

Result<void> Reconciler::Reread(const GroupKind& kind, ClusterVersion version) {
  Forget(kind);
  if (KindHistory* history = HistoryOf(kind, kinds_)) history->goes_on = version;
  return {};
}

void Reconciler::BeginList(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->collected.clear();
  history->complete = false;
  history->Break();
  history->list_began = store_.now();
  ++history->list;
}

void Reconciler::Listed(const GroupKind& kind, std::span<const std::string> objects) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  sights_.Collect(objects, history->apply_known || !started_, *history);
}

Result<void> Reconciler::FinishList(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->complete = true;
  // Applied alone, a managed resource would be the incumbent before its claim is listed.
  if (!started_) return {};
  TRUCE_RETURN_IF_ERROR(sights_.ApplyLists({&history, 1}));
  if (!history->goes_on) return absence_.Nominate(*history);
  history->Close();
  return {};
}

Result<void> Reconciler::ListFailed(const GroupKind& kind) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  history->collected.clear();
  history->complete = false;
  history->Break();
  return absence_.MarkGap(*history);
}

Result<UnlistedObjects> Reconciler::Unlisted(const GroupKind& kind) const {
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr || !history->complete) return UnlistedObjects{};
  return absence_.Unlisted(*history);
}

void Reconciler::SetPosition(const GroupKind& kind, std::optional<ClusterVersion> told,
                             std::optional<ClusterVersion> settled) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return;
  history->told = told;
  history->settled = settled;
  history->unbroken = told.has_value();
}

std::optional<ClusterVersion> Reconciler::SettledAt(const GroupKind& kind,
                                                    std::optional<ClusterVersion> position) {
  KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr || !position) return std::nullopt;
  return history->SettledAt(*position);
}

Result<bool> Reconciler::HasGone(const GroupKind& kind) const {
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr || !history->complete) return false;
  return absence_.HasGone(*history);
}

void Reconciler::Replay(const Replays::Told& told) {
  KindHistory* history = HistoryOf(told.kind, kinds_);
  if (history == nullptr) return;
  std::vector<Sight> sights = sights_.ReadEvents(told.events, *history);
  const std::map<Uid, bool> left_out = ChangedOrLive(sights);
  std::vector<Sight> others = sights_.ReadEvents(told.others, *history);
  sights_.LeaveOutEnded(others);
  history->whole = told.whole && history->unbroken &&
                   std::none_of(left_out.begin(), left_out.end(),
                                [](const auto& object) { return object.second; }) &&
                   AreListed(others, *history);
  std::erase_if(sights, [&](const Sight& sight) { return left_out.at(sight.observed->facts.uid); });
  for (Sight& sight : sights) {
    if (!sight.deleted || !ends_.Hold(sight)) {
      replayed_.push_back(std::move(sight));
      continue;
    }
    // Not absent: its end is known and waits.
    history->Take(*sight.observed, sight.order);
  }
}

Result<void> Reconciler::FinishStart() {
  if (started_) return {};
  // Claims, composites and what they are composed of end one after the other.
  std::stable_sort(replayed_.begin(), replayed_.end(), [](const Sight& a, const Sight& b) {
    return a.observed->facts.version < b.observed->facts.version;
  });
  // Before the lists: a name that an end frees may be held by an object that they show.
  TRUCE_RETURN_IF_ERROR(sights_.Apply(replayed_));
  std::vector<KindHistory*> complete;
  for (auto& [name, history] : kinds_) {
    if (history.complete) complete.push_back(&history);
  }
  TRUCE_RETURN_IF_ERROR(sights_.ApplyLists(complete));
  for (KindHistory* history : complete) TRUCE_RETURN_IF_ERROR(absence_.Nominate(*history));
  // Only now: after an error of the store the caller begins this function again.
  started_ = true;
  replayed_.clear();
  replayed_.shrink_to_fit();
  return {};
}

Result<void> Reconciler::Events(const GroupKind& kind, std::span<const WatchEvent> events) {
  const KindHistory* history = HistoryOf(kind, kinds_);
  if (history == nullptr) return {};
  std::vector<Sight> sights;
  for (Sight& sight : sights_.ReadEvents(events, *history)) {
    if (!sight.deleted || !ends_.Hold(sight)) sights.push_back(std::move(sight));
  }
  return sights_.Apply(sights);
}

std::vector<GetWanted> Reconciler::Gets(Moment now, std::size_t count) {
  std::vector<GetWanted> wanted;
  if (!started_) return wanted;
  asks_.Gets(now, count, wanted);
  ends_.Gets(now, count, wanted);
  return wanted;
}

std::optional<Moment> Reconciler::GetDue() const {
  if (!started_) return std::nullopt;
  const std::optional<Moment> ask = asks_.GetDue();
  const std::optional<Moment> end = ends_.GetDue();
  return ask && end ? std::min(*ask, *end) : ask ? ask : end;
}

Result<void> Reconciler::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  // The slot of a ProviderConfig is only ever asked for by ends; all others are proofs.
  if (ends_.Got(now, get, answer)) return ends_.Settle(now);
  return proofs_.Got(now, get, answer);
}

std::set<GroupKind> Reconciler::Waiting() const {
  std::set<GroupKind> kinds = asks_.Waiting();
  kinds.merge(ends_.Waiting());
  return kinds;
}

ReconcileStatus Reconciler::status() const {
  ReconcileStatus status;
  for (const auto& [uid, nomination] : absence_.nominations()) {
    const bool waits = nomination.held_back == BrakeVerdict::kRelease;
    ++(waits ? status.nominated : status.held_back);
  }
  status.gets = asks_.size();
  status.observed_versions = sights_.applied();
  status.skipped = sights_.skipped();
  status.unreadable = sights_.unreadable();
  status.breaches = store_.breaches();
  status.breach = store_.breach();
  return status;
}

}  // namespace truce
