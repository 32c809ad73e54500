// OwnerFinder: which resources have this id, name, ARN or service, as a store tells that finds them
// itself.
#ifndef TRUCE_REGISTRY_STORE_OWNER_FINDER_H_
#define TRUCE_REGISTRY_STORE_OWNER_FINDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/terms.h"

namespace truce {

// Services by name, with the number of their keys.
struct ServiceCount {
  std::string service;
  std::size_t keys = 0;

  bool operator==(const ServiceCount&) const = default;
};

// Answers where to look, perhaps of a state that is past by now: whoever asks reads the owners of
// the keys and passes over those that do not fit. Thread-safe. Errors of all: kUnavailable,
// kDeadlineExceeded, kDataLoss.
class OwnerFinder {
 public:
  virtual ~OwnerFinder() = default;

  // At most `limit` keys, in order, whose owner has, or may have, that id (for each of `ids`), name
  // (whatever the case of its Latin letters) or ARN. Empty ones are nobody's.
  using KeysById = std::map<PublicId, std::vector<KeyText>>;
  virtual Result<KeysById> WithIds(const std::vector<PublicId>& ids, std::size_t limit,
                                   Deadline deadline) const = 0;
  virtual Result<std::vector<KeyText>> WithName(std::string_view name, std::size_t limit,
                                                Deadline deadline) const = 0;
  virtual Result<std::vector<KeyText>> WithArn(std::string_view arn, std::size_t limit,
                                               Deadline deadline) const = 0;
  // The first `limit` keys of the service that follow `after`, in order. Takes time in proportion
  // to all keys of the service.
  virtual Result<std::vector<KeyText>> OfService(const std::string& service, const KeyText& after,
                                                 std::size_t limit, Deadline deadline) const = 0;
  // At most `limit` services that follow `after`, by name. May pass over all ownerships.
  virtual Result<std::vector<ServiceCount>> Services(const std::string& after, std::size_t limit,
                                                     Deadline deadline) const = 0;
  // Namespaces in which objects of these kinds may be, of a cluster; at most kNamespacesMax of a
  // kind.
  static constexpr std::size_t kNamespacesMax = 10'000;
  virtual Result<std::set<std::string>> NamespacesOf(const std::string& cluster,
                                                     const std::set<GroupKind>& kinds,
                                                     Deadline deadline) const = 0;
  // Calls `count(key, service, number)` until all ownerships were counted. `key` tells type and
  // account as those of the `number` counted do, no more. What comes and goes meanwhile may be
  // missed.
  using CountFn = std::function<void(std::string_view, std::string_view, std::uint64_t)>;
  virtual Result<void> CountAll(const CountFn& count, Deadline deadline) const = 0;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_OWNER_FINDER_H_
