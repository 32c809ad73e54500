// The bytes of one connection: a non-blocking socket, plain or with TLS.
#ifndef TRUCE_WEBHOOK_HTTP_STREAM_H_
#define TRUCE_WEBHOOK_HTTP_STREAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

// It remembers whether the socket may hold unread bytes, as an edge-triggered poller must know. A
// TLS session fails when the peer sends 33 records in a row without data (key updates, alerts), or
// makes it gather 64 KiB of its own. External synchronization.
class HttpStream final {
 public:
  // Owns the connected socket; `tls` null: plain.
  HttpStream(int descriptor, std::shared_ptr<const TlsContext> tls);
  ~HttpStream();
  HttpStream(const HttpStream&) = delete;
  HttpStream& operator=(const HttpStream&) = delete;

  // An event came. `hung_up`: the peer's end is among what is still to be read.
  void MarkReadable(bool hung_up) {
    drained_ = false;
    hung_up_ = hung_up_ || hung_up;
  }
  bool hung_up() const { return hung_up_; }
  // Whether something can be read, be it the end; asks the system.
  bool HasInput() const;

  // With TLS, before anything else; sends what it has to, but for the alert of a failure.
  IoStatus Handshake();
  // After it: the allowed name of the client's certificate.
  std::optional<std::string> ClientName() const;

  IoResult Read(std::span<char> buffer);
  // The same past TLS, for bytes that nobody wants.
  IoResult ReadRaw(std::span<char> buffer);
  // Adds to what is to be sent, and empties `bytes`, whose storage it may exchange. False: the
  // session is broken.
  bool Write(std::string& bytes);
  // Adds the notice that nothing follows, where there is one.
  void Close();
  // Sends what was added. kDone: all of it.
  IoStatus Flush();
  void ShutDownWriting();
  // Gives memory beyond `bytes_max` back.
  void Shrink(std::size_t bytes_max);

 private:
  friend struct StreamBio;

  bool BeginSession();
  IoStatus Failure();
  bool IsFlooded() const;

  const Descriptor descriptor_;
  bool drained_ = true;  // the socket holds nothing until its next event
  bool hung_up_ = false;
  std::string output_;
  std::size_t sent_ = 0;  // bytes of it

  const std::shared_ptr<const TlsContext> tls_;
  ssl_st* session_ = nullptr;  // null also until the first byte comes
  bool peer_closed_ = false;
  bool in_handshake_ = true;
  bool writing_ = false;   // the owner's data, which the owner bounds
  int empty_records_ = 0;  // received since application data was read
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_STREAM_H_
