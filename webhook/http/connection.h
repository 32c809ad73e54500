// One connection: a state machine that a thread advances as far as the socket allows.
#ifndef TRUCE_WEBHOOK_HTTP_CONNECTION_H_
#define TRUCE_WEBHOOK_HTTP_CONNECTION_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "webhook/http/body_gate.h"
#include "webhook/http/engine.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/http.h"
#include "webhook/http/request_head.h"
#include "webhook/http/server.h"
#include "webhook/http/tls.h"

namespace truce {

class DeferredAnswer;
class HttpConnection;

// What all connections of a server share. Thread-safe.
struct ConnectionContext {
  HttpServerOptions options;
  const HttpEngine& engine;
  EventLoop* loop = nullptr;
  EventLoop* large_loop = nullptr;                // of large bodies; null: none here
  std::function<void(HttpConnection&)> on_close;  // its seat is free; by the thread that closed it

  std::atomic<bool> draining = false;  // replies say `Connection: close`
  std::atomic<bool> stopping = false;  // no connection stays between two requests

  std::atomic<uint64_t> connections_open = 0;
  std::atomic<uint64_t> connections_accepted = 0;
  std::atomic<uint64_t> requests = 0;
  std::atomic<uint64_t> in_flight = 0;
  std::atomic<uint64_t> unanswered = 0;  // requests begun whose reply has not left yet
  std::atomic<size_t> body_bytes = 0;    // of bodies over HttpLimits::kSmallBodyBytes
  BodyGate gate;                         // which such bodies pass on their way to a handler
  std::array<std::atomic<uint64_t>, kHttpRejectionCount> rejections{};

  void Count(HttpRejection rejection) {
    rejections[static_cast<size_t>(rejection)].fetch_add(1, std::memory_order_relaxed);
  }
};

// Who has connected, as far as the network tells: an address, or nothing on a Unix socket.
using SourceAddress = std::array<uint64_t, 2>;

// A connection's rank when another one wants its seat; the lowest goes first.
enum class Precedence : uint8_t {
  kUnfinished,  // handshake or head
  kBody,        // unfinished body
  kIdle,        // between two requests
  kBusy,        // a request is being answered
  kProven,      // its caller has shown a good certificate, secret or token
  kFree,        // no connection
};

// A seat for a connection; it outlives the connections that use it one after the other, so a late
// event finds at worst a stranger, who has nothing to read. At any moment at most one thread has
// the turn; the others leave a mark, and the one that has it looks again. Thread-safe.
class HttpConnection final : public EventSink, private HttpDeferral {
 public:
  explicit HttpConnection(ConnectionContext& context) : context_(context) {}
  ~HttpConnection() override;

  struct Peer {
    std::string text;  // HttpRequest::remote_address
    SourceAddress source;
  };
  // Begins to serve an accepted socket. Only on a seat that is free (IsFree), by the acceptor.
  void Open(int descriptor, std::shared_ptr<const TlsContext> tls, Peer peer);
  bool IsFree() const { return turn_.load(std::memory_order_acquire) == Turn::kFree; }

  void OnEvent(Report report) override;

  // Ends what has passed its deadline. Called by the ticking thread.
  void Sweep(Deadline now);

  // May be stale when it returns; kFree also when it was asked to leave.
  Precedence precedence() const;
  Deadline precedence_since() const;
  // For the acceptor only: whose connection it is, while it is not free.
  const SourceAddress& source() const { return source_; }
  // Closes it, at once or soon, if it is unfinished, or lies idle and nothing has arrived.
  void Evict();
  // Closes it unless a thread has the turn.
  void Abort();

 private:
  enum class Turn : uint8_t { kFree, kNobody, kSomebody, kSomebodyAgain };
  enum class Phase : uint8_t { kHandshake, kIdle, kHead, kBody, kGate, kDeferred, kReply, kLinger };
  enum class Step : uint8_t { kGoOn, kWait, kClose };

  bool TakeTurn(bool or_again);
  bool GiveTurn();
  void Work();
  Step Advance();
  Step DoHandshake();
  Step ReadHead();
  Step UseHead(size_t head_size);
  Step ReadBody();
  Step PassGate();
  bool IsOnLargeLoop();
  Step SendReply();
  Step TakeNextPiece();
  Step Linger();

  IoResult Read(std::span<char> buffer);
  Step Queue(std::string& bytes);
  void BeginRequest();
  Step AnswerRequest();
  bool LetHandlerAnswer();
  void NoteProven();
  void LeaveGate();
  void DropInput();
  void DropBody();
  bool MayBeEvicted() const;
  void SetPrecedence(Precedence precedence, Deadline since);
  std::shared_ptr<HttpDeferred> Defer(Deadline deadline, HttpContinuation at_deadline,
                                      WhenHungUp hung_up) override;
  Step TakeAnswer();
  Step Resume(const HttpContinuation& answer);
  Step Reply();
  bool SettleKeepAlive();
  void Forget();
  Step Refuse(const HeadRefusal& refusal);
  bool GrowBody();
  void ReleaseRequest();
  void EnterIdle();
  // Whoever sweeps looks again with the turn.
  void EndAt(Deadline time) {
    deadline_.store(time.time_since_epoch().count(), std::memory_order_relaxed);
  }
  void Close();

  ConnectionContext& context_;
  std::atomic<Turn> turn_ = Turn::kFree;
  std::atomic<bool> reported_ = false;  // since the last look, something came or can be sent
  std::atomic<bool> hung_up_ = false;
  std::atomic<bool> evicted_ = false;
  std::atomic<Deadline::rep> deadline_ = 0;  // steady clock; the sweeper reads it without the turn
  std::atomic<Precedence> precedence_ = Precedence::kFree;
  std::atomic<Deadline::rep> precedence_since_ = 0;  // steady clock
  SourceAddress source_{};                           // of the acceptor
  bool proven_ = false;

  // From here on: only the thread that has the turn.
  Phase phase_ = Phase::kHandshake;
  std::optional<Socket> socket_;
  std::shared_ptr<const TlsContext> tls_context_;  // until the first byte comes
  std::unique_ptr<TlsSession> tls_;
  std::string remote_address_;
  std::optional<std::string> client_name_;
  std::unique_ptr<char[]> input_;  // head_bytes_max bytes; null while nothing has come
  size_t input_size_ = 0;
  size_t scanned_ = 0;    // bytes of input_ known not to hold the head's end
  size_t head_size_ = 0;  // bytes of input_ that belong to the request at hand
  RequestHead head_;
  HttpRequest request_;
  size_t body_size_ = 0;      // bytes of request_.body received
  size_t body_reserved_ = 0;  // bytes counted in context_.body_bytes
  bool in_gate_ = false;      // between BodyGate::Enter and Leave
  std::shared_ptr<DeferredAnswer> deferred_;
  Deadline deferred_until_;                        // while there is a deferred_
  WhenHungUp when_hung_up_ = WhenHungUp::kAnswer;  // likewise
  EngineReply reply_;
  std::string output_;
  size_t sent_ = 0;
  bool close_after_reply_ = false;
  bool linger_after_reply_ = false;
  bool has_request_ = false;  // counted in context_.unanswered
  uint64_t request_count_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_CONNECTION_H_
