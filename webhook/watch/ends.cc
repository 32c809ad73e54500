// Ends that wait: a provider that was sent to another account finds nothing there and lets go of
// its object. So before a witnessed end frees a name that lies in an account, the ProviderConfig
// must be known to have been the same since the last version without `Deleting`.
#include <algorithm>
#include <utility>

#include "webhook/watch/config_history.h"
#include "webhook/watch/reconciler.h"

namespace truce {
namespace {

// After that nobody can tell: what ended is left orphaned.
constexpr std::chrono::seconds kEndPatience{30};
// More ends than that do not wait.
constexpr std::size_t kHeldMax = 10'000;

Slot SlotFor(const ProviderConfigName& config, const std::string& cluster) {
  return {cluster, config.group, config.kind, config.ns, config.name};
}

}  // namespace

// Whether the end is held back, since what it frees depends on its ProviderConfig.
bool Reconciler::Hold(Item& item, std::optional<ClusterVersion> settled) {
  const Sighting& last = *item.sighting;
  if (!last.config || !last.facts.deleting || ports_.configs == nullptr) return false;
  const ServedKind* kind = ports_.configs->KindOf(*last.config);
  if (kind == nullptr) return false;  // no such kind is served: nothing that could change
  if (!settled || !last.facts.version || held_ends_ >= kHeldMax) {
    item.config_changed = true;
    return false;
  }
  EndAsk& ask = end_asks_[SlotFor(*last.config, rules_->identity.cluster)];
  if (ask.ends.empty()) {
    ask.backoff = Backoff({std::chrono::milliseconds{200}, std::chrono::seconds{5}}, ++ask_seeds_);
    ask.due = Moment{};
    ask.under_way = false;
  }
  ask.get = {*kind, SlotFor(*last.config, rules_->identity.cluster)};
  ask.config = *last.config;
  ask.ends.push_back({.item = item, .from = *settled, .to = *last.facts.version});
  ++held_ends_;
  return true;
}

void Reconciler::GetsOfEnds(Moment now, std::size_t count, std::vector<GetWanted>& wanted) {
  for (auto& [slot, ask] : end_asks_) {
    if (wanted.size() >= count) return;
    for (HeldEnd& end : ask.ends) {
      if (!end.since) end.since = now;
    }
    const bool open = std::any_of(ask.ends.begin(), ask.ends.end(),
                                  [](const HeldEnd& end) { return !end.asked; });
    if (!open || ask.under_way || ask.due > now) continue;
    for (HeldEnd& end : ask.ends) end.asked = true;
    ask.under_way = true;
    wanted.push_back(ask.get);
  }
}

bool Reconciler::GotForEnds(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  const auto at = end_asks_.find(get.slot);
  if (at == end_asks_.end() || !at->second.under_way) return false;
  EndAsk& ask = at->second;
  ask.under_way = false;
  std::optional<ClusterVersion> found;
  bool read = answer.ok();
  if (read && !answer.value().objects.empty()) {
    const Result<Document> document = reader_.Read(answer.value().objects.front());
    read = document.ok();
    if (read)
      found = VersionNumber(
          StringOf(document.value().root().Child("metadata").Child("resourceVersion")));
    read = read && found;
  }
  if (!read) ask.due = now + ask.backoff.Next();
  for (HeldEnd& end : ask.ends) {
    if (!end.asked || end.answered) continue;
    end.asked = read;
    end.answered = read;
    end.found = found;
  }
  return true;
}

Result<void> Reconciler::SettleEnds(Moment now) {
  for (auto at = end_asks_.begin(); at != end_asks_.end();) {
    EndAsk& ask = at->second;
    for (auto end = ask.ends.begin(); end != ask.ends.end();) {
      const bool known = end->answered && ports_.configs->Knows(ask.config, end->found);
      const bool late = end->since && now - *end->since > kEndPatience;
      if (!known && !late) {
        ++end;
        continue;
      }
      std::optional<std::string> fields;
      if (known) fields = ports_.configs->Throughout(ask.config, end->from, end->to);
      Item item = end->item;
      item.config_changed = !fields;
      if (fields) {
        // As it was then, whatever it is now.
        Sighting sighting = *item.sighting;
        sighting.facts.account_fields = *std::move(fields);
        item.sighting = std::make_shared<const Sighting>(std::move(sighting));
      }
      TRUCE_RETURN_IF_ERROR(Apply({std::move(item)}));
      end = ask.ends.erase(end);
      --held_ends_;
    }
    at = ask.ends.empty() && !ask.under_way ? end_asks_.erase(at) : std::next(at);
  }
  return {};
}

}  // namespace truce
