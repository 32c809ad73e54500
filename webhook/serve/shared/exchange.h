// Exchange: the messages between several servers of one cluster, each second. A server that is not
// the leader sends the news of its reviews; the leader takes them up, carries out orders, and
// publishes its view of the cluster.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_EXCHANGE_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_EXCHANGE_H_

#include <optional>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/findings/mute_book.h"
#include "webhook/log/log.h"
#include "webhook/serve/shared/leader_inbox.h"
#include "webhook/serve/shared/review_news.h"
#include "webhook/serve/shared/shared_reports.h"
#include "webhook/watch/doubts.h"

namespace truce {

class Store;

// Port: a server of the cluster as its leader. Thread-safe.
class LeadingServer {
 public:
  virtual ~LeadingServer() = default;
  // The store of the leader's writes: it refuses once another server leads. Null: this one does not
  // lead.
  virtual Store* LeadingStore() = 0;
  // Takes up news of other servers' reviews, and its own from before it led.
  virtual void TakeUp(const ReviewNews& news) = 0;
  // All that it watches; nothing: it has not looked at everything yet.
  virtual std::optional<SharedReports> Gather() = 0;
};

// References must outlive the object.
struct ExchangePorts {
  Store& store;
  const Clock& clock;
  Logger& logger;
  LeaderInbox& inbox;
  ReviewInbox& reviews;     // the watch of a leader empties it itself
  WatchControls& controls;  // those of this server's own watch
  MuteBook& mutes;          // read each time: a mute of any server holds here within a second
  LeadingServer& server;
};

// Thread-safe, but for Start, Stop and Step, which are for one thread.
class Exchange final {
 public:
  static constexpr std::chrono::seconds kEvery{1};

  explicit Exchange(ExchangePorts ports) : ports_(ports), publisher_(ports_.clock) {}
  ~Exchange() { Stop(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Begins a thread that does it each second. Once, when the store is open.
  void Start() { worker_.Start(); }
  // Ends it. Idempotent.
  void Stop();
  // Does it once. Blocks for some seconds where the store does not answer.
  void Step();

  // Where reviews at a server that is not the leader leave their news.
  NewsBox& box() { return box_; }

 private:
  void Lead(Store& store);
  void TellLeader();
  Result<std::uint64_t> CarryOut(const Order& order);
  void Report(const Result<void>& published);

  const ExchangePorts ports_;
  NewsBox box_;
  ReportPublisher publisher_;
  bool is_failing_ = false;  // of publishing; logged once
  Worker worker_{[this]() -> Worker::Rest {
    Step();
    return {In(kEvery)};
  }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_EXCHANGE_H_
