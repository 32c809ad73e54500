#include "webhook/http/connection.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "registry/base/assert.h"
#include "webhook/http/deferred_answer.h"
#include "webhook/http/spare_buffers.h"

namespace truce {
namespace {

using std::chrono::milliseconds;

// After a refusal the peer may still be sending; closing at once would reset the connection and
// take the reply with it. So what comes is thrown away for at most this long.
constexpr milliseconds kLingerTime{1000};
constexpr int kLingerReadsMax = 64;  // per turn
// Buffers larger than this are given back between requests.
constexpr size_t kIdleBufferBytesMax = 32 * 1024;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

Deadline Now() { return std::chrono::steady_clock::now(); }

// Assigning an empty string, moved or not, would keep the memory.
void GiveBack(std::string& buffer) { std::string().swap(buffer); }

}  // namespace

HttpConnection::~HttpConnection() {
  if (!IsFree()) Close();
}

// ---- Turns

bool HttpConnection::TakeTurn(bool or_again) {
  Turn seen = Turn::kNobody;
  while (!turn_.compare_exchange_weak(seen, Turn::kSomebody, std::memory_order_acq_rel)) {
    if (seen == Turn::kNobody) continue;  // spurious
    // Whoever has the turn looks again before giving it: what comes meanwhile is not lost.
    if (seen == Turn::kFree || seen == Turn::kSomebodyAgain || !or_again) return false;
    if (turn_.compare_exchange_weak(seen, Turn::kSomebodyAgain, std::memory_order_acq_rel)) {
      return false;
    }
    seen = Turn::kNobody;
  }
  return true;
}

// False when an event came in between: the turn is kept.
bool HttpConnection::GiveTurn() {
  Turn seen = Turn::kSomebody;
  if (turn_.compare_exchange_strong(seen, Turn::kNobody, std::memory_order_acq_rel)) return true;
  turn_.store(Turn::kSomebody, std::memory_order_release);
  return false;
}

void HttpConnection::OnEvent(Report report) {
  if (report == Report::kHungUp) hung_up_.store(true);
  if (report != Report::kNothing) reported_.store(true);
  if (TakeTurn(true)) Work();
}

// Holds the turn on entry; on return it is given, or the seat is free.
void HttpConnection::Work() {
  do {
    // The poll is edge-triggered: what an event says is said once, so the socket keeps it.
    if (reported_.exchange(false)) socket_->MarkReadable(hung_up_.load());
    Step step = Step::kClose;
    try {
      step = Advance();
    } catch (const std::exception&) {  // out of memory
    }
    // From then on the seat, and the turn, may be somebody else's.
    if (step == Step::kClose) return Close();
  } while (!GiveTurn());
}

HttpConnection::Step HttpConnection::Advance() {
  Step step = Step::kGoOn;
  while (step == Step::kGoOn) {
    switch (phase_) {
      case Phase::kHandshake: step = DoHandshake(); break;
      case Phase::kIdle:
      case Phase::kHead: step = ReadHead(); break;
      case Phase::kBody: step = ReadBody(); break;
      case Phase::kGate: step = PassGate(); break;
      case Phase::kDeferred: step = TakeAnswer(); break;
      case Phase::kReply: step = SendReply(); break;
      case Phase::kLinger: step = Linger(); break;
    }
  }
  return step;
}

// ---- Life

void HttpConnection::Open(int descriptor, std::shared_ptr<const TlsContext> tls, Peer peer) {
  turn_.store(Turn::kSomebody);
  reported_.store(false);
  hung_up_.store(false);
  evicted_.store(false);
  socket_.emplace(descriptor);
  remote_address_ = std::move(peer.text);
  source_ = peer.source;
  proven_ = false;
  request_count_ = 0;
  context_.connections_open.fetch_add(1);
  context_.connections_accepted.fetch_add(1);
  SetPrecedence(Precedence::kUnfinished, Now());
  EnterIdle();
  // Whoever connects has something to say: the long patience begins with the first request or
  // handshake.
  EndAt(Now() + context_.options.limits.request_timeout);
  if (tls != nullptr) phase_ = Phase::kHandshake;
  tls_context_ = std::move(tls);
  turn_.store(Turn::kNobody);
  // From here on a thread of the loop may be at work on it.
  if (!context_.loop->Watch(descriptor, *this) && TakeTurn(false)) Close();
}

void HttpConnection::EnterIdle() {
  phase_ = Phase::kIdle;
  const Deadline now = Now();
  // Before its first head a connection is as old as it is: a handshake makes nobody younger.
  if (request_count_ > 0) SetPrecedence(Precedence::kIdle, now);
  if (evicted_.load(std::memory_order_relaxed)) evicted_.store(false);
  EndAt(now + context_.options.limits.idle_timeout);
}

void HttpConnection::Close() {
  if (tls_ != nullptr && phase_ != Phase::kLinger && phase_ != Phase::kHandshake) tls_->Close();
  // Best effort: an alert, or the notice that nothing follows.
  if (!output_.empty()) static_cast<void>(socket_->Send(output_, sent_));
  Forget();
  if (phase_ == Phase::kDeferred) context_.in_flight.fetch_sub(1);
  if (phase_ == Phase::kGate && !context_.gate.Withdraw(*this)) in_gate_ = true;
  LeaveGate();
  ReleaseRequest();
  tls_context_.reset();
  tls_.reset();
  socket_.reset();
  client_name_.reset();
  input_.reset();
  input_size_ = scanned_ = sent_ = 0;
  GiveBack(output_);
  GiveBack(reply_.bytes);
  reply_ = {};
  close_after_reply_ = linger_after_reply_ = false;
  precedence_.store(Precedence::kFree);
  deadline_.store(Deadline::max().time_since_epoch().count());
  // Before the seat is offered: the next connection may open it at once.
  turn_.store(Turn::kFree, std::memory_order_release);
  context_.connections_open.fetch_sub(1);
  context_.on_close(*this);
}

void HttpConnection::Sweep(Deadline now) {
  const auto passed = [&] { return deadline_.load() <= now.time_since_epoch().count(); };
  if (!passed() || !TakeTurn(false)) return;
  // With the turn: whoever had it may have set a later one.
  if (passed()) {
    switch (phase_) {
      case Phase::kHandshake:
      // Nothing can be said before there is a session, nor within a reply.
      case Phase::kReply: context_.Count(HttpRejection::kSlow); return Close();
      case Phase::kIdle:
      case Phase::kLinger: return Close();
      case Phase::kHead:
      case Phase::kBody:
        static_cast<void>(Refuse({408, "request took too long", HttpRejection::kSlow}));
        break;
      case Phase::kGate:
        if (!context_.gate.Withdraw(*this)) break;  // its turn has just come
        static_cast<void>(
            Refuse({503, "too many large requests at once", HttpRejection::kBodyBytes}));
        break;
      case Phase::kDeferred: static_cast<void>(Resume(deferred_->TakeAtDeadline())); break;
    }
  }
  Work();
}

Precedence HttpConnection::precedence() const {
  return evicted_.load() ? Precedence::kFree : precedence_.load(std::memory_order_relaxed);
}

Deadline HttpConnection::precedence_since() const {
  return Deadline(Deadline::duration(precedence_since_.load(std::memory_order_relaxed)));
}

// Proven ones stay where they are: the acceptor looks at nothing else of them.
void HttpConnection::SetPrecedence(Precedence precedence, Deadline since) {
  if (proven_) return;
  precedence_since_.store(since.time_since_epoch().count(), std::memory_order_relaxed);
  precedence_.store(precedence, std::memory_order_relaxed);
}

bool HttpConnection::MayBeEvicted() const {
  const Precedence now = precedence_.load(std::memory_order_relaxed);
  return now == Precedence::kUnfinished || now == Precedence::kBody;
}

void HttpConnection::Evict() {
  evicted_.store(true);
  // At once where nothing can be lost, or many that come together would find no seat.
  if (MayBeEvicted() && TakeTurn(false)) {
    if (MayBeEvicted()) return Close();
    return Work();
  }
  context_.loop->Post(*this, Report::kReady);  // what has arrived meanwhile is looked for
}

void HttpConnection::Abort() {
  if (TakeTurn(false)) Close();
}

// ---- Steps

IoResult HttpConnection::Read(std::span<char> buffer) {
  if (tls_ != nullptr) return tls_->Read(buffer);
  if (socket_->drained()) return {IoStatus::kWouldBlock};
  return socket_->Receive(buffer);
}

HttpConnection::Step HttpConnection::DoHandshake() {
  if (tls_ == nullptr) {
    // A session costs much more than a connection that says nothing.
    const IoStatus status = socket_->Peek();
    if (status == IoStatus::kWouldBlock) return evicted_.load() ? Step::kClose : Step::kWait;
    if (status != IoStatus::kDone) return Step::kClose;
    tls_ = TlsSession::Make(std::move(tls_context_), *socket_, output_);
    if (tls_ == nullptr) return Step::kClose;
  }
  const IoStatus status = tls_->Handshake();
  // As everywhere: counted before the caller can know.
  if (status == IoStatus::kFailed) context_.Count(HttpRejection::kHandshake);
  const IoStatus sent = socket_->Send(output_, sent_);
  if (status == IoStatus::kFailed || status == IoStatus::kClosed) return Step::kClose;
  if (sent == IoStatus::kFailed) return Step::kClose;
  if (status == IoStatus::kWouldBlock || sent == IoStatus::kWouldBlock) {
    return evicted_.load() ? Step::kClose : Step::kWait;
  }
  client_name_ = tls_->ClientName();
  if (client_name_.has_value()) NoteProven();
  EnterIdle();
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::ReadHead() {
  const HttpLimits& limits = context_.options.limits;
  if (input_ == nullptr) input_ = std::move(spare_buffers.input);
  if (input_ == nullptr) input_ = std::make_unique_for_overwrite<char[]>(limits.head_bytes_max);
  for (;;) {
    const std::string_view text(input_.get(), input_size_);
    if (!text.empty()) {
      if (phase_ == Phase::kIdle) BeginRequest();
      const size_t head_size = FindHeadEnd(text, scanned_);
      if (head_size != kNoHeadEnd) return UseHead(head_size);
      scanned_ = input_size_;
      const auto verdict = CheckPartialHead(text, limits);
      if (const auto* refusal = std::get_if<HeadRefusal>(&verdict)) return Refuse(*refusal);
    }
    const IoResult got = Read({input_.get() + input_size_, limits.head_bytes_max - input_size_});
    switch (got.status) {
      case IoStatus::kDone: input_size_ += got.bytes; break;
      case IoStatus::kClosed:
      case IoStatus::kFailed: return Step::kClose;
      case IoStatus::kWouldBlock: {
        const bool leave = phase_ == Phase::kIdle && context_.stopping.load();
        if (input_size_ == 0) spare_buffers.input = std::move(input_);
        return leave || evicted_.load() ? Step::kClose : Step::kWait;
      }
    }
  }
}

void HttpConnection::BeginRequest() {
  phase_ = Phase::kHead;
  has_request_ = true;
  context_.unanswered.fetch_add(1);
  request_.arrival = Now();
  request_.deadline = request_.arrival + context_.options.limits.handler_timeout;
  if (request_count_ > 0) SetPrecedence(Precedence::kUnfinished, request_.arrival);
  EndAt(request_.arrival + context_.options.limits.request_timeout);
}

HttpConnection::Step HttpConnection::UseHead(size_t head_size) {
  auto parsed = ParseHead({input_.get(), input_size_}, head_size, context_.options.limits);
  if (const auto* refusal = std::get_if<HeadRefusal>(&parsed)) return Refuse(*refusal);
  head_ = std::move(std::get<RequestHead>(parsed));
  head_size_ = head_size;
  phase_ = Phase::kBody;
  SetPrecedence(Precedence::kBody, request_.arrival);
  if (head_.content_length > HttpLimits::kSmallBodyBytes &&
      head_.content_length > context_.engine.BodyBytesMax(head_)) {
    return Refuse({413, "body too large", HttpRejection::kBodyTooLarge});
  }
  const size_t came_along = input_size_ - head_size;
  if (request_.body.capacity() < spare_buffers.body.capacity())
    request_.body.swap(spare_buffers.body);
  if (!GrowBody()) {
    return Refuse({503, "too many large requests at once", HttpRejection::kBodyBytes});
  }
  body_size_ = std::min<size_t>(came_along, request_.body.size());
  std::copy_n(input_.get() + head_size, body_size_, request_.body.begin());
  head_size_ += body_size_;
  if (head_.expects_continue && body_size_ < head_.content_length) {
    std::string bytes(kContinue);
    const Step step = Queue(bytes);
    if (step == Step::kClose) return step;
    if (socket_->Send(output_, sent_) == IoStatus::kFailed) return Step::kClose;
  }
  return Step::kGoOn;
}

// Makes room for more of the body: not for all that was announced, but for twice what has come, so
// that announcing much costs the sender as much as it costs us.
bool HttpConnection::GrowBody() {
  const size_t room = std::max<size_t>(HttpLimits::kSmallBodyBytes, 2 * body_size_);
  const size_t size = std::min<size_t>(head_.content_length, room);
  if (size > HttpLimits::kSmallBodyBytes) {
    const size_t more = size - body_reserved_;
    const size_t before = context_.body_bytes.fetch_add(more);
    if (before + more > context_.options.limits.body_bytes_in_flight_max) {
      context_.body_bytes.fetch_sub(more);
      return false;
    }
    body_reserved_ = size;
  }
  // All at once: pages that nothing is written to cost nothing, and growing would copy.
  const size_t whole = size > HttpLimits::kSmallBodyBytes ? head_.content_length : size;
  request_.body.reserve(whole + HttpRequest::kBodyPadding);
  request_.body.resize(size);
  return true;
}

HttpConnection::Step HttpConnection::ReadBody() {
  while (body_size_ < head_.content_length) {
    if (body_size_ >= HttpLimits::kSmallBodyBytes && !IsOnLargeLoop()) return Step::kWait;
    if (body_size_ == request_.body.size() && !GrowBody()) {
      return Refuse({503, "too many large requests at once", HttpRejection::kBodyBytes});
    }
    const IoResult got =
        Read({request_.body.data() + body_size_, request_.body.size() - body_size_});
    switch (got.status) {
      case IoStatus::kDone: body_size_ += got.bytes; break;
      case IoStatus::kWouldBlock: return evicted_.load() ? Step::kClose : Step::kWait;
      case IoStatus::kClosed:
      case IoStatus::kFailed: return Step::kClose;
    }
  }
  SetPrecedence(Precedence::kBusy, request_.arrival);
  if (body_size_ <= HttpLimits::kSmallBodyBytes) return AnswerRequest();
  phase_ = Phase::kGate;
  EndAt(request_.deadline);
  context_.gate.Enter(*this);
  return PassGate();
}

// False: a thread of that loop will go on.
bool HttpConnection::IsOnLargeLoop() {
  if (context_.large_loop->IsOwnThread()) return true;
  context_.large_loop->Post(*this, Report::kNothing);
  return false;
}

// What is made of a large body takes much more memory than the body, so only a few are read at
// once, by threads that leave the processors to others; the others hold their bodies, and no
// thread.
HttpConnection::Step HttpConnection::PassGate() {
  if (!context_.gate.IsAdmitted(*this)) return Step::kWait;
  if (!IsOnLargeLoop()) return Step::kWait;
  in_gate_ = true;
  phase_ = Phase::kBody;
  return AnswerRequest();
}

HttpConnection::Step HttpConnection::AnswerRequest() {
  ++request_count_;
  reply_.rejection.reset();
  const bool keep_alive = SettleKeepAlive();
  const auto limit = static_cast<uint64_t>(context_.options.limits.in_flight_max);
  if (context_.in_flight.fetch_add(1) >= limit) {
    reply_.bytes = ShortReply(503, "too many requests at once", keep_alive);
    reply_.rejection = HttpRejection::kInFlight;
    return Reply();
  }
  if (context_.options.client_auth == ClientAuth::kRequired && !client_name_.has_value()) {
    reply_.bytes = ShortReply(403, "client certificate is not allowed", keep_alive);
    reply_.rejection = HttpRejection::kClientName;
    return Reply();
  }
  request_.headers = std::move(head_.fields);
  request_.client_name = client_name_;
  request_.remote_address = remote_address_;
  request_.caller_proven = false;
  const bool answered = LetHandlerAnswer();
  if (request_.caller_proven) NoteProven();
  if (answered) {
    // At once, not when the reply has left: others may come before that.
    DropInput();
    DropBody();
    return Reply();
  }
  if (TRUCE_NEVER(deferred_ == nullptr)) {
    reply_.bytes = ShortReply(503, "internal error", keep_alive);
    reply_.rejection = HttpRejection::kHandlerFailed;
    return Reply();
  }
  phase_ = Phase::kDeferred;
  EndAt(deferred_until_);
  return Step::kGoOn;
}

bool HttpConnection::LetHandlerAnswer() {
  std::optional<BlockingRegion> blocking;
  if (context_.options.handler_kind == HandlerKind::kBlocking) blocking.emplace();
  const bool answered = context_.engine.Answer(head_, request_, *this, reply_);
  LeaveGate();
  return answered;
}

void HttpConnection::LeaveGate() {
  if (!in_gate_) return;
  DropBody();
  in_gate_ = false;
  context_.gate.Leave();
}

// From now on it gives way to nobody.
void HttpConnection::NoteProven() {
  if (std::exchange(proven_, true)) return;
  precedence_.store(Precedence::kProven, std::memory_order_relaxed);
}

std::shared_ptr<HttpDeferred> HttpConnection::Defer(Deadline deadline, HttpContinuation at_deadline,
                                                    WhenHungUp hung_up) {
  Forget();
  when_hung_up_ = hung_up;
  deferred_until_ = deadline;
  deferred_ = std::make_shared<DeferredAnswer>(*this, *context_.loop, std::move(at_deadline));
  return deferred_;
}

HttpConnection::Step HttpConnection::TakeAnswer() {
  const HttpContinuation answer = deferred_->Take();
  if (answer) return Resume(answer);
  // The report may have been meant for the one who sat here before.
  const bool leave = when_hung_up_ == WhenHungUp::kForget && hung_up_.load() && socket_->HungUp();
  return leave ? Step::kClose : Step::kWait;
}

HttpConnection::Step HttpConnection::Resume(const HttpContinuation& answer) {
  SettleKeepAlive();
  context_.engine.Resume(answer, head_, reply_);
  return Reply();
}

void HttpConnection::Forget() {
  if (deferred_ != nullptr) std::exchange(deferred_, nullptr)->Abandon();
}

// Whether another request may follow this one.
bool HttpConnection::SettleKeepAlive() {
  const bool leave = context_.draining.load() || context_.stopping.load();
  close_after_reply_ = leave || !head_.keep_alive;
  reply_.keep_alive = !close_after_reply_;
  return reply_.keep_alive;
}

// What reply_ says leaves: behind the replies that others are about to make, when they wait for
// their turn. One after the other the replies find in the caches what encrypting and sending needs.
HttpConnection::Step HttpConnection::Reply() {
  Forget();
  LeaveGate();
  context_.in_flight.fetch_sub(1);
  if (reply_.rejection.has_value()) {
    context_.Count(*reply_.rejection);
  } else {
    context_.requests.fetch_add(1, std::memory_order_relaxed);
  }
  phase_ = Phase::kReply;
  EndAt(Now() + context_.options.limits.write_timeout);
  return context_.loop->PostBehindOthers(*this) ? Step::kWait : Step::kGoOn;
}

HttpConnection::Step HttpConnection::Refuse(const HeadRefusal& refusal) {
  context_.Count(refusal.rejection);
  close_after_reply_ = linger_after_reply_ = true;
  phase_ = Phase::kReply;
  EndAt(Now() + context_.options.limits.write_timeout);
  reply_.bytes = ShortReply(refusal.status, refusal.reason, false);
  return Queue(reply_.bytes);
}

// Adds `bytes` to what is to be sent, and the notice of the end when this is the last reply.
// Empties `bytes`, whose storage may be exchanged for that of the output.
HttpConnection::Step HttpConnection::Queue(std::string& bytes) {
  if (tls_ == nullptr && output_.empty()) {
    output_.swap(bytes);
  } else if (tls_ == nullptr) {
    output_.append(bytes);
  } else if (!tls_->Write(bytes)) {
    return Step::kClose;
  }
  bytes.clear();
  const bool is_last = close_after_reply_ && reply_.pieces == nullptr;
  if (phase_ == Phase::kReply && is_last && tls_ != nullptr) tls_->Close();
  return Step::kGoOn;
}

HttpConnection::Step HttpConnection::SendReply() {
  if (!reply_.bytes.empty() && Queue(reply_.bytes) == Step::kClose) return Step::kClose;
  switch (socket_->Send(output_, sent_)) {
    case IoStatus::kDone: break;
    case IoStatus::kWouldBlock: return Step::kWait;
    case IoStatus::kClosed:
    case IoStatus::kFailed: return Step::kClose;
  }
  if (reply_.pieces != nullptr) return TakeNextPiece();
  ReleaseRequest();
  if (close_after_reply_ && !linger_after_reply_) return Step::kClose;
  if (close_after_reply_) {
    socket_->ShutDownWriting();
    phase_ = Phase::kLinger;
    EndAt(Now() + kLingerTime);
    return Step::kGoOn;
  }
  DropInput();
  EnterIdle();
  if (input_size_ == 0) return Step::kGoOn;
  context_.loop->Post(*this, Report::kNothing);  // others come first
  return Step::kWait;
}

// Each piece has the time of a whole reply, and others come between two of them.
HttpConnection::Step HttpConnection::TakeNextPiece() {
  std::optional<std::string> piece = reply_.pieces->Next();
  const bool is_good = piece && !piece->empty() && piece->size() <= reply_.pieces_left;
  if (!is_good) return Step::kClose;
  reply_.pieces_left -= piece->size();
  if (reply_.pieces_left == 0) reply_.pieces.reset();
  reply_.bytes = *std::move(piece);
  EndAt(Now() + context_.options.limits.write_timeout);
  context_.loop->Post(*this, Report::kNothing);
  return Step::kWait;
}

// Forgets the request at hand, answered or not.
void HttpConnection::ReleaseRequest() {
  if (has_request_) context_.unanswered.fetch_sub(1);
  has_request_ = false;
  DropBody();
  request_.query.clear();
  request_.headers.clear();
  if (output_.capacity() > kIdleBufferBytesMax) GiveBack(output_);
  if (reply_.bytes.capacity() > kIdleBufferBytesMax) GiveBack(reply_.bytes);
}

// Where the request ended, the next one may begin.
void HttpConnection::DropInput() {
  if (input_ == nullptr) return;
  std::memmove(input_.get(), input_.get() + head_size_, input_size_ - head_size_);
  input_size_ -= head_size_;
  head_size_ = scanned_ = 0;
  if (input_size_ == 0) spare_buffers.input = std::move(input_);
}

// What stands in it stays until it is overwritten: to empty it would have GrowBody fill it anew.
void HttpConnection::DropBody() {
  const size_t capacity = request_.body.capacity();
  if (capacity <= SpareBuffers::kBodyBytesMax && capacity > spare_buffers.body.capacity()) {
    request_.body.swap(spare_buffers.body);
  }
  GiveBack(request_.body);
  if (body_reserved_ > 0) context_.body_bytes.fetch_sub(body_reserved_);
  body_reserved_ = body_size_ = 0;
}

HttpConnection::Step HttpConnection::Linger() {
  for (int i = 0; i < kLingerReadsMax; ++i) {
    if (socket_->drained()) return Step::kWait;
    const IoResult got = socket_->Receive({input_.get(), context_.options.limits.head_bytes_max});
    if (got.status == IoStatus::kWouldBlock) return Step::kWait;
    if (got.status != IoStatus::kDone) return Step::kClose;
  }
  context_.loop->Post(*this, Report::kNothing);
  return Step::kWait;
}

}  // namespace truce
