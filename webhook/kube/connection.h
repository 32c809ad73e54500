// One connection to the API server: a non-blocking socket, with TLS where the address asks for it.
#ifndef TRUCE_WEBHOOK_KUBE_CONNECTION_H_
#define TRUCE_WEBHOOK_KUBE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/kube/server_settings.h"
#include "webhook/kube/session.h"

struct ssl_st;

namespace truce {

// The parts of TLS for one generation of credentials; all PEM.
struct TlsMaterial {
  std::string authority;  // empty: the system's authorities
  bool verify = true;
  std::string certificate;  // empty: none is shown
  std::string key;
};

// TLS 1.2 and 1.3, HTTP/1.1 by ALPN, no resumption. Errors: kInvalidArgument (names what is bad).
Result<std::shared_ptr<ssl_ctx_st>> MakeClientTls(const TlsMaterial& material,
                                                  std::string_view origin, Timestamp now);

// How a non-blocking step ended.
enum class SocketProgress : std::uint8_t {
  kDone,
  kWantRead,   // go on when the socket is readable
  kWantWrite,  // go on when it is writable
  kClosed,     // the server ended the connection in order
  kFailed,     // `failure()` says why
};

struct Moved {
  SocketProgress progress;
  std::size_t bytes = 0;  // with kDone
};

// External synchronization.
class ServerConnection final {
 public:
  // Tries `addresses` one after the other. Nothing happens before Establish().
  ServerConnection(const ServerSettings& settings, std::shared_ptr<const SessionState> state,
                   std::vector<ResolvedAddress> addresses);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  // Connects, through the proxy where there is one, and shakes hands. May change the descriptor.
  SocketProgress Establish();
  Moved Read(std::span<char> buffer);
  Moved Write(std::string_view data);

  int descriptor() const { return descriptor_; }
  const SessionState& state() const { return *state_; }
  // One line: "connect to 127.0.0.1:6443: Connection refused".
  const std::string& failure() const { return failure_; }

  // Waits until the socket is ready for `wanted`. False at `deadline`.
  static bool Await(int descriptor, SocketProgress wanted, Deadline deadline);

 private:
  friend struct ConnectionBio;

  SocketProgress Connect();
  // Asks the proxy to connect the socket to the server.
  SocketProgress PassProxy();
  bool NextAddress();
  bool StartTls();
  SocketProgress Handshake();
  SocketProgress TlsProgress(int result, std::string_view doing);
  SocketProgress Fail(std::string message);

  const ServerSettings& settings_;
  std::shared_ptr<const SessionState> state_;
  std::vector<ResolvedAddress> addresses_;
  std::size_t next_address_ = 0;
  int descriptor_ = -1;
  bool connected_ = false;
  bool passed_proxy_ = false;
  std::string to_proxy_;    // not sent yet
  std::string from_proxy_;  // its answer as far as it came
  bool peer_closed_ = false;
  ssl_st* session_ = nullptr;
  std::string failure_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_CONNECTION_H_
