#include "webhook/watch/history.h"

#include <algorithm>
#include <utility>

#include "registry/base/fingerprint.h"

namespace truce {
namespace {

constexpr const char* kNone = "none";

std::uint64_t DigestOf(const ProviderConfigName& config) {
  Fingerprint digest;
  for (const std::string* part : {&config.group, &config.kind, &config.ns, &config.name}) {
    digest.Add(*part);
  }
  return digest.value();
}

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

void ConfigHistory::Remember(KnownSpecs specs) {
  remembered_ = std::move(specs);
  for (auto& [config, entry] : entries_) Recall(config, entry);
}

void ConfigHistory::Recall(const ProviderConfigName& config, Entry& entry) const {
  const auto at = remembered_.find(config);
  if (at == remembered_.end() || at->second.mark != entry.mark || !entry.now.since) return;
  entry.now.since = std::min(*entry.now.since, at->second.since);
}

KnownSpecs ConfigHistory::Known() const {
  KnownSpecs specs;
  for (const auto& [config, entry] : entries_) {
    if (entry.mark.given() && entry.now.since) specs[config] = {entry.mark, *entry.now.since};
  }
  return specs;
}

// Without a mark what changed and changed back within a gap cannot be told from what never changed.
void ConfigHistory::Enter(Epoch next, SpecMark mark, Entry& entry) {
  const bool same = entry.last == next.since || (mark.given() && mark == entry.mark);
  const bool gap = std::exchange(entry.gap, false) && !same;
  entry.mark = std::move(mark);
  entry.last = next.since;
  if (gap) {
    entry.before.reset();
  } else if (entry.now.fields == next.fields) {
    return;
  } else {
    entry.before = std::move(entry.now);
  }
  entry.now = std::move(next);
}

void ConfigHistory::Saw(const ProviderConfigName& config, std::optional<ClusterVersion> version,
                        std::string fields, SpecMark mark,
                        std::optional<OutsideEndpoint> endpoint) {
  const auto [at, first] = entries_.try_emplace(config);
  Entry& entry = at->second;
  entry.listed = true;
  Epoch seen{std::move(fields), version, std::move(endpoint)};
  if (!first) return Enter(std::move(seen), std::move(mark), entry);
  entry.now = std::move(seen);
  entry.mark = std::move(mark);
  entry.last = version;
  Recall(config, entry);
}

void ConfigHistory::Gone(const ProviderConfigName& config, std::optional<ClusterVersion> version) {
  const auto at = entries_.find(config);
  if (at != entries_.end()) Enter({{}, version, {}}, {}, at->second);
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

std::string ConfigHistory::At(const ProviderConfigName& config, ClusterVersion at) const {
  if (const auto known = Throughout(config, at, at)) return *known;
  const std::string& now = entries_.at(config).now.fields;
  return now.empty() ? kNone : now;
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
  // A change after the end does not concern it.
  const bool later = entry.now.since && *entry.now.since > to;
  if (later && entry.before && covers(*entry.before)) return shown(*entry.before);
  return std::nullopt;
}

bool ConfigHistory::LedTo(const std::optional<OutsideEndpoint>& endpoint,
                          const ProviderConfigName& config, ClusterVersion from,
                          ClusterVersion to) const {
  const auto at = entries_.find(config);
  if (at == entries_.end()) return true;
  const auto covers = [&](const Epoch& epoch) { return epoch.since && *epoch.since <= from; };
  const auto leads = [&](const Epoch& epoch) {
    return epoch.fields.empty() || epoch.endpoint == endpoint;
  };
  const auto& [now, before, mark, last, listed, gap] = at->second;
  if (covers(now)) return leads(now);
  const bool later = now.since && *now.since > to;
  return before && covers(*before) && leads(*before) && (later || leads(now));
}

void KindHistory::Close() {
  collected.clear();
  collected.shrink_to_fit();
  complete = false;
  apply_known = false;
  goes_on.reset();
}

void KindHistory::Version::Take(const ObservedVersion& seen, Order order) {
  const std::uint64_t named = seen.config ? DigestOf(*seen.config) : 0;
  if (order == Order::kFirst) {
    born = status_since = seen.facts.version;
  } else if (!number || config != named) {
    born.reset();
    status_since.reset();
  } else if (status != seen.status_digest) {
    status_since = order == Order::kNext ? seen.facts.version : *number + 1;
  }
  number = seen.facts.version;
  config = named;
  status = seen.status_digest;
  if (seen.ready.reason != "Deleting") settled = seen.facts.version;
}

void KindHistory::Take(const ObservedVersion& seen, Order order) {
  const std::string uid(MetadataUid(seen.facts.uid));
  Version& known = versions.try_emplace(uid, Version{.settled = settled}).first->second;
  known.Take(seen, order);
  known.list = list;
  if (known.settled != known.number) deleting.insert(uid);
}

std::optional<ClusterVersion> KindHistory::SettledAt(ClusterVersion position) {
  std::optional<ClusterVersion> first = position;
  std::erase_if(deleting, [&](const std::string& uid) {
    const auto at = versions.find(uid);
    if (at == versions.end() || at->second.settled == at->second.number) return true;
    first = std::min(first, at->second.settled);  // nothing is less than any
    return false;
  });
  return first;
}

}  // namespace truce
