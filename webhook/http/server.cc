#include "webhook/http/server.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "registry/base/guarded.h"
#include "registry/base/name_table.h"
#include "webhook/http/connection.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/router.h"
#include "webhook/http/socket_address.h"
#include "webhook/http/tls.h"

namespace truce {
namespace {

constexpr NameTable<HttpRejection::kHandlerFailed> kHttpRejections(
    "connections", "in_flight", "body_bytes", "handshake", "slow", "bad_request", "body_too_large",
    "media_type", "not_found", "client_name", "handler_failed");

constexpr int kRunningMax = 4;
constexpr int kNameBytesMax = 10;
// Seats above connections_max, for connections that take the seat of one that is being closed.
constexpr size_t kSpareSeats = 64;
// A connection between two requests is not closed for a new one before it had a chance to be used.
constexpr std::chrono::seconds kEvictAfter{1};
// Of threads that read large bodies: a third of the share of one that answers small requests.
constexpr int kLargeNice = 5;
// They have no deadlines to keep; a wait that is not marked is noticed within two.
constexpr std::chrono::milliseconds kLargeTick{500};
// Connections accepted in a row before others have their turn. Few: the loop may take that turn
// some sixty times before it polls, and nobody else's.
constexpr int kAcceptMax = 4;

int ProcessorCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::clamp(CPU_COUNT(&set), 1, kRunningMax);
}

Result<void> CheckOptions(const HttpServerOptions& options) {
  const HttpLimits& limits = options.limits;
  const auto malformed = [&](std::string_view why) {
    return Error{ErrorCode::kInvalidArgument,
                 "listener \"" + options.name + "\": " + std::string(why)};
  };
  if (options.name.empty() || options.name.size() > kNameBytesMax) {
    return malformed("the name must have 1 to 10 characters");
  }
  if (limits.head_bytes_max < 256 || limits.field_count_max < 1)
    return malformed("head limit too small");
  if (limits.connections_max < 1 || limits.connections_per_source_max < 1 ||
      limits.in_flight_max < 1 || limits.large_bodies_max < 0 || options.threads_running_max < 0) {
    return malformed("limits must be positive");
  }
  if (limits.request_timeout.count() <= 0 || limits.idle_timeout.count() <= 0 ||
      limits.write_timeout.count() <= 0 || limits.handler_timeout.count() <= 0 ||
      limits.unfinished_time_min.count() < 0) {
    return malformed("time limits must be positive");
  }
  if (options.client_auth != ClientAuth::kNone &&
      (options.certificates == nullptr || options.certificates->Current().client == nullptr)) {
    return malformed("client certificates need TLS and a client CA");
  }
  return {};
}

// Fine enough that a deadline is missed by a tenth at most, and never a burden.
std::chrono::milliseconds TickFor(const HttpLimits& limits) {
  const auto shortest =
      std::min({limits.request_timeout, limits.idle_timeout, limits.write_timeout});
  return std::clamp(shortest / 10, std::chrono::milliseconds(5), std::chrono::milliseconds(50));
}

}  // namespace

std::string_view Name(HttpRejection rejection) { return kHttpRejections.Of(rejection); }

class HttpServer::Impl final : private EventSink {
 public:
  Impl(HttpServerOptions options, Router router, std::unique_ptr<ListeningSocket> socket)
      : engine_(std::move(router)), context_{std::move(options), engine_}, port_(socket->port()) {
    listening_.With([&](auto& listening) { listening = std::move(socket); });
    if (context_.options.certificates != nullptr) {
      tls_.emplace(*context_.options.certificates, context_.options.client_auth);
    }
    context_.on_close = [this](HttpConnection& connection) { TakeBack(connection); };
    seats_.resize(static_cast<size_t>(context_.options.limits.connections_max) + kSpareSeats);
  }

  ~Impl() override { Stop(std::chrono::steady_clock::now()); }

  Result<void> Start() {
    if (tls_.has_value()) TRUCE_RETURN_IF_ERROR(tls_->Current());
    const HttpServerOptions& options = context_.options;
    EventLoopOptions loop_options;
    loop_options.name = options.name;
    loop_options.running_max =
        options.threads_running_max > 0 ? options.threads_running_max : ProcessorCount();
    loop_options.waiting_max = options.limits.in_flight_max;
    const int large_max = options.limits.large_bodies_max;
    const int gate_seats = large_max > 0 ? large_max : loop_options.running_max;
    loop_options.tick = TickFor(options.limits);
    TRUCE_ASSIGN_OR_RETURN(loop_, EventLoop::Start(loop_options, [this] { Tick(); }));
    context_.loop = loop_.get();
    if (options.limits.body_bytes_max > HttpLimits::kSmallBodyBytes) {
      loop_options.name += "-large";
      loop_options.nice = kLargeNice;
      loop_options.running_max *= 2;  // half of them may be inside handlers, half receive
      loop_options.waiting_max = loop_options.running_max;
      loop_options.tick = kLargeTick;
      TRUCE_ASSIGN_OR_RETURN(large_loop_, EventLoop::Start(loop_options, [] {}));
      context_.large_loop = large_loop_.get();
      context_.gate.Open(gate_seats, *large_loop_);
    }
    const bool watched = listening_.With(
        [&](auto& listening) { return loop_->Watch(listening->descriptor(), *this); });
    if (!watched) return Error{ErrorCode::kUnavailable, "the system refused to poll the listener"};
    return {};
  }

  int port() const { return port_; }
  void BeginDrain() { context_.draining.store(true); }

  bool Stop(Deadline deadline) {
    context_.draining.store(true);
    if (loop_ == nullptr) return true;
    while (AcceptSome()) {  // who waits in the backlog is served
    }
    context_.stopping.store(true);
    listening_.With([](auto& listening) { listening.reset(); });
    ForEach([this](HttpConnection& connection) { loop_->Post(connection, Report::kReady); });
    const bool whole = WaitForClose(deadline);
    if (large_loop_ != nullptr) large_loop_->Stop();
    loop_->Stop();
    ForEach([](HttpConnection& connection) { connection.Abort(); });
    return whole;
  }

  HttpCounters Counters() const {
    HttpCounters counters;
    counters.connections_open = context_.connections_open.load();
    counters.connections_accepted = context_.connections_accepted.load();
    counters.requests = context_.requests.load();
    counters.in_flight = context_.in_flight.load();
    counters.threads = static_cast<uint64_t>(loop_->threads());
    if (large_loop_) counters.threads += static_cast<uint64_t>(large_loop_->threads());
    for (size_t i = 0; i < kHttpRejectionCount; ++i) {
      counters.rejections[i] = context_.rejections[i].load();
    }
    return counters;
  }

 private:
  // One thread at a time: others have better things to do than to wait for it.
  void OnEvent(Report /*report*/) override {
    if (accept_calls_.fetch_add(1) > 0) return;  // who is at it looks again
    std::uint64_t seen = 0;
    do {
      seen = accept_calls_.load();
      if (AcceptSome()) loop_->Post(*this, Report::kReady);
    } while (!accept_calls_.compare_exchange_strong(seen, 0));
  }

  // True when more may wait.
  bool AcceptSome() {
    return listening_.With([this](std::unique_ptr<ListeningSocket>& listening) {
      bool has_evicted = false;
      for (int i = 0; listening != nullptr && i < kAcceptMax; ++i) {
        sockaddr_storage remote{};
        socklen_t size = sizeof remote;
        const int descriptor =
            ::accept4(listening->descriptor(), reinterpret_cast<sockaddr*>(&remote), &size,
                      SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor >= 0) {
          Admit(descriptor, {AddressText(remote), AddressBits(remote)});
          has_evicted = false;
        } else if (errno != EINTR && errno != ECONNABORTED) {
          // Nobody waits; or no descriptor or memory is left, and then nothing tells when there is.
          const int error = errno;
          accept_again_.store(error != EAGAIN);
          const bool has_none = error == EMFILE || error == ENFILE;
          if (!has_none || has_evicted || !MakeRoomForWaiting(listening->descriptor()))
            return false;
          has_evicted = true;
        }
      }
      return listening != nullptr;
    });
  }

  void Admit(int descriptor, HttpConnection::Peer peer) {
    HttpConnection* seat = MakeRoom(peer.source, IsFull()) ? FreeSeat() : nullptr;
    std::shared_ptr<const TlsContext> tls;
    if (seat != nullptr && tls_.has_value()) {
      auto current = tls_->Current();
      if (!current.ok()) seat = nullptr;
      if (current.ok()) tls = std::move(current).value();
    }
    if (seat == nullptr) {
      context_.Count(HttpRejection::kConnections);
      ::close(descriptor);
      return;
    }
    seat->Open(descriptor, std::move(tls), std::move(peer));
  }

  // A connection that may give way to another one.
  struct Candidate {
    HttpConnection* connection = nullptr;
    std::pair<Precedence, Deadline> rank{};  // the lowest goes first

    bool operator<(const Candidate& other) const { return rank < other.rank; }
  };

  // For whoever waits while no descriptor is left: accept4 says so before it looks whether anybody
  // does. Under the lock of listening_.
  bool MakeRoomForWaiting(int listening) {
    pollfd waiting{listening, POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0) return MakeRoom({}, true);
    accept_again_.store(false);
    return false;
  }

  bool IsFull() const {
    return context_.connections_open.load() >=
           static_cast<uint64_t>(context_.options.limits.connections_max);
  }

  // Whether there is room for a new connection from `source`, be it that another one had to give
  // way: one of the same source when that has its share, else anyone's. Under the lock of
  // listening_.
  bool MakeRoom(const SourceAddress& source, bool is_full) {
    const HttpLimits& limits = context_.options.limits;
    const uint64_t open = context_.connections_open.load();
    if (!is_full && open < static_cast<uint64_t>(limits.connections_per_source_max)) return true;
    const bool has_source = source != SourceAddress{};
    const Deadline now = std::chrono::steady_clock::now();
    int count = 0;
    candidates_.clear();
    std::size_t near = 0;  // as many of candidates_ are of the same source, and stand first
    ForEach([&](HttpConnection& connection) {
      const Precedence its = connection.precedence();
      if (its == Precedence::kFree || its == Precedence::kProven) return;
      const bool is_near = has_source && connection.source() == source;
      if (is_near) ++count;
      const std::pair rank(its, connection.precedence_since());
      if (its == Precedence::kBusy) return;
      if (its == Precedence::kIdle && rank.second > now - kEvictAfter) return;
      candidates_.push_back({&connection, rank});
      if (is_near) std::swap(candidates_[near++], candidates_.back());
    });
    const bool has_share = count >= limits.connections_per_source_max;
    if (!is_full && !has_share) return true;
    const std::span<Candidate> all(candidates_);
    HttpConnection* victim = WhoGoes(has_share ? all.first(near) : all, now);
    if (victim == nullptr) return false;
    context_.Count(HttpRejection::kConnections);
    victim->Evict();
    return true;
  }

  // Were it always the oldest, then whoever connects faster than a handshake takes would see none
  // finished: so the older half of the unfinished may go on for a while, and the others give way.
  HttpConnection* WhoGoes(std::span<Candidate> candidates, Deadline now) const {
    const auto unfinished_end = std::partition(
        candidates.begin(), candidates.end(),
        [](const Candidate& each) { return each.rank.first == Precedence::kUnfinished; });
    const std::span unfinished(candidates.begin(), unfinished_end);
    const std::span others(unfinished_end, candidates.end());
    if (!unfinished.empty()) {
      const auto oldest = std::min_element(unfinished.begin(), unfinished.end());
      if (oldest->rank.second <= now - context_.options.limits.unfinished_time_min) {
        return oldest->connection;
      }
      const auto younger = unfinished.begin() + std::ssize(unfinished) / 2;
      std::nth_element(unfinished.begin(), younger, unfinished.end());
      return younger->connection;
    }
    const auto next = std::min_element(others.begin(), others.end());
    return next == others.end() ? nullptr : next->connection;
  }

  // A free seat, newly made if need be; null when all are taken. Only under the lock of
  // listening_.
  HttpConnection* FreeSeat() {
    HttpConnection* seat = free_.With([](std::vector<HttpConnection*>& free) -> HttpConnection* {
      if (free.empty()) return nullptr;
      HttpConnection* last = free.back();
      free.pop_back();
      return last;
    });
    if (seat != nullptr) return seat;
    const size_t count = seat_count_.load(std::memory_order_relaxed);
    if (count == seats_.size()) return nullptr;
    seats_[count] = std::make_unique<HttpConnection>(context_);
    seat = seats_[count].get();
    seat_count_.store(count + 1, std::memory_order_release);
    return seat;
  }

  void TakeBack(HttpConnection& connection) {
    free_.With([&](std::vector<HttpConnection*>& free) { free.push_back(&connection); });
    if (accept_again_.load()) loop_->Post(*this, Report::kReady);
    const std::lock_guard<std::mutex> lock(closed_mutex_);
    closed_.notify_all();
  }

  template <typename F>
  void ForEach(F&& visit) {
    const size_t count = seat_count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) visit(*seats_[i]);
  }

  void Tick() {
    const Deadline now = std::chrono::steady_clock::now();
    ForEach([now](HttpConnection& connection) { connection.Sweep(now); });
    if (accept_again_.load()) OnEvent(Report::kReady);
  }

  bool WaitForClose(Deadline deadline) {
    std::unique_lock<std::mutex> lock(closed_mutex_);
    closed_.wait_until(lock, deadline, [this] { return context_.connections_open.load() == 0; });
    return context_.unanswered.load() == 0;
  }

  const HttpEngine engine_;
  ConnectionContext context_;
  const int port_;
  std::optional<TlsContextSource> tls_;
  Guarded<std::unique_ptr<ListeningSocket>> listening_;
  Guarded<std::vector<HttpConnection*>> free_;
  std::vector<std::unique_ptr<HttpConnection>> seats_;  // the first seat_count_ are there, and stay
  std::atomic<size_t> seat_count_ = 0;
  std::vector<Candidate> candidates_;  // of MakeRoom, kept for its memory
  std::atomic<bool> accept_again_ = false;
  std::atomic<std::uint64_t> accept_calls_ = 0;
  std::mutex closed_mutex_;
  std::condition_variable closed_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<EventLoop> large_loop_;  // null: no large bodies here
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                      std::vector<HttpRoute> routes) {
  TRUCE_RETURN_IF_ERROR(CheckOptions(options));
  TRUCE_ASSIGN_OR_RETURN(Router router, Router::Make(std::move(routes)));
  TRUCE_ASSIGN_OR_RETURN(auto socket, ListeningSocket::Open(options.address));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(router), std::move(socket));
  TRUCE_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->port(); }

void HttpServer::BeginDrain() { impl_->BeginDrain(); }

bool HttpServer::Stop(Deadline deadline) { return impl_->Stop(deadline); }

HttpCounters HttpServer::Counters() const { return impl_->Counters(); }

}  // namespace truce
