// Detector unmatched-provider: service accounts that do what only a provider does, and that the
// setting `providers` does not match.
//
// Rule: in reviews, one service account removed the provider's finalizer from a terminating managed
// resource, or wrote the marks external-create-pending and -succeeded, of kUnmatchedObjects objects
// or more; no setting says that it is a provider, a restorer or a composite controller. Its word
// proves no end (W7), so each deletion leaves an orphaned ownership. Look-alikes that are none:
// people, and an account that does so to one object. False alarm: a job that strips finalizers.
// Memory of this process: after a restart two objects more are needed. It ends when the setting
// matches. Mode warn.
#ifndef TRUCE_WEBHOOK_FINDINGS_UNMATCHED_PROVIDERS_H_
#define TRUCE_WEBHOOK_FINDINGS_UNMATCHED_PROVIDERS_H_

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "webhook/findings/findings_book.h"

namespace truce {

inline constexpr std::size_t kUnmatchedObjects = 2;

// What somebody did to an object that only a provider does.
struct ProviderAct {
  std::string user;
  Slot slot;

  auto operator<=>(const ProviderAct&) const = default;
};

// External synchronization.
class UnmatchedProviders final {
 public:
  // More users are not kept, nor more objects of each.
  static constexpr std::size_t kUsersMax = 100;
  static constexpr std::size_t kObjectsMax = 100;

  void OnAct(const ProviderAct& act, Timestamp now);
  // `matched`: patterns of users that are known for what they are; those are forgotten.
  std::vector<LiveFinding> Find(std::span<const std::string> matched);

 private:
  struct Acts {
    std::set<Slot> objects;
    Timestamp since{};
  };
  std::map<std::string, Acts> users_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_UNMATCHED_PROVIDERS_H_
