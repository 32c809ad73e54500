// Accounts: which AWS account a ProviderConfig leads to (design section 3: evidence by strength).
#ifndef TRUCE_WEBHOOK_CLUSTER_RECONCILE_ACCOUNTS_H_
#define TRUCE_WEBHOOK_CLUSTER_RECONCILE_ACCOUNTS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/document.h"
#include "registry/identity/identity.h"
#include "webhook/cluster/reconcile/kinds.h"

namespace truce {

using AccountMap = std::map<ProviderConfigName, std::string>;  // → 12 digits

// Whether objects of `kind` are ProviderConfigs of AWS: ProviderConfig of aws.upbound.io,
// aws.crossplane.io and aws.m.upbound.io, ClusterProviderConfig of aws.m.upbound.io.
bool IsProviderConfig(const GroupKind& kind);

// Which ProviderConfig `object`, of kind `kind`, is.
ProviderConfigName ProviderConfigNameOf(Value object, const GroupKind& kind);

// The account of the role that `object` ends up in: the last of spec.assumeRoleChain, else the
// community's spec.assumeRole, spec.assumeRoleARN and spec.assumeRoleWithWebIdentity, else the web
// identity of spec.credentials (webIdentity, upbound.webIdentity). Empty when no role with an
// account is named: keys, pod identities and a chain whose last role is not written out say
// nothing.
std::string AccountOfProviderConfig(Value object);

// A digest of what the account of the ProviderConfig depends on: its spec as a whole. 16 hex
// digits.
std::string AccountFieldsDigest(Value object);

// "?cluster/group/kind/namespace/name": what stands in keys while the account of `config` is not
// known; equal to StandInOf any object that refers to it.
std::string StandInFor(const ProviderConfigName& config, std::string_view cluster);

// What is known of accounts: configured, and read from ProviderConfigs. External synchronization.
class Accounts final {
 public:
  // What changed for keys: those with `from` (a stand-in, or an account that is wrong now) as the
  // account of their objects.
  struct Change {
    ProviderConfigName config;
    std::string from;
    std::string to;

    bool operator==(const Change&) const = default;
  };

  explicit Accounts(std::string cluster) : cluster_(std::move(cluster)) {}

  // Configuration wins over what is read. Returns what changed.
  std::vector<Change> Configure(AccountMap configured);
  // A ProviderConfig was seen; an empty account: it names none (any more). An account once known
  // stays while its ProviderConfig says nothing, or is gone: what it led to still exists.
  std::optional<Change> Saw(const ProviderConfigName& config, const std::string& account);
  // What Saw learned in an earlier life of the process, from the store.
  void Remember(AccountMap learned) { learned_ = std::move(learned); }

  // Configured and learned together: IdentityRules::accounts of reconciler and admission.
  AccountMap Effective() const;
  const AccountMap& learned() const { return learned_; }

 private:
  std::string AccountFor(const ProviderConfigName& config) const;

  std::string cluster_;
  AccountMap configured_;
  AccountMap learned_;
};

// `learned` as one text for a store setting, and back. Lines that cannot be read are left out.
std::string ToText(const AccountMap& learned);
AccountMap AccountsFromText(std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLUSTER_RECONCILE_ACCOUNTS_H_
