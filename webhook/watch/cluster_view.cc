#include "webhook/watch/cluster_view.h"

#include <utility>

#include "registry/base/name_table.h"

namespace truce {
namespace {

using Sort = WatchGap::Sort;

constexpr NameTable<Sort::kObjectUnresolved> kSorts("recovery", "definitions-unknown",
                                                    "moving-account", "unlisted-type",
                                                    "given-up-type", "unwatched-kind",
                                                    "unmapped-kind", "unseen-kind",
                                                    "kind-unresolved", "object-unresolved");

std::vector<WatchGap> GapsOf(const PublishedView& published) {
  const ClusterView& view = published.view;
  std::vector<WatchGap> gaps;
  if (!view.recovery.empty()) gaps.push_back({Sort::kRecovery, "", {}, view.recovery, {}});
  if (!view.learned.definitions_known) gaps.push_back({Sort::kDefinitionsUnknown, "", {}, "", {}});
  for (const auto& [account, provisional_accounts] : view.learned.moving) {
    for (const std::string& each : provisional_accounts) {
      gaps.push_back({Sort::kMoving, each, {}, account, {}});
    }
  }
  for (const auto& [type, is_given_up] : view.unlisted) {
    gaps.push_back({is_given_up ? Sort::kGivenUpType : Sort::kUnlistedType, type, {}, "", {}});
  }
  for (const GroupKind& kind : view.unwatched) {
    gaps.push_back({Sort::kUnwatchedKind, "", kind, "", {}});
  }
  for (const auto& [kind, since] : view.unmapped) {
    gaps.push_back({Sort::kUnmappedKind, "", kind, "", since});
  }
  for (const auto& [kind, since] : published.unseen) {
    gaps.push_back({Sort::kUnseenKind, "", kind, "", since});
  }
  for (const auto& [kind, reason] : published.unresolved.kinds) {
    gaps.push_back({Sort::kKindUnresolved, "", kind, reason, {}});
  }
  for (const auto& [slot, reason] : published.unresolved.slots) {
    gaps.push_back({Sort::kObjectUnresolved, ToText(slot), {}, reason, {}});
  }
  return gaps;
}

void Add(WatchGap gap, PublishedView& published) {
  ClusterView& view = published.view;
  const Timestamp since = gap.since.value_or(Timestamp{});
  switch (gap.sort) {
    case Sort::kRecovery: view.recovery = std::move(gap.text); return;
    case Sort::kDefinitionsUnknown: view.learned.definitions_known = false; return;
    case Sort::kMoving: view.learned.moving[gap.text].push_back(std::move(gap.subject)); return;
    case Sort::kUnlistedType: view.unlisted[gap.subject] = false; return;
    case Sort::kGivenUpType: view.unlisted[gap.subject] = true; return;
    case Sort::kUnwatchedKind: view.unwatched.insert(std::move(gap.kind)); return;
    case Sort::kUnmappedKind: view.unmapped[gap.kind] = since; return;
    case Sort::kUnseenKind: published.unseen[gap.kind] = since; return;
    case Sort::kKindUnresolved: published.unresolved.kinds[gap.kind] = std::move(gap.text); return;
    case Sort::kObjectUnresolved: break;
  }
  if (const auto slot = SlotFromText(gap.subject)) {
    published.unresolved.slots[*slot] = std::move(gap.text);
  }
}

std::vector<TableRow> ConfigRows(const LearnedIdentity& learned) {
  std::map<ProviderConfigName, ViewedConfig> configs;
  for (const auto& [name, account] : learned.accounts) configs[name].account = account;
  for (const auto& [name, endpoint] : learned.outside) {
    configs[name].endpoint = endpoint.host;
    configs[name].services = endpoint.services;
  }
  for (const auto& [name, defaults] : learned.defaults) configs[name].defaults = defaults;
  std::vector<TableRow> rows;
  for (auto& [name, config] : configs) {
    config.name = name;
    rows.push_back(kViewedConfigsTable.Row(config));
  }
  return rows;
}

// Nothing: a row cannot be read. Half a view would call names free that are not.
std::optional<PublishedView> ViewOf(const TableContents& contents) {
  auto configs = kViewedConfigsTable.Values(contents.at(kViewedConfigsTable));
  auto definitions = kDefinitionsTable.Values(contents.at(kDefinitionsTable));
  auto gaps = kWatchGapsTable.Values(contents.at(kWatchGapsTable));
  if (!configs || !definitions || !gaps) return std::nullopt;
  PublishedView published;
  LearnedIdentity& learned = published.view.learned;
  published.view.ready = true;
  learned.definitions_known = true;
  for (ViewedConfig& config : *configs) {
    if (!config.account.empty()) learned.accounts[config.name] = std::move(config.account);
    if (config.endpoint) {
      learned.outside[config.name] = {*std::move(config.endpoint), std::move(config.services)};
    }
    if (config.defaults != ConfigDefaults()) {
      learned.defaults[config.name] = std::move(config.defaults);
    }
  }
  for (DefinedKind& defined : *definitions) {
    if (defined.claims.kind.empty()) {
      learned.composites.insert(std::move(defined.kind));
    } else {
      learned.claims[std::move(defined.kind)] = std::move(defined.claims);
    }
  }
  for (WatchGap& gap : *gaps) Add(std::move(gap), published);
  return published;
}

}  // namespace

std::string_view Name(Sort sort) { return kSorts.Of(sort); }
std::optional<Sort> WatchGapSortFromName(std::string_view name) { return kSorts.Find(name); }

TableContents ContentsOf(const PublishedView& published) {
  const LearnedIdentity& learned = published.view.learned;
  std::vector<DefinedKind> definitions;
  for (const GroupKind& composite : learned.composites) definitions.push_back({composite, {}});
  for (const auto& [claim, composite] : learned.claims) definitions.push_back({claim, composite});
  return {{kViewedConfigsTable, ConfigRows(learned)},
          {kDefinitionsTable, kDefinitionsTable.Rows(definitions)},
          {kWatchGapsTable, kWatchGapsTable.Rows(GapsOf(published))}};
}

Result<bool> ViewReader::Read(const Store& store, Deadline now, Deadline deadline) {
  const std::optional<PublishedVersion> before = tables_.version();
  TRUCE_RETURN_IF_ERROR(tables_.Read(store, deadline));
  const std::optional<PublishedVersion>& version = tables_.version();
  const bool is_first = !std::exchange(has_read_, true);
  if (!is_first && version != before) sign_ = now;
  // Nobody has shown a sign since this server began to read.
  if (sign_ == Deadline{} || !version) return false;
  const bool is_new = taken_ != version->version;
  if (is_new) {
    std::optional<PublishedView> published = ViewOf(tables_.contents());
    if (!published) {
      return Error{ErrorCode::kDataLoss,
                   "the view of the server that watches the cluster cannot be read"};
    }
    latest_ = std::move(published);
    latest_->view.is_published = true;
    latest_->view.life = life_;
    taken_ = version->version;
  }
  life_->Extend(std::min(now + kConfirmed, sign_ + kSign));
  return is_new;
}

}  // namespace truce
