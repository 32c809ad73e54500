// The bytes of one connection: a non-blocking socket, plain or with TLS.
#ifndef TRUCE_WEBHOOK_HTTP_STREAM_H_
#define TRUCE_WEBHOOK_HTTP_STREAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "certs/certificate_store.h"
#include "registry/base/descriptor.h"
#include "registry/base/result.h"
#include "webhook/http/server.h"

struct ssl_ctx_st;
struct ssl_st;

namespace truce {

// The settings of all connections that one set of certificates serves. Immutable, hence
// thread-safe.
struct TlsContext {
  CertificateSnapshot certificates;
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> settings;

  static Result<std::shared_ptr<const TlsContext>> Make(const CertificateSnapshot& certificates,
                                                        ClientAuth client_auth);
};

// How a non-blocking step ended.
enum class IoStatus {
  kDone,        // `bytes` were moved; or the handshake is complete
  kWouldBlock,  // nothing more until the next event
  kClosed,      // the peer ended the connection in order
  kFailed,      // broken, or broken rules
};

struct IoResult {
  IoStatus status;
  std::size_t bytes = 0;
};

// Polled edge-triggered, it is read and written until it would block. A TLS session fails when the
// peer sends 33 records in a row without data (key updates, alerts). External synchronization.
class HttpStream final {
 public:
  // Owns the connected socket; `tls` null: plain.
  HttpStream(int descriptor, std::shared_ptr<const TlsContext> tls);

  // With TLS, before anything else.
  IoStatus Handshake();
  // After it: the allowed name of the client's certificate.
  std::optional<std::string> ClientName() const;

  IoResult Read(std::span<char> buffer);
  // Sends the beginning of `bytes`, which are not empty. After kWouldBlock they come again, be it
  // at another place, before anything else does.
  IoResult Write(std::string_view bytes);
  // Sends the notice that nothing follows; best effort.
  void EndWriting();

 private:
  IoStatus Failure(int result);

  const Descriptor descriptor_;
  const std::shared_ptr<const TlsContext> tls_;
  std::unique_ptr<ssl_st, void (*)(ssl_st*)> session_;  // null also until the first byte comes
  int empty_records_ = 0;                               // received since application data was read
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_STREAM_H_
