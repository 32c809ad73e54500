#include "webhook/http/connection.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include "registry/base/assert.h"
#include "registry/base/threads.h"

namespace truce {
namespace {

// After a refusal the peer may still be sending; closing at once would reset the connection and
// take the reply with it. So its bytes are thrown away for at most this long.
constexpr std::chrono::milliseconds kLingerTime{1000};
// Bytes of a body, and reads to throw away, before others have their turn.
constexpr std::size_t kBodyBytesPerTurn = 256 * 1024;
constexpr int kLingerReadsMax = 64;
// Buffers larger than this are given back between requests.
constexpr std::size_t kIdleBufferBytesMax = 32 * 1024;

Deadline Now() { return std::chrono::steady_clock::now(); }

// Assigning an empty string, moved or not, would keep the memory.
void GiveBack(std::string& buffer) { std::string().swap(buffer); }

constexpr HeadRefusal kTooManyLarge = {503, "too many large requests at once",
                                       HttpRejection::kBodyBytes};

}  // namespace

// Shared by a connection and the thread that will answer. Resume is thread-safe; the rest is for
// the connection.
class HttpConnection::Deferred final {
 public:
  Deferred(std::uint64_t id, EventLoop& loop, HttpContinuation at_deadline)
      : id_(id), loop_(&loop), at_deadline_(std::move(at_deadline)) {}

  void Resume(HttpContinuation answer) {
    const std::lock_guard lock(mutex_);
    if (loop_ == nullptr || answer_) return;
    answer_.swap(answer);
    loop_->Post(id_, Report::kNothing);
  }

  // Empty as long as there is no answer; at the deadline, the one for that case.
  HttpContinuation Take(bool at_deadline) {
    const std::lock_guard lock(mutex_);
    if (answer_ || !at_deadline) return std::exchange(answer_, nullptr);
    return at_deadline_;
  }
  // The connection goes on to something else. The continuations may own the object that would have
  // answered, so they end here.
  void Abandon() {
    HttpContinuation answer;
    {
      const std::lock_guard lock(mutex_);
      loop_ = nullptr;
      answer.swap(answer_);
    }
    at_deadline_ = nullptr;
  }

 private:
  const std::uint64_t id_;
  std::mutex mutex_;
  EventLoop* loop_;          // guarded by mutex_; null: nobody waits
  HttpContinuation answer_;  // guarded by mutex_
  HttpContinuation at_deadline_;
};

// ---- Life

HttpConnection::HttpConnection(std::uint64_t id, HttpShared& shared, Peer peer)
    : id_(id),
      shared_(shared),
      address_(std::move(peer.address)),
      phase_(peer.tls != nullptr ? Phase::kHandshake : Phase::kIdle),
      since_(Now()),
      stream_(peer.descriptor, std::move(peer.tls)) {
  // A client connects to send something: the long timeout begins with the first request or
  // handshake.
  EndAt(since_ + shared_.options.limits.request_timeout);
  shared_.connections_open.fetch_add(1);
  shared_.connections_accepted.fetch_add(1);
}

HttpConnection::~HttpConnection() {
  // Best effort: an alert, or the notice that nothing follows.
  if (phase_ != Phase::kLinger) stream_.Close();
  static_cast<void>(stream_.Flush());
  if (in_flight_) shared_.in_flight.fetch_sub(1);
  Forget();
  LeaveGate();
  DropBody();
  shared_.connections_open.fetch_sub(1);
}

bool HttpConnection::OnEvent(Report report) {
  // The poll is edge-triggered: an event comes once, so the socket keeps it.
  if (report == Report::kReadable || report == Report::kHungUp) {
    stream_.MarkReadable(report == Report::kHungUp);
  }
  if (phase_ == Phase::kHandling) {
    if (report != Report::kHandled) return true;
    phase_ = after_;
  }
  try {
    Step step = Step::kGoOn;
    if (report == Report::kTime && deadline_ <= Now()) step = Expire();
    while (step == Step::kGoOn) step = Advance();
    return step != Step::kClose;
  } catch (const std::exception&) {  // out of memory
    return false;
  }
}

HttpConnection::Step HttpConnection::Advance() {
  if (is_broken_) return Step::kClose;
  switch (phase_) {
    case Phase::kHandshake: return DoHandshake();
    case Phase::kIdle:
    case Phase::kHead: return ReadHead();
    case Phase::kBody: return ReadBody();
    case Phase::kGate: return in_gate_ ? AnswerRequest() : Step::kWait;
    case Phase::kHandling: return Step::kWait;
    case Phase::kHandled: return AfterHandler();
    case Phase::kDeferred: return TakeAnswer(false);
    case Phase::kPiece: BeginReply(); return BehindOthers();
    case Phase::kReply: return SendReply();
    case Phase::kLinger: return Linger();
  }
  return Step::kClose;
}

HttpConnection::Step HttpConnection::Expire() {
  switch (phase_) {
    case Phase::kHandshake:
    // Nothing can be said before there is a session, nor within a reply.
    case Phase::kPiece:
    case Phase::kReply: shared_.Count(HttpRejection::kSlow); return Step::kClose;
    case Phase::kIdle:
    case Phase::kLinger: return Step::kClose;
    case Phase::kHead:
    case Phase::kBody: return Refuse({408, "request took too long", HttpRejection::kSlow});
    case Phase::kGate: return in_gate_ ? Step::kGoOn : Refuse(kTooManyLarge);
    case Phase::kHandling:
    case Phase::kHandled: return Step::kGoOn;
    case Phase::kDeferred: return TakeAnswer(true);
  }
  return Step::kClose;
}

void HttpConnection::EndAt(Deadline time) {
  deadline_ = time;
  shared_.loop->WakeAt(time);
}

void HttpConnection::EnterIdle() {
  phase_ = Phase::kIdle;
  const Deadline now = Now();
  // Before its first head a connection is as old as it is: a handshake makes nobody younger.
  if (request_count_ > 0) since_ = now;
  EndAt(now + shared_.options.limits.idle_timeout);
}

Precedence HttpConnection::precedence() const {
  if (proven_) return Precedence::kProven;
  if (phase_ == Phase::kIdle && request_count_ > 0) return Precedence::kIdle;
  const bool is_unfinished = phase_ < Phase::kGate || phase_ == Phase::kLinger;
  return is_unfinished ? Precedence::kUnfinished : Precedence::kBusy;
}

HttpConnection::Step HttpConnection::BehindOthers() {
  shared_.loop->Again(id_);
  return Step::kWait;
}

// Runs `work`, which may wait: then another thread leads on return, and goes on when the work is
// done. This one touches nothing from then on.
HttpConnection::Step HttpConnection::Handle(bool waits, const std::function<Phase()>& work) {
  EventLoop& loop = *shared_.loop;
  const std::uint64_t id = id_;
  phase_ = Phase::kHandling;
  deadline_ = Deadline::max();
  try {
    std::optional<BlockingRegion> blocking;
    if (waits) blocking.emplace();
    after_ = work();
  } catch (const std::exception&) {  // out of memory
    is_broken_ = true;
  }
  if (!loop.IsLed()) {
    loop.Post(id, Report::kHandled);
    return Step::kWait;
  }
  phase_ = after_;
  return Step::kGoOn;
}

// ---- A request arrives

HttpConnection::Step HttpConnection::DoHandshake() {
  const IoStatus status = stream_.Handshake();
  if (status == IoStatus::kWouldBlock) return Step::kWait;
  // As everywhere: counted before the caller can know.
  if (status == IoStatus::kFailed) shared_.Count(HttpRejection::kHandshake);
  if (status != IoStatus::kDone) return Step::kClose;
  client_name_ = stream_.ClientName();
  proven_ = client_name_.has_value();
  EnterIdle();
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::ReadHead() {
  const HttpLimits& limits = shared_.options.limits;
  if (input_ == nullptr) input_ = std::move(shared_.spare_input);
  if (input_ == nullptr) input_ = std::make_unique_for_overwrite<char[]>(limits.head_bytes_max);
  for (;;) {
    const std::string_view text(input_.get(), input_size_);
    if (!text.empty()) {
      if (phase_ == Phase::kIdle) BeginRequest();
      const std::size_t head_size = FindHeadEnd(text, scanned_);
      if (head_size != kNoHeadEnd) return UseHead(head_size);
      scanned_ = input_size_;
      const auto verdict = CheckPartialHead(text, limits);
      if (const auto* refusal = std::get_if<HeadRefusal>(&verdict)) return Refuse(*refusal);
    }
    const IoResult got =
        stream_.Read({input_.get() + input_size_, limits.head_bytes_max - input_size_});
    if (got.status == IoStatus::kDone) {
      input_size_ += got.bytes;
      continue;
    }
    if (got.status != IoStatus::kWouldBlock) return Step::kClose;
    if (phase_ == Phase::kIdle && shared_.stopping) return Step::kClose;
    if (input_size_ == 0) shared_.spare_input = std::move(input_);
    return Step::kWait;
  }
}

void HttpConnection::BeginRequest() {
  phase_ = Phase::kHead;
  request_.arrival = Now();
  request_.deadline = request_.arrival + shared_.options.limits.handler_timeout;
  if (request_count_ > 0) since_ = request_.arrival;
  EndAt(request_.arrival + shared_.options.limits.request_timeout);
}

HttpConnection::Step HttpConnection::UseHead(std::size_t head_size) {
  auto parsed = ParseHead({input_.get(), input_size_}, head_size, shared_.options.limits);
  if (const auto* refusal = std::get_if<HeadRefusal>(&parsed)) return Refuse(*refusal);
  head_ = std::move(std::get<RequestHead>(parsed));
  phase_ = Phase::kBody;
  if (head_.content_length > HttpLimits::kSmallBodyBytes &&
      head_.content_length > shared_.router.BodyBytesMax(head_)) {
    return Refuse({413, "body too large", HttpRejection::kBodyTooLarge});
  }
  body_size_ = std::min<std::size_t>(input_size_ - head_size, head_.content_length);
  head_size_ = head_size + body_size_;
  const std::size_t usual = std::min(head_.content_length, HttpLimits::kSmallBodyBytes);
  request_.body.reserve(usual + HttpRequest::kBodyPadding);
  request_.body.assign(input_.get() + head_size, body_size_);
  if (head_.expects_continue && body_size_ < head_.content_length) {
    std::string bytes("HTTP/1.1 100 Continue\r\n\r\n");
    if (!stream_.Write(bytes) || stream_.Flush() == IoStatus::kFailed) return Step::kClose;
  }
  return Step::kGoOn;
}

// Makes room for more of the body: not for all that was announced, but for twice what has come, so
// that announcing much costs the sender as much as it costs us.
bool HttpConnection::GrowBody() {
  const std::size_t room = std::max(HttpLimits::kSmallBodyBytes, 2 * body_size_);
  const std::size_t size = std::min<std::size_t>(head_.content_length, room);
  if (size > HttpLimits::kSmallBodyBytes) {
    const std::size_t more = size - body_reserved_;
    if (shared_.body_bytes + more > shared_.options.limits.body_bytes_in_flight_max) return false;
    shared_.body_bytes += more;
    body_reserved_ = size;
    // All at once: pages that nothing is written to cost nothing, and growing would copy.
    request_.body.reserve(head_.content_length + HttpRequest::kBodyPadding);
  }
  request_.body.resize(size);
  return true;
}

HttpConnection::Step HttpConnection::ReadBody() {
  const std::size_t pause = body_size_ + kBodyBytesPerTurn;
  while (body_size_ < head_.content_length) {
    if (body_size_ >= pause) return BehindOthers();
    if (body_size_ == request_.body.size() && !GrowBody()) return Refuse(kTooManyLarge);
    const IoResult got =
        stream_.Read({request_.body.data() + body_size_, request_.body.size() - body_size_});
    if (got.status == IoStatus::kWouldBlock) return Step::kWait;
    if (got.status != IoStatus::kDone) return Step::kClose;
    body_size_ += got.bytes;
  }
  return body_size_ > HttpLimits::kSmallBodyBytes ? EnterGate() : AnswerRequest();
}

// ---- It is answered

// A large body becomes much more memory than it has bytes, so only a few are read at once, by
// threads without the lead; the others hold their bodies, and no thread.
HttpConnection::Step HttpConnection::EnterGate() {
  phase_ = Phase::kGate;
  EndAt(request_.deadline);
  in_gate_ = shared_.large_inside < shared_.options.limits.large_bodies_max;
  if (in_gate_) {
    ++shared_.large_inside;
  } else {
    shared_.large_waiting.push_back(this);
  }
  return Step::kGoOn;
}

// The next one gets the place.
void HttpConnection::LeaveGate() {
  auto& waiting = shared_.large_waiting;
  if (phase_ == Phase::kGate)
    waiting.erase(std::remove(waiting.begin(), waiting.end(), this), waiting.end());
  if (!std::exchange(in_gate_, false)) return;
  if (waiting.empty()) {
    --shared_.large_inside;
    return;
  }
  waiting.front()->in_gate_ = true;
  shared_.loop->Again(waiting.front()->id_);
  waiting.pop_front();
}

HttpConnection::Step HttpConnection::AnswerRequest() {
  const HttpServerOptions& options = shared_.options;
  ++request_count_;
  in_flight_ = true;
  reply_.rejection.reset();
  SettleKeepAlive();
  if (shared_.in_flight.fetch_add(1) >= static_cast<std::uint64_t>(options.limits.in_flight_max)) {
    reply_.bytes = ShortReply(503, "too many requests at once", reply_.keep_alive);
    reply_.rejection = HttpRejection::kInFlight;
    return Reply();
  }
  if (options.client_auth == ClientAuth::kRequired && !client_name_.has_value()) {
    reply_.bytes = ShortReply(403, "client certificate is not allowed", reply_.keep_alive);
    reply_.rejection = HttpRejection::kClientName;
    return Reply();
  }
  request_.headers = std::move(head_.fields);
  request_.client_name = client_name_;
  request_.remote_address = address_;
  request_.caller_proven = false;
  return Handle(in_gate_ || options.handler_kind == HandlerKind::kBlocking, [this] {
    const HttpDefer defer = [this](Deadline deadline, HttpContinuation at_deadline,
                                   WhenHungUp hung_up) {
      return Defer(deadline, std::move(at_deadline), hung_up);
    };
    const bool answered = shared_.router.Answer(head_, request_, defer, reply_);
    if (answered) Forget();
    if (!answered && TRUCE_NEVER(deferred_ == nullptr)) {
      reply_.bytes = ShortReply(503, "internal error", reply_.keep_alive);
      reply_.rejection = HttpRejection::kHandlerFailed;
    }
    return Phase::kHandled;
  });
}

// Once for the handler, and for a deferred answer once more.
HttpConnection::Step HttpConnection::AfterHandler() {
  // From then on it gives way to nobody.
  proven_ = proven_ || request_.caller_proven;
  DropBody();
  LeaveGate();
  if (deferred_ == nullptr) return Reply();
  phase_ = Phase::kDeferred;
  EndAt(deferred_until_);
  return Step::kGoOn;
}

HttpResume HttpConnection::Defer(Deadline deadline, HttpContinuation at_deadline,
                                 WhenHungUp hung_up) {
  Forget();
  when_hung_up_ = hung_up;
  deferred_until_ = deadline;
  deferred_ = std::make_shared<Deferred>(id_, *shared_.loop, std::move(at_deadline));
  return [deferred = deferred_](HttpContinuation answer) { deferred->Resume(std::move(answer)); };
}

HttpConnection::Step HttpConnection::TakeAnswer(bool at_deadline) {
  HttpContinuation answer = deferred_->Take(at_deadline);
  if (!answer) {
    const bool leaves = when_hung_up_ == WhenHungUp::kForget && stream_.hung_up();
    return leaves ? Step::kClose : Step::kWait;
  }
  SettleKeepAlive();
  return Handle(false, [this, &answer] {
    Router::Resume(answer, head_, reply_);
    Forget();
    return Phase::kHandled;
  });
}

void HttpConnection::Forget() {
  if (deferred_ != nullptr) std::exchange(deferred_, nullptr)->Abandon();
}

// Whether another request may follow this one.
void HttpConnection::SettleKeepAlive() {
  close_after_reply_ = shared_.draining.load() || shared_.stopping || !head_.keep_alive;
  reply_.keep_alive = !close_after_reply_;
}

// ---- The reply leaves

// Sends reply_: behind the replies that others are about to make, when they wait for their turn.
// One after the other the replies find in the caches what encrypting and sending needs.
HttpConnection::Step HttpConnection::Reply() {
  // At once, not when the reply has left: others may come before that.
  DropInput();
  DropBody();
  LeaveGate();
  in_flight_ = false;
  shared_.in_flight.fetch_sub(1);
  if (reply_.rejection.has_value()) {
    shared_.Count(*reply_.rejection);
  } else {
    shared_.requests.fetch_add(1, std::memory_order_relaxed);
  }
  BeginReply();
  return shared_.loop->HasMore() ? BehindOthers() : Step::kGoOn;
}

void HttpConnection::BeginReply() {
  phase_ = Phase::kReply;
  EndAt(Now() + shared_.options.limits.write_timeout);
}

HttpConnection::Step HttpConnection::Refuse(const HeadRefusal& refusal) {
  shared_.Count(refusal.rejection);
  DropBody();
  LeaveGate();
  close_after_reply_ = linger_after_reply_ = true;
  BeginReply();
  reply_.bytes = ShortReply(refusal.status, refusal.reason, false);
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::SendReply() {
  if (!reply_.bytes.empty()) {
    if (!stream_.Write(reply_.bytes)) return Step::kClose;
    if (close_after_reply_ && reply_.pieces == nullptr) stream_.Close();
  }
  const IoStatus sent = stream_.Flush();
  if (sent == IoStatus::kWouldBlock) return Step::kWait;
  if (sent != IoStatus::kDone) return Step::kClose;
  if (reply_.pieces != nullptr) return TakeNextPiece();
  request_.query.clear();
  request_.headers.clear();
  stream_.Shrink(kIdleBufferBytesMax);
  if (reply_.bytes.capacity() > kIdleBufferBytesMax) GiveBack(reply_.bytes);
  if (linger_after_reply_) {
    stream_.ShutDownWriting();
    phase_ = Phase::kLinger;
    EndAt(Now() + kLingerTime);
    return Step::kGoOn;
  }
  if (close_after_reply_) return Step::kClose;
  EnterIdle();
  return input_size_ == 0 ? Step::kGoOn : BehindOthers();
}

// Each piece has the time of a whole reply, and others come between two of them.
HttpConnection::Step HttpConnection::TakeNextPiece() {
  return Handle(false, [this] {
    std::optional<std::string> piece = reply_.pieces->Next();
    is_broken_ = !piece || piece->empty() || piece->size() > reply_.pieces_left;
    if (is_broken_) return Phase::kPiece;
    reply_.pieces_left -= piece->size();
    if (reply_.pieces_left == 0) reply_.pieces.reset();
    reply_.bytes = *std::move(piece);
    return Phase::kPiece;
  });
}

// Where the request ended, the next one may begin.
void HttpConnection::DropInput() {
  std::memmove(input_.get(), input_.get() + head_size_, input_size_ - head_size_);
  input_size_ -= head_size_;
  head_size_ = scanned_ = 0;
  if (input_size_ == 0) shared_.spare_input = std::move(input_);
}

void HttpConnection::DropBody() {
  GiveBack(request_.body);
  shared_.body_bytes -= body_reserved_;
  body_reserved_ = body_size_ = 0;
}

HttpConnection::Step HttpConnection::Linger() {
  for (int i = 0; i < kLingerReadsMax; ++i) {
    const IoResult got = stream_.ReadRaw({input_.get(), shared_.options.limits.head_bytes_max});
    if (got.status == IoStatus::kWouldBlock) return Step::kWait;
    if (got.status != IoStatus::kDone) return Step::kClose;
  }
  return BehindOthers();
}

}  // namespace truce
