#include "webhook/http/server.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "registry/base/guarded.h"
#include "webhook/http/connection.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/router.h"
#include "webhook/http/socket_address.h"
#include "webhook/http/tls.h"

namespace truce {
namespace {

constexpr int kRunningMax = 4;
constexpr int kNameBytesMax = 10;
// Places above connections_max, for connections that take the place of one that is being closed.
constexpr size_t kSparePlaces = 64;
// An idle connection is not closed for a new one before it had a chance to be used.
constexpr std::chrono::seconds kEvictAfter{1};

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
  if (limits.connections_max < 1 || limits.in_flight_max < 1 || options.threads_running_max < 0) {
    return malformed("limits must be positive");
  }
  if (limits.request_timeout.count() <= 0 || limits.idle_timeout.count() <= 0 ||
      limits.write_timeout.count() <= 0 || limits.handler_timeout.count() <= 0) {
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

std::string_view Name(HttpRejection rejection) {
  switch (rejection) {
    case HttpRejection::kConnections: return "connections";
    case HttpRejection::kInFlight: return "in_flight";
    case HttpRejection::kBodyBytes: return "body_bytes";
    case HttpRejection::kHandshake: return "handshake";
    case HttpRejection::kSlow: return "slow";
    case HttpRejection::kBadRequest: return "bad_request";
    case HttpRejection::kBodyTooLarge: return "body_too_large";
    case HttpRejection::kMediaType: return "media_type";
    case HttpRejection::kNotFound: return "not_found";
    case HttpRejection::kClientName: return "client_name";
    case HttpRejection::kHandlerFailed: return "handler_failed";
  }
  return "unknown";
}

class HttpServer::Impl final : private EventSink {
 public:
  Impl(HttpServerOptions options, Router router, std::unique_ptr<ListeningSocket> socket)
      : engine_(std::move(router)), context_{std::move(options), engine_}, port_(socket->port()) {
    listening_.With([&](auto& listening) { listening = std::move(socket); });
    if (context_.options.certificates != nullptr) {
      tls_.emplace(*context_.options.certificates, context_.options.client_auth);
    }
    context_.on_close = [this](HttpConnection& connection) { TakeBack(connection); };
    places_.resize(static_cast<size_t>(context_.options.limits.connections_max) + kSparePlaces);
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
    loop_options.tick = TickFor(options.limits);
    TRUCE_ASSIGN_OR_RETURN(loop_, EventLoop::Start(loop_options, [this] { Tick(); }));
    context_.loop = loop_.get();
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
    Accept();  // who waits in the backlog is served
    context_.stopping.store(true);
    listening_.With([](auto& listening) { listening.reset(); });
    ForEach([this](HttpConnection& connection) { loop_->Post(connection, Report::kReady); });
    const bool whole = WaitForClose(deadline);
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
    for (size_t i = 0; i < kHttpRejectionCount; ++i) {
      counters.rejections[i] = context_.rejections[i].load();
    }
    return counters;
  }

 private:
  void OnEvent(Report /*report*/) override { Accept(); }

  // Takes all that wait. Another thread may do the same: accept itself shares them out.
  void Accept() {
    listening_.With([this](std::unique_ptr<ListeningSocket>& listening) {
      while (listening != nullptr) {
        sockaddr_storage remote{};
        socklen_t size = sizeof remote;
        const int descriptor =
            ::accept4(listening->descriptor(), reinterpret_cast<sockaddr*>(&remote), &size,
                      SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor >= 0) {
          Admit(descriptor, AddressText(remote));
        } else if (errno != EINTR && errno != ECONNABORTED) {
          // Nobody waits; or no descriptor or memory is left, and then nothing tells when there is.
          accept_again_.store(errno != EAGAIN);
          return;
        }
      }
    });
  }

  void Admit(int descriptor, std::string remote) {
    const auto limit = static_cast<uint64_t>(context_.options.limits.connections_max);
    const bool full = context_.connections_open.load() >= limit;
    HttpConnection* place = full && !MakeRoom() ? nullptr : FreePlace();
    std::shared_ptr<const TlsContext> tls;
    if (place != nullptr && tls_.has_value()) {
      auto current = tls_->Current();
      if (!current.ok()) place = nullptr;
      if (current.ok()) tls = std::move(current).value();
    }
    if (place == nullptr) {
      context_.Count(HttpRejection::kConnections);
      ::close(descriptor);
      return;
    }
    place->Open(descriptor, std::move(tls), std::move(remote));
  }

  // Asks the idle connection that is missed least to leave: one that never had a request before one
  // that had, and the longest idle first. False when there is none.
  bool MakeRoom() {
    HttpConnection* least = nullptr;
    std::optional<HttpConnection::Idle> least_idle;
    ForEach([&](HttpConnection& connection) {
      const auto idle = connection.IdleState();
      if (!idle.has_value()) return;
      const bool first = !least_idle.has_value();
      const auto rank = [](const HttpConnection::Idle& i) { return std::pair(i.used, i.since); };
      if (!first && rank(*idle) >= rank(*least_idle)) return;
      least = &connection;
      least_idle = idle;
    });
    if (least == nullptr) return false;
    if (std::chrono::steady_clock::now() - least_idle->since < kEvictAfter) return false;
    context_.Count(HttpRejection::kConnections);
    least->Evict();
    return true;
  }

  // A free place, newly made if need be; null when all are taken. Only under the lock of
  // listening_.
  HttpConnection* FreePlace() {
    HttpConnection* place = free_.With([](std::vector<HttpConnection*>& free) -> HttpConnection* {
      if (free.empty()) return nullptr;
      HttpConnection* last = free.back();
      free.pop_back();
      return last;
    });
    if (place != nullptr) return place;
    const size_t count = place_count_.load(std::memory_order_relaxed);
    if (count == places_.size()) return nullptr;
    places_[count] = std::make_unique<HttpConnection>(context_);
    place = places_[count].get();
    place_count_.store(count + 1, std::memory_order_release);
    return place;
  }

  void TakeBack(HttpConnection& connection) {
    free_.With([&](std::vector<HttpConnection*>& free) { free.push_back(&connection); });
    const std::lock_guard<std::mutex> lock(closed_mutex_);
    closed_.notify_all();
  }

  template <typename F>
  void ForEach(F&& visit) {
    const size_t count = place_count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) visit(*places_[i]);
  }

  void Tick() {
    const Deadline now = std::chrono::steady_clock::now();
    ForEach([now](HttpConnection& connection) { connection.Sweep(now); });
    if (accept_again_.load()) Accept();
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
  std::vector<std::unique_ptr<HttpConnection>>
      places_;  // the first place_count_ are there, and stay
  std::atomic<size_t> place_count_ = 0;
  std::atomic<bool> accept_again_ = false;
  std::mutex closed_mutex_;
  std::condition_variable closed_;
  std::unique_ptr<EventLoop> loop_;
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
