#include "webhook/kube/connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "certs/certificate.h"
#include "certs/openssl_handle.h"
#include "webhook/kube/response_reader.h"

namespace truce {
namespace {

// A peer that vanished is noticed within a minute, also on a stream that only listens.
constexpr int kKeepIdleSeconds = 30;
constexpr int kKeepIntervalSeconds = 10;
constexpr int kKeepCount = 3;
constexpr int kUnacknowledgedMilliseconds = 30'000;

constexpr std::array<unsigned char, 9> kAlpn = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

Error BadMaterial(std::string_view origin, std::string_view what) {
  std::string message(origin);
  message.append(": ").append(what);
  ERR_clear_error();
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

void SetOptions(int descriptor) {
  const auto set = [descriptor](int level, int option, int value) {
    ::setsockopt(descriptor, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, kKeepIdleSeconds);
  set(IPPROTO_TCP, TCP_KEEPINTVL, kKeepIntervalSeconds);
  set(IPPROTO_TCP, TCP_KEEPCNT, kKeepCount);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, kUnacknowledgedMilliseconds);
}

bool IsNumeric(const std::string& host) {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

// The words of the newest OpenSSL error.
std::string OpenSslText() {
  const unsigned long code = ERR_peek_last_error();
  const char* text = ERR_reason_error_string(code);
  ERR_clear_error();
  return text == nullptr ? "broken" : text;
}

Result<void> UseAuthorities(SSL_CTX* context, const TlsMaterial& material,
                            std::string_view origin) {
  if (!material.verify) return {};
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  // As Go, and so kubectl: every certificate given is trusted, also an intermediate one.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
  if (material.authority.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      return BadMaterial(origin, "no system authorities");
    return {};
  }
  // Not only authorities: a server's own certificate may be given, as kubectl takes it.
  const std::vector<CertificateHandle> trusted = ReadCertificates(material.authority);
  if (trusted.empty())
    return BadMaterial(origin, "certificate authority: not a certificate in PEM form");
  const StoreHandle store(X509_STORE_new());
  bool is_used = store != nullptr;
  for (const CertificateHandle& certificate : trusted) {
    is_used = is_used && X509_STORE_add_cert(store.get(), certificate.get()) == 1;
  }
  if (!is_used || SSL_CTX_set1_verify_cert_store(context, store.get()) != 1) {
    return BadMaterial(origin, "the certificate authority cannot be used");
  }
  return {};
}

Result<void> UseCertificate(SSL_CTX* context, const TlsMaterial& material, std::string_view origin,
                            Timestamp now) {
  if (material.certificate.empty()) return {};
  const std::string within = std::string(origin) + ": client certificate";
  TRUCE_ASSIGN_OR_RETURN(const std::shared_ptr<const CertificatePair> pair,
                         CertificatePair::Parse(material.certificate, material.key, within, now));
  bool is_used = SSL_CTX_use_certificate(context, pair->leaf()) == 1 &&
                 SSL_CTX_use_PrivateKey(context, pair->key()) == 1;
  for (X509* issuer : pair->chain()) {
    is_used = is_used && SSL_CTX_add1_chain_cert(context, issuer) == 1;
  }
  if (!is_used) return BadMaterial(origin, "the client certificate cannot be used");
  return {};
}

}  // namespace

Result<std::shared_ptr<ssl_ctx_st>> MakeClientTls(const TlsMaterial& material,
                                                  std::string_view origin, Timestamp now) {
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()),
                                         [](SSL_CTX* made) { SSL_CTX_free(made); });
  if (context == nullptr) return BadMaterial(origin, "TLS: " + OpenSslText());
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // A thousand idle streams keep no buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_ENABLE_PARTIAL_WRITE);
  if (SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(context.get(), kAlpn.data(), kAlpn.size()) != 0) {
    return BadMaterial(origin, "TLS: " + OpenSslText());
  }
  TRUCE_RETURN_IF_ERROR(UseAuthorities(context.get(), material, origin));
  TRUCE_RETURN_IF_ERROR(UseCertificate(context.get(), material, origin, now));
  return context;
}

// The methods by which OpenSSL reaches the socket. Its own would raise SIGPIPE.
struct ConnectionBio {
  static ServerConnection& Owner(BIO* bio) {
    return *static_cast<ServerConnection*>(BIO_get_data(bio));
  }

  static int Read(BIO* bio, char* data, int size) noexcept {
    BIO_clear_retry_flags(bio);
    const ssize_t count =
        ::recv(Owner(bio).descriptor_, data, static_cast<std::size_t>(size), MSG_DONTWAIT);
    if (count == 0) Owner(bio).peer_closed_ = true;
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
    return static_cast<int>(count);
  }

  static int Write(BIO* bio, const char* data, int size) noexcept {
    BIO_clear_retry_flags(bio);
    const ssize_t count = ::send(Owner(bio).descriptor_, data, static_cast<std::size_t>(size),
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
    return static_cast<int>(count);
  }

  static const BIO_METHOD* Methods() {
    static const BIO_METHOD* const kMethods = NewBioMethods("truce client", Read, Write);
    return kMethods;
  }
};

ServerConnection::ServerConnection(const ServerSettings& settings,
                                   std::shared_ptr<const SessionState> state,
                                   std::vector<ResolvedAddress> addresses)
    : settings_(settings), state_(std::move(state)), addresses_(std::move(addresses)) {
  if (!settings_.proxy) return;
  const std::string target = HostAndPort(settings_.address);
  to_proxy_ = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  const std::string& authorization = settings_.proxy->authorization;
  if (!authorization.empty()) to_proxy_ += "Proxy-Authorization: " + authorization + "\r\n";
  to_proxy_ += "\r\n";
}

ServerConnection::~ServerConnection() {
  SSL_free(session_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

SocketProgress ServerConnection::Fail(std::string message) {
  failure_ = std::move(message);
  return SocketProgress::kFailed;
}

// Opens a socket to the next address. False when there is none left.
bool ServerConnection::NextAddress() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  while (next_address_ < addresses_.size()) {
    const std::vector<unsigned char>& bytes = addresses_[next_address_++].bytes;
    sockaddr_storage address{};
    std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof(address)));
    // A full queue of a Unix socket can be waited for in its connect alone.
    const bool is_local = address.ss_family == AF_UNIX;
    descriptor_ =
        ::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | (is_local ? 0 : SOCK_NONBLOCK), 0);
    if (descriptor_ < 0) {
      Fail("connect to " + HostAndPort(FirstHop(settings_)) + ": " + std::strerror(errno));
      continue;
    }
    SetOptions(descriptor_);
    const int result = ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address),
                                 static_cast<socklen_t>(bytes.size()));
    if (result == 0 && is_local) ::fcntl(descriptor_, F_SETFL, O_NONBLOCK);
    if (result == 0 || errno == EINPROGRESS) return true;
    Fail("connect to " + HostAndPort(FirstHop(settings_)) + ": " + std::strerror(errno));
    ::close(std::exchange(descriptor_, -1));
  }
  return false;
}

SocketProgress ServerConnection::Connect() {
  if (descriptor_ < 0 && !NextAddress()) {
    if (failure_.empty()) return Fail("no address of '" + FirstHop(settings_).host + "' is known");
    return SocketProgress::kFailed;
  }
  while (true) {
    pollfd polled{descriptor_, POLLOUT, 0};
    if (::poll(&polled, 1, 0) <= 0) return SocketProgress::kWantWrite;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) break;
    Fail("connect to " + HostAndPort(FirstHop(settings_)) + ": " + std::strerror(error));
    if (!NextAddress()) return SocketProgress::kFailed;
  }
  connected_ = true;
  return SocketProgress::kDone;
}

SocketProgress ServerConnection::PassProxy() {
  const std::string proxy = "proxy " + HostAndPort(settings_.proxy->address);
  while (!to_proxy_.empty()) {
    const ssize_t count = ::send(descriptor_, to_proxy_.data(), to_proxy_.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) return SocketProgress::kWantWrite;
    if (count < 0 && errno != EINTR) return Fail("ask " + proxy + ": " + std::strerror(errno));
    if (count > 0) to_proxy_.erase(0, static_cast<std::size_t>(count));
  }
  std::size_t head = 0;
  while ((head = HeadSize(from_proxy_)) == 0) {
    if (from_proxy_.size() > kResponseHeadBytesMax) {
      return Fail(proxy + ": an answer with too long a head");
    }
    std::array<char, 1024> piece{};
    const ssize_t count = ::recv(descriptor_, piece.data(), piece.size(), 0);
    if (count < 0 && errno == EAGAIN) return SocketProgress::kWantRead;
    if (count < 0 && errno != EINTR) return Fail("ask " + proxy + ": " + std::strerror(errno));
    if (count == 0) return Fail(proxy + " closed the connection");
    if (count > 0) from_proxy_.append(piece.data(), static_cast<std::size_t>(count));
  }
  const Result<ResponseHead> answer = ParseResponseHead(from_proxy_.substr(0, head));
  if (!answer.ok()) return Fail(proxy + ": " + answer.error().message);
  const int status = answer.value().status;
  if (status < 200 || status > 299) {
    return Fail(proxy + " refused a connection to " + HostAndPort(settings_.address) + ": status " +
                std::to_string(status) +
                (status == 407 ? ", it wants user and password (http://USER:PASSWORD@HOST)" : ""));
  }
  // The server speaks only when it was asked.
  if (head != from_proxy_.size()) return Fail(proxy + " sent more than an answer");
  passed_proxy_ = true;
  return SocketProgress::kDone;
}

bool ServerConnection::StartTls() {
  session_ = SSL_new(state_->tls.get());
  BIO* bio = BIO_new(ConnectionBio::Methods());
  if (session_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return false;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_, bio, bio);
  SSL_set_connect_state(session_);
  const std::string& name =
      settings_.tls_server_name.empty() ? settings_.address.host : settings_.tls_server_name;
  if (IsNumeric(name)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_), name.c_str()) == 1;
  }
  SSL_set_hostflags(session_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  std::string indicated = name;  // the macro for it casts in the old style
  return SSL_set1_host(session_, name.c_str()) == 1 &&
         SSL_ctrl(session_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  indicated.data()) == 1;
}

// The meaning of a result of OpenSSL that is no success.
SocketProgress ServerConnection::TlsProgress(int result, std::string_view doing) {
  const int error = SSL_get_error(session_, result);
  if (error == SSL_ERROR_WANT_READ) return SocketProgress::kWantRead;
  if (error == SSL_ERROR_WANT_WRITE) return SocketProgress::kWantWrite;
  if (error == SSL_ERROR_ZERO_RETURN) return SocketProgress::kClosed;
  std::string message(doing);
  message.append(" ").append(HostAndPort(settings_.address)).append(": ");
  const long verdict = SSL_get_verify_result(session_);
  if (verdict != X509_V_OK && settings_.verify) {
    message.append("its certificate is not accepted: ")
        .append(X509_verify_cert_error_string(verdict));
    ERR_clear_error();
  } else if (peer_closed_) {
    message += "the connection was cut";
    ERR_clear_error();
  } else if (error == SSL_ERROR_SSL) {
    message += OpenSslText();
  } else {
    message += std::strerror(errno);
  }
  return Fail(std::move(message));
}

SocketProgress ServerConnection::Handshake() {
  if (session_ == nullptr && !StartTls()) return Fail("TLS: " + OpenSslText());
  ERR_clear_error();
  const int result = SSL_do_handshake(session_);
  return result == 1 ? SocketProgress::kDone : TlsProgress(result, "TLS with");
}

SocketProgress ServerConnection::Establish() {
  if (!connected_) {
    const SocketProgress progress = Connect();
    if (progress != SocketProgress::kDone) return progress;
  }
  if (settings_.proxy && !passed_proxy_) {
    const SocketProgress progress = PassProxy();
    if (progress != SocketProgress::kDone) return progress;
  }
  if (!settings_.address.tls) return SocketProgress::kDone;
  const SocketProgress progress = Handshake();
  // Before the end of the handshake nothing ends in order.
  if (progress == SocketProgress::kClosed)
    return Fail("TLS with " + HostAndPort(settings_.address) + ": closed by the server");
  return progress;
}

Moved ServerConnection::Read(std::span<char> buffer) {
  if (session_ != nullptr) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_read_ex(session_, buffer.data(), buffer.size(), &count);
    if (result == 1) return {SocketProgress::kDone, count};
    return {TlsProgress(result, "read from")};
  }
  while (true) {
    const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count > 0) return {SocketProgress::kDone, static_cast<std::size_t>(count)};
    if (count == 0) return {SocketProgress::kClosed};
    if (errno == EAGAIN) return {SocketProgress::kWantRead};
    if (errno == EINTR) continue;
    return {Fail("read from " + HostAndPort(settings_.address) + ": " + std::strerror(errno))};
  }
}

Moved ServerConnection::Write(std::string_view data) {
  if (session_ != nullptr) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_write_ex(session_, data.data(), data.size(), &count);
    if (result == 1) return {SocketProgress::kDone, count};
    return {TlsProgress(result, "write to")};
  }
  while (true) {
    const ssize_t count = ::send(descriptor_, data.data(), data.size(), MSG_NOSIGNAL);
    if (count >= 0) return {SocketProgress::kDone, static_cast<std::size_t>(count)};
    if (errno == EAGAIN) return {SocketProgress::kWantWrite};
    if (errno == EINTR) continue;
    return {Fail("write to " + HostAndPort(settings_.address) + ": " + std::strerror(errno))};
  }
}

bool ServerConnection::Await(int descriptor, SocketProgress wanted, Deadline deadline) {
  const short events = wanted == SocketProgress::kWantWrite ? POLLOUT : POLLIN;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd polled{descriptor, events, 0};
    const auto wait = std::min<std::chrono::milliseconds::rep>(left.count(), 60'000);
    if (::poll(&polled, 1, static_cast<int>(wait)) > 0) return true;
  }
}

}  // namespace truce
