// A small HTTP client that does exactly what a test says, however wrong, over TCP, TLS or a Unix
// socket.
#ifndef TRUCE_TESTS_SUPPORT_HTTP_CLIENT_H_
#define TRUCE_TESTS_SUPPORT_HTTP_CLIENT_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"

struct ssl_st;
struct ssl_ctx_st;

namespace truce {

struct ClientReply {
  int status = 0;
  std::map<std::string, std::string> headers;  // names lower-case
  std::string body;
};

struct ClientTls {
  std::string authority_file;    // what the client trusts; empty: anybody
  std::string certificate_file;  // its own, optional
  std::string key_file;
  int version_max = 0;           // e.g. TLS1_1_VERSION; 0: no limit
  std::string ciphers;           // TLS 1.2 cipher list; empty: OpenSSL's
  const Clock* clock = nullptr;  // what validity is measured against; null: the system's
};

// One connection. Reads and writes give up after `kPatience`. External synchronization.
class HttpClient final {
 public:
  static constexpr std::chrono::seconds kPatience{20};

  // Null when the connection or the handshake fails.
  static std::unique_ptr<HttpClient> Connect(int port);
  static std::unique_ptr<HttpClient> ConnectTls(int port, const ClientTls& tls);
  // From that IPv4 address of this machine ("127.0.0.2").
  static std::unique_ptr<HttpClient> ConnectFrom(const char* source, int port);
  static std::unique_ptr<HttpClient> ConnectUnix(const std::string& path);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // False when the connection is broken.
  bool Send(std::string_view bytes);
  void FinishSending();
  // TLS 1.3: announces new keys `count` times, and wants the server to do the same each time, or
  // not. False when the connection is broken.
  bool UpdateKeys(int count, bool both_sides);
  // The next reply; nothing when the connection ends or breaks before it is whole.
  std::optional<ClientReply> Receive(bool head_only = false);
  // Send and Receive.
  std::optional<ClientReply> Ask(std::string_view bytes);
  // Reads until the server ends the connection. False when it goes on past kPatience.
  bool WaitForEnd();
  int descriptor() const { return descriptor_; }
  // Subject alternative names and serial of the server's certificate, for telling certificates
  // apart.
  std::string PeerFingerprint() const;
  // As OpenSSL calls what the session is encrypted with.
  std::string Cipher() const;
  size_t PeerChainSize() const;

 private:
  explicit HttpClient(int descriptor);
  bool Shake(const ClientTls& tls);
  long ReadSome(char* data, size_t size);

  int descriptor_;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* session_ = nullptr;
  std::string pending_;
};

// "METHOD path HTTP/1.1" with Host and, given a body, Content-Length and a JSON Content-Type.
std::string Request(std::string_view method, std::string_view path, std::string_view body = {});

// Whether `condition` comes true within kPatience; looked at every millisecond.
bool Eventually(const std::function<bool()>& condition);

// Threads of this process.
int ThreadCount();

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_HTTP_CLIENT_H_
