// ServerSession: the present address of the API server and our credentials for it; kept fresh by
// one thread.
#ifndef TRUCE_WEBHOOK_KUBE_SESSION_H_
#define TRUCE_WEBHOOK_KUBE_SESSION_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/kube/server_settings.h"

struct ssl_ctx_st;

namespace truce {

struct SessionOptions {
  // Files of tokens and certificates are read again this often; kubelet rotates at 80 % of a life.
  std::chrono::milliseconds reread{20'000};
  // Names are looked up again when the answer is older.
  std::chrono::milliseconds resolve{30'000};
  // The time that an exec plugin has. `aws eks get-token` needs about a second.
  std::chrono::milliseconds exec_timeout{30'000};
  // A credential that expires is replaced this long before (at most half of its life).
  std::chrono::seconds renew_before{60};
};

// A snapshot. Immutable, hence thread-safe.
struct SessionState {
  std::uint64_t generation = 0;  // grows whenever credentials or authorities change
  std::string token;             // empty: none
  std::optional<Timestamp> expires;
  // Client-side settings of all connections of this generation; null for a plain address.
  std::shared_ptr<ssl_ctx_st> tls;
};

// One address of the server: a family and its bytes with the port, as the system wants them.
struct ResolvedAddress {
  std::vector<unsigned char> bytes;  // a sockaddr

  bool operator==(const ResolvedAddress&) const = default;
};

// Thread-safe.
class ServerSession final {
 public:
  // Reads the credentials (runs the exec plugin) and starts the keeper's thread. `clock` must
  // outlive the session. Blocks at most for `exec_timeout`.
  // Errors: kInvalidArgument (a file is missing or bad; a token would be sent in clear over the
  // network; the path of a Unix socket is too long), kUnavailable (the exec plugin failed).
  static Result<std::shared_ptr<ServerSession>> Open(ServerSettings settings, const Clock& clock,
                                                     SessionOptions options);
  ~ServerSession();
  ServerSession(const ServerSession&) = delete;
  ServerSession& operator=(const ServerSession&) = delete;

  const ServerSettings& settings() const;

  // Never blocks on I/O.
  std::shared_ptr<const SessionState> Current() const;

  // Asks for credentials newer than `generation`, without waiting. The number is for Renewed.
  std::uint64_t RequestRenewal(std::uint64_t generation);
  // Whether the credentials were read after that wish, with success or not.
  bool Renewed(std::uint64_t wish) const;
  // Asks and waits. True when the credentials were read again after the call began, whether or not
  // they changed; false at `deadline`.
  bool Renew(std::uint64_t generation, Deadline deadline);

  // Why the last renewal failed; empty when it did not. One line, without secrets.
  std::string trouble() const;

  // The server's addresses as last looked up, best first; empty while none is known. Asks for a new
  // look-up when the answer is old. Never blocks.
  std::vector<ResolvedAddress> Addresses();
  // Waits for the first answer. Empty at `deadline`, or when the name does not exist.
  std::vector<ResolvedAddress> AwaitAddresses(Deadline deadline);

 private:
  struct Impl;
  explicit ServerSession(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_SESSION_H_
