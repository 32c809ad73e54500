#include "webhook/serve/shared/leader_inbox.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "registry/base/threads.h"
#include "registry/ownership/facts.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/serve/shared/json_times.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kInbox[] = "inbox";
constexpr char kAnswers[] = "inbox.answers";
constexpr std::chrono::milliseconds kAnswerLooked{200};
constexpr std::chrono::seconds kShortTime{2};
constexpr std::string_view kStartRecovery = "start-recovery";
constexpr std::string_view kReleaseBrake = "release-brake";

constexpr std::array<ErrorCode, 8> kCodes = {
    ErrorCode::kInvalidArgument,   ErrorCode::kNotFound,    ErrorCode::kConflict,
    ErrorCode::kResourceExhausted, ErrorCode::kUnavailable, ErrorCode::kDeadlineExceeded,
    ErrorCode::kDataLoss,          ErrorCode::kInternal};

Json AnswersIn(const std::string& text) {
  Json json = text.empty() ? Json::array() : ParseJson(text);
  return json.is_array() ? json : Json::array();
}

Json OrderToJson(const Order& order) {
  Json json = {{"id", order.id},
               {"act", order.act == Order::Act::kReleaseBrake ? kReleaseBrake : kStartRecovery},
               {"actor", order.word.actor},
               {"reason", order.word.reason},
               {"at", TimeToJson(order.at)}};
  if (order.kind) json["kind"] = {order.kind->group, order.kind->kind};
  return json;
}

// Nothing for what a later version may have written.
std::optional<Order> OrderFromJson(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const std::string act = TextIn(json, "act");
  if (act != kStartRecovery && act != kReleaseBrake) return std::nullopt;
  Order order;
  order.id = TextIn(json, "id");
  order.act = act == kReleaseBrake ? Order::Act::kReleaseBrake : Order::Act::kStartRecovery;
  order.word = {TextIn(json, "actor"), TextIn(json, "reason")};
  order.at = TimeIn(json, "at");
  const auto kind = json.find("kind");
  if (kind == json.end()) return order;
  const bool is_kind =
      kind->is_array() && kind->size() == 2 && (*kind)[0].is_string() && (*kind)[1].is_string();
  if (!is_kind) return std::nullopt;
  order.kind = {(*kind)[0].get<std::string>(), (*kind)[1].get<std::string>()};
  return order;
}

std::string ToText(const InboxContents& contents) {
  if (contents.empty()) return {};
  Json orders = Json::array();
  for (const Order& order : contents.orders) orders.push_back(OrderToJson(order));
  return Dump(Json{{"news", ToJson(contents.news)}, {"orders", std::move(orders)}});
}

InboxContents FromText(const std::string& text) {
  InboxContents contents;
  const Json json = text.empty() ? Json::object() : ParseJson(text);
  if (!json.is_object()) return contents;
  if (const auto news = json.find("news"); news != json.end()) contents.news = NewsFromJson(*news);
  const auto orders = json.find("orders");
  if (orders == json.end() || !orders->is_array()) return contents;
  for (const Json& item : *orders) {
    if (std::optional<Order> order = OrderFromJson(item)) contents.orders.push_back(*order);
  }
  return contents;
}

// `change` may run more than once; nothing is written where it says false.
template <typename Change>
Result<void> ChangeInbox(Store& store, Change change, Deadline deadline) {
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    InboxContents contents = FromText(books.Setting(kInbox).value_or(""));
    if (change(contents)) books.PutSetting(kInbox, ToText(contents));
  });
}

Result<std::uint64_t> OutcomeOf(const Json& answer) {
  const std::string code = TextIn(answer, "code");
  for (const ErrorCode known : kCodes) {
    if (code == Name(known)) return Error{known, TextIn(answer, "message")};
  }
  const auto count = answer.find("count");
  if (count != answer.end() && count->is_number_unsigned()) return count->get<std::uint64_t>();
  return Error{ErrorCode::kInternal, "the answer of the server that watches cannot be read"};
}

// Nothing: it was not answered yet.
Result<std::optional<Result<std::uint64_t>>> ReadAnswer(const Store& store, const std::string& id,
                                                        Deadline deadline) {
  std::string text;
  const auto read = [&](const Facts& facts) { text = facts.Setting(kAnswers).value_or(""); };
  TRUCE_RETURN_IF_ERROR(store.Read(read, deadline));
  for (const Json& answer : AnswersIn(text)) {
    if (TextIn(answer, "order") == id) return std::optional(OutcomeOf(answer));
  }
  return std::optional<Result<std::uint64_t>>();
}

}  // namespace

Result<void> LeaderInbox::Tell(Store& store, const ReviewNews& news, Deadline deadline) {
  if (news.empty()) return {};
  const auto add = [&](InboxContents& contents) {
    contents.news.Add(news);
    return ToText(contents).size() <= kBytesMax;
  };
  return ChangeInbox(store, add, deadline);
}

Result<std::uint64_t> LeaderInbox::Ask(Store& store, Order order, Deadline deadline) {
  const BlockingRegion blocking;
  const std::string id = order.id;
  order.at = clock_.Now();
  bool is_given = false;
  const auto give = [&](InboxContents& contents) {
    is_given = contents.orders.size() < kOrdersMax;
    if (is_given) contents.orders.push_back(order);
    return is_given;
  };
  TRUCE_RETURN_IF_ERROR(ChangeInbox(store, give, deadline));
  if (!is_given) return Error{ErrorCode::kResourceExhausted, "too many orders wait already"};
  do {
    // A database that does not answer now may in a moment.
    auto answer = ReadAnswer(store, id, In(kShortTime));
    if (answer.ok() && answer.value()) return *std::move(answer).value();
  } while (std::chrono::steady_clock::now() < deadline && Sleep(kAnswerLooked));
  bool is_withdrawn = false;
  const auto withdraw = [&](InboxContents& contents) {
    is_withdrawn =
        std::erase_if(contents.orders, [&](const Order& each) { return each.id == id; }) > 0;
    return is_withdrawn;
  };
  TRUCE_RETURN_IF_ERROR(ChangeInbox(store, withdraw, In(kShortTime)));
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

Result<InboxContents> LeaderInbox::Take(Store& store, Deadline deadline) const {
  // Mostly there is nothing, which costs no transaction.
  bool is_empty = true;
  const auto look = [&](const Facts& facts) {
    is_empty = facts.Setting(kInbox).value_or("").empty();
  };
  TRUCE_RETURN_IF_ERROR(store.Read(look, deadline));
  InboxContents taken;
  if (is_empty) return taken;
  const auto take = [&](InboxContents& contents) {
    taken = std::exchange(contents, InboxContents());
    return true;
  };
  TRUCE_RETURN_IF_ERROR(ChangeInbox(store, take, deadline));
  const Timestamp now = clock_.Now();
  std::erase_if(taken.orders, [&](const Order& order) { return order.at + kOrderLife < now; });
  return taken;
}

Result<void> LeaderInbox::Answer(Store& store, const std::string& order,
                                 const Result<std::uint64_t>& outcome, Deadline deadline) const {
  const Timestamp now = clock_.Now();
  Json answer = {{"order", order}, {"at", TimeToJson(now)}};
  if (outcome.ok()) {
    answer["count"] = outcome.value();
  } else {
    answer["code"] = Name(outcome.error().code);
    answer["message"] = outcome.error().message;
  }
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    Json answers = Json::array();
    for (const Json& each : AnswersIn(books.Setting(kAnswers).value_or(""))) {
      if (each.is_object() && TimeIn(each, "at") + kOrderLife > now) answers.push_back(each);
    }
    answers.push_back(answer);
    books.PutSetting(kAnswers, Dump(answers));
  });
}

void LeaderInbox::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
}

bool LeaderInbox::Sleep(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return !stopped_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace truce
