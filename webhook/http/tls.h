// TLS on a non-blocking socket: OpenSSL between two memory buffers, with one read and one write per
// turn.
#ifndef TRUCE_WEBHOOK_HTTP_TLS_H_
#define TRUCE_WEBHOOK_HTTP_TLS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "certs/certificate_store.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/http/server.h"

struct ssl_ctx_st;
struct ssl_st;

namespace truce {

// How a non-blocking step ended.
enum class IoStatus {
  kDone,        // `bytes` were moved; or the handshake is complete
  kWouldBlock,  // nothing more until the socket is ready
  kClosed,      // the peer ended the connection in order
  kFailed,      // broken, or broken rules
};

struct IoResult {
  IoStatus status;
  size_t bytes = 0;
};

// Where bytes go and come from: a connected non-blocking socket. It owns the descriptor, and
// remembers what an edge-triggered poller must know: whether the socket may hold unread bytes.
// External synchronization.
class Socket final {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  int descriptor() const { return descriptor_; }

  IoResult Receive(std::span<char> buffer);
  // Whether there is something to receive (kDone), or the end.
  IoStatus Peek();
  // Whether the peer will send no more.
  bool HungUp() const;
  // Sends from the front of `pending` and removes what was sent. kDone: all of it.
  IoStatus Send(std::string& pending, size_t& sent);
  void ShutDownWriting();

  // Whether the socket is known to hold nothing until its next event.
  bool drained() const { return drained_; }
  // An event came. `hung_up`: the peer's end is among what is still to be read.
  void MarkReadable(bool hung_up) {
    drained_ = false;
    hung_up_ = hung_up_ || hung_up;
  }

 private:
  int descriptor_;
  bool drained_ = false;
  bool hung_up_ = false;
};

// The settings of all connections that one set of certificates serves. Immutable, hence
// thread-safe.
class TlsContext final {
 public:
  static Result<std::shared_ptr<const TlsContext>> Make(const CertificateSnapshot& certificates,
                                                        ClientAuth client_auth);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* context() const { return context_; }
  const ClientAuthority* client() const { return certificates_.client.get(); }

 private:
  TlsContext(const CertificateSnapshot& certificates, ssl_ctx_st* context)
      : certificates_(certificates), context_(context) {}

  CertificateSnapshot certificates_;
  ssl_ctx_st* context_;
};

// The context of the certificates in use now. Thread-safe.
class TlsContextSource final {
 public:
  TlsContextSource(const CertificateStore& store, ClientAuth client_auth)
      : store_(store), client_auth_(client_auth) {}

  Result<std::shared_ptr<const TlsContext>> Current();

 private:
  struct Cached {
    CertificateSnapshot certificates;
    std::shared_ptr<const TlsContext> context;
  };

  const CertificateStore& store_;
  const ClientAuth client_auth_;
  Guarded<Cached> cached_;
};

// Records in a row that bring no application data (key updates, alerts, attempts to renegotiate):
// no honest client sends more between two pieces of data.
inline constexpr int kEmptyRecordsMax = 32;
// What a session may want to send on its own account, handshake included, before it is flushed.
inline constexpr size_t kOwnOutputBytesMax = 64 * 1024;

// One server-side session. Its output gathers in `output` until the owner flushes it. It fails
// beyond kEmptyRecordsMax and kOwnOutputBytesMax.
// External synchronization; `socket` and `output` must outlive it.
class TlsSession final {
 public:
  // Null when memory is short.
  static std::unique_ptr<TlsSession> Make(std::shared_ptr<const TlsContext> context, Socket& socket,
                                          std::string& output);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  IoStatus Handshake();
  IoResult Read(std::span<char> buffer);
  // Encrypts all of `data` into the output. False when the session is broken.
  bool Write(std::string_view data);
  // Adds the notice that nothing follows.
  void Close();
  // After the handshake: the allowed name of the client's certificate.
  std::optional<std::string> ClientName() const;

 private:
  friend struct TlsBio;
  TlsSession(std::shared_ptr<const TlsContext> context, Socket& socket, std::string& output)
      : context_(std::move(context)), socket_(socket), output_(output) {}

  IoStatus Failure();
  bool IsFlooded() const { return !in_handshake_ && empty_records_ > kEmptyRecordsMax; }

  std::shared_ptr<const TlsContext> context_;
  Socket& socket_;
  std::string& output_;
  ssl_st* session_ = nullptr;
  bool peer_closed_ = false;
  bool in_handshake_ = true;
  bool writing_ = false;   // the owner's data, which the owner bounds
  int empty_records_ = 0;  // received since application data was read
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_TLS_H_
