#include "tests/support/scripted_api_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace truce {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{5};
constexpr std::chrono::seconds kBookmarkBeforeEnd{2};
constexpr std::size_t kChunkedBytesMin = 2048;
constexpr std::size_t kChunkBytes = 32 * 1024;
// What a slow reader may leave unread before its events wait in the history.
constexpr std::size_t kOutputBytesMax = 4 * 1024 * 1024;

std::string Chunk(std::string_view data) {
  std::array<char, 17> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), data.size(), 16).ptr;
  return std::string(size.data(), end).append("\r\n").append(data).append("\r\n");
}

std::uint64_t Number(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

struct Watching {
  std::shared_ptr<ScriptedApiState::Series> series;
  std::string ns;
  std::string selector;
  std::uint64_t seen = 0;
  bool chunked = true;
  bool silent = false;
  bool only_metadata = false;
  steady_clock::time_point ends;
  bool told_end = false;  // the bookmark before it
};

struct Connection {
  int descriptor = -1;
  SSL* session = nullptr;
  std::string input;
  std::string output;
  std::optional<Watching> watching;
  bool hangs = false;
  bool closes = false;                   // once the output is sent
  std::optional<std::size_t> cut_after;  // bytes left before the connection is cut
  std::size_t bytes_per_tick = 0;
  std::size_t allowance = std::numeric_limits<std::size_t>::max();
  std::uint32_t interest = EPOLLIN;

  ~Connection() {
    SSL_free(session);
    if (descriptor >= 0) ::close(descriptor);
  }
};

BIO* Memory(const std::string& text) {
  return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
}

SSL_CTX* MakeContext(const ScriptedApiOptions& options) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  BIO* certificate = Memory(options.certificate);
  BIO* key = Memory(options.key);
  X509* leaf = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  SSL_CTX_use_certificate(context, leaf);
  SSL_CTX_use_PrivateKey(context, secret);
  X509_free(leaf);
  EVP_PKEY_free(secret);
  BIO_free(certificate);
  BIO_free(key);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  if (options.client_authority.empty()) return context;
  BIO* authority = Memory(options.client_authority);
  X509* trusted = PEM_read_bio_X509(authority, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), trusted);
  X509_free(trusted);
  BIO_free(authority);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

}  // namespace

struct ScriptedApiServer::Impl {
  ~Impl() {
    stop = true;
    Wake();
    if (thread.joinable()) thread.join();
    connections.clear();
    SSL_CTX_free(context);
    for (const int descriptor : {listener, epoll, wake}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  bool Listen();
  void Wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake, &one, sizeof(one));
  }
  void Run();
  void Accept();
  void Read(Connection& connection);
  void Flush(Connection& connection);
  void Serve(Connection& connection);
  void Answer(Connection& connection, const ScriptedRequest& request);
  void BeginWatch(Connection& connection, const ScriptedRequest& request, const ApiFault* fault);
  void Pump(Connection& connection);
  void Send(Connection& connection, const std::string& line) const;
  void Bookmark(Connection& connection);
  void EndWatch(Connection& connection) const;
  void SendReply(Connection& connection, const ScriptedReply& reply) const;
  std::optional<ApiFault> TakeFault(const ScriptedRequest& request);
  void Tick();

  ScriptedApiOptions options;
  int listener = -1;
  int epoll = -1;
  int wake = -1;
  int port = 0;
  SSL_CTX* context = nullptr;

  mutable std::mutex mutex;
  ScriptedApiState state;  // guarded by mutex, as all below
  std::vector<ApiFault> faults;
  std::vector<std::string> requests;
  std::map<int, std::unique_ptr<Connection>> connections;
  std::set<int> broken;  // to be closed after the turn
  std::size_t accepted = 0;
  bool bookmark_now = false;
  steady_clock::time_point bookmark_at{};

  std::atomic<bool> stop = false;
  std::thread thread;
};

bool ScriptedApiServer::Impl::Listen() {
  listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int one = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(options.port));
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, generic, sizeof(address)) != 0 || ::listen(listener, 4096) != 0)
    return false;
  socklen_t size = sizeof(address);
  ::getsockname(listener, generic, &size);
  port = ntohs(address.sin_port);
  epoll = ::epoll_create1(EPOLL_CLOEXEC);
  wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (const int descriptor : {listener, wake}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) return false;
  }
  if (!options.certificate.empty()) context = MakeContext(options);
  return true;
}

void ScriptedApiServer::Impl::Accept() {
  while (true) {
    const int descriptor = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor < 0) return;
    const int one = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    auto connection = std::make_unique<Connection>();
    connection->descriptor = descriptor;
    if (context != nullptr) {
      connection->session = SSL_new(context);
      SSL_set_fd(connection->session, descriptor);
      SSL_set_accept_state(connection->session);
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    ++accepted;
    connections[descriptor] = std::move(connection);
  }
}

void ScriptedApiServer::Impl::Read(Connection& connection) {
  std::array<char, 16 * 1024> piece{};
  while (true) {
    ssize_t count = 0;
    if (connection.session != nullptr) {
      ERR_clear_error();
      const int result = SSL_read(connection.session, piece.data(), static_cast<int>(piece.size()));
      count = result;
      if (result <= 0) {
        const int error = SSL_get_error(connection.session, result);
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) break;
        count = 0;
      }
    } else {
      count = ::recv(connection.descriptor, piece.data(), piece.size(), 0);
      if (count < 0 && errno == EAGAIN) break;
    }
    if (count <= 0) {
      broken.insert(connection.descriptor);
      return;
    }
    connection.input.append(piece.data(), static_cast<std::size_t>(count));
  }
  Serve(connection);
}

void ScriptedApiServer::Impl::Flush(Connection& connection) {
  while (!connection.output.empty() && connection.allowance > 0) {
    std::size_t size = std::min(connection.output.size(), connection.allowance);
    if (connection.cut_after) size = std::min(size, *connection.cut_after);
    if (size == 0) break;
    ssize_t count = 0;
    if (connection.session != nullptr) {
      ERR_clear_error();
      count = SSL_write(connection.session, connection.output.data(), static_cast<int>(size));
    } else {
      count = ::send(connection.descriptor, connection.output.data(), size, MSG_NOSIGNAL);
    }
    if (count <= 0) break;
    const auto sent = static_cast<std::size_t>(count);
    connection.output.erase(0, sent);
    if (connection.bytes_per_tick > 0) connection.allowance -= sent;
    if (connection.cut_after) *connection.cut_after -= sent;
  }
  const bool is_cut = connection.cut_after == std::size_t{0};
  if (is_cut || (connection.closes && connection.output.empty())) {
    if (connection.session != nullptr && !is_cut) SSL_shutdown(connection.session);
    broken.insert(connection.descriptor);
    return;
  }
  const bool has_more = !connection.output.empty() && connection.allowance > 0;
  const std::uint32_t interest = has_more ? EPOLLIN | EPOLLOUT : EPOLLIN;
  if (interest == connection.interest) return;
  connection.interest = interest;
  epoll_event event{};
  event.events = interest;
  event.data.fd = connection.descriptor;
  ::epoll_ctl(epoll, EPOLL_CTL_MOD, connection.descriptor, &event);
}

void ScriptedApiServer::Impl::Serve(Connection& connection) {
  while (!connection.watching && !connection.hangs && !connection.closes) {
    const std::optional<ScriptedRequest> request = TakeRequest(connection.input);
    if (!request) break;
    Answer(connection, *request);
  }
  Flush(connection);
}

std::optional<ApiFault> ScriptedApiServer::Impl::TakeFault(const ScriptedRequest& request) {
  for (ApiFault& fault : faults) {
    const bool matches =
        fault.times != 0 && (fault.method.empty() || fault.method == request.method) &&
        request.target.find(fault.target) != std::string::npos &&
        (fault.not_target.empty() || request.target.find(fault.not_target) == std::string::npos);
    if (!matches) continue;
    if (fault.times > 0) --fault.times;
    return fault;
  }
  return std::nullopt;
}

void ScriptedApiServer::Impl::SendReply(Connection& connection, const ScriptedReply& reply) const {
  connection.output += "HTTP/1.1 " + std::to_string(reply.status) +
                       " Scripted\r\nContent-Type: " + reply.content_type + "\r\n" + reply.fields;
  // As Go: what is longer than its buffer goes out in chunks.
  if (reply.body.size() <= kChunkedBytesMin) {
    connection.output +=
        "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body;
    return;
  }
  connection.output += "Transfer-Encoding: chunked\r\n\r\n";
  std::string_view left = reply.body;
  while (!left.empty()) {
    connection.output += Chunk(left.substr(0, kChunkBytes));
    left.remove_prefix(std::min(left.size(), kChunkBytes));
  }
  connection.output += "0\r\n\r\n";
}

void ScriptedApiServer::Impl::Answer(Connection& connection, const ScriptedRequest& request) {
  if (requests.size() < 100'000) requests.push_back(request.method + " " + request.target);
  const std::optional<ApiFault> fault = TakeFault(request);
  if (fault) {
    connection.cut_after = fault->cut_after;
    connection.bytes_per_tick = fault->bytes_per_tick;
    if (fault->bytes_per_tick > 0) connection.allowance = fault->bytes_per_tick;
    connection.hangs = fault->hang;
    if (fault->hang) return;
    if (fault->reply) {
      SendReply(connection, *fault->reply);
      return;
    }
  }
  const auto authorization = request.fields.find("authorization");
  const bool has_token =
      authorization != request.fields.end() && authorization->second == "Bearer " + options.token;
  if (!options.token.empty() && !has_token) {
    SendReply(connection, StatusReply(401, "Unauthorized", "Unauthorized"));
    return;
  }
  if (request.query.count("watch") != 0) {
    BeginWatch(connection, request, fault ? &*fault : nullptr);
    return;
  }
  SendReply(connection, state.Answer(request));
}

void ScriptedApiServer::Impl::BeginWatch(Connection& connection, const ScriptedRequest& request,
                                         const ApiFault* fault) {
  Watching watching;
  std::string name;
  watching.series = state.Find(request, &watching.ns, &name);
  if (watching.series == nullptr) {
    SendReply(connection, {404, "404 page not found\n", "text/plain; charset=utf-8"});
    return;
  }
  const auto value = [&](const char* key) {
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
  };
  watching.seen = Number(value("resourceVersion"));
  watching.selector = value("fieldSelector");
  watching.chunked = fault == nullptr || !fault->identity;
  watching.silent = fault != nullptr && fault->silent;
  const auto accept = request.fields.find("accept");
  watching.only_metadata = accept != request.fields.end() &&
                           accept->second.find("PartialObjectMetadata") != std::string::npos;
  const std::uint64_t seconds = std::max<std::uint64_t>(Number(value("timeoutSeconds")), 1);
  watching.ends = steady_clock::now() + std::chrono::seconds(seconds);
  connection.output += "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  connection.output +=
      watching.chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Connection: close\r\n\r\n";
  const bool is_too_old = watching.seen < watching.series->compacted;
  const bool is_too_new = watching.seen > state.version();
  connection.watching = std::move(watching);
  if (fault != nullptr && !fault->line.empty()) Send(connection, fault->line);
  if (is_too_old) {
    Send(connection, R"({"type":"ERROR","object":)" +
                         StatusReply(410, "Expired", "too old resource version").body + "}\n");
  } else if (is_too_new) {
    Send(connection, R"({"type":"ERROR","object":)" +
                         StatusReply(504, "Timeout", "Too large resource version",
                                     R"({"causes":[{"reason":"ResourceVersionTooLarge"}]})")
                             .body +
                         "}\n");
  }
  if (is_too_old || is_too_new || (fault != nullptr && fault->ends)) {
    EndWatch(connection);
    return;
  }
  Pump(connection);
}

void ScriptedApiServer::Impl::Send(Connection& connection, const std::string& line) const {
  connection.output += connection.watching->chunked ? Chunk(line) : line;
}

// Sends the events that the watch has not seen.
void ScriptedApiServer::Impl::Pump(Connection& connection) {
  Watching& watching = *connection.watching;
  if (watching.silent || connection.closes) return;
  const auto& history = watching.series->history;
  auto at = std::upper_bound(history.begin(), history.end(), watching.seen,
                             [](std::uint64_t seen, const ScriptedApiState::Event& event) {
                               return seen < event.version;
                             });
  for (; at != history.end() && connection.output.size() < kOutputBytesMax; ++at) {
    watching.seen = at->version;
    if (!watching.ns.empty() && !at->name->starts_with(watching.ns + "/")) continue;
    if (!watching.selector.empty() && watching.selector != "reason=" + *at->reason) continue;
    if (!watching.only_metadata) {
      Send(connection, *at->line);
      continue;
    }
    const std::size_t begin = at->line->find(R"("object":)") + 9;
    const std::string object = at->line->substr(begin, at->line->size() - begin - 2);
    Send(connection, at->line->substr(0, begin) + OnlyMetadata(object) + "}\n");
  }
}

void ScriptedApiServer::Impl::Bookmark(Connection& connection) {
  Watching& watching = *connection.watching;
  if (watching.silent || connection.closes) return;
  watching.seen = state.version();
  Send(connection, R"({"type":"BOOKMARK","object":{"kind":"Any","metadata":{"resourceVersion":")" +
                       std::to_string(watching.seen) + "\"}}}\n");
}

void ScriptedApiServer::Impl::EndWatch(Connection& connection) const {
  if (connection.watching->chunked) {
    connection.output += "0\r\n\r\n";
    connection.watching.reset();
    return;
  }
  connection.closes = true;
}

void ScriptedApiServer::Impl::Tick() {
  const auto now = steady_clock::now();
  const bool is_due = options.bookmarks.count() > 0 && now >= bookmark_at;
  if (is_due) bookmark_at = now + options.bookmarks;
  const bool bookmark = std::exchange(bookmark_now, false) || is_due;
  for (auto& [descriptor, connection] : connections) {
    if (connection->bytes_per_tick > 0) connection->allowance = connection->bytes_per_tick;
    if (connection->watching) {
      Pump(*connection);
      // As API servers do.
      const bool ends_soon = options.bookmarks.count() > 0 && !connection->watching->told_end &&
                             now >= connection->watching->ends - kBookmarkBeforeEnd;
      if (ends_soon) connection->watching->told_end = true;
      if (bookmark || ends_soon) Bookmark(*connection);
      if (now >= connection->watching->ends && !connection->watching->silent) EndWatch(*connection);
    }
    if (!connection->output.empty() || connection->closes) Flush(*connection);
  }
}

void ScriptedApiServer::Impl::Run() {
  // A client that hangs up must not end the test; blocked here only, so that a client that
  // forgets about the signal is found out.
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  while (!stop) {
    std::array<epoll_event, 256> events{};
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(kTick.count()));
    const std::lock_guard<std::mutex> lock(mutex);
    bool is_woken = count == 0;
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      if (event.data.fd == listener) {
        Accept();
        continue;
      }
      if (event.data.fd == wake) {
        std::uint64_t ignored = 0;
        [[maybe_unused]] const ssize_t size = ::read(wake, &ignored, sizeof(ignored));
        is_woken = true;
        continue;
      }
      const auto found = connections.find(event.data.fd);
      if (found == connections.end()) continue;
      if ((event.events & EPOLLOUT) != 0) Flush(*found->second);
      if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) Read(*found->second);
    }
    if (is_woken) Tick();
    for (const int descriptor : std::exchange(broken, {})) connections.erase(descriptor);
  }
}

ScriptedApiServer::ScriptedApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ScriptedApiServer::~ScriptedApiServer() = default;

std::unique_ptr<ScriptedApiServer> ScriptedApiServer::Start(ScriptedApiOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->options = std::move(options);
  if (!impl->Listen()) return nullptr;
  Impl* running = impl.get();
  impl->thread = std::thread([running] { running->Run(); });
  return std::unique_ptr<ScriptedApiServer>(new ScriptedApiServer(std::move(impl)));
}

int ScriptedApiServer::port() const { return impl_->port; }

std::string ScriptedApiServer::url() const {
  return (impl_->context != nullptr ? "https://127.0.0.1:" : "http://127.0.0.1:") +
         std::to_string(impl_->port);
}

void ScriptedApiServer::Change(const std::function<void(ScriptedApiState&)>& change) {
  {
    const std::lock_guard<std::mutex> lock(impl_->mutex);
    change(impl_->state);
  }
  impl_->Wake();
}

ScriptedApiState::Written ScriptedApiServer::Put(const ServedKind& kind, const std::string& json) {
  ScriptedApiState::Written written;
  Change([&](ScriptedApiState& state) { written = state.Put(kind, json); });
  return written;
}

bool ScriptedApiServer::Remove(const ServedKind& kind, const std::string& ns,
                               const std::string& name) {
  bool is_removed = false;
  Change([&](ScriptedApiState& state) { is_removed = state.Remove(kind, ns, name); });
  return is_removed;
}

void ScriptedApiServer::AddFault(ApiFault fault) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->faults.push_back(std::move(fault));
}

void ScriptedApiServer::ClearFaults() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->faults.clear();
}

void ScriptedApiServer::SetToken(std::string token) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  impl_->options.token = std::move(token);
}

void ScriptedApiServer::SendBookmarks() {
  Change([&](ScriptedApiState&) { impl_->bookmark_now = true; });
}

void ScriptedApiServer::CutConnections() {
  // Only those of now: one that is made after this call stays.
  Change([&](ScriptedApiState&) {
    for (const auto& [descriptor, connection] : impl_->connections)
      impl_->broken.insert(descriptor);
  });
}

std::vector<std::string> ScriptedApiServer::requests() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->requests;
}

std::size_t ScriptedApiServer::CountRequests(const std::string& part) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return static_cast<std::size_t>(
      std::count_if(impl_->requests.begin(), impl_->requests.end(),
                    [&](const std::string& text) { return text.find(part) != std::string::npos; }));
}

std::size_t ScriptedApiServer::connections_accepted() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->accepted;
}

std::size_t ScriptedApiServer::connections_open() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->connections.size();
}

std::size_t ScriptedApiServer::watches_open() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return static_cast<std::size_t>(
      std::count_if(impl_->connections.begin(), impl_->connections.end(),
                    [](const auto& entry) { return entry.second->watching.has_value(); }));
}

}  // namespace truce
