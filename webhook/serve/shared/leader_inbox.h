// LeaderInbox: news and orders of the servers of one cluster for their leader, the one that watches
// the cluster. They add to the registry's setting "inbox", which the leader empties; it writes the
// results of orders to "inbox.answers".
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_LEADER_INBOX_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_LEADER_INBOX_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/serve/shared/review_news.h"

namespace truce {

class Store;

// What an operator asked of a server that is not the leader.
struct Order {
  enum class Act : std::uint8_t { kStartRecovery, kReleaseBrake };

  std::string id;  // unique
  Act act = Act::kStartRecovery;
  std::optional<GroupKind> kind;  // of a brake; nothing: all
  OperatorWord word;
  Timestamp at{};
};

struct InboxContents {
  ReviewNews news;
  std::vector<Order> orders;

  bool empty() const { return news.empty() && orders.empty(); }
};

// Thread-safe. Nothing here writes a line into the audit log: the effect of an order does.
class LeaderInbox final {
 public:
  // An order that was not taken for so long is void: its caller has got an error.
  static constexpr std::chrono::seconds kOrderLife{60};
  static constexpr std::size_t kBytesMax = 4 * 1024 * 1024;
  static constexpr std::size_t kOrdersMax = 100;

  explicit LeaderInbox(const Clock& clock) : clock_(clock) {}

  // Adds `news`; if they do not fit, because nobody takes them, they are dropped. Errors: those of
  // the store.
  static Result<void> Tell(Store& store, const ReviewNews& news, Deadline deadline);

  // Gives an order and waits until `deadline` for its result: of a brake how many objects are
  // released. An order that the leader did not take is withdrawn. Errors: kUnavailable (no leader
  // took it, or this server ends), kDeadlineExceeded (it was taken, and its result is not known);
  // kResourceExhausted (too many wait); those that the leader answers; those of the store.
  Result<std::uint64_t> Ask(Store& store, Order order, Deadline deadline);
  // Ends all waiting, for good.
  void Stop();

  // The leader's: takes everything out. Orders that are too old are dropped. Errors: those of the
  // store; kConflict: another server is the leader.
  Result<InboxContents> Take(Store& store, Deadline deadline) const;
  // The leader's: answers an order.
  Result<void> Answer(Store& store, const std::string& order, const Result<std::uint64_t>& outcome,
                      Deadline deadline) const;

 private:
  // False: it is time to end.
  bool Sleep(std::chrono::milliseconds time);

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;  // under mutex_
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_LEADER_INBOX_H_
