// Orders: a server that does not watch the cluster lets the one that does, the leader, carry out a
// command. Orders and their answers are rows of the table "orders".
#ifndef TRUCE_WEBHOOK_API_ORDERS_H_
#define TRUCE_WEBHOOK_API_ORDERS_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "webhook/api/cluster_routes.h"

namespace truce {

class Administration;
class Store;

struct Order {
  enum class Act : std::uint8_t { kStartRecovery, kReleaseBrake };
  enum class State : std::uint8_t {
    kWaiting,   // nobody took it yet
    kTaken,     // the leader carries it out
    kAnswered,  // `count` or `error` has the answer
  };

  std::string id;  // unique
  Act act = Act::kStartRecovery;
  GroupKind kind;  // of a brake; empty: all kinds
  OperatorWord word;
  Timestamp at{};
  State state = State::kWaiting;
  std::uint64_t count = 0;  // of a brake: how many objects are released
  std::string error;        // Name of its code; empty: it was carried out
  std::string message;
};
std::string_view Name(Order::Act act);
std::optional<Order::Act> OrderActFromName(std::string_view name);
std::string_view Name(Order::State state);
std::optional<Order::State> OrderStateFromName(std::string_view name);
template <>
struct ColumnForm<Order::Act> : WordColumn<Order::Act, OrderActFromName> {};
template <>
struct ColumnForm<Order::State> : WordColumn<Order::State, OrderStateFromName> {};
inline constexpr auto kOrdersTable =
    MakeTable<Order>("orders", 1, StoredColumn("id", &Order::id), StoredColumn("act", &Order::act),
                     StoredColumn(
                         "group", [](auto& order) -> auto& { return order.kind.group; }),
                     StoredColumn(
                         "kind", [](auto& order) -> auto& { return order.kind.kind; }),
                     StoredColumn(
                         "actor", [](auto& order) -> auto& { return order.word.actor; }),
                     StoredColumn(
                         "reason", [](auto& order) -> auto& { return order.word.reason; }),
                     StoredColumn("at", &Order::at), StoredColumn("state", &Order::state),
                     StoredColumn("count", &Order::count), StoredColumn("error", &Order::error),
                     StoredColumn("message", &Order::message));

// Thread-safe. Nothing here writes a line into the audit log: the effect of an order does.
class Orders final {
 public:
  // An order that was not taken for so long is void: its caller has got an error. Its row goes.
  static constexpr std::chrono::seconds kOrderLife{60};
  static constexpr std::size_t kOrdersMax = 100;

  explicit Orders(const Clock& clock) : clock_(clock) {}

  // Gives an order, whose id it draws where there is none, and waits until `deadline` for its
  // result: of a brake how many objects are released. An order that the leader did not take is
  // withdrawn. Errors: kUnavailable (no leader took it, or this server ends), kDeadlineExceeded (it
  // was taken, and its result is not known); kResourceExhausted (too many wait); those that the
  // leader answers; those of the store.
  Result<std::uint64_t> Ask(Store& store, Order order, Deadline deadline);
  // Ends all waiting, for good.
  void Stop();

  // The leader's: the orders that wait; they are taken now. Errors: those of the store; kConflict:
  // another server is the leader.
  Result<std::vector<Order>> Take(Store& store, Deadline deadline) const;
  // The leader's: answers an order.
  Result<void> Answer(Store& store, Order order, const Result<std::uint64_t>& outcome,
                      Deadline deadline) const;

 private:
  Result<void> Change(Store& store, const std::function<void(std::vector<Order>&)>& change,
                      Deadline deadline) const;
  // False: it is time to end.
  bool Sleep(std::chrono::milliseconds time);

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;  // under mutex_
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_ORDERS_H_
