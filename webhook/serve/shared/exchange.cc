#include "webhook/serve/shared/exchange.h"

#include <chrono>
#include <string_view>
#include <utility>

#include "registry/store/store.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{5};

}  // namespace

void Exchange::Stop() {
  ports_.inbox.Stop();
  worker_.Stop();
}

void Exchange::Step() {
  // What cannot be read now is with the next; the detection tells of it.
  static_cast<void>(ports_.mutes.Load(In(kStoreTime)).ok());
  if (Store* store = ports_.server.LeadingStore()) {
    Lead(*store);
  } else {
    TellLeader();
  }
}

// What cannot be told now is told with the next, as far as there is room.
void Exchange::TellLeader() {
  ReviewNews news;
  news.reviews = ports_.reviews.Take();
  news.Add(box_.Take());
  if (!LeaderInbox::Tell(ports_.store, news, In(kStoreTime)).ok()) box_.PutBack(news);
}

void Exchange::Lead(Store& store) {
  const Result<InboxContents> taken = ports_.inbox.Take(store, In(kStoreTime));
  ReviewNews news = box_.Take();
  if (taken.ok()) news.Add(taken.value().news);
  if (!news.empty()) ports_.server.TakeUp(news);
  if (taken.ok()) {
    for (const Order& order : taken.value().orders) {
      // Where the answer is lost, whoever waits for it looks before repeating the order.
      static_cast<void>(ports_.inbox.Answer(store, order.id, CarryOut(order), In(kStoreTime)).ok());
    }
  }
  const auto gather = [this] { return ports_.server.Gather(); };
  Report(publisher_.Step(store, gather, In(kStoreTime)));
}

Result<std::uint64_t> Exchange::CarryOut(const Order& order) {
  if (order.act == Order::Act::kReleaseBrake) {
    return ports_.controls.ReleaseBrake(order.kind, order.word);
  }
  TRUCE_RETURN_IF_ERROR(ports_.controls.StartRecovery(order.word));
  return std::uint64_t{0};
}

void Exchange::Report(const Result<void>& published) {
  const bool was_failing = std::exchange(is_failing_, !published.ok());
  if (published.ok() || was_failing) return;
  ports_.logger.Log(LogLevel::kInfo, "other servers are not told what is watched",
                    {{"message", std::string_view(published.error().message)}});
}

}  // namespace truce
