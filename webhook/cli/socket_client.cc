#include "webhook/cli/socket_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace truce {
namespace {

// A report about a large cluster.
constexpr std::size_t kAnswerBytesMax = 256 * 1024 * 1024;

class Connection {
 public:
  explicit Connection(Deadline deadline) : deadline_(deadline) {}
  ~Connection() {
    if (file_ >= 0) ::close(file_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Result<void> Open(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof(address.sun_path)) {
      return Error{ErrorCode::kInvalidArgument, "the path of the socket is too long: " + path};
    }
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    file_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected =
        file_ >= 0 &&
        ::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    if (connected) return {};
    return Error{ErrorCode::kUnavailable, std::string(std::strerror(errno))};
  }

  Result<void> Send(std::string_view text) {
    while (!text.empty()) {
      TRUCE_RETURN_IF_ERROR(Wait(POLLOUT));
      const ssize_t sent = ::send(file_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return Broken();
    }
    return {};
  }

  // Everything until the server closes.
  Result<std::string> ReceiveAll() {
    std::string all;
    std::array<char, 16384> chunk{};
    while (all.size() <= kAnswerBytesMax) {
      TRUCE_RETURN_IF_ERROR(Wait(POLLIN));
      const ssize_t got = ::recv(file_, chunk.data(), chunk.size(), MSG_DONTWAIT);
      if (got == 0) return all;
      if (got > 0) all.append(chunk.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno != EAGAIN && errno != EINTR) return Broken();
    }
    return Error{ErrorCode::kUnavailable, "the answer is larger than 256 MiB"};
  }

 private:
  static Error Broken() {
    return Error{ErrorCode::kUnavailable, std::string(std::strerror(errno))};
  }

  Result<void> Wait(short events) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    pollfd entry{file_, events, 0};
    const int ready =
        left.count() <= 0
            ? 0
            : ::poll(&entry, 1, static_cast<int>(std::min<long>(left.count(), 600'000)));
    if (ready > 0 || (ready < 0 && errno == EINTR)) return {};
    if (ready < 0) return Broken();
    return Error{ErrorCode::kDeadlineExceeded, "no answer in time"};
  }

  const Deadline deadline_;
  int file_ = -1;
};

Result<SocketAnswer> ParseAnswer(std::string_view text) {
  const Error malformed{ErrorCode::kUnavailable, "what answers is not a Truce server"};
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with(kVersion) || end == std::string_view::npos) return malformed;
  SocketAnswer answer;
  const char* digits = text.data() + kVersion.size();
  if (std::from_chars(digits, digits + 3, answer.status).ptr != digits + 3) return malformed;
  answer.body = text.substr(end + 4);
  return answer;
}

}  // namespace

Result<SocketAnswer> AskSocket(const std::string& socket, const SocketCall& call,
                               Deadline deadline) {
  Connection connection(deadline);
  TRUCE_RETURN_IF_ERROR(connection.Open(socket));
  const std::string_view usual = call.body.empty() ? "GET" : "POST";
  std::string request(call.method.empty() ? usual : call.method);
  request.append(" ").append(call.path);
  request.append(" HTTP/1.1\r\nHost: truce\r\nConnection: close\r\n");
  if (!call.if_match.empty()) request.append("If-Match: ").append(call.if_match).append("\r\n");
  if (!call.body.empty()) {
    request.append("Content-Type: application/json\r\nContent-Length: ");
    request.append(std::to_string(call.body.size())).append("\r\n");
  }
  request.append("\r\n").append(call.body);
  TRUCE_RETURN_IF_ERROR(connection.Send(request));
  TRUCE_ASSIGN_OR_RETURN(const std::string answer, connection.ReceiveAll());
  return ParseAnswer(answer);
}

}  // namespace truce
