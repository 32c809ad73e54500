#include "webhook/http/server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
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

constexpr int kLargeBodiesMax = 4;
constexpr int kNameBytesMax = 10;
// A connection between two requests is not closed for a new one before it had a chance to be used.
constexpr std::chrono::seconds kEvictAfter{1};
// After the system had no descriptor, for clients that wait.
constexpr std::chrono::milliseconds kAcceptAgain{50};
// Connections accepted in a row before others have their turn. Few: the loop may take that turn
// some sixty times before it polls.
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
             limits.in_flight_max < 1) {
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
    const HttpLimits& limits = shared_.options.limits;
    // The leader, and those that wait in handlers.
    const int threads_max = 1 + limits.in_flight_max;
    TRUCE_ASSIGN_OR_RETURN(loop_,
                           EventLoop::Start(
                               shared_.options.name, threads_max,
                               [this](std::uint64_t id, Report report) { OnEvent(id, report); },
                               [this](Deadline now) { OnTime(now); }));
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
    {
      std::unique_lock lock(mutex_);
      emptied_.wait_until(lock, deadline, [this] { return is_empty_; });
    }
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
    if (id == kStopId) return BeginStop();
    if (id == kListenerId) return report == Report::kNothing ? Accept() : AcceptSoon();
    const auto found = connections_.find(id);
    if (found == connections_.end() || found->second->OnEvent(report)) return;
    Remove(id);
  }

  void OnTime(Deadline now) {
    for (const auto& [id, connection] : connections_) {
      if (connection->deadline() <= now) {
        loop_->Again(id, Report::kTime);
      } else {
        loop_->WakeAt(connection->deadline());
      }
    }
    if (accept_again_) AcceptSoon();
  }

  void BeginStop() {
    while (AcceptSome()) {  // clients in the backlog are served
    }
    listening_.reset();
    shared_.stopping = true;
    for (const auto& entry : connections_) loop_->Again(entry.first, Report::kReadable);
    NoteEmpty();
  }

  void Remove(std::uint64_t id) {
    connections_.erase(id);
    if (accept_again_) AcceptSoon();
    NoteEmpty();
  }

  void NoteEmpty() {
    if (!shared_.stopping || !connections_.empty()) return;
    const std::lock_guard lock(mutex_);
    is_empty_ = true;
    emptied_.notify_all();
  }

  void AcceptSoon() {
    if (!std::exchange(accept_posted_, true)) loop_->Again(kListenerId);
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
      } else if (errno != EINTR && errno != ECONNABORTED) {
        // Nobody waits; or no descriptor or memory is left, and then nothing tells when there is.
        const int error = errno;
        accept_again_ = error != EAGAIN;
        const bool has_none = error == EMFILE || error == ENFILE;
        has_evicted = has_none && !has_evicted && MakeRoomForWaiting();
        if (accept_again_) loop_->WakeAt(std::chrono::steady_clock::now() + kAcceptAgain);
        if (!has_evicted) return false;
      }
    }
    return listening_ != nullptr;
  }

  void Admit(HttpConnection::Peer peer) {
    bool is_admitted = MakeRoom(peer.address, IsFull());
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

  // For a client that waits while no descriptor is left: accept4 says so before it looks whether
  // any does.
  bool MakeRoomForWaiting() {
    pollfd waiting{listening_->descriptor.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 0) > 0) return MakeRoom({}, true);
    accept_again_ = false;
    return false;
  }

  bool IsFull() const {
    return connections_.size() >= static_cast<std::size_t>(shared_.options.limits.connections_max);
  }

  // Whether there is room for a new connection from `source`, be it that another one had to give
  // way: one of the same source when that has its share, else anyone's.
  bool MakeRoom(std::string_view source, bool is_full) {
    const auto share = static_cast<std::size_t>(shared_.options.limits.connections_per_source_max);
    if (!is_full && connections_.size() < share) return true;
    // Of the same source, when that has its share, else of any.
    std::vector<Candidate> near;
    std::vector<Candidate> all;
    std::size_t count = 0;
    for (const auto& [id, connection] : connections_) {
      const Precedence precedence = connection->precedence();
      const bool is_near = source != "unix" && connection->address() == source;
      if (is_near && precedence != Precedence::kProven) ++count;
      if (precedence == Precedence::kBusy || precedence == Precedence::kProven) continue;
      all.push_back({precedence, connection->since(), id});
      if (is_near) near.push_back(all.back());
    }
    const bool has_share = count >= share;
    if (!is_full && !has_share) return true;
    const std::uint64_t victim = WhoGoes(has_share ? near : all);
    if (victim == 0) return false;
    shared_.Count(HttpRejection::kConnections);
    Remove(victim);
    return true;
  }

  // A connection that may give way to another one; the lowest goes first.
  struct Candidate {
    Precedence precedence;
    Deadline since;
    std::uint64_t id;

    auto operator<=>(const Candidate&) const = default;
  };

  // 0: none. Were it always the oldest, then a client that connects faster than a handshake takes
  // would see none finished: so the older half of the unfinished may go on for a while, and the
  // others give way.
  std::uint64_t WhoGoes(std::vector<Candidate>& candidates) const {
    std::sort(candidates.begin(), candidates.end());
    const Deadline now = std::chrono::steady_clock::now();
    const auto idle = std::find_if(candidates.begin(), candidates.end(), [](const Candidate& each) {
      return each.precedence == Precedence::kIdle;
    });
    if (idle != candidates.begin()) {
      const Candidate& oldest = candidates.front();
      if (oldest.since <= now - shared_.options.limits.unfinished_time_min) return oldest.id;
      return candidates[static_cast<std::size_t>(idle - candidates.begin()) / 2].id;
    }
    // Not one whose next request has come already.
    const auto next = std::find_if(idle, candidates.end(), [&](const Candidate& each) {
      return each.since <= now - kEvictAfter && !connections_.at(each.id)->HasInput();
    });
    return next == candidates.end() ? 0 : next->id;
  }

  HttpShared shared_;
  const int port_;
  std::unique_ptr<ListeningSocket> listening_;
  bool accept_again_ = false;   // there was no descriptor
  bool accept_posted_ = false;  // the loop will call kListenerId
  std::uint64_t last_id_ = kStopId;
  std::unordered_map<std::uint64_t, std::unique_ptr<HttpConnection>> connections_;
  std::shared_ptr<const TlsContext> tls_;

  std::mutex mutex_;
  std::condition_variable emptied_;
  bool is_empty_ = false;  // guarded by mutex_; no connection is left, and none will come

  std::unique_ptr<EventLoop> loop_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(HttpServerOptions options,
                                                      std::vector<HttpRoute> routes) {
  TRUCE_RETURN_IF_ERROR(CheckOptions(options));
  if (options.limits.large_bodies_max == 0) {
    const int processors = static_cast<int>(std::thread::hardware_concurrency());
    options.limits.large_bodies_max = std::clamp(processors, 1, kLargeBodiesMax);
  }
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
