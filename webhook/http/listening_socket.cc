#include "webhook/http/listening_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

namespace truce {
namespace {

// A burst of new connections waits here and not for a SYN retry of 1 s.
constexpr int kBacklog = 1024;
constexpr std::string_view kUnixPrefix = "unix:";

Error SystemError(std::string_view address, int code) {
  const std::string quoted = "listen on \"" + std::string(address) + "\": ";
  if (code == EADDRINUSE) {
    return Error{ErrorCode::kConflict,
                 quoted + "the address is already in use; choose another, or end what has it"};
  }
  std::string why = std::generic_category().message(code);
  if (code == EADDRNOTAVAIL) why += "; this machine has no such address, 0.0.0.0 means all it has";
  if (code == EACCES) why += "; ports below 1024 are for root: choose a higher one";
  return Error{ErrorCode::kUnavailable, quoted + why};
}

Error Malformed(std::string_view address, std::string_view why) {
  return Error{ErrorCode::kInvalidArgument,
               "listen on \"" + std::string(address) + "\": " + std::string(why)};
}

struct HostPort {
  std::string host;  // empty: all addresses
  std::string port;
};

Result<HostPort> SplitAddress(std::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == address.npos) return Malformed(address, "want HOST:PORT");
  std::string_view host = address.substr(0, colon);
  const std::string_view port = address.substr(colon + 1);
  if (!host.empty() && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    return Malformed(address, "an IPv6 address needs brackets: [::1]:8443");
  }
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() || number > 65535) {
    return Malformed(address, "the port must be 0 to 65535");
  }
  if (host == "*" || host == "::") host = {};
  return HostPort{std::string(host), std::string(port)};
}

void SetOption(int descriptor, int level, int option, int value) {
  // Best effort: no server is worse off without these than without a socket.
  static_cast<void>(::setsockopt(descriptor, level, option, &value, sizeof value));
}

// Binds one resolved address and listens; 0, or the error's number.
int BindAndListen(int descriptor, const addrinfo& target, bool all_addresses) {
  SetOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
  if (target.ai_family == AF_INET6) {
    SetOption(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, all_addresses ? 0 : 1);
  }
  SetOption(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);  // accepted sockets inherit it
  if (::bind(descriptor, target.ai_addr, target.ai_addrlen) != 0) return errno;
  if (::listen(descriptor, kBacklog) != 0) return errno;
  return 0;
}

int BoundPort(int descriptor) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6&>(bound).sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in&>(bound).sin_port);
}

// Whether somebody accepts there, or the file is not a socket at all and hence not ours to replace.
bool IsAlive(const sockaddr_un& address) {
  struct stat file {};
  if (::lstat(address.sun_path, &file) == 0 && !S_ISSOCK(file.st_mode)) return true;
  const Descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (probe.get() < 0) return true;  // not known to be dead
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(probe.get(), generic, sizeof address) == 0 || errno != ECONNREFUSED;
}

std::unique_ptr<ListeningSocket> Made(int descriptor, int port, std::string path) {
  return std::unique_ptr<ListeningSocket>(
      new ListeningSocket{Descriptor(descriptor), port, std::move(path)});
}

Result<std::unique_ptr<ListeningSocket>> OpenTcp(std::string_view address) {
  TRUCE_ASSIGN_OR_RETURN(const HostPort split, SplitAddress(address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* host = split.host.empty() ? nullptr : split.host.c_str();
  if (const int code = ::getaddrinfo(host, split.port.c_str(), &hints, &found); code != 0) {
    return Malformed(address, ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int last_error = EADDRNOTAVAIL;
  // For all addresses IPv6 comes first: its socket takes IPv4 too.
  for (const bool is_second : {false, true}) {
    for (const addrinfo* target = found; target != nullptr; target = target->ai_next) {
      if (is_second != (host == nullptr && target->ai_family != AF_INET6)) continue;
      const int type = target->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;
      Descriptor made(::socket(target->ai_family, type, target->ai_protocol));
      last_error = made.get() < 0 ? errno : BindAndListen(made.get(), *target, host == nullptr);
      if (last_error == 0) {
        const int port = BoundPort(made.get());
        return Made(made.Release(), port, {});
      }
      if (last_error == EADDRINUSE) return SystemError(address, last_error);
    }
  }
  return SystemError(address, last_error);
}

Result<std::unique_ptr<ListeningSocket>> OpenUnix(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string shown = std::string(kUnixPrefix) + std::string(path);
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Malformed(
        shown, "the path must have 1 to " + std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  Descriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made.get() < 0) return SystemError(shown, errno);
  // On Linux the file takes the mode of the unbound socket: there is no moment at which others may
  // connect.
  if (::fchmod(made.get(), 0600) != 0) return SystemError(shown, errno);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  int bound = ::bind(made.get(), generic, sizeof address);
  if (bound != 0 && errno == EADDRINUSE) {
    if (IsAlive(address)) return SystemError(shown, EADDRINUSE);
    ::unlink(address.sun_path);
    bound = ::bind(made.get(), generic, sizeof address);
  }
  if (bound != 0) return SystemError(shown, errno);
  auto socket = Made(made.Release(), 0, std::string(path));
  if (::listen(socket->descriptor.get(), kBacklog) != 0) return SystemError(shown, errno);
  return socket;
}

}  // namespace

Result<std::unique_ptr<ListeningSocket>> ListeningSocket::Open(std::string_view address) {
  const bool is_unix = address.starts_with(kUnixPrefix);
  return is_unix ? OpenUnix(address.substr(kUnixPrefix.size())) : OpenTcp(address);
}

ListeningSocket::~ListeningSocket() {
  if (!path.empty()) ::unlink(path.c_str());
}

std::string AddressText(const sockaddr_storage& address) {
  std::array<char, NI_MAXHOST> text{};
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (address.ss_family == AF_UNIX || ::getnameinfo(generic, sizeof address, text.data(),
                                                    text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "unix";
  }
  std::string_view shown(text.data());
  constexpr std::string_view kMapped = "::ffff:";
  if (shown.starts_with(kMapped) && shown.find('.') != shown.npos) {
    shown.remove_prefix(kMapped.size());
  }
  return std::string(shown.substr(0, shown.find('%')));
}

}  // namespace truce
