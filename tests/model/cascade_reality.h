// The things that a cascade world is made of: objects as an API server keeps them, ProviderConfigs,
// what AWS has; and dice.
#ifndef TRUCE_TESTS_MODEL_CASCADE_REALITY_H_
#define TRUCE_TESTS_MODEL_CASCADE_REALITY_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/identity/identity.h"

namespace truce {

// Splitmix64: one per step of a history, so that a step that is left out changes no other one.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t step) : state_(Mixed(Mixed(seed + kOdd) + step * kOdd)) {}

  std::uint64_t Next() { return Mixed(state_ += kOdd); }
  double Share() { return static_cast<double>(Next() >> 11U) / static_cast<double>(1ULL << 53U); }
  bool Chance(double share) { return Share() < share; }
  std::size_t Pick(std::size_t count) { return Next() % count; }
  template <typename T>
  T Of(std::initializer_list<T> values) {
    return *std::next(values.begin(), static_cast<std::ptrdiff_t>(Pick(values.size())));
  }

 private:
  static std::uint64_t Mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }

  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state_;
};

inline constexpr const char* kBucketType = "s3/Bucket";          // unique in the world
inline constexpr const char* kQueueType = "sqs/Queue";           // per account; its status shows it
inline constexpr const char* kTableType = "dynamodb/Table";      // per account; its status does not
inline constexpr const char* kGroupType = "ec2/security-group";  // AWS gives it an id

// A version of a claim, composite or managed resource.
struct Thing {
  enum class Sort : std::uint8_t { kClaim, kComposite, kManaged };

  Sort sort = Sort::kManaged;
  Slot slot;
  std::string uid;            // empty: not made yet
  std::uint64_t version = 0;  // 0: not stored yet
  std::string type = kBucketType;
  std::string name;       // of the resource; empty: its fields do not tell it
  std::string id;         // the external name of a security group
  std::string reference;  // the name, once its provider has resolved a reference
  std::string config = "one";
  Intent intent = Intent::kDeletes;
  bool terminating = false;
  bool finalizer = false;
  bool deleting = false;                                   // Ready=False Deleting, Synced=True
  bool ready = false;                                      // Ready=True
  bool announced = false;                                  // external-create-pending
  std::uint64_t wrote = 0;                                 // the version of its status
  std::string shown;                                       // the account in its status
  std::optional<std::pair<std::string, Slot>> controller;  // owner reference: uid, slot
  bool composed = false;
  std::string label;  // crossplane.io/composite
  std::optional<Slot> claim;
  std::vector<Slot> refs;  // resourceRef(s)
  std::string transfer_to;

  // What only the oracle knows.
  std::uint64_t born = 0;  // its first version
  std::string party;       // who made it, or had Crossplane make it
  bool exempt = false;     // not judged by an enforcing Truce that could know: no promise
  bool licensed = false;   // what it adopts is another party's, by binding or transfer
  bool moved = false;      // it declared something else before
  bool forged = false;     // its status was written by its party
  bool let_go = false;     // its provider found nothing, and Truce had seen all that was before
  bool alone = false;      // whose chain it was, is lost
  std::vector<std::string> judged;  // the names it had when it was admitted
  std::string first;  // the provisional account's name by which it came to mean its target

  bool managed() const { return sort == Sort::kManaged; }
  bool has_account() const { return type == kQueueType || type == kTableType; }
};

struct CloudConfig {  // a ProviderConfig
  std::string account;
  bool shown = false;  // by a role ARN
  std::uint64_t version = 0;

  bool operator==(const CloudConfig&) const = default;
};

// What Truce knows of one: an account once read stays.
struct ConfigView {
  CloudConfig seen;
  std::string account;  // empty: not known
};

struct CloudResource {
  std::string party;
  bool exempt = false;
  bool imported = false;
  std::set<std::string>
      by;             // provisional accounts' names by which its party's own objects meant it
  bool seen = false;  // the registry had its located name
  std::optional<Slot> alone;  // see Thing::alone
};

struct ThingEvent {
  Thing thing;
  bool deleted = false;
};

}  // namespace truce

#endif  // TRUCE_TESTS_MODEL_CASCADE_REALITY_H_
