#include "webhook/kube/http_call.h"

#include <httplib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <limits>
#include <locale>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "webhook/kube/api_json.h"
#include "webhook/kube/connection.h"

namespace truce {
namespace {

using std::chrono::steady_clock;

// Below the two minutes after which load balancers and API servers forget idle connections.
constexpr std::chrono::seconds kIdleMax{60};

// libstdc++ fills a facet's table of narrow characters without a lock, one character at its first
// use; the library's regular expressions use them on every thread. A full table is only read.
void FillNarrowTable() {
  static const bool kFilled = [] {
    const auto& facet = std::use_facet<std::ctype<char>>(std::locale());
    for (unsigned c = 0; c <= std::numeric_limits<unsigned char>::max(); ++c) {
      static_cast<void>(facet.narrow(static_cast<char>(c), ' '));
    }
    return true;
  }();
  static_cast<void>(kFilled);
}

ApiError Failure(ApiErrorKind kind, std::string message) {
  ApiError error;
  error.kind = kind;
  error.message = std::move(message);
  return error;
}

// The bytes of one call. The head of the answer is read and judged here, before the library sees
// it: only what ParseResponseHead accepts goes on. Every wait ends at the call's deadline.
class CallStream final : public httplib::Stream {
 public:
  CallStream(ServerConnection& connection, Deadline deadline)
      : connection_(connection), deadline_(deadline) {}

  bool is_readable() const override { return true; }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return true; }

  ssize_t read(char* data, std::size_t size) override {
    if (!head_ && !ReadHead()) return -1;
    if (at_ < buffer_.size()) {
      const std::size_t count = std::min(size, buffer_.size() - at_);
      std::copy_n(buffer_.data() + at_, count, data);
      at_ += count;
      return static_cast<ssize_t>(count);
    }
    return ReadSome({data, size});
  }

  ssize_t write(const char* data, std::size_t size) override {
    std::string_view left(data, size);
    while (!left.empty()) {
      const Moved moved = connection_.Write(left);
      if (moved.progress == SocketProgress::kDone) {
        left.remove_prefix(moved.bytes);
      } else if (!GoOn(moved.progress)) {
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return connection_.descriptor(); }
  time_t duration() const override { return 0; }

  const std::optional<ResponseHead>& head() const { return head_; }
  const std::optional<ApiError>& failure() const { return failure_; }
  // Nothing of an answer came, nor a timeout: the server had closed a kept connection.
  bool was_dead() const { return buffer_.empty() && failure_ && !timed_out_; }
  // The answer was read to its last byte.
  bool is_drained() const { return at_ == buffer_.size(); }

 private:
  bool Fail(ApiErrorKind kind, std::string message) {
    if (!failure_) failure_ = Failure(kind, std::move(message));
    return false;
  }

  // Waits for what the last step asked for. False: failed.
  bool GoOn(SocketProgress progress) {
    if (progress == SocketProgress::kFailed) {
      return Fail(ApiErrorKind::kUnreachable, connection_.failure());
    }
    if (progress == SocketProgress::kClosed) {
      return Fail(ApiErrorKind::kUnreachable, "the server closed the connection");
    }
    if (ServerConnection::Await(connection_.descriptor(), progress, deadline_)) return true;
    timed_out_ = true;
    return Fail(ApiErrorKind::kTimeout, "no whole answer in time");
  }

  // Bytes read; 0 at the end of the connection, -1 when it failed.
  ssize_t ReadSome(std::span<char> into) {
    while (true) {
      // A server that sends a byte now and then must not hold the caller past its deadline.
      if (steady_clock::now() >= deadline_) {
        timed_out_ = true;
        Fail(ApiErrorKind::kTimeout, "no whole answer in time");
        return -1;
      }
      const Moved moved = connection_.Read(into);
      if (moved.progress == SocketProgress::kDone) return static_cast<ssize_t>(moved.bytes);
      if (moved.progress == SocketProgress::kClosed) return 0;
      if (!GoOn(moved.progress)) return -1;
    }
  }

  bool ReadHead() {
    std::array<char, 16 * 1024> piece{};
    std::size_t size = 0;
    while ((size = HeadSize(buffer_)) == 0) {
      if (buffer_.size() > kResponseHeadBytesMax) {
        return Fail(ApiErrorKind::kMalformed, "an answer with too long a head");
      }
      const ssize_t count = ReadSome(piece);
      if (count == 0 && buffer_.empty()) {
        return Fail(ApiErrorKind::kUnreachable, "the server closed the connection");
      }
      if (count == 0) return Fail(ApiErrorKind::kMalformed, "an answer with half a head");
      if (count < 0) return false;
      buffer_.append(piece.data(), static_cast<std::size_t>(count));
    }
    Result<ResponseHead> head = ParseResponseHead(std::string_view(buffer_).substr(0, size));
    if (!head.ok()) return Fail(ApiErrorKind::kMalformed, head.error().message);
    // Nothing of ours asks for an interim answer.
    if (head.value().status < 200) return Fail(ApiErrorKind::kMalformed, "an interim answer");
    head_ = std::move(head).value();
    return true;
  }

  ServerConnection& connection_;
  const Deadline deadline_;
  std::string buffer_;  // bytes read with the head
  std::size_t at_ = 0;
  std::optional<ResponseHead> head_;
  std::optional<ApiError> failure_;
  bool timed_out_ = false;
};

// cpp-httplib's client, on our own connection: ours connects, verifies, reads and writes, with
// absolute deadlines; the library words requests and takes bodies apart.
class PooledClient final : public httplib::ClientImpl {
 public:
  PooledClient(ServerSession& session, std::shared_ptr<const SessionState> state)
      : httplib::ClientImpl(session.settings().address.host, session.settings().address.port),
        session_(session),
        state_(std::move(state)) {
    set_keep_alive(true);
    set_follow_location(false);
    set_path_encode(false);
    set_decompress(false);
    set_header_writer(WriteFields);
  }

  // One call. `reply` is set when the answer was whole.
  ApiResult<HttpReply> Do(const HttpCall& call, Deadline deadline, std::size_t bytes_max) {
    deadline_ = deadline;
    stream_.reset();
    connect_failure_.reset();
    HttpReply reply;
    bool too_large = false;
    httplib::Request request = MakeRequest(call);
    request.content_receiver = [&](const char* data, std::size_t size, std::size_t, std::size_t) {
      const ResponseHead& head = *stream_->head();
      if (call.receive && head.status == 200 && !head.encoded) return call.receive({data, size});
      too_large = size > bytes_max - reply.body.size();
      if (!too_large) reply.body.append(data, size);
      return !too_large;
    };
    httplib::Response response;
    httplib::Error error = httplib::Error::Success;
    const bool is_done = send(request, response, error);
    if (connect_failure_) return *connect_failure_;
    if (too_large) {
      return Failure(ApiErrorKind::kMalformed,
                     "an answer of more than " + std::to_string(bytes_max) + " bytes");
    }
    if (stream_ == nullptr) return Failure(ApiErrorKind::kUnreachable, "no connection");
    if (stream_->failure()) return *stream_->failure();
    if (!is_done || !stream_->head()) {
      return Failure(ApiErrorKind::kMalformed, "an answer that is cut off or no HTTP");
    }
    reply.head = *stream_->head();
    if (reply.head.encoded) return Failure(ApiErrorKind::kMalformed, "a compressed answer");
    reply.body.reserve(reply.body.size() + kJsonPadding);
    return reply;
  }

  const SessionState& state() const { return *state_; }
  bool used_before() const { return calls_on_connection_ > 1; }
  bool was_dead() const { return stream_ != nullptr && stream_->was_dead(); }
  bool can_be_kept() const {
    const bool is_clean = stream_ != nullptr && !stream_->failure() && stream_->head() &&
                          !stream_->head()->closes && stream_->is_drained();
    return is_clean && is_socket_open() != 0;
  }

  Deadline idle_since{};

 private:
  httplib::Request MakeRequest(const HttpCall& call) const {
    const ServerSettings& settings = session_.settings();
    httplib::Request request;
    request.method = call.method;
    request.path = settings.address.path + call.target;
    request.set_header("Host", HostAndPort(settings.address));
    request.set_header("User-Agent", "truce");
    request.set_header("Accept", call.accept);
    for (const auto& [name, value] : call.headers) request.set_header(name, value);
    // The library would wait up to a second for an interim answer; WriteFields drops the field.
    request.set_header("Expect", "");
    if (!state_->token.empty()) request.set_header("Authorization", "Bearer " + state_->token);
    if (!call.content_type.empty()) {
      request.set_header("Content-Type", call.content_type);
      request.body = call.body;
    }
    return request;
  }

  static ssize_t WriteFields(httplib::Stream& stream, httplib::Headers& headers) {
    std::string text;
    for (const auto& [name, value] : headers) {
      if (name != "Expect") text.append(name).append(": ").append(value).append("\r\n");
    }
    text += "\r\n";
    return stream.write(text.data(), text.size());
  }

  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override {
    error = httplib::Error::Connection;
    calls_on_connection_ = 0;
    connection_ = std::make_unique<ServerConnection>(session_.settings(), state_,
                                                     session_.AwaitAddresses(deadline_));
    while (true) {
      const SocketProgress progress = connection_->Establish();
      if (progress == SocketProgress::kDone) break;
      if (progress == SocketProgress::kFailed || progress == SocketProgress::kClosed) {
        connect_failure_ = Failure(ApiErrorKind::kUnreachable, connection_->failure());
        return false;
      }
      if (ServerConnection::Await(connection_->descriptor(), progress, deadline_)) continue;
      connect_failure_ =
          Failure(ApiErrorKind::kTimeout,
                  "connect to " + HostAndPort(session_.settings().address) + ": no answer in time");
      return false;
    }
    // The library closes what it is given; the connection closes its own.
    socket.sock = ::dup(connection_->descriptor());
    if (socket.sock < 0) {
      connect_failure_ = Failure(ApiErrorKind::kUnreachable, "no file descriptor is left");
      return false;
    }
    error = httplib::Error::Success;
    return true;
  }

  bool process_socket(const Socket& /*socket*/, steady_clock::time_point /*start*/,
                      std::function<bool(httplib::Stream&)> callback) override {
    ++calls_on_connection_;
    stream_ = std::make_unique<CallStream>(*connection_, deadline_);
    return callback(*stream_);
  }

  ServerSession& session_;
  const std::shared_ptr<const SessionState> state_;
  std::unique_ptr<ServerConnection> connection_;
  std::unique_ptr<CallStream> stream_;
  std::optional<ApiError> connect_failure_;
  Deadline deadline_{};
  int calls_on_connection_ = 0;
};

}  // namespace

struct HttpPool::Impl {
  Impl(std::shared_ptr<ServerSession> of, HttpPoolOptions with)
      : session(std::move(of)), options(with) {}

  // A seat among the calls at once, and a kept connection if there is one. False at `deadline`.
  bool Enter(const SessionState& state, Deadline deadline, std::unique_ptr<PooledClient>& client) {
    std::unique_lock<std::mutex> lock(mutex);
    const bool has_seat =
        left.wait_until(lock, deadline, [this] { return calls < options.calls_max; });
    if (!has_seat) return false;
    ++calls;
    const auto oldest = steady_clock::now() - kIdleMax;
    std::erase_if(idle, [&](const std::unique_ptr<PooledClient>& kept) {
      return kept->state().generation != state.generation || kept->idle_since < oldest;
    });
    if (idle.empty()) return true;
    client = std::move(idle.back());
    idle.pop_back();
    return true;
  }

  void Leave(std::unique_ptr<PooledClient> client) {
    const std::lock_guard<std::mutex> lock(mutex);
    --calls;
    if (client != nullptr && client->can_be_kept()) {
      client->idle_since = steady_clock::now();
      idle.push_back(std::move(client));
    }
    left.notify_one();
  }

  const std::shared_ptr<ServerSession> session;
  const HttpPoolOptions options;
  std::mutex mutex;
  std::condition_variable left;
  std::size_t calls = 0;  // guarded by mutex, as the next
  std::vector<std::unique_ptr<PooledClient>> idle;
};

HttpPool::HttpPool(std::shared_ptr<ServerSession> session, HttpPoolOptions options)
    : impl_(std::make_unique<Impl>(std::move(session), options)) {
  FillNarrowTable();
}
HttpPool::~HttpPool() = default;

ApiResult<HttpReply> HttpPool::Do(const HttpCall& call, std::shared_ptr<const SessionState> state,
                                  Deadline deadline) {
  std::unique_ptr<PooledClient> client;
  if (!impl_->Enter(*state, deadline, client)) {
    return Failure(ApiErrorKind::kTimeout, "too many calls at once");
  }
  if (client == nullptr) client = std::make_unique<PooledClient>(*impl_->session, state);
  ApiResult<HttpReply> reply = client->Do(call, deadline, impl_->options.response_bytes_max);
  // The server may close a kept connection at the moment it is used again.
  if (!reply.ok() && call.method == "GET" && client->used_before() && client->was_dead()) {
    client = std::make_unique<PooledClient>(*impl_->session, std::move(state));
    reply = client->Do(call, deadline, impl_->options.response_bytes_max);
  }
  impl_->Leave(std::move(client));
  return reply;
}

}  // namespace truce
