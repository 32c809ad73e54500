#include "tests/support/postgres_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace truce::testing {
namespace {

constexpr int kLookAround = 20;  // milliseconds between looks whether the test is over

[[noreturn]] void Abort(const char* why) {
  std::perror(why);
  std::abort();
}

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) Abort("the socket's path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

std::string ValueIn(const std::string& url, const std::string& name) {
  const std::size_t begin = url.find(name + "=") + name.size() + 1;
  return url.substr(begin, url.find(' ', begin) - begin);
}

bool SendAll(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::size_t LengthAt(std::string_view bytes) {
  std::size_t length = 0;
  for (const char byte : bytes.substr(0, 4)) {
    length = length << 8U | static_cast<unsigned char>(byte);
  }
  return length;
}

// Takes the first whole message from `bytes`; empty: there is none yet.
std::string TakeMessage(std::string& bytes, bool has_type) {
  const std::size_t head = has_type ? 1 : 0;
  if (bytes.size() < head + 4) return {};
  const std::size_t size = head + LengthAt(std::string_view(bytes).substr(head));
  if (bytes.size() < size) return {};
  std::string message = bytes.substr(0, size);
  bytes.erase(0, size);
  return message;
}

}  // namespace

// One connection, on a thread of its own.
class PostgresProxy::Pipe {
 public:
  Pipe(PostgresProxy& proxy, int client, int server)
      : proxy_(proxy), client_(client), server_(server), thread_([this] { Run(); }) {}
  ~Pipe() { thread_.join(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

 private:
  void Run() {
    std::array<pollfd, 2> ends{{{client_, POLLIN, 0}, {server_, POLLIN, 0}}};
    while (!proxy_.ending_.load()) {
      if (::poll(ends.data(), ends.size(), kLookAround) < 0) break;
      if (ends[0].revents != 0 && !Pass(client_, asked_, [this] { return PassAsked(); })) break;
      if (ends[1].revents != 0 && !Pass(server_, said_, [this] { return PassSaid(); })) break;
    }
    ::close(client_);
    ::close(server_);
  }

  template <typename PassAll>
  bool Pass(int from, std::string& bytes, const PassAll& pass_all) {
    std::array<char, 65536> part{};
    const ssize_t got = ::recv(from, part.data(), part.size(), 0);
    if (got <= 0) return false;
    bytes.append(part.data(), static_cast<std::size_t>(got));
    return pass_all();
  }

  bool PassAsked() {
    while (true) {
      const std::string message = TakeMessage(asked_, begun_);
      if (message.empty()) return true;
      constexpr std::string_view kParsesCommit("\0COMMIT\0", 8);  // no name, the text
      const bool commits =
          begun_ && message[0] == 'P' && message.find(kParsesCommit) != std::string::npos;
      if (commits && proxy_.Meets(Fate::kCutBefore)) return false;
      if (begun_ && message[0] == 'S') proxy_.round_trips_.fetch_add(1);
      begun_ = true;
      if (!SendAll(server_, message)) return false;
    }
  }

  bool PassSaid() {
    while (true) {
      std::string message = TakeMessage(said_, true);
      if (message.empty()) return true;
      constexpr std::string_view kDone("C\0\0\0\013COMMIT\0", 12);
      if (message == kDone) {
        if (proxy_.Meets(Fate::kCutAfter)) return false;
        if (proxy_.Meets(Fate::kRollback)) message.assign("C\0\0\0\015ROLLBACK\0", 14);
      }
      if (!SendAll(client_, message)) return false;
    }
  }

  PostgresProxy& proxy_;
  const int client_;
  const int server_;
  std::string asked_;
  std::string said_;
  bool begun_ = false;  // the first message, which has no type, was passed on
  std::thread thread_;  // last: it uses all of the above
};

PostgresProxy::PostgresProxy(const std::string& url) {
  const std::string port = ValueIn(url, "port");
  const std::string name = "/.s.PGSQL." + port;
  target_ = ValueIn(url, "host") + name;
  const std::string folder = folder_.path().string();
  url_ = "host=" + folder + url.substr(url.find(' '));
  listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  const sockaddr_un address = AddressOf(folder + name);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0) {
    Abort("the proxy's socket");
  }
  accepter_ = std::thread([this] { Accept(); });
}

PostgresProxy::~PostgresProxy() {
  ending_.store(true);
  accepter_.join();
  ::close(listener_);
}

void PostgresProxy::Accept() {
  std::vector<std::unique_ptr<Pipe>> pipes;
  pollfd waiting{listener_, POLLIN, 0};
  while (!ending_.load()) {
    if (::poll(&waiting, 1, kLookAround) <= 0) continue;
    const int client = ::accept(listener_, nullptr, nullptr);
    const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = AddressOf(target_);
    if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(client);
      ::close(server);
      continue;
    }
    pipes.push_back(std::make_unique<Pipe>(*this, client, server));
  }
}

void PostgresProxy::Let(Fate fate, int count) {
  order_.With([&](Order& order) { order = {fate, count}; });
}

bool PostgresProxy::Meets(Fate fate) {
  return order_.With([&](Order& order) {
    if (order.fate != fate || order.count == 0) return false;
    --order.count;
    return true;
  });
}

}  // namespace truce::testing
