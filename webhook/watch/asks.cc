#include "webhook/watch/asks.h"

#include <algorithm>
#include <utility>

namespace truce {
namespace {

void OvertakeAsk(Asks::Ask& ask) {
  ask.overtaken = ask.under_way;
  ask.found.reset();
}

void AskAgain(Moment now, Asks::Ask& ask) {
  ask.under_way = false;
  ask.due = now + ask.backoff.Next();
}

}  // namespace

ListQuery GetWanted::query() const {
  ListQuery query;
  query.selection.kind = kind;
  query.selection.ns = slot.ns;
  query.selection.field_selector = "metadata.name=" + slot.name;
  query.limit = 0;
  return query;
}

Asks::Ask* Asks::For(const Slot& slot) {
  const KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_);
  if (kind == nullptr || slot.cluster != store_.cluster()) return nullptr;
  const auto [at, added] = asks_.try_emplace(slot);
  if (added) {
    at->second.get = {kind->followed.selection.kind, slot};
    at->second.backoff = Backoff({std::chrono::seconds{1}, std::chrono::seconds{60}}, ++seeds_);
  }
  return &at->second;
}

Asks::Ask* Asks::Find(const Slot& slot) {
  const auto found = asks_.find(slot);
  return found == asks_.end() ? nullptr : &found->second;
}

Asks::Ask* Asks::Nominate(const Uid& uid, const Slot& slot) {
  Ask* ask = For(slot);
  if (ask == nullptr) return nullptr;
  ask->nominated.insert(uid);
  ask->found.reset();
  return ask;
}

void Asks::Overtake(const Slot& slot) {
  if (Ask* ask = Find(slot)) OvertakeAsk(*ask);
}

void Asks::Overtake(const GroupKind& kind) {
  for (auto& [slot, ask] : asks_) {
    if (IsOf(slot, kind)) OvertakeAsk(ask);
  }
}

void Asks::Drop(const GroupKind& kind) {
  std::erase_if(asks_, [&](const auto& ask) { return IsOf(ask.first, kind); });
}

bool Asks::MayGet(const Slot& slot, const Ask& ask) const {
  if (ask.under_way || ask.found) return false;
  const KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_);
  return kind != nullptr && !kind->blind();
}

void Asks::Gets(Moment now, std::size_t count, std::vector<GetWanted>& wanted) {
  for (auto& [slot, ask] : asks_) {
    if (wanted.size() >= count) return;
    if (ask.due > now || !MayGet(slot, ask)) continue;
    ask.under_way = true;
    ask.overtaken = false;
    ask.get.kind = kinds_.at(GroupKindOf(slot)).followed.selection.kind;
    wanted.push_back(ask.get);
  }
}

std::optional<Moment> Asks::GetDue() const {
  std::optional<Moment> due;
  for (const auto& [slot, ask] : asks_) {
    if (MayGet(slot, ask) && (!due || ask.due < *due)) due = ask.due;
  }
  return due;
}

bool Asks::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  Ask* ask = Find(get.slot);
  const KindHistory* kind = HistoryOf(GroupKindOf(get.slot), kinds_);
  if (ask == nullptr || kind == nullptr) return false;
  if (ask->overtaken) {
    ask->under_way = false;
    ask->due = now;
    return false;
  }
  if (!answer.ok() || kind->blind()) {
    AskAgain(now, *ask);
    return false;
  }
  Ask::Found found{nullptr, VersionNumber(answer.value().resource_version), now};
  if (!answer.value().objects.empty()) {
    const Result<Document> document = reader_.Read(answer.value().objects.front());
    if (document.ok()) {
      found.object = std::make_shared<const ObservedVersion>(
          ReadObservedVersion(document.value().root(), kind->followed, store_.rules().identity));
    }
    if (!document.ok() || found.object->facts.uid.empty() || found.object->facts.slot != get.slot) {
      AskAgain(now, *ask);
      return false;
    }
  }
  ask->under_way = false;
  ask->found = std::move(found);
  return true;
}

std::vector<Slot> Asks::Told(const GroupKind& name, Moment now) const {
  std::vector<Slot> told;
  const KindHistory* kind = HistoryOf(name, kinds_);
  if (kind == nullptr) return told;
  for (const auto& [slot, ask] : asks_) {
    if (!IsOf(slot, name) || !ask.found) continue;
    const bool waits = ask.found->object != nullptr || !ask.rows.empty();
    const bool passed = kind->passed && ask.found->version && *kind->passed >= *ask.found->version;
    const bool late = now - ask.found->at > kPassPatience;
    if (!waits || kind->gap || passed || late) told.push_back(slot);
  }
  return told;
}

std::set<GroupKind> Asks::Waiting() const {
  std::set<GroupKind> kinds;
  for (const auto& [slot, ask] : asks_) {
    if (ask.found) kinds.insert(GroupKindOf(slot));
  }
  return kinds;
}

}  // namespace truce
