// One watch stream: from the connection to the last event, without a thread of its own.
#ifndef TRUCE_WEBHOOK_KUBE_WATCH_STREAM_H_
#define TRUCE_WEBHOOK_KUBE_WATCH_STREAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/kube/api_json.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/kube/connection.h"
#include "webhook/kube/response_reader.h"
#include "webhook/kube/session.h"
#include "webhook/kube/watch_client.h"

namespace truce {

// The parts that all streams of one client share. Used by its thread only.
struct WatchShared {
  ServerSession& session;
  const WatchClientOptions& options;
  ApiJsonReader json;
  std::vector<char> piece;       // the bytes of one read
  std::size_t large_events = 0;  // streams that hold a long event
};

// External synchronization. Calls no handler: the owner takes events and the end from it.
class WatchStream final {
 public:
  // The stream's need to go on.
  enum class Want : std::uint8_t {
    kRead,
    kWrite,
    kTurn,      // nothing: it gave way to others
    kTime,      // an address, or new credentials: look again soon
    kLarge,     // a seat among those that hold a long event
    kDelivery,  // its events, or its end, must be taken
  };

  WatchStream(WatchQuery query, WatchShared& shared);
  ~WatchStream();
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  // Goes on as far as it can without waiting.
  Want Advance(Deadline now);
  // Ends the stream if the present step has taken too long. `now` of the steady clock.
  void CheckTime(Deadline now);
  // The owner waits for its handler: silence does not count meanwhile.
  void Pause(Deadline now) { last_bytes_ = now; }

  const WatchQuery& query() const { return query_; }
  std::vector<WatchEvent>& events() { return events_; }
  // Set once: nothing more will come.
  bool ended() const { return ended_; }
  std::optional<ApiError> TakeError() { return std::move(error_); }
  bool has_begun() const { return phase_ != Phase::kStart; }
  bool is_connecting() const { return phase_ == Phase::kAddresses || phase_ == Phase::kConnect; }
  // -1: none.
  int descriptor() const { return connection_ == nullptr ? -1 : connection_->descriptor(); }

 private:
  enum class Phase : std::uint8_t {
    kStart,
    kCredentials,
    kAddresses,
    kConnect,
    kSend,
    kHead,
    kEvents,
    kRefusal,  // the body of an answer other than 200
    kOver,
  };

  void Enter(Phase phase, Deadline now);
  Want Step(Deadline now);
  Want Begin(Deadline now);
  Want Connect(Deadline now);
  Want Send(Deadline now);
  Want Receive(Deadline now);
  Want TakeHead(std::string_view bytes, Deadline now);
  Want TakeBody(std::string_view bytes, Deadline now);
  Want TakeLines();
  Want TakeLine(std::string_view line);
  Want TakeEndOfConnection(Deadline now);
  Want TakeWholeBody(Deadline now);
  Want TakeRefusal(Deadline now);
  Want End(std::optional<ApiError> error);
  Want Fail(ApiErrorKind kind, std::string message);
  bool HoldLarge(bool wanted);
  Want WantOf(SocketProgress progress);
  std::string Request() const;

  const WatchQuery query_;
  WatchShared& shared_;
  Phase phase_ = Phase::kStart;
  Deadline phase_since_{};
  Deadline last_bytes_{};
  Deadline agreed_end_{};
  bool renewed_ = false;  // the one repetition after 401 was used
  std::uint64_t wish_ = 0;
  std::unique_ptr<ServerConnection> connection_;
  std::string output_;
  ResponseHead head_;
  ChunkDecoder chunks_;
  std::uint64_t body_left_ = 0;
  std::string buffer_;       // of the head; then of lines that are not whole
  std::size_t scanned_ = 0;  // of the buffer: holds no line end
  bool holds_large_ = false;
  std::vector<WatchEvent> events_;
  bool ended_ = false;
  std::optional<ApiError> error_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_WATCH_STREAM_H_
