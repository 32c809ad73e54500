// ConfigHistory: what the account of each ProviderConfig depended on, and since which version of
// the cluster. For ends: a provider that was sent to another account finds nothing there and lets
// go of its object, and the resource lives on.
#ifndef TRUCE_WEBHOOK_WATCH_CONFIG_HISTORY_H_
#define TRUCE_WEBHOOK_WATCH_CONFIG_HISTORY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "registry/identity/identity.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

using ClusterVersion = std::uint64_t;  // a resourceVersion as a number

// Nothing: it is no number, and cannot be compared.
std::optional<ClusterVersion> VersionNumber(std::string_view version);

// External synchronization. Bounded by the ProviderConfigs there are: those that are gone are kept
// until the next list of their kind.
class ConfigHistory final {
 public:
  // How objects of this kind are asked for.
  void Serve(const ServedKind& kind);
  // Null: no such kind is served.
  const ServedKind* KindOf(const ProviderConfigName& config) const;

  // A list of the kind begins: what lies between it and what was seen before is not known.
  void BeginList(const GroupKind& kind);
  // It is complete: what it did not hold is gone.
  void FinishList(const GroupKind& kind);
  // One version, from a list or the watch; `fields` by AccountFieldsDigest. Nothing for `version`:
  // it is no number.
  void Saw(const ProviderConfigName& config, std::optional<ClusterVersion> version,
           std::string fields);
  void Gone(const ProviderConfigName& config, std::optional<ClusterVersion> version);

  // Of those that exist: IdentityRules::account_fields.
  std::map<ProviderConfigName, std::string> Fields() const;

  // Whether everything up to what a quorum read found has been told; nothing for `found`: it found
  // none. An answer of yes therefore holds for the time of the read.
  bool Knows(const ProviderConfigName& config, std::optional<ClusterVersion> found) const;
  // The fields, if they were the same from version `from` to version `to`; "none" while there was
  // no such ProviderConfig. Nothing: they changed, or nobody can tell.
  std::optional<std::string> Throughout(const ProviderConfigName& config, ClusterVersion from,
                                        ClusterVersion to) const;

 private:
  struct Epoch {
    std::string fields;                   // empty: it did not exist
    std::optional<ClusterVersion> since;  // the first version with them, as far as is known
  };
  struct Entry {
    Epoch now;
    std::optional<Epoch> before;
    std::optional<ClusterVersion> last;  // the newest version seen
    bool listed = true;                  // the list that runs, or ran last, held it
    bool gap = false;                    // a list runs: the next version may hide others
  };
  static void Enter(std::string fields, std::optional<ClusterVersion> version, Entry& entry);

  std::map<GroupKind, ServedKind> served_;
  std::map<ProviderConfigName, Entry> entries_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_CONFIG_HISTORY_H_
