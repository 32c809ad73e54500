// Accounts: which AWS account a ProviderConfig leads to (N6).
#ifndef TRUCE_WEBHOOK_WATCH_ACCOUNTS_H_
#define TRUCE_WEBHOOK_WATCH_ACCOUNTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/base/document.h"
#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/reconcile_store.h"

namespace truce {

using AccountMap = std::map<ProviderConfigName, std::string>;  // → 12 digits

// Whether objects of `kind` are ProviderConfigs of AWS: ProviderConfig of aws.upbound.io,
// aws.crossplane.io and aws.m.upbound.io, ClusterProviderConfig of aws.m.upbound.io, and what is
// one for ACK's objects, their Namespace.
bool IsProviderConfig(const GroupKind& kind);

// Which ProviderConfig `object`, of kind `kind`, is.
ProviderConfigName ProviderConfigNameOf(Value object, const GroupKind& kind);

// The account of the role that `object` ends up in: the last of spec.assumeRoleChain, else the
// community's spec.assumeRole, spec.assumeRoleARN and spec.assumeRoleWithWebIdentity, else the web
// identity of spec.credentials (webIdentity, upbound.webIdentity). Empty when no role with an
// account is named: keys, pod identities and a chain whose last role is not written out say
// nothing.
std::string AccountOfProviderConfig(Value object);

// The endpoint that `object` sends requests to (spec.endpoint), where it is none of AWS's own names
// for its services: LocalStack, or a host that anybody may rent within AWS. Its host has no scheme
// and no path, nor the port that its scheme has anyway; one of more than kHostBytesMax bytes is a
// digest of it.
std::optional<OutsideEndpoint> OutsideEndpointOf(Value object);
inline constexpr std::size_t kHostBytesMax = 253;

// A digest of what the account of the ProviderConfig depends on: its spec as a whole. 16 hex
// digits.
std::string AccountFieldsDigest(Value object);

// All that a ProviderConfig, or a Namespace for ACK's objects in it, says of them.
struct ConfigWords {
  std::string account;  // 12 digits; empty: it says none
  // The fields that it depends on, as a digest; empty: it says nothing at all.
  std::string fields;
  std::string revision;  // of one uid no two specs, or annotations, have the same
  std::optional<OutsideEndpoint> endpoint;
  ConfigDefaults defaults;
};
ConfigWords ReadConfigWords(Value object, const GroupKind& kind);

// "?cluster/group/kind/namespace/name": the account in keys while that of `config` is not known;
// equal to ProvisionalAccountOf any object that refers to it.
std::string ProvisionalAccountFor(const ProviderConfigName& config, std::string_view cluster);

// The known accounts, configured or read from ProviderConfigs; and which of them were given to all
// resources under their provisional accounts. External synchronization.
class Accounts final {
 public:
  // Configuration wins over what is read.
  void Configure(AccountMap configured, AccountParties parties) {
    configured_ = std::move(configured);
    parties_ = std::move(parties);
  }
  // A ProviderConfig was seen; an empty account: it names none (any more). An account once known
  // stays while its ProviderConfig says nothing, or is gone: its resources still exist. kLearned:
  // it had none; kMoved: it had another one.
  enum class News : std::uint8_t { kNone, kLearned, kMoved };
  News Saw(const ProviderConfigName& config, const std::string& account);
  // The inputs of Saw and Brought in an earlier life of the process, from the store.
  void Remember(AccountMap learned, AccountMap brought);

  // Configured and learned together: what reviews are judged by, rule account-party before all.
  AccountMap Effective() const;
  // Those of them that the registry follows. A namespaced ProviderConfig or a Namespace, into which
  // the people of the namespace may write anything, leads to no account that is bound to other
  // namespaces: that rule would refuse its declarations there, which were admitted before the
  // account was known, or before an edit.
  AccountMap Followed() const;
  // Empty: not known.
  std::string AccountFor(const ProviderConfigName& config) const;
  const AccountMap& learned() const { return learned_; }

  // Followed ProviderConfigs whose account is still missing at some resource under their
  // provisional account.
  AccountMap Moving() const;
  // Portions of these are on their way: if they lead back, the finished ones must be undone.
  void Begin(const AccountMap& moving);
  // All portions of these are through.
  void Brought(const AccountMap& moved);
  const AccountMap& brought() const { return brought_; }

 private:
  AccountMap configured_;
  AccountParties parties_;
  AccountMap learned_;
  AccountMap brought_;
};

// `moving` as IdentityRules::moving.
MovingAccounts ProvisionalAccountsOf(const AccountMap& moving, std::string_view cluster);

// Gives resources under provisional accounts their names in the accounts that became known or
// changed, records too: one pass over the resources of the registry, a portion at a time, since
// reviews come first. External synchronization.
class AccountPass final {
 public:
  // Both must outlive it.
  AccountPass(Accounts& accounts, ReconcileStore& store) : accounts_(accounts), store_(store) {}

  // Whether some accounts have not all yet.
  bool wanted() const { return !accounts_.Moving().empty(); }
  // Looks at some resources, and writes at most kPortion rows in one commit, or one resource that
  // has more. True: the pass is through. Which accounts are through is kept in the registry with
  // the last portion: a pass that was cut off begins anew, and what is done is only read. Errors:
  // the store's; to be repeated.
  Result<bool> Step();

 private:
  Result<void> Keep(Accounts accounts);
  Result<ResourceId> Locate();

  Accounts& accounts_;
  ReconcileStore& store_;
  AccountMap moving_;  // Accounts::Moving when the pass that runs began
  ResourceId until_;   // the last one that it looked at
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ACCOUNTS_H_
