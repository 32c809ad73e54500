// The history so far of each ProviderConfig (ConfigHistory), and of each recorded kind
// (KindHistory).
#ifndef TRUCE_WEBHOOK_WATCH_HISTORY_H_
#define TRUCE_WEBHOOK_WATCH_HISTORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/identity/uids.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/kinds.h"
#include "webhook/watch/observed_version.h"

namespace truce {

using ClusterVersion = std::uint64_t;  // a resourceVersion as a number (VersionNumber)

// Which spec a ProviderConfig has: of one uid no two specs have the same generation
// (ConfigWords::revision).
struct SpecMark {
  std::string uid;
  std::string generation;

  bool given() const { return !uid.empty() && !generation.empty(); }
  bool operator==(const SpecMark&) const = default;
};
// Since which version it has had it, as far as is known.
struct KnownSpec {
  SpecMark mark;
  ClusterVersion since = 0;

  bool operator==(const KnownSpec&) const = default;
};
using KnownSpecs = std::map<ProviderConfigName, KnownSpec>;

// The fields that the account of each ProviderConfig depended on, and since which version of the
// cluster. For ends: a provider that was sent to another account finds nothing there and lets go of
// its object, and the resource lives on.
// External synchronization. Bounded by the ProviderConfigs there are: those that are gone are kept
// until the next list of their kind.
class ConfigHistory final {
 public:
  // How objects of this kind are asked for.
  void Serve(const ServedKind& kind);
  // Null: no such kind is served.
  const ServedKind* KindOf(const ProviderConfigName& config) const;

  // Takes over the knowledge of another server about ProviderConfigs with equal uid and generation;
  // gives what is known now.
  void Remember(KnownSpecs specs);
  KnownSpecs Known() const;

  // A list of the kind begins: about the time between it and the last sight only uid and generation
  // say something.
  void BeginList(const GroupKind& kind);
  // It is complete: objects that it did not hold are gone.
  void FinishList(const GroupKind& kind);
  // One version, from a list or the watch; `fields` and `endpoint` by ReadConfigWords. Without
  // fields it counts as none, and needs no mark. Nothing for `version`: it is no number.
  void Saw(const ProviderConfigName& config, std::optional<ClusterVersion> version,
           std::string fields, SpecMark mark, std::optional<OutsideEndpoint> endpoint = {});
  void Gone(const ProviderConfigName& config, std::optional<ClusterVersion> version);

  // Of those that exist: IdentityRules::account_fields.
  std::map<ProviderConfigName, std::string> Fields() const;

  // Whether everything up to the finding of a quorum read has been shown; nothing for `found`: it
  // found none. An answer of yes therefore holds for the time of the read.
  bool Knows(const ProviderConfigName& config, std::optional<ClusterVersion> found) const;
  // The fields that it had at version `at`, as far as is known; else those of now.
  std::string At(const ProviderConfigName& config, ClusterVersion at) const;
  // The fields, if they were the same from version `from` to version `to`; "none" while there was
  // no such ProviderConfig. Nothing: they changed, or are not known.
  std::optional<std::string> Throughout(const ProviderConfigName& config, ClusterVersion from,
                                        ClusterVersion to) const;
  // Whether it is known to have led to `endpoint`, or into AWS, from version `from` to version `to`
  // for as long as it existed.
  bool LedTo(const std::optional<OutsideEndpoint>& endpoint, const ProviderConfigName& config,
             ClusterVersion from, ClusterVersion to) const;

 private:
  struct Epoch {
    std::string fields;                   // empty: it did not exist
    std::optional<ClusterVersion> since;  // the first version with them, as far as is known
    std::optional<OutsideEndpoint> endpoint;
  };
  struct Entry {
    Epoch now;
    std::optional<Epoch> before;
    SpecMark mark;                       // of `now`
    std::optional<ClusterVersion> last;  // the newest version seen
    bool listed = true;                  // the list that runs, or ran last, held it
    bool gap = false;                    // a list runs: the next version may hide others
  };
  static void Enter(Epoch next, SpecMark mark, Entry& entry);
  void Recall(const ProviderConfigName& config, Entry& entry) const;

  std::map<GroupKind, ServedKind> served_;
  std::map<ProviderConfigName, Entry> entries_;
  KnownSpecs remembered_;
};

// Takes the words of the ProviderConfig of `facts` at that time. Where they were others when
// `facts` were read, `facts` tell no end by it.
inline void TakeFields(std::string fields, ObjectFacts& facts) {
  if (facts.is_end_by_config && facts.account_fields != fields) facts.is_end_unknown = true;
  facts.account_fields = std::move(fields);
}

// The history of one recorded kind by its lists and watch since the start. A value of the
// reconciler, which its parts share.
struct KindHistory {
  // How a version came: from a list or read by itself; from the watch, behind the one before it;
  // so, as the object's first.
  enum class Order : std::uint8_t { kAlone, kNext, kFirst };

  struct Version {
    std::optional<ClusterVersion> number;  // nothing: not a number
    std::uint64_t config = 0;              // a digest of its ProviderConfig's name
    // The object's first one; nothing: not seen, or by another ProviderConfig.
    std::optional<ClusterVersion> born;
    // Its status was written at this version or later, by this ProviderConfig; nothing: not known.
    std::optional<ClusterVersion> status_since;
    std::uint64_t status = 0;  // ObservedVersion::status_digest
    // The last one without `Deleting`, or an earlier version of the cluster; nothing: not known.
    std::optional<ClusterVersion> settled;
    std::uint64_t list = 0;  // the last list that held it

    void Take(const ObservedVersion& seen, Order order);
  };

  // The list is another one, or history was lost: the history up to the list before proves nothing.
  void Break() { unbroken = whole = false; }
  // The complete list is applied.
  void Close();
  // A version was seen, and the registry has it.
  void Take(const ObservedVersion& seen, Order order);
  // `settled` for the next server, when the watch has come to `position`.
  std::optional<ClusterVersion> SettledAt(ClusterVersion position);

  FollowedKind followed;
  std::unordered_map<std::string, Version> versions;  // by metadata.uid: the last one seen
  std::unordered_set<std::string> deleting;           // of these; some are not any more
  // From the watch before: each object there is either had a version without `Deleting` at
  // this version or later, or is younger. Nothing: not known.
  std::optional<ClusterVersion> settled;
  // The watch before has stored everything up to here. Nothing: not known.
  std::optional<ClusterVersion> stored;
  std::vector<std::shared_ptr<const ObservedVersion>> collected;  // of the list that runs
  // The list that runs is one for which nothing is lost: its watch goes on from here.
  std::optional<ClusterVersion> goes_on;
  std::uint64_t list = 0;  // number of the list that runs or ran last
  Timestamp list_began{};
  bool complete = false;     // its list waits to be applied
  bool unbroken = false;     // its watch lost nothing since that list was compared with `stored`
  bool whole = false;        // nothing of the kind came and went unseen before that list
  bool gap = true;           // history lost since the last complete list
  bool marked = false;       // this gap is marked: everything stored counts as out of sight
  bool apply_known = false;  // the next list is applied whole, also versions known already
  bool terminating = false;  // its CRD is: deletions of its objects witness nothing
  // Its watch has shown everything up to here; nothing: not since the last gap.
  std::optional<ClusterVersion> passed;

  // A read now would say nothing about the time of the gap.
  bool blind() const { return gap && !marked; }
  // The last version seen; null: none.
  const Version* Find(const Uid& uid) const {
    const auto found = versions.find(std::string(MetadataUid(uid)));
    return found == versions.end() ? nullptr : &found->second;
  }
};

using KindHistories = std::map<GroupKind, KindHistory>;

// Null: no such kind is recorded.
template <typename Kinds>
auto* HistoryOf(const GroupKind& kind, Kinds& kinds) {
  const auto found = kinds.find(kind);
  return found == kinds.end() ? nullptr : &found->second;
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_HISTORY_H_
