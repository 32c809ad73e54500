#include "webhook/http/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace truce {
namespace {

// TLS 1.2: forward secrecy and authenticated encryption only. TLS 1.3 has nothing else.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";
// In the order in which API servers offer them: the library's own begins with the slowest.
constexpr const char* kCiphers13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
// The most that a system call reads: a body of several records, and a size that allocators keep at
// hand.
constexpr size_t kReadBytes = 32 * 1024 - 64;
// Records in a row that bring no data: no honest client sends more between two pieces of it.
constexpr int kEmptyRecordsMax = 32;
constexpr const char* kGroups = "X25519:P-256:P-384";

// Any OpenSSL error text; it describes our own configuration here, never a peer's bytes.
Error OpenSslError(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return Error{ErrorCode::kInternal, std::string(what) + ": " + text.data()};
}

// The library judges a call by what its thread's queue of errors holds afterwards; to empty the
// queue takes 50 times as long as a look at it.
void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// HTTP/1.1 is all that is spoken; a client that offers only something else goes on without ALPN.
// NOLINTNEXTLINE(readability-function-size): the library gives the parameters
int SelectProtocol(SSL* /*session*/, const unsigned char** out, unsigned char* out_length,
                   const unsigned char* offered, unsigned int offered_length, void* /*argument*/) {
  static constexpr std::array<unsigned char, 9> kHttp11 = {8,   'h', 't', 't', 'p',
                                                           '/', '1', '.', '1'};
  const int found = SSL_select_next_proto(const_cast<unsigned char**>(out), out_length,
                                          kHttp11.data(), kHttp11.size(), offered, offered_length);
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

bool UseCertificates(SSL_CTX* context, const CertificateSnapshot& certificates,
                     ClientAuth client_auth) {
  const CertificatePair& pair = *certificates.pair;
  if (SSL_CTX_use_certificate(context, pair.leaf()) != 1) return false;
  if (SSL_CTX_use_PrivateKey(context, pair.key()) != 1) return false;
  for (X509* issuer : pair.chain()) {
    if (SSL_CTX_add1_chain_cert(context, issuer) != 1) return false;
  }
  if (client_auth == ClientAuth::kNone) return true;
  if (SSL_CTX_set1_verify_cert_store(context, certificates.client->store()) != 1) return false;
  for (X509* authority : certificates.client->authorities()) {
    if (SSL_CTX_add_client_CA(context, authority) != 1) return false;
  }
  int mode = SSL_VERIFY_PEER;
  if (client_auth == ClientAuth::kRequired) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  SSL_CTX_set_verify(context, mode, nullptr);
  return true;
}

bool SetPolicy(SSL_CTX* context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_IGNORE_UNEXPECTED_EOF);
  // A resumed session would carry a client's old identity past a change of the client CA.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Or one call might read records without data for as long as a peer sends them.
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(context, 1);  // one system call for a record, not one for its header too
  SSL_CTX_set_default_read_buffer_len(context, kReadBytes);
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol, nullptr);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphers12) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphers13) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1;
}

// Called with each record's header, and with much else.
// NOLINTNEXTLINE(readability-function-size): the library gives the parameters
void CountRecord(int sent, int /*version*/, int type, const void* /*bytes*/, size_t /*size*/,
                 SSL* /*session*/, void* records) {
  if (sent == 0 && type == SSL3_RT_HEADER) ++*static_cast<int*>(records);
}

// How a system call ended.
IoResult Moved(ssize_t count) {
  if (count > 0) return {IoStatus::kDone, static_cast<std::size_t>(count)};
  if (count == 0) return {IoStatus::kClosed};
  return {errno == EAGAIN ? IoStatus::kWouldBlock : IoStatus::kFailed};
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const CertificateSnapshot& certificates,
                                                           ClientAuth client_auth) {
  if (client_auth != ClientAuth::kNone && certificates.client == nullptr) {
    return Error{ErrorCode::kInvalidArgument, "client certificates need a client CA"};
  }
  auto made = std::make_shared<TlsContext>(
      TlsContext{certificates, {SSL_CTX_new(TLS_server_method()), &SSL_CTX_free}});
  SSL_CTX* settings = made->settings.get();
  if (settings == nullptr || !SetPolicy(settings) ||
      !UseCertificates(settings, certificates, client_auth)) {
    return OpenSslError("set up TLS");
  }
  return std::shared_ptr<const TlsContext>(std::move(made));
}

HttpStream::HttpStream(int descriptor, std::shared_ptr<const TlsContext> tls)
    : descriptor_(descriptor), tls_(std::move(tls)), session_(nullptr, &SSL_free) {}

IoStatus HttpStream::Failure(int result) {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return IoStatus::kWouldBlock;
    case SSL_ERROR_ZERO_RETURN: return IoStatus::kClosed;
    default: ERR_clear_error(); return IoStatus::kFailed;
  }
}

IoStatus HttpStream::Handshake() {
  if (session_ == nullptr) {
    // A session costs much more than a connection that says nothing.
    char first = 0;
    if (::recv(descriptor_.get(), &first, 1, MSG_PEEK) < 0) return IoStatus::kWouldBlock;
    session_.reset(SSL_new(tls_->settings.get()));
    if (session_ == nullptr || SSL_set_fd(session_.get(), descriptor_.get()) != 1) {
      return IoStatus::kFailed;
    }
    SSL_set_msg_callback(session_.get(), CountRecord);
    SSL_set_msg_callback_arg(session_.get(), &empty_records_);
    SSL_set_accept_state(session_.get());
  }
  ForgetErrors();
  const int result = SSL_do_handshake(session_.get());
  if (result != 1) return Failure(result);
  empty_records_ = 0;
  return IoStatus::kDone;
}

std::optional<std::string> HttpStream::ClientName() const {
  const ClientAuthority* authority = tls_->certificates.client.get();
  if (authority == nullptr) return std::nullopt;
  X509* certificate = SSL_get0_peer_certificate(session_.get());
  if (certificate == nullptr || SSL_get_verify_result(session_.get()) != X509_V_OK) {
    return std::nullopt;
  }
  std::string name = authority->AllowedName(certificate);
  if (name.empty()) return std::nullopt;
  return name;
}

IoResult HttpStream::Read(std::span<char> buffer) {
  if (tls_ == nullptr) return Moved(::recv(descriptor_.get(), buffer.data(), buffer.size(), 0));
  for (;;) {
    const int before = empty_records_;
    std::size_t count = 0;
    ForgetErrors();
    const int result = SSL_read_ex(session_.get(), buffer.data(), buffer.size(), &count);
    // The last of them brought the data.
    if (empty_records_ > kEmptyRecordsMax + result) return {IoStatus::kFailed};
    if (result == 1) {
      empty_records_ = 0;
      return {IoStatus::kDone, count};
    }
    // It also returns when the records that it had brought no data: there may be more.
    const IoStatus status = Failure(result);
    if (status != IoStatus::kWouldBlock || empty_records_ == before) return {status};
  }
}

IoResult HttpStream::Write(std::string_view bytes) {
  if (tls_ == nullptr) {
    return Moved(::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  std::size_t count = 0;
  ForgetErrors();
  const int result = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &count);
  if (result == 1) return {IoStatus::kDone, count};
  return {Failure(result)};
}

void HttpStream::EndWriting() {
  if (session_ != nullptr && SSL_is_init_finished(session_.get())) SSL_shutdown(session_.get());
  ::shutdown(descriptor_.get(), SHUT_WR);
}

}  // namespace truce
