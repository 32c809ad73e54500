#include "webhook/watch/accounts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "registry/base/fingerprint.h"
#include "registry/base/text.h"
#include "registry/identity/ack.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "webhook/watch/kept.h"

namespace truce {
namespace {

// The account of a role ARN, when it is a number.
std::string AccountOfRole(Value role_arn) {
  const std::string_view account = AccountOfArn(StringOf(role_arn));
  return IsAccount(account) ? std::string(account) : std::string();
}

Value LastOf(Value array) {
  Value last;
  if (!array.is_array()) return last;
  for (Value at = array.first(); at.exists(); at = array.next(at)) last = at;
  return last;
}

// Of an endpoint, more services than AWS has.
constexpr std::size_t kServicesMax = 500;

// The flavour whose objects name ProviderConfigs of `kind`; null: these are none.
const FlavourSpec* FlavourOf(const GroupKind& kind) {
  for (const FlavourSpec& flavour : Flavours()) {
    if (flavour.ConfigGroup() != kind.group) continue;
    const bool is_known = kind.kind == flavour.config_kind || kind.kind == flavour.own_config_kind;
    if (is_known) return &flavour;
  }
  return nullptr;
}

}  // namespace

bool IsProviderConfig(const GroupKind& kind) { return FlavourOf(kind) != nullptr; }

ProviderConfigName ProviderConfigNameOf(Value object, const GroupKind& kind) {
  const Value metadata = object.Child("metadata");
  ProviderConfigName name{kind.group, kind.kind, {}, std::string(StringOf(metadata.Child("name")))};
  const FlavourSpec* const flavour = FlavourOf(kind);
  const bool has_namespace = flavour != nullptr && kind.kind == flavour->own_config_kind;
  if (has_namespace) name.ns = StringOf(metadata.Child("namespace"));
  return name;
}

std::string AccountOfProviderConfig(Value object) {
  const Value spec = object.Child("spec");
  // A chain ends in its last role, whether its account can be read or not.
  if (const Value last = LastOf(spec.Child("assumeRoleChain")); last.exists()) {
    return AccountOfRole(last.Child("roleARN"));
  }
  const Value credentials = spec.Child("credentials");
  const std::array roles{
      spec.Child("assumeRole").Child("roleARN"),
      spec.Child("assumeRoleARN"),
      spec.Child("assumeRoleWithWebIdentity").Child("roleARN"),
      credentials.Child("webIdentity").Child("roleARN"),
      credentials.Child("upbound").Child("webIdentity").Child("roleARN"),
  };
  for (const Value role : roles) {
    if (!StringOf(role).empty()) return AccountOfRole(role);
  }
  return {};
}

namespace {

// The "host:port" of "https://host:port/path"; of a text without scheme as well. Without the port
// that the scheme has anyway.
std::string_view PlaceOf(std::string_view url) {
  std::string_view usual;
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    usual = url.starts_with("https") ? ":443" : ":80";
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t user = url.rfind('@'); user != std::string_view::npos) {
    url.remove_prefix(user + 1);
  }
  if (!usual.empty() && url.ends_with(usual)) url.remove_suffix(usual.size());
  return url;
}

// As DNS reads it: in small letters, without the dot of the root.
std::string HostIn(std::string_view place) {
  std::string_view host = place.substr(0, place.find(':'));
  while (host.ends_with('.')) host.remove_suffix(1);
  return LowerOf(host);
}

// "eu-west-1", "us-gov-east-1": two to four letters first, a number last.
bool IsRegion(std::string_view text) {
  const std::size_t first = text.find('-');
  const std::size_t last = text.rfind('-');
  if (first == std::string_view::npos || first == last || first < 2 || first > 4) return false;
  const auto all = [](std::string_view part, auto is) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is);
  };
  return all(text.substr(0, last), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }) &&
         all(text.substr(last + 1), [](char c) { return c >= '0' && c <= '9'; });
}

// AWS's endpoints are "service[.region].suffix", and of a VPC "vpce-….service.region.vpce.suffix".
// Longer names, and other ones, lead to what customers run: load balancers, API gateways, machines.
bool IsEndpointOfAws(std::string_view host) {
  constexpr std::array<std::string_view, 9> kSuffixes{".amazonaws.com",
                                                      ".amazonaws.com.cn",
                                                      ".amazonaws.eu",
                                                      ".api.aws",
                                                      ".api.amazonwebservices.com.cn",
                                                      ".c2s.ic.gov",
                                                      ".sc2s.sgov.gov",
                                                      ".csp.hci.ic.gov",
                                                      ".cloud.adc-e.uk"};
  const auto suffix = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                   [&](std::string_view one) { return host.ends_with(one); });
  if (suffix == kSuffixes.end()) return false;
  host.remove_suffix(suffix->size());
  if (constexpr std::string_view kVpc = ".vpce";
      host.starts_with("vpce-") && host.ends_with(kVpc)) {
    host.remove_suffix(kVpc.size());
    host.remove_prefix(std::min(host.size(), host.find('.') + 1));
  }
  const std::size_t dot = host.find('.');
  if (host.starts_with("vpce-svc")) return false;  // what a customer offers in a VPC
  return !host.empty() && dot != 0 &&
         (dot == std::string_view::npos || IsRegion(host.substr(dot + 1)));
}

}  // namespace

std::optional<OutsideEndpoint> OutsideEndpointOf(Value object) {
  const Value endpoint = object.Child("spec").Child("endpoint");
  if (endpoint.empty()) return std::nullopt;
  const Value url = endpoint.Child("url");
  std::string_view written = StringOf(url.Child("static"));
  // Where the provider puts service and region before the host.
  std::string before;
  if (written.empty()) {
    written = StringOf(url.Child("dynamic").Child("host"));
    before = "service.eu-west-1.";
  }
  if (written.empty()) return std::nullopt;
  const std::string_view place = PlaceOf(written);
  OutsideEndpoint outside{HostIn(place), {}};
  if (IsEndpointOfAws(before + outside.host)) return std::nullopt;
  if (const std::size_t port = place.find(':'); port != std::string_view::npos) {
    outside.host += place.substr(port);
  }
  if (outside.host.size() > kHostBytesMax) {
    Fingerprint digest;
    digest.Add(outside.host);
    outside.host = HexOf(digest.value());
  }
  const Value services = endpoint.Child("services");
  const Value first = services.is_array() ? services.first() : Value();
  for (Value each = first; each.exists(); each = services.next(each)) {
    const std::string_view service = StringOf(each);
    const bool is_name = !service.empty() && std::all_of(service.begin(), service.end(), IsAlnum);
    if (is_name && outside.services.size() < kServicesMax) {
      outside.services.insert(LowerOf(service));
    }
  }
  return outside;
}

std::string AccountFieldsDigest(Value object) { return HexOf(DigestOf(object.Child("spec"))); }

ConfigWords ReadConfigWords(Value object, const GroupKind& kind) {
  const Value metadata = object.Child("metadata");
  const FlavourSpec* const flavour = FlavourOf(kind);
  if (flavour == nullptr || !flavour->config_is_namespace) {
    return {AccountOfProviderConfig(object),
            AccountFieldsDigest(object),
            std::string(metadata.Child("generation").text()),
            OutsideEndpointOf(object),
            {}};
  }
  AckNamespace said = ReadAckNamespace(object);
  // Annotations have no generation.
  return {std::move(said.account),
          std::move(said.fields),
          std::string(StringOf(metadata.Child("resourceVersion"))),
          {},
          std::move(said.defaults)};
}

std::string ProvisionalAccountFor(const ProviderConfigName& config, std::string_view cluster) {
  std::string text = "?";
  text += cluster;
  for (const std::string* part : {&config.group, &config.kind, &config.ns, &config.name}) {
    text.append("/").append(*part);
  }
  return text;
}

Accounts::News Accounts::Saw(const ProviderConfigName& config, const std::string& account) {
  if (account.empty()) return News::kNone;
  const std::string before = AccountFor(config);
  learned_[config] = account;
  if (before == AccountFor(config)) return News::kNone;
  return before.empty() ? News::kLearned : News::kMoved;
}

void Accounts::Remember(AccountMap learned, AccountMap brought) {
  learned_ = std::move(learned);
  brought_ = std::move(brought);
}

AccountMap Accounts::Moving() const {
  AccountMap moving = Followed();
  std::erase_if(moving, [&](const auto& entry) {
    const auto brought = brought_.find(entry.first);
    return brought != brought_.end() && brought->second == entry.second;
  });
  return moving;
}

void Accounts::Begin(const AccountMap& moving) {
  for (const auto& [config, account] : moving) brought_.erase(config);
}

void Accounts::Brought(const AccountMap& moved) {
  for (const auto& [config, account] : moved) brought_[config] = account;
}

MovingAccounts ProvisionalAccountsOf(const AccountMap& moving, std::string_view cluster) {
  MovingAccounts provisional;
  for (const auto& [config, account] : moving) {
    provisional[account].push_back(ProvisionalAccountFor(config, cluster));
  }
  return provisional;
}

AccountMap Accounts::Effective() const {
  AccountMap all = configured_;
  all.insert(learned_.begin(), learned_.end());  // what is there already stays
  return all;
}

AccountMap Accounts::Followed() const {
  AccountMap followed = Effective();
  std::erase_if(followed, [&](const auto& entry) {
    const auto& [config, account] = entry;
    const auto bound = parties_.find(account);
    const std::string& ns = config.group.empty() ? config.name : config.ns;  // a Namespace
    return !ns.empty() && !configured_.contains(config) && bound != parties_.end() &&
           !bound->second.contains(ns);
  });
  return followed;
}

std::string Accounts::AccountFor(const ProviderConfigName& config) const {
  if (const auto found = configured_.find(config); found != configured_.end()) {
    return found->second;
  }
  const auto found = learned_.find(config);
  return found == learned_.end() ? std::string() : found->second;
}

namespace {

constexpr std::size_t kResourcesPage = 256;

std::size_t RowsOf(const Changes& changes) {
  return changes.put_rows.size() + changes.drop_rows.size() + changes.put_owners.size() +
         changes.drop_owners.size() + changes.put_observed.size() + changes.put_objects.size() +
         changes.drop_objects.size() + changes.put_agreements.size() +
         changes.drop_agreements.size() + changes.put_names.size() + changes.drop_names.size() +
         changes.audit.size();
}

using AccountsByProvisionalAccount = std::map<std::string, std::string>;

// Applies to the resource what concerns it.
void LocateOne(const ResourceId& id, const AccountsByProvisionalAccount& accounts, Ledger& ledger) {
  std::set<std::string> own;
  for (const ResourceName& name : ledger.NamesOf(id)) own.insert(AccountIn(name.name));
  for (const Row& row : ledger.RowsOf(id)) own.insert(row.identity.account);
  for (const std::string& provisional_account : own) {
    const auto account = accounts.find(provisional_account);
    if (account == accounts.end()) continue;
    (void)LocateResources({&id, 1}, {account->first, account->second}, ledger);
  }
}

}  // namespace

Result<void> AccountPass::Keep(Accounts accounts) {
  const auto keep = [&](KeptConfigs& kept) { kept.brought = accounts.brought(); };
  TRUCE_RETURN_IF_ERROR(ChangeConfigs(keep, store_));
  accounts_ = std::move(accounts);
  return {};
}

// One portion. Returns the last resource that was looked at; empty: there are no more.
Result<ResourceId> AccountPass::Locate() {
  AccountsByProvisionalAccount accounts;
  for (const auto& [config, account] : moving_) {
    accounts.emplace(ProvisionalAccountFor(config, store_.cluster()), account);
  }
  const auto locate = [&](const ResourceId& id, Ledger& ledger) {
    LocateOne(id, accounts, ledger);
  };
  std::vector<ResourceId> concerned;
  ResourceId last;
  DecisionIds ids;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    concerned.clear();
    last = {};
    std::size_t rows = 0;
    const std::vector<ResourceId> page = facts.ResourcesAfter(until_, kResourcesPage);
    for (const ResourceId& id : page) {
      const Changes made = store_.Outcome(
          facts, [&](Ledger& ledger) { locate(id, ledger); }, ids);
      if (!made.empty()) {
        const std::size_t own = RowsOf(made);
        if (!concerned.empty() && rows + own > kPortion) return;
        rows += own;
        concerned.push_back(id);
      }
      last = id;
    }
    if (page.size() < kResourcesPage) last = {};
  }));
  TRUCE_RETURN_IF_ERROR(store_.WriteEach(concerned, concerned.size(), locate));
  return last;
}

Result<bool> AccountPass::Step() {
  if (AccountMap moving = accounts_.Moving(); moving != moving_) {
    Accounts next = accounts_;
    next.Begin(moving);
    TRUCE_RETURN_IF_ERROR(Keep(std::move(next)));
    moving_ = std::move(moving);
    until_ = {};
  }
  TRUCE_ASSIGN_OR_RETURN(until_, Locate());
  if (!until_.empty()) return false;
  Accounts next = accounts_;
  next.Brought(moving_);
  TRUCE_RETURN_IF_ERROR(Keep(std::move(next)));
  moving_.clear();
  return true;
}

}  // namespace truce
