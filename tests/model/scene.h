// Short ways to say what an object declares, for tests of the ownership core.
#ifndef TRUCE_TESTS_MODEL_SCENE_H_
#define TRUCE_TESTS_MODEL_SCENE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/sight.h"
#include "registry/store/store.h"
#include "tests/support/invariants.h"
#include "tests/support/store_contents.h"

namespace truce::scene {

inline constexpr const char* kCrossplane = "system:serviceaccount:crossplane-system:crossplane";
inline constexpr const char* kRestorer = "system:serviceaccount:velero:velero";
inline constexpr const char* kProvider =
    "system:serviceaccount:crossplane-system:provider-aws-s3-1";

// The key of bucket `name`, and what declares it with `intent`.
KeyText BucketKey(const std::string& name);
DeclaredResource Bucket(const std::string& name, Intent intent);

Slot SlotOf(const std::string& kind, const std::string& ns, const std::string& name);

// A managed resource that declares one bucket. `version` is its resourceVersion.
ObjectFacts ManagedBucket(const Slot& slot, const std::string& uid, const std::string& bucket,
                          Intent intent, std::uint64_t version);
// A queue as an object declares it: a type whose key has an account.
struct Queue {
  std::string name;
  std::string config;        // its ProviderConfig
  std::string account;       // known by configuration; empty: not
  std::string observed;      // shown by its status; empty: not
  std::string fields = "0";  // what its account depends on (ObjectFacts::account_fields)

  // "?local/aws.upbound.io/ProviderConfig//<config>"
  std::string ProvisionalAccount() const;
};
// The name of the queue under an account or provisional account.
KeyText QueueName(const std::string& name, const std::string& account);
// A managed resource that declares one queue. `version` is its resourceVersion.
ObjectFacts ManagedQueue(const Slot& slot, const std::string& uid, const Queue& queue,
                         Intent intent, std::uint64_t version);
// A claim or composite; `bucket` empty: declares nothing.
ObjectFacts Composite(const Slot& slot, const std::string& uid, const std::string& bucket,
                      std::uint64_t version);

ObjectRef RefTo(const Slot& slot, const std::string& uid);

// The resource to which the name belongs; empty: nobody has it.
ResourceId IdNamed(const KeyText& name, const Facts& facts);
ResourceId IdNamed(const KeyText& name, const Ledger& ledger);

// A store, a clock that the test moves, and the calls that the webhook and the watch would make.
// Checks the invariants after every call. External synchronization.
class Registry {
 public:
  explicit Registry(Store& store) : store_(store) {}

  Decision Create(const ObjectFacts& object, const std::string& user = "dev",
                  Mode mode = Mode::kEnforce);
  Decision Update(const ObjectFacts& old_object, const ObjectFacts& object,
                  const std::string& user = "dev", Mode mode = Mode::kEnforce);
  Decision Delete(const ObjectFacts& object);
  Decision Ask(const ReviewRequest& request);
  void See(const ObjectFacts& object, bool out_of_sight = false);
  void SeeDeleted(const ObjectFacts& last, const Ending& ending = {});
  void Prove(const RowId& row, const Proof& proof);
  void Absent(const RowId& row);
  // An operator releases what has the name; `watched`: a watch shows the objects of all clusters.
  ReleaseOutcome Release(const KeyText& name, bool watched = true);
  void Run(const std::function<void(Ledger&)>& change);
  // The same for a change that passes over the whole registry.
  void RunOnAll(const std::function<void(const AllFacts&, Ledger&)>& change);

  // An object that manages `bucket`, created and seen to exist.
  ObjectFacts Live(const Slot& slot, const std::string& uid, const std::string& bucket);

  void Advance(std::chrono::milliseconds time) { now_ += time; }
  Timestamp now() const { return now_; }
  StoreContents Contents() const;
  // The resource to which the name belongs: its id (empty: nobody has the name), owner and rows;
  // the same of a bucket.
  ResourceId IdNamed(const KeyText& name) const;
  std::optional<Owner> OwnerNamed(const KeyText& name) const;
  std::vector<Row> RowsNamed(const KeyText& name) const;
  ResourceId IdOf(const std::string& bucket) const { return IdNamed(BucketKey(bucket)); }
  std::optional<Owner> OwnerOf(const std::string& bucket) const {
    return OwnerNamed(BucketKey(bucket));
  }
  std::vector<Row> RowsOf(const std::string& bucket) const { return RowsNamed(BucketKey(bucket)); }
  std::vector<ResourceName> NamesOf(const ResourceId& id) const;
  // The request of the last Create or Update, to be sent again.
  const ReviewRequest& last_request() const { return last_request_; }

  PartyRules parties;
  MovingAccounts moving;
  bool status_guarded = true;
  ReservationLimits limits;

 private:
  void Apply(const DecideFn& decide);
  void Read(const ReadFn& read) const;
  PublicId NewId();

  Store& store_;
  Timestamp now_{std::chrono::hours{1000}};
  std::uint64_t reviews_ = 0;
  std::uint64_t ids_ = 0;
  ReviewRequest last_request_;
};

}  // namespace truce::scene

#endif  // TRUCE_TESTS_MODEL_SCENE_H_
