// Ends: ends of objects that wait. A provider that was sent to another account or endpoint finds
// nothing there and lets go of its object. So before a witnessed end frees a name, the
// ProviderConfig must be known to have been the same since the last version without `Deleting`; to
// have led to the same endpoint, where the name lies in no account and the provider says that it
// deletes.
#ifndef TRUCE_WEBHOOK_WATCH_ENDS_H_
#define TRUCE_WEBHOOK_WATCH_ENDS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "registry/base/result.h"
#include "webhook/kube/backoff.h"
#include "webhook/watch/asks.h"
#include "webhook/watch/history.h"
#include "webhook/watch/reconcile_store.h"
#include "webhook/watch/sights.h"
#include "webhook/wire/json_reader.h"

namespace truce {

// External synchronization. At most 10,000 wait, for 30 s each; an end that cannot wait, or waited
// in vain, leaves its names orphaned (Sight::config_changed).
class Ends final {
 public:
  // All must outlive it.
  Ends(const ReconcileStore& store, Sights& sights, JsonReader& reader)
      : store_(store), sights_(sights), reader_(reader) {}

  // Whether `end` is held back, since what it frees depends on its ProviderConfig.
  bool Hold(Sight& end);
  // Quorum reads of ProviderConfigs: as Asks. False: it is no answer to one of them.
  void Gets(Moment now, std::size_t count, std::vector<GetWanted>& wanted);
  std::optional<Moment> GetDue() const;
  bool Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer);
  // Applies those about which enough is known now. To be called when a ProviderConfig was seen, and
  // every few seconds. Errors: the store's.
  Result<void> Settle(Moment now);
  // Of each kind with ends that are held back: the first version that shows one of them.
  std::map<GroupKind, ClusterVersion> Held() const;
  // Kinds of ProviderConfigs that something waits for.
  std::set<GroupKind> Waiting() const;

 private:
  struct HeldEnd {
    Sight end;
    ClusterVersion from = 0;  // its last version without `Deleting`
    ClusterVersion to = 0;    // of the end
    // What it says it deletes is the resource, wherever its credentials are from, as long as its
    // ProviderConfig leads to the same endpoint: its name needs no account.
    bool by_endpoint = false;
    bool asked = false;  // after the end
    bool answered = false;
    std::optional<ClusterVersion> found;  // of the ProviderConfig; nothing: there is none
    std::optional<Moment> since;
  };
  struct OfConfig {
    GetWanted get;
    ProviderConfigName config;
    std::vector<HeldEnd> held;
    Moment due{};
    bool under_way = false;
    Backoff backoff{{std::chrono::seconds{1}, std::chrono::seconds{60}}, 0};

    // Some were not asked for yet, and may be.
    bool open() const;
  };

  const ReconcileStore& store_;
  Sights& sights_;
  JsonReader& reader_;
  std::map<Slot, OfConfig> configs_;  // by slot of the ProviderConfig
  std::size_t count_ = 0;
  std::uint64_t seeds_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_ENDS_H_
