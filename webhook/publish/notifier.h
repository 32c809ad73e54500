// Notifier: sends findings and denials to a webhook, when they are new: each once in a day at most.
//
// News are the findings that were first seen, and the denials that were last seen, within the last
// day and that no message of that day told of. The leader alone sends. The registry's table
// "notified" has what was told, so neither a restart nor another leader repeats or forgets any;
// a message whose success could not be recorded comes twice.
#ifndef TRUCE_WEBHOOK_PUBLISH_NOTIFIER_H_
#define TRUCE_WEBHOOK_PUBLISH_NOTIFIER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "registry/ownership/table.h"
#include "registry/store/store.h"
#include "webhook/api/cluster_routes.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/server_settings.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"
#include "webhook/publish/notices.h"

namespace truce {

// That a message told of a denial or finding, when; kept for a day.
struct Notified {
  std::string kind;  // "finding", "denial"
  std::string id;    // its own
  Timestamp at{};

  bool operator==(const Notified&) const = default;
};
inline constexpr auto kNotifiedTable =
    MakeTable<Notified>("notified", 2, StoredColumn("kind", &Notified::kind),
                        StoredColumn("id", &Notified::id), StoredColumn("at", &Notified::at));

// Where messages go.
struct NotifyUrl {
  ServerAddress address;  // https, or on this machine
  std::string target;     // path and query: the receiver's secret, which no message of ours shows

  bool operator==(const NotifyUrl&) const = default;
};
// The URL that `file` holds, alone on a line. Errors: kNotFound, kInvalidArgument; they name the
// file, never its content.
Result<NotifyUrl> ReadNotifyUrl(const std::string& file);

// The receiver's answer to a message.
struct Posted {
  std::string problem;  // "hooks.example.org:443 answered 429"; empty: it was taken
  std::optional<std::chrono::milliseconds> retry_after = {};  // at most five minutes
};
// Sends one message, on a connection of its own; any 2xx takes it, and no redirect is followed.
// Blocks for kPostTime at most, or as long as the system's resolver waits for silent name servers.
Posted PostNotice(const NotifyUrl& url, const std::string& body, const Clock& clock);
inline constexpr std::chrono::seconds kPostTime{10};

// References must outlive the object.
struct NotifierPorts {
  Store& store;  // of the leader's writes
  const Clock& clock;
  Logger& logger;
  const DenialBook& denials;
  ClusterReports* cluster;  // null: no cluster is followed, and nothing is found
  std::string url_file;
  NoticeStyle style;
  std::function<Posted(const NotifyUrl&, const std::string&, const Clock&)> post = PostNotice;
};

// Thread-safe, but for Start, Stop and Step, which are for one thread.
class Notifier final {
 public:
  static constexpr std::chrono::seconds kEvery{2};
  // From one message to a chat to the next, so that a burst makes two messages. Programs get theirs
  // one behind the other.
  static constexpr std::chrono::seconds kBetween{60};
  static constexpr std::chrono::hours kDay{24};

  explicit Notifier(NotifierPorts ports);
  ~Notifier() { Stop(); }
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // Takes over the URL, if the file has another one, and tries what the former one did not take.
  // Errors: those of ReadNotifyUrl: the former URL stays.
  Result<void> Reread();
  // Begins a thread that does Step. Once, after the first Reread.
  void Start() { worker_.Start(); }
  // Ends it; blocks as PostNotice. Idempotent.
  void Stop() { worker_.Stop(); }
  // Whether this server is the one that sends; no other message begins when it is not. Never
  // blocks.
  void SetLeads(bool leads) { leads_.store(leads); }
  // Looks, sends one message at most, and says when to do so again. A message that is not taken is
  // tried again, later each time, until it is a day old.
  Worker::Rest Step();

  // Why the last message was not taken; empty: it was, or there was none.
  std::string trouble() const;
  // truce_notifications_total{outcome="sent|dropped|failed"}
  void WriteMetrics(MetricWriter& writer) const;

 private:
  using Sent = std::map<std::pair<std::string, std::string>, Timestamp>;  // by kind and id

  Result<Sent> ReadSent(Timestamp now) const;
  std::vector<News> NewsAt(Timestamp now, const Sent& told);
  void Save(Sent told);
  void Tell(const std::string& trouble);

  const NotifierPorts ports_;
  InForce<NotifyUrl> url_;
  std::atomic<bool> leads_{false};
  Guarded<std::string> trouble_;
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> failed_{0};
  // Of Step.
  Sent unsaved_;        // told, and not in the table yet
  Timestamp looked_{};  // at the last look
  Backoff backoff_;
  Worker worker_{[this] { return Step(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_NOTIFIER_H_
