#include "webhook/api/orders.h"

#include <algorithm>
#include <array>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/base/random_id.h"
#include "registry/base/threads.h"
#include "registry/ownership/facts.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"

namespace truce {
namespace {

using OrderState = Order::State;

constexpr std::chrono::milliseconds kAnswerLooked{200};
constexpr std::chrono::seconds kShortTime{2};

constexpr NameTable<Order::Act::kReleaseBrake> kActs("start-recovery", "release-brake");
constexpr NameTable<OrderState::kAnswered> kOrderStates("waiting", "taken", "answered");

constexpr std::array<ErrorCode, 8> kCodes = {
    ErrorCode::kInvalidArgument,   ErrorCode::kNotFound,    ErrorCode::kConflict,
    ErrorCode::kResourceExhausted, ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded,
    ErrorCode::kDataLoss,          ErrorCode::kInternal};

Result<std::uint64_t> OutcomeOf(const Order& order) {
  for (const ErrorCode code : kCodes) {
    if (order.error == Name(code)) return Error{code, order.message};
  }
  if (order.error.empty()) return order.count;
  return Error{ErrorCode::kInternal, "the answer of the server that watches cannot be read"};
}

// Nothing: it was not answered yet.
Result<std::optional<Result<std::uint64_t>>> ReadAnswer(const Store& store, const std::string& id,
                                                        Deadline deadline) {
  std::vector<TableRow> rows;
  const auto read = [&](const Facts& facts) {
    rows = facts.TableRows(kOrdersTable, {TableValue(id)});
  };
  TRUCE_RETURN_IF_ERROR(store.Read({.tables = {kOrdersTable}}, read, deadline));
  for (const Order& order : kOrdersTable.Readable(rows)) {
    if (order.state == OrderState::kAnswered) return std::optional(OutcomeOf(order));
  }
  return std::optional<Result<std::uint64_t>>();
}

}  // namespace

std::string_view Name(Order::Act act) { return kActs.Of(act); }
std::optional<Order::Act> OrderActFromName(std::string_view name) { return kActs.Find(name); }
std::string_view Name(OrderState state) { return kOrderStates.Of(state); }
std::optional<OrderState> OrderStateFromName(std::string_view name) {
  return kOrderStates.Find(name);
}

// `change` may run more than once.
Result<void> Orders::Change(Store& store, const std::function<void(std::vector<Order>&)>& change,
                            Deadline deadline) const {
  const Timestamp now = clock_.Now();
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    std::vector<Order> orders = kOrdersTable.Readable(books.TableRows(kOrdersTable));
    std::erase_if(orders, [&](const Order& order) { return order.at + kOrderLife < now; });
    change(orders);
    books.SetTableRows(kOrdersTable, kOrdersTable.Rows(orders));
  });
}

Result<std::uint64_t> Orders::Ask(Store& store, Order order, Deadline deadline) {
  const BlockingRegion blocking;
  if (order.id.empty()) order.id = NewId();
  order.at = clock_.Now();
  const std::string id = order.id;
  bool is_given = false;
  const auto give = [&](std::vector<Order>& orders) {
    is_given = orders.size() < kOrdersMax;
    if (is_given) orders.push_back(order);
  };
  TRUCE_RETURN_IF_ERROR(Change(store, give, deadline));
  if (!is_given) return Error{ErrorCode::kResourceExhausted, "too many orders wait already"};
  do {
    // A database that does not answer now may in a moment.
    auto answer = ReadAnswer(store, id, In(kShortTime));
    if (answer.ok() && answer.value()) return *std::move(answer).value();
  } while (std::chrono::steady_clock::now() < deadline && Sleep(kAnswerLooked));
  bool is_withdrawn = false;
  const auto withdraw = [&](std::vector<Order>& orders) {
    is_withdrawn = std::erase_if(orders, [&](const Order& each) {
                     return each.id == id && each.state == OrderState::kWaiting;
                   }) > 0;
  };
  TRUCE_RETURN_IF_ERROR(Change(store, withdraw, In(kShortTime)));
  if (is_withdrawn) {
    return Error{ErrorCode::kUnavailable,
                 "no server watches the cluster at present, so nothing was done"};
  }
  TRUCE_ASSIGN_OR_RETURN(auto answer, ReadAnswer(store, id, In(kShortTime)));
  if (answer) return *std::move(answer);
  return Error{ErrorCode::kDeadlineExceeded,
               "the server that watches the cluster took the order and has not answered yet: look "
               "before you repeat it"};
}

Result<std::vector<Order>> Orders::Take(Store& store, Deadline deadline) const {
  // Mostly there is nothing, which costs no transaction.
  std::vector<TableRow> rows;
  const auto look = [&](const Facts& facts) { rows = facts.TableRows(kOrdersTable, {}); };
  TRUCE_RETURN_IF_ERROR(store.Read({.tables = {kOrdersTable}}, look, deadline));
  std::vector<Order> taken;
  if (rows.empty()) return taken;
  const auto take = [&](std::vector<Order>& orders) {
    taken.clear();
    for (Order& order : orders) {
      if (order.state != OrderState::kWaiting) continue;
      order.state = OrderState::kTaken;
      taken.push_back(order);
    }
  };
  TRUCE_RETURN_IF_ERROR(Change(store, take, deadline));
  return taken;
}

Result<void> Orders::Answer(Store& store, Order order, const Result<std::uint64_t>& outcome,
                            Deadline deadline) const {
  order.state = OrderState::kAnswered;
  if (outcome.ok()) {
    order.count = outcome.value();
  } else {
    order.error = Name(outcome.error().code);
    order.message = outcome.error().message;
  }
  const auto answer = [&](std::vector<Order>& orders) {
    std::erase_if(orders, [&](const Order& each) { return each.id == order.id; });
    orders.push_back(order);
  };
  return Change(store, answer, deadline);
}

void Orders::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
}

bool Orders::Sleep(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopped_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace truce
