// One connection: a state machine that the leading thread advances as far as the socket allows.
#ifndef TRUCE_WEBHOOK_HTTP_CONNECTION_H_
#define TRUCE_WEBHOOK_HTTP_CONNECTION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/http.h"
#include "webhook/http/request_head.h"
#include "webhook/http/router.h"
#include "webhook/http/server.h"
#include "webhook/http/stream.h"

namespace truce {

class HttpConnection;

// State that all connections of a server share. Constants and atomics are thread-safe; the rest is
// the leader's.
struct HttpShared {
  const HttpServerOptions options;
  const Router router;
  EventLoop* loop = nullptr;
  std::atomic<bool> draining = false;  // replies say `Connection: close`
  bool stopping = false;               // no connection stays between two requests

  std::atomic<std::uint64_t> connections_open = 0;
  std::atomic<std::uint64_t> connections_accepted = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> in_flight = 0;
  std::array<std::atomic<std::uint64_t>, kHttpRejectionCount> rejections{};

  std::array<char, 16 * 1024> piece{};        // for one read; a TLS record has no more
  std::size_t body_bytes = 0;                 // arrived, of bodies over kSmallBodyBytes
  int large_inside = 0;                       // such bodies inside handlers
  std::deque<HttpConnection*> large_waiting;  // for a place there

  void Count(HttpRejection rejection) {
    rejections[static_cast<std::size_t>(rejection)].fetch_add(1, std::memory_order_relaxed);
  }
};

// Whether a connection may give way to another one.
enum class Precedence : std::uint8_t {
  kUnfinished,  // handshake, head or body: first
  kIdle,        // between two requests: next
  kBusy,        // a request is being answered: never
  kProven,      // its caller has shown a good certificate, secret or token: never
};

// For the leader, but for a handler's call: when that has waited, another thread leads, and the
// connection does nothing until the loop says that the call is done.
class HttpConnection final {
 public:
  struct Peer {
    int descriptor;                         // owned from now on
    std::string address;                    // HttpRequest::remote_address
    std::shared_ptr<const TlsContext> tls;  // null: it is served plainly
  };
  // `id` is its name in the loop.
  HttpConnection(std::uint64_t id, HttpShared& shared, Peer peer);
  // Ends it; not while a handler is at work.
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // False: it has come to its end. True also when the caller does not lead any more.
  bool OnEvent(Report report);

  const std::string& address() const { return address_; }
  Deadline deadline() const { return deadline_; }
  bool has_request() const { return phase_ > Phase::kIdle && phase_ < Phase::kLinger; }

  Precedence precedence() const;
  Deadline since() const { return since_; }  // when it was accepted, or answered last

 private:
  enum class Phase : std::uint8_t {
    kHandshake,
    kIdle,
    kHead,
    kBody,
    kGate,      // a large body waits for its place
    kHandling,  // a handler, or who answers later, is at work, perhaps without the lead
    kHandled,   // it has answered, or deferred
    kDeferred,  // the answer comes later
    kReply,
    kLinger,
  };
  enum class Step : std::uint8_t { kGoOn, kWait, kClose };

  Step Advance();
  Step Expire();
  Step DoHandshake();
  Step ReadHead();
  Step UseHead(std::size_t head_size);
  Step ReadBody();
  Step EnterGate();
  Step AnswerRequest();
  Step Handle(const std::function<bool()>& work);
  Step AfterHandler();
  Step TakeAnswer(bool at_deadline);
  Step Reply();
  Step SendReply();
  Step TakeNextPiece();
  Step Linger();
  Step Refuse(const HeadRefusal& refusal);
  Step BehindOthers();

  HttpResume Defer(Deadline deadline, HttpContinuation at_deadline, WhenHungUp hung_up);
  void BeginRequest();
  bool AddToBody(std::string_view bytes);
  void DropBody();
  void LeaveGate();
  void Forget();
  void EnterIdle();
  void SettleKeepAlive();
  void EndAt(Deadline time);

  struct Deferred;

  const std::uint64_t id_;
  HttpShared& shared_;
  const std::string address_;
  Phase phase_ = Phase::kIdle;
  bool hung_up_ = false;
  bool proven_ = false;
  bool was_answered_ = false;
  Deadline deadline_;
  Deadline since_;

  HttpStream stream_;
  std::optional<std::string> client_name_;

  std::string input_;          // from the request's first byte on, but for most of its body
  std::size_t head_size_ = 0;  // bytes of it that belong to the request at hand
  RequestHead head_;
  Router::Match match_;
  HttpRequest request_;
  std::size_t body_counted_ = 0;  // bytes of it in shared_.body_bytes
  bool in_gate_ = false;          // counted in shared_.large_inside
  bool in_flight_ = false;        // counted in shared_.in_flight

  bool is_broken_ = false;  // a handler's call ran out of memory, or a piece does not fit
  std::shared_ptr<Deferred> deferred_;
  Deadline deferred_until_;                        // while there is a deferred_
  WhenHungUp when_hung_up_ = WhenHungUp::kAnswer;  // likewise
  WrittenReply reply_;
  std::size_t sent_ = 0;  // bytes of reply_.bytes
  bool linger_after_reply_ = false;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_CONNECTION_H_
