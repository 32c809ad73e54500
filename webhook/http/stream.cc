#include "webhook/http/stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>

#include "certs/openssl_handle.h"

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
// Room for the bytes that a session sends by itself, handshake included.
constexpr size_t kOwnOutputBytesMax = 64 * 1024;
constexpr const char* kGroups = "X25519:P-256:P-384";

// Any OpenSSL error text; it describes our own configuration here, never a peer's bytes.
Error OpenSslError(std::string_view what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return Error{ErrorCode::kInternal, std::string(what) + ": " + text.data()};
}

// HTTP/1.1 is all that is spoken; a client that offers only something else goes on without ALPN.
// NOLINTNEXTLINE(readability-function-size): the library gives the parameters
int SelectProtocol(SSL* /*session*/, const unsigned char** out, unsigned char* out_length,
                   const unsigned char* offered, unsigned int offered_length, void* /*argument*/) {
  static constexpr std::string_view kHttp11 = "http/1.1";
  for (unsigned int at = 0; at < offered_length; at += offered[at] + 1U) {
    const unsigned int length = offered[at];
    if (at + 1 + length > offered_length) break;
    if (length != kHttp11.size()) continue;
    if (!std::equal(kHttp11.begin(), kHttp11.end(), offered + at + 1)) continue;
    *out = offered + at + 1;
    *out_length = offered[at];
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_NOACK;
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
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(context, 1);  // one system call for a record, not one for its header too
  SSL_CTX_set_default_read_buffer_len(context, kReadBytes);
  SSL_CTX_set_alpn_select_cb(context, SelectProtocol, nullptr);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_num_tickets(context, 0) == 1 &&
         SSL_CTX_set_cipher_list(context, kCiphers12) == 1 &&
         SSL_CTX_set_ciphersuites(context, kCiphers13) == 1 &&
         SSL_CTX_set1_groups_list(context, kGroups) == 1;
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

// The methods by which OpenSSL reaches a stream's socket and output.
struct StreamBio {
  static HttpStream& Owner(BIO* bio) { return *static_cast<HttpStream*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* data, int size) noexcept {
    HttpStream& owner = Owner(bio);
    BIO_clear_retry_flags(bio);
    if (owner.IsFlooded()) return -1;
    const IoResult result = owner.ReadRaw({data, static_cast<size_t>(size)});
    switch (result.status) {
      case IoStatus::kDone: return static_cast<int>(result.bytes);
      case IoStatus::kWouldBlock: BIO_set_retry_read(bio); return -1;
      case IoStatus::kClosed: owner.peer_closed_ = true; return 0;
      case IoStatus::kFailed: break;
    }
    return -1;
  }

  static int Write(BIO* bio, const char* data, int size) noexcept {
    BIO_clear_retry_flags(bio);
    HttpStream& owner = Owner(bio);
    const auto bytes = static_cast<size_t>(size);
    const bool too_much = owner.output_.size() + bytes > kOwnOutputBytesMax;
    if (!owner.writing_ && (too_much || owner.IsFlooded())) return -1;
    try {
      owner.output_.append(data, bytes);
    } catch (const std::exception&) {  // out of memory; nothing may be thrown through OpenSSL
      return -1;
    }
    return size;
  }

  // Called with each record's header, and with much else.
  // NOLINTNEXTLINE(readability-function-size): the library gives the parameters
  static void OnMessage(int sent, int /*version*/, int type, const void* /*bytes*/, size_t /*size*/,
                        SSL* /*session*/, void* owner) noexcept {
    if (sent == 0 && type == SSL3_RT_HEADER) ++static_cast<HttpStream*>(owner)->empty_records_;
  }

  static const BIO_METHOD* Methods() {
    static const BIO_METHOD* const kMethods = NewBioMethods("truce", Read, Write);
    return kMethods;
  }
};

HttpStream::HttpStream(int descriptor, std::shared_ptr<const TlsContext> tls)
    : descriptor_(descriptor), tls_(std::move(tls)) {}

HttpStream::~HttpStream() { SSL_free(session_); }

bool HttpStream::HasInput() const {
  pollfd asked{.fd = descriptor_.get(), .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0;
}

bool HttpStream::IsFlooded() const { return !in_handshake_ && empty_records_ > kEmptyRecordsMax; }

// False when memory is short.
bool HttpStream::BeginSession() {
  session_ = SSL_new(tls_->settings.get());
  BIO* bio = BIO_new(StreamBio::Methods());
  if (session_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return false;
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_, bio, bio);
  SSL_set_msg_callback(session_, StreamBio::OnMessage);
  SSL_set_msg_callback_arg(session_, this);
  SSL_set_accept_state(session_);
  return true;
}

// Why a call failed. Not by the thread's list of errors, as SSL_get_error tells it: errors of
// others would be taken for this call's, and to look whether it is empty before each call is a
// hundredth of a review.
IoStatus HttpStream::Failure() {
  if (SSL_want_read(session_) && BIO_should_read(SSL_get_rbio(session_))) {
    return IoStatus::kWouldBlock;
  }
  ERR_clear_error();
  return peer_closed_ ? IoStatus::kClosed : IoStatus::kFailed;
}

IoStatus HttpStream::Handshake() {
  // A session costs much more than a connection that says nothing.
  if (session_ == nullptr && drained_) return IoStatus::kWouldBlock;
  if (session_ == nullptr && !BeginSession()) return IoStatus::kFailed;
  if (SSL_do_handshake(session_) != 1) {
    const IoStatus status = Failure();
    return status == IoStatus::kWouldBlock && Flush() == IoStatus::kFailed ? IoStatus::kFailed
                                                                           : status;
  }
  in_handshake_ = false;
  empty_records_ = 0;
  return Flush();
}

std::optional<std::string> HttpStream::ClientName() const {
  const ClientAuthority* authority = tls_->certificates.client.get();
  if (authority == nullptr) return std::nullopt;
  X509* certificate = SSL_get0_peer_certificate(session_);
  if (certificate == nullptr || SSL_get_verify_result(session_) != X509_V_OK) return std::nullopt;
  std::string name = authority->AllowedName(certificate);
  if (name.empty()) return std::nullopt;
  return name;
}

IoResult HttpStream::ReadRaw(std::span<char> buffer) {
  if (drained_) return {IoStatus::kWouldBlock};  // spare the system call
  ssize_t count = 0;
  do {
    count = ::recv(descriptor_.get(), buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  // A short read leaves the socket empty, as epoll(7) promises for streams: later bytes are a new
  // edge. This spares the second read that would only return EAGAIN. The end of the stream has no
  // bytes and must be read for itself.
  drained_ = count < 0 || (count > 0 && !hung_up_ && static_cast<size_t>(count) < buffer.size());
  if (count > 0) return {IoStatus::kDone, static_cast<size_t>(count)};
  if (count == 0) return {IoStatus::kClosed};
  return {errno == EAGAIN ? IoStatus::kWouldBlock : IoStatus::kFailed};
}

IoResult HttpStream::Read(std::span<char> buffer) {
  if (tls_ == nullptr) return ReadRaw(buffer);
  // As after each reply: nothing has come, and nothing is left to read.
  if (drained_ && SSL_has_pending(session_) == 0) return {IoStatus::kWouldBlock};
  size_t count = 0;
  if (SSL_read_ex(session_, buffer.data(), buffer.size(), &count) == 1) {
    // The last of them brought the data.
    if (empty_records_ > kEmptyRecordsMax + 1) return {IoStatus::kFailed};
    empty_records_ = 0;
    return {IoStatus::kDone, count};
  }
  if (IsFlooded()) return {IoStatus::kFailed};
  const bool said_so = (SSL_get_shutdown(session_) & SSL_RECEIVED_SHUTDOWN) != 0;
  return {said_so ? IoStatus::kClosed : Failure()};
}

bool HttpStream::Write(std::string& bytes) {
  std::string_view left = bytes;
  if (tls_ == nullptr && output_.empty()) {
    output_.swap(bytes);
    left = {};
  } else if (tls_ == nullptr) {
    output_.append(std::exchange(left, {}));
  }
  writing_ = true;
  while (!left.empty()) {
    size_t count = 0;
    if (SSL_write_ex(session_, left.data(), left.size(), &count) != 1) break;
    left.remove_prefix(count);
  }
  writing_ = false;
  const bool is_whole = left.empty();
  bytes.clear();
  return is_whole;
}

void HttpStream::Close() {
  if (session_ == nullptr || in_handshake_) return;
  writing_ = true;
  SSL_shutdown(session_);
  writing_ = false;
}

IoStatus HttpStream::Flush() {
  while (sent_ < output_.size()) {
    const ssize_t count =
        ::send(descriptor_.get(), output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? IoStatus::kWouldBlock : IoStatus::kFailed;
    sent_ += static_cast<size_t>(count);
  }
  output_.clear();
  sent_ = 0;
  return IoStatus::kDone;
}

void HttpStream::ShutDownWriting() { ::shutdown(descriptor_.get(), SHUT_WR); }

// Assigning an empty string would keep the memory.
void HttpStream::Shrink(std::size_t bytes_max) {
  if (output_.empty() && output_.capacity() > bytes_max) std::string().swap(output_);
}

}  // namespace truce
