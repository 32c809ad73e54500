#include "webhook/watch/history.h"

#include <utility>

namespace truce {
namespace {

constexpr const char* kNone = "none";

GroupKind KindFor(const ProviderConfigName& config) { return {config.group, config.kind}; }

}  // namespace

void ConfigHistory::Serve(const ServedKind& kind) { served_[{kind.group, kind.kind}] = kind; }

const ServedKind* ConfigHistory::KindOf(const ProviderConfigName& config) const {
  const auto at = served_.find(KindFor(config));
  return at == served_.end() ? nullptr : &at->second;
}

void ConfigHistory::BeginList(const GroupKind& kind) {
  for (auto& [config, entry] : entries_) {
    if (KindFor(config) != kind) continue;
    entry.listed = false;
    entry.gap = true;
  }
}

void ConfigHistory::FinishList(const GroupKind& kind) {
  std::erase_if(entries_,
                [&](const auto& one) { return KindFor(one.first) == kind && !one.second.listed; });
}

// What changed and changed back within a gap cannot be told from what never changed.
void ConfigHistory::Enter(std::string fields, std::optional<ClusterVersion> version, Entry& entry) {
  const bool gap = std::exchange(entry.gap, false) && entry.last != version;
  if (gap) {
    entry.before.reset();
  } else if (entry.now.fields == fields) {
    entry.last = version;
    return;
  } else {
    entry.before = std::move(entry.now);
  }
  entry.now = {std::move(fields), version};
  entry.last = version;
}

void ConfigHistory::Saw(const ProviderConfigName& config, std::optional<ClusterVersion> version,
                        std::string fields) {
  const auto [at, first] = entries_.try_emplace(config);
  at->second.listed = true;
  if (first) {
    at->second.now = {std::move(fields), version};
    at->second.last = version;
    return;
  }
  Enter(std::move(fields), version, at->second);
}

void ConfigHistory::Gone(const ProviderConfigName& config, std::optional<ClusterVersion> version) {
  const auto at = entries_.find(config);
  if (at != entries_.end()) Enter({}, version, at->second);
}

std::map<ProviderConfigName, std::string> ConfigHistory::Fields() const {
  std::map<ProviderConfigName, std::string> fields;
  for (const auto& [config, entry] : entries_) {
    if (!entry.now.fields.empty()) fields.emplace(config, entry.now.fields);
  }
  return fields;
}

bool ConfigHistory::Knows(const ProviderConfigName& config,
                          std::optional<ClusterVersion> found) const {
  const auto at = entries_.find(config);
  if (!found) return at == entries_.end() || at->second.now.fields.empty();
  return at != entries_.end() && at->second.last && *at->second.last >= *found;
}

std::optional<std::string> ConfigHistory::Throughout(const ProviderConfigName& config,
                                                     ClusterVersion from, ClusterVersion to) const {
  const auto at = entries_.find(config);
  if (at == entries_.end()) return kNone;
  const auto covers = [&](const Epoch& epoch) { return epoch.since && *epoch.since <= from; };
  const auto shown = [](const Epoch& epoch) {
    return epoch.fields.empty() ? std::string(kNone) : epoch.fields;
  };
  const Entry& entry = at->second;
  if (covers(entry.now)) return shown(entry.now);
  // What changed only after the end does not concern it.
  const bool later = entry.now.since && *entry.now.since > to;
  if (later && entry.before && covers(*entry.before)) return shown(*entry.before);
  return std::nullopt;
}

}  // namespace truce
