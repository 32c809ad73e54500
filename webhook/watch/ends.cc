#include "webhook/watch/ends.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "registry/identity/evidence.h"

namespace truce {
namespace {

// After that nobody can tell: what ended is left orphaned.
constexpr std::chrono::seconds kEndPatience{30};
// More ends than that do not wait.
constexpr std::size_t kHeldMax = 10'000;

}  // namespace

bool Ends::OfConfig::open() const {
  return !under_way &&
         std::any_of(held.begin(), held.end(), [](const HeldEnd& end) { return !end.asked; });
}

bool Ends::Hold(Sight& end) {
  const ObservedVersion& last = *end.observed;
  const ConfigHistory* configs = store_.ports().configs;
  if (!last.config || !last.facts.terminating || configs == nullptr) return false;
  const ServedKind* kind = configs->KindOf(*last.config);
  if (kind == nullptr) return false;  // no such kind is served: nothing that could change
  const Slot& object = last.facts.slot;
  const KindEntry* entry = store_.rules().catalogue->FindKind(object.group, object.kind);
  const bool in_account = entry != nullptr && entry->type->KeyHasAccount();
  if (!end.settled || !last.facts.version || count_ >= kHeldMax) {
    end.config_changed = true;
    return false;
  }
  const ProviderConfigName& config = *last.config;
  const Slot slot{store_.cluster(), config.group, config.kind, config.ns, config.name};
  OfConfig& one = configs_[slot];
  if (one.held.empty()) {
    one.backoff = Backoff({std::chrono::milliseconds{200}, std::chrono::seconds{5}}, ++seeds_);
    one.due = Moment{};
    one.under_way = false;
  }
  one.get = {*kind, slot};
  one.config = config;
  one.held.push_back({.end = end,
                      .from = *end.settled,
                      .to = *last.facts.version,
                      .by_endpoint = last.facts.deleting && !in_account});
  ++count_;
  return true;
}

void Ends::Gets(Moment now, std::size_t count, std::vector<GetWanted>& wanted) {
  for (auto& [slot, one] : configs_) {
    if (wanted.size() >= count) return;
    for (HeldEnd& end : one.held) {
      if (!end.since) end.since = now;
    }
    if (!one.open() || one.due > now) continue;
    for (HeldEnd& end : one.held) end.asked = true;
    one.under_way = true;
    wanted.push_back(one.get);
  }
}

std::optional<Moment> Ends::GetDue() const {
  std::optional<Moment> due;
  for (const auto& [slot, one] : configs_) {
    if (one.open() && (!due || one.due < *due)) due = one.due;
  }
  return due;
}

bool Ends::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  const auto at = configs_.find(get.slot);
  if (at == configs_.end() || !at->second.under_way) return false;
  OfConfig& one = at->second;
  one.under_way = false;
  std::optional<ClusterVersion> found;
  bool read = answer.ok();
  if (read && !answer.value().objects.empty()) {
    const Result<Document> document = reader_.Read(answer.value().objects.front());
    if (document.ok()) {
      const Value metadata = document.value().root().Child("metadata");
      found = VersionNumber(StringOf(metadata.Child("resourceVersion")));
    }
    read = found.has_value();
  }
  if (!read) one.due = now + one.backoff.Next();
  for (HeldEnd& end : one.held) {
    if (!end.asked || end.answered) continue;
    end.asked = read;
    end.answered = read;
    end.found = found;
  }
  return true;
}

Result<void> Ends::Settle(Moment now) {
  const ConfigHistory* configs = store_.ports().configs;
  for (auto at = configs_.begin(); at != configs_.end();) {
    OfConfig& one = at->second;
    for (auto held = one.held.begin(); held != one.held.end();) {
      const bool known = held->answered && configs->Knows(one.config, held->found);
      const bool late = held->since && now - *held->since > kEndPatience;
      if (!known && !late) {
        ++held;
        continue;
      }
      std::optional<std::string> fields;
      if (known) fields = configs->Throughout(one.config, held->from, held->to);
      Sight end = held->end;
      end.config_changed =
          held->by_endpoint
              ? !known || !configs->LedTo(end.observed->endpoint, one.config, held->from, held->to)
              : !fields;
      if (fields) {
        // As it was then, whatever it is now.
        ObservedVersion observed = *end.observed;
        observed.facts.account_fields = *std::move(fields);
        end.observed = std::make_shared<const ObservedVersion>(std::move(observed));
      }
      TRUCE_RETURN_IF_ERROR(sights_.Apply({std::move(end)}));
      held = one.held.erase(held);
      --count_;
    }
    at = one.held.empty() && !one.under_way ? configs_.erase(at) : std::next(at);
  }
  return {};
}

std::map<GroupKind, ClusterVersion> Ends::Held() const {
  std::map<GroupKind, ClusterVersion> first;
  for (const auto& [slot, one] : configs_) {
    for (const HeldEnd& held : one.held) {
      const auto [at, added] =
          first.try_emplace(GroupKindOf(held.end.observed->facts.slot), held.from);
      if (!added) at->second = std::min(at->second, held.from);
    }
  }
  return first;
}

std::set<GroupKind> Ends::Waiting() const {
  std::set<GroupKind> kinds;
  for (const auto& [slot, one] : configs_) kinds.insert(GroupKindOf(slot));
  return kinds;
}

}  // namespace truce
