#include "webhook/http/connection.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <span>
#include <utility>

#include "registry/base/threads.h"

namespace truce {
namespace {

// After a refusal the peer may still be sending; closing at once would reset the connection and
// take the reply with it. So its bytes are thrown away for at most this long.
constexpr std::chrono::milliseconds kLingerTime{1000};
// Reads of a body, or to throw away, before others have their turn.
constexpr int kReadsPerTurn = 16;

Deadline Now() { return std::chrono::steady_clock::now(); }

// Assigning an empty string, moved or not, would keep the memory.
void GiveBack(std::string& buffer) { std::string().swap(buffer); }

constexpr HeadRefusal kTooManyLarge = {503, "too many large requests at once",
                                       HttpRejection::kBodyBytes};

}  // namespace

// Shared by a connection and the thread that will answer.
struct HttpConnection::Deferred {
  HttpContinuation at_deadline;  // the connection's
  std::mutex mutex;
  EventLoop* loop;          // guarded by mutex; null: nobody waits
  HttpContinuation answer;  // guarded by mutex
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
  if (phase_ != Phase::kLinger) stream_.EndWriting();
  if (in_flight_) shared_.in_flight.fetch_sub(1);
  Forget();
  LeaveGate();
  DropBody();
  shared_.connections_open.fetch_sub(1);
}

bool HttpConnection::OnEvent(Report report) {
  hung_up_ = hung_up_ || report == Report::kHungUp;
  if (phase_ == Phase::kHandling) {
    if (report != Report::kHandled) return true;
    phase_ = Phase::kHandled;
  }
  try {
    Step step = deadline_ <= Now() ? Expire() : Step::kGoOn;
    while (step == Step::kGoOn) step = Advance();
    return step != Step::kClose;
  } catch (const std::exception&) {  // out of memory
    return false;
  }
}

HttpConnection::Step HttpConnection::Advance() {
  switch (phase_) {
    case Phase::kHandshake: return DoHandshake();
    case Phase::kIdle:
    case Phase::kHead: return ReadHead();
    case Phase::kBody: return ReadBody();
    case Phase::kGate: return in_gate_ ? AnswerRequest() : Step::kWait;
    case Phase::kHandling: return Step::kWait;
    case Phase::kHandled: return AfterHandler();
    case Phase::kDeferred: return TakeAnswer(false);
    case Phase::kReply: return SendReply();
    case Phase::kLinger: return Linger();
  }
  return Step::kClose;
}

HttpConnection::Step HttpConnection::Expire() {
  switch (phase_) {
    case Phase::kHandshake:
    // Nothing can be said before there is a session, nor within a reply.
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
  EndAt(Now() + shared_.options.limits.idle_timeout);
}

Precedence HttpConnection::precedence() const {
  if (proven_) return Precedence::kProven;
  if (phase_ == Phase::kIdle && was_answered_) return Precedence::kIdle;
  const bool is_unfinished = phase_ < Phase::kGate || phase_ == Phase::kLinger;
  return is_unfinished ? Precedence::kUnfinished : Precedence::kBusy;
}

HttpConnection::Step HttpConnection::BehindOthers() {
  shared_.loop->Again(id_);
  return Step::kWait;
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
  for (;;) {
    if (!input_.empty()) {
      if (phase_ == Phase::kIdle) BeginRequest();
      constexpr std::string_view kEnd = "\r\n\r\n";
      const std::size_t end = input_.find(kEnd);
      if (end != input_.npos) return UseHead(end + kEnd.size());
      if (const auto refusal = CheckPartialHead(input_, shared_.options.limits))
        return Refuse(*refusal);
    }
    const IoResult got = stream_.Read(shared_.piece);
    if (got.status == IoStatus::kDone) {
      input_.append(shared_.piece.data(), got.bytes);
      continue;
    }
    const bool is_over = phase_ == Phase::kIdle && shared_.stopping;
    return got.status != IoStatus::kWouldBlock || is_over ? Step::kClose : Step::kWait;
  }
}

void HttpConnection::BeginRequest() {
  phase_ = Phase::kHead;
  request_ = {};
  request_.arrival = Now();
  request_.deadline = request_.arrival + shared_.options.limits.handler_timeout;
  EndAt(request_.arrival + shared_.options.limits.request_timeout);
}

HttpConnection::Step HttpConnection::UseHead(std::size_t head_size) {
  auto parsed = ParseHead({input_.data(), head_size}, shared_.options.limits);
  if (const auto* refusal = std::get_if<HeadRefusal>(&parsed)) return Refuse(*refusal);
  head_ = std::move(std::get<RequestHead>(parsed));
  phase_ = Phase::kBody;
  match_ = shared_.router.Find(head_, request_);
  const std::size_t most = match_.route != nullptr ? match_.route->body_bytes_max : 0;
  if (most > 0 && head_.content_length > most) {
    return Refuse({413, "body too large", HttpRejection::kBodyTooLarge});
  }
  const std::size_t come = std::min(input_.size() - head_size, head_.content_length);
  head_size_ = head_size + come;
  if (!AddToBody(std::string_view(input_).substr(head_size, come))) return Refuse(kTooManyLarge);
  if (head_.expects_continue && come < head_.content_length) {
    constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    if (stream_.Write(kContinue).bytes != kContinue.size()) return Step::kClose;
  }
  return Step::kGoOn;
}

// Not what was announced is counted, but what has come: so announcing much costs nobody. False:
// there is no room for more.
bool HttpConnection::AddToBody(std::string_view bytes) {
  if (head_.content_length > HttpLimits::kSmallBodyBytes) {
    const std::size_t room = shared_.options.limits.body_bytes_in_flight_max - shared_.body_bytes;
    if (bytes.size() > room) return false;
    shared_.body_bytes += bytes.size();
    body_counted_ += bytes.size();
  }
  // All at once: pages that nothing is written to cost nothing, and growing would copy.
  request_.body.reserve(head_.content_length + HttpRequest::kBodyPadding);
  request_.body.append(bytes);
  return true;
}

HttpConnection::Step HttpConnection::ReadBody() {
  for (int reads = 0; request_.body.size() < head_.content_length; ++reads) {
    if (reads == kReadsPerTurn) return BehindOthers();
    const std::size_t left = head_.content_length - request_.body.size();
    const std::span<char> piece(shared_.piece.data(), std::min(shared_.piece.size(), left));
    const IoResult got = stream_.Read(piece);
    if (got.status == IoStatus::kWouldBlock) return Step::kWait;
    if (got.status != IoStatus::kDone) return Step::kClose;
    if (!AddToBody({piece.data(), got.bytes})) return Refuse(kTooManyLarge);
  }
  return head_.content_length > HttpLimits::kSmallBodyBytes ? EnterGate() : AnswerRequest();
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
  in_flight_ = true;
  SettleKeepAlive();
  if (shared_.in_flight.fetch_add(1) >= static_cast<std::uint64_t>(options.limits.in_flight_max)) {
    reply_ = Answer({503, "too many requests at once", HttpRejection::kInFlight}, head_);
    return AfterHandler();
  }
  if (options.client_auth == ClientAuth::kRequired && !client_name_.has_value()) {
    reply_ = Answer({403, "client certificate is not allowed", HttpRejection::kClientName}, head_);
    return AfterHandler();
  }
  request_.headers = std::move(head_.fields);
  request_.client_name = client_name_;
  request_.remote_address = address_;
  request_.defer = [this](Deadline deadline, HttpContinuation at_deadline, WhenHungUp hung_up) {
    return Defer(deadline, std::move(at_deadline), hung_up);
  };
  return Handle([this] {
    // Reading a large body takes long: another thread leads meanwhile.
    std::optional<BlockingRegion> blocking;
    if (in_gate_) blocking.emplace();
    auto answer = Answer(match_, head_, request_);
    if (!answer) return deferred_ != nullptr;
    Forget();
    reply_ = *std::move(answer);
    return true;
  });
}

// Runs `work`, which may wait: then another thread leads on return, and goes on when the work is
// done. This one touches nothing from then on. False of it ends the connection.
HttpConnection::Step HttpConnection::Handle(const std::function<bool()>& work) {
  EventLoop& loop = *shared_.loop;
  const std::uint64_t id = id_;
  phase_ = Phase::kHandling;
  deadline_ = Deadline::max();
  try {
    is_broken_ = !work();
  } catch (const std::exception&) {  // out of memory
    is_broken_ = true;
  }
  if (!loop.IsLed()) {
    loop.Post(id, Report::kHandled);
    return Step::kWait;
  }
  phase_ = Phase::kHandled;
  return Step::kGoOn;
}

// Once for the handler, and once more for a deferred answer and for each piece.
HttpConnection::Step HttpConnection::AfterHandler() {
  if (is_broken_) return Step::kClose;
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
  deferred_ = std::make_shared<Deferred>();
  deferred_->at_deadline = std::move(at_deadline);
  deferred_->loop = shared_.loop;
  return [deferred = deferred_, id = id_](HttpContinuation answer) {
    const std::lock_guard lock(deferred->mutex);
    if (deferred->loop == nullptr || deferred->answer) return;
    deferred->answer.swap(answer);
    deferred->loop->Post(id, Report::kNothing);
  };
}

HttpConnection::Step HttpConnection::TakeAnswer(bool at_deadline) {
  HttpContinuation answer;
  {
    const std::lock_guard lock(deferred_->mutex);
    answer.swap(deferred_->answer);
  }
  if (!answer && at_deadline) answer = deferred_->at_deadline;
  if (!answer) {
    const bool leaves = when_hung_up_ == WhenHungUp::kForget && hung_up_;
    return leaves ? Step::kClose : Step::kWait;
  }
  SettleKeepAlive();
  return Handle([this, &answer] {
    reply_ = Answer(answer, head_);
    Forget();
    return true;
  });
}

// The connection goes on to something else. The continuations may own the object that would have
// answered, so they end here.
void HttpConnection::Forget() {
  if (deferred_ == nullptr) return;
  HttpContinuation answer;
  {
    const std::lock_guard lock(deferred_->mutex);
    deferred_->loop = nullptr;
    answer.swap(deferred_->answer);
  }
  deferred_->at_deadline = nullptr;
  deferred_.reset();
}

// Whether another request may follow this one.
void HttpConnection::SettleKeepAlive() {
  head_.keep_alive = head_.keep_alive && !shared_.draining.load() && !shared_.stopping;
}

// ---- The reply leaves

// Sends reply_, or a piece of it, behind others that wait for their turn. One after the other the
// replies find in the caches what encrypting and sending needs.
HttpConnection::Step HttpConnection::Reply() {
  if (std::exchange(in_flight_, false)) {
    // At once, not when the reply has left: others may come before that.
    shared_.in_flight.fetch_sub(1);
    if (reply_.rejection.has_value()) {
      shared_.Count(*reply_.rejection);
    } else {
      shared_.requests.fetch_add(1, std::memory_order_relaxed);
    }
  }
  phase_ = Phase::kReply;
  EndAt(Now() + shared_.options.limits.write_timeout);
  return BehindOthers();
}

HttpConnection::Step HttpConnection::Refuse(const HeadRefusal& refusal) {
  head_ = {};
  head_.keep_alive = false;
  linger_after_reply_ = true;
  shared_.Count(refusal.rejection);
  DropBody();
  LeaveGate();
  reply_ = Answer(refusal, head_);
  return Reply();
}

HttpConnection::Step HttpConnection::SendReply() {
  while (sent_ < reply_.bytes.size()) {
    const IoResult sent = stream_.Write(std::string_view(reply_.bytes).substr(sent_));
    if (sent.status == IoStatus::kWouldBlock) return Step::kWait;
    if (sent.status != IoStatus::kDone) return Step::kClose;
    sent_ += sent.bytes;
  }
  sent_ = 0;
  if (reply_.pieces != nullptr) return TakeNextPiece();
  GiveBack(reply_.bytes);
  if (linger_after_reply_) {
    stream_.EndWriting();
    phase_ = Phase::kLinger;
    EndAt(Now() + kLingerTime);
    return Step::kGoOn;
  }
  if (!head_.keep_alive) return Step::kClose;
  // Where the request ended, the next one may begin.
  input_.erase(0, head_size_);
  input_.shrink_to_fit();
  head_size_ = 0;
  was_answered_ = true;
  since_ = Now();
  EnterIdle();
  return input_.empty() ? Step::kGoOn : BehindOthers();
}

// Each piece has the time of a whole reply.
HttpConnection::Step HttpConnection::TakeNextPiece() {
  return Handle([this] {
    std::optional<std::string> piece = reply_.pieces->Next();
    if (!piece || piece->empty() || piece->size() > reply_.pieces_left) return false;
    reply_.pieces_left -= piece->size();
    if (reply_.pieces_left == 0) reply_.pieces.reset();
    reply_.bytes = *std::move(piece);
    return true;
  });
}

void HttpConnection::DropBody() {
  GiveBack(request_.body);
  shared_.body_bytes -= std::exchange(body_counted_, 0);
}

HttpConnection::Step HttpConnection::Linger() {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const IoResult got = stream_.Read(shared_.piece);
    if (got.status == IoStatus::kWouldBlock) return Step::kWait;
    if (got.status != IoStatus::kDone) return Step::kClose;
  }
  return BehindOthers();
}

}  // namespace truce
