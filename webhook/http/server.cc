#include "webhook/http/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <unordered_map>
#include <utility>

#include "registry/base/name_table.h"
#include "webhook/http/connection.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/listening_socket.h"
#include "webhook/http/router.h"
#include "webhook/http/stream.h"

namespace truce {
namespace {

constexpr NameTable<HttpRejection::kHandlerFailed> kHttpRejections(
    "connections", "in_flight", "body_bytes", "handshake", "slow", "bad_request", "body_too_large",
    "media_type", "not_found", "client_name", "handler_failed");

constexpr int kNameBytesMax = 10;
// After the system had no descriptor, for clients that wait.
constexpr std::chrono::milliseconds kAcceptAgain{50};
// Connections accepted from one poll to the next: those that came before are heard in between.
constexpr int kAcceptMax = 4;

// Ids that the loop calls; connections have the numbers behind.
constexpr std::uint64_t kListenerId = 1;
constexpr std::uint64_t kStopId = 2;

Result<void> CheckOptions(const HttpServerOptions& options) {
  const HttpLimits& limits = options.limits;
  std::string_view why;
  if (options.name.empty() || options.name.size() > kNameBytesMax) {
    why = "the name must have 1 to 10 characters";
  } else if (limits.connections_max < 1 || limits.connections_per_source_max < 1 ||
             limits.in_flight_max < 1 || limits.large_bodies_max < 1) {
    why = "limits must be positive";
  } else if (options.client_auth != ClientAuth::kNone &&
             (options.certificates == nullptr || !options.certificates->Current().client)) {
    why = "client certificates need TLS and a client CA";
  } else {
    return {};
  }
  return Error{ErrorCode::kInvalidArgument,
               "listener \"" + options.name + "\": " + std::string(why)};
}

}  // namespace

std::string_view Name(HttpRejection rejection) { return kHttpRejections.Of(rejection); }

class HttpServer::Impl final {
 public:
  Impl(HttpServerOptions options, Router router, std::unique_ptr<ListeningSocket> socket)
      : shared_{.options = std::move(options), .router = std::move(router)},
        port_(socket->port),
        listening_(std::move(socket)) {}

  ~Impl() { Stop(std::chrono::steady_clock::now()); }

  Result<void> Start() {
    if (shared_.options.certificates != nullptr) TRUCE_RETURN_IF_ERROR(CurrentTls());
    // The leader, and those that wait in handlers.
    const int threads_max = 1 + shared_.options.limits.in_flight_max;
    TRUCE_ASSIGN_OR_RETURN(
        loop_, EventLoop::Start(shared_.options.name, threads_max,
                                [this](std::uint64_t id, Report report) { OnEvent(id, report); }));
    shared_.loop = loop_.get();
    if (!loop_->Watch(listening_->descriptor.get(), kListenerId)) {
      return Error{ErrorCode::kUnavailable, "the system refused to poll the listener"};
    }
    return {};
  }

  int port() const { return port_; }
  void BeginDrain() { shared_.draining.store(true); }

  bool Stop(Deadline deadline) {
    BeginDrain();
    if (loop_ == nullptr) return true;
    loop_->Post(kStopId, Report::kNothing);
    when_empty_.wait_until(deadline);
    loop_->Stop();
    listening_.reset();
    const bool whole = std::none_of(connections_.begin(), connections_.end(),
                                    [](const auto& entry) { return entry.second->has_request(); });
    connections_.clear();
    return whole;
  }

  HttpCounters Counters() const {
    HttpCounters counters;
    counters.connections_open = shared_.connections_open.load();
    counters.connections_accepted = shared_.connections_accepted.load();
    counters.requests = shared_.requests.load();
    counters.in_flight = shared_.in_flight.load();
    counters.threads = static_cast<std::uint64_t>(loop_->threads());
    for (std::size_t i = 0; i < kHttpRejectionCount; ++i) {
      counters.rejections[i] = shared_.rejections[i].load();
    }
    return counters;
  }

 private:
  // All below is the leader's, and while nobody leads Stop's.

  void OnEvent(std::uint64_t id, Report report) {
    if (id == EventLoop::kTimeId) return OnTime(std::chrono::steady_clock::now());
    if (id == kStopId) return BeginStop();
    if (id == kListenerId) return report == Report::kNothing ? Accept() : AcceptSoon();
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second->OnEvent(report)) return;
    Remove(id);
  }

  void OnTime(Deadline now) {
    for (const auto& [id, connection] : connections_) {
      if (connection->deadline() <= now) {
        loop_->Again(id);
      } else {
        loop_->WakeAt(connection->deadline());
      }
    }
    AcceptSoon();
  }

  void BeginStop() {
    while (AcceptSome()) {  // clients in the backlog are served
    }
    listening_.reset();
    shared_.stopping = true;
    for (const auto& entry : connections_) loop_->Again(entry.first);
    NoteEmpty();
  }

  void Remove(std::uint64_t id) {
    connections_.erase(id);
    NoteEmpty();
  }

  void NoteEmpty() {
    if (!shared_.stopping || !connections_.empty()) return;
    if (!std::exchange(is_empty_, true)) emptied_.set_value();
  }

  void AcceptSoon() {
    if (!std::exchange(accept_posted_, true)) loop_->Post(kListenerId, Report::kNothing);
  }

  void Accept() {
    accept_posted_ = false;
    if (AcceptSome()) AcceptSoon();
  }

  // True when more may wait.
  bool AcceptSome() {
    bool has_evicted = false;
    for (int i = 0; listening_ != nullptr && i < kAcceptMax; ++i) {
      sockaddr_storage remote{};
      socklen_t size = sizeof remote;
      const int descriptor =
          ::accept4(listening_->descriptor.get(), reinterpret_cast<sockaddr*>(&remote), &size,
                    SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor >= 0) {
        Admit({descriptor, AddressText(remote), nullptr});
        has_evicted = false;
        continue;
      }
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // Nobody waits; or no descriptor or memory is left, and then nothing tells when there is. The
      // system says so before it looks whether anybody waits.
      pollfd waiting{listening_->descriptor.get(), POLLIN, 0};
      if (errno == EAGAIN || ::poll(&waiting, 1, 0) <= 0) return false;
      loop_->WakeAt(std::chrono::steady_clock::now() + kAcceptAgain);
      if (has_evicted || !MakeRoom({}, true)) return false;
      has_evicted = true;
    }
    return listening_ != nullptr;
  }

  void Admit(HttpConnection::Peer peer) {
    const auto most = static_cast<std::size_t>(shared_.options.limits.connections_max);
    bool is_admitted = MakeRoom(peer.address, connections_.size() >= most);
    if (is_admitted && shared_.options.certificates != nullptr) {
      auto current = CurrentTls();
      is_admitted = current.ok();
      if (is_admitted) peer.tls = std::move(current).value();
    }
    if (!is_admitted) {
      shared_.Count(HttpRejection::kConnections);
      ::close(peer.descriptor);
      return;
    }
    const std::uint64_t id = ++last_id_;
    const int descriptor = peer.descriptor;
    connections_.emplace(id, std::make_unique<HttpConnection>(id, shared_, std::move(peer)));
    if (!loop_->Watch(descriptor, id)) Remove(id);
  }

  Result<std::shared_ptr<const TlsContext>> CurrentTls() {
    const CertificateSnapshot certificates = shared_.options.certificates->Current();
    if (tls_ == nullptr || tls_->certificates != certificates) {
      TRUCE_ASSIGN_OR_RETURN(tls_, TlsContext::Make(certificates, shared_.options.client_auth));
    }
    return tls_;
  }

  // Whether there is room for a new connection from `source`, be it that another one had to give
  // way: one of the same source when that has its share, else anyone's.
  bool MakeRoom(std::string_view source, bool is_full) {
    const auto share = static_cast<std::size_t>(shared_.options.limits.connections_per_source_max);
    if (!is_full && connections_.size() < share) return true;
    const auto is_near = [source](const HttpConnection& each) {
      return source != "unix" && each.address() == source;
    };
    const auto near =
        std::count_if(connections_.begin(), connections_.end(), [&](const auto& each) {
          return is_near(*each.second) && each.second->precedence() != Precedence::kProven;
        });
    const bool has_share = static_cast<std::size_t>(near) >= share;
    if (!is_full && !has_share) return true;
    std::uint64_t victim = 0;
    std::pair first(Precedence::kBusy, Deadline::min());
    for (const auto& [id, connection] : connections_) {
      const std::pair rank(connection->precedence(), connection->since());
      if (rank >= first || (has_share && !is_near(*connection))) continue;
      victim = id;
      first = rank;
    }
    if (victim == 0) return false;
    shared_.Count(HttpRejection::kConnections);
    Remove(victim);
    return true;
  }

  HttpShared shared_;
  const int port_;
  std::unique_ptr<ListeningSocket> listening_;
  bool accept_posted_ = false;  // the loop will call kListenerId
  std::uint64_t last_id_ = kStopId;
  std::unordered_map<std::uint64_t, std::unique_ptr<HttpConnection>> connections_;
  std::shared_ptr<const TlsContext> tls_;

  bool is_empty_ = false;  // no connection is left, and none will come
  std::promise<void> emptied_;
  const std::future<void> when_empty_ = emptied_.get_future();

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
