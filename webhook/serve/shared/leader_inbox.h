// LeaderInbox: by what the servers of one cluster tell their leader, the one that watches the
// cluster, what it must know and do: the setting "inbox" of the registry, to which they add and
// which the leader empties, and "inbox.answers", in which it says what came of orders.
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

// Thread-safe. None of it writes a line into the audit log: what comes of an order does.
class LeaderInbox final {
 public:
  // An order that was not taken for so long is none any more: who gave it was told so.
  static constexpr std::chrono::seconds kOrderLife{60};
  static constexpr std::size_t kBytesMax = 4 * 1024 * 1024;
  static constexpr std::size_t kOrdersMax = 100;

  explicit LeaderInbox(const Clock& clock) : clock_(clock) {}

  // Adds `news`; where they no longer fit nobody takes them, and they are dropped. Errors: those of
  // the store.
  static Result<void> Tell(Store& store, const ReviewNews& news, Deadline deadline);

  // Gives an order and waits until `deadline` for what comes of it: of a brake how many objects are
  // released. Where the leader did not take it, it is withdrawn. Errors: kUnavailable (no leader
  // took it, or this server ends), kDeadlineExceeded (it was taken, and what came of it is not
  // known); kResourceExhausted (too many wait); those that the leader answers; those of the store.
  Result<std::uint64_t> Ask(Store& store, Order order, Deadline deadline);
  // Ends all waiting, for good.
  void Stop();

  // The leader's: takes everything out. Orders that are too old are dropped. Errors: those of the
  // store; kConflict: another server is the leader.
  Result<InboxContents> Take(Store& store, Deadline deadline) const;
  // The leader's: says what came of an order.
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
