#include "tests/support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace truce {
namespace {

// `source`: an IPv4 address to connect from; null: any.
template <typename Address>
int ConnectTo(int family, const Address& address, const char* source = nullptr) {
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  const bool bound = source == nullptr ||
                     (::inet_pton(AF_INET, source, &from.sin_addr) == 1 &&
                      ::bind(descriptor, reinterpret_cast<sockaddr*>(&from), sizeof from) == 0);
  const timeval patience{HttpClient::kPatience.count(), 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (!bound ||
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(descriptor);
    return -1;
  }
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

int ConnectToPort(int port, const char* source = nullptr) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ConnectTo(AF_INET, address, source);
}

ClientReply ParseHead(std::string_view head) {
  ClientReply reply;
  if (head.size() > 12) std::from_chars(head.data() + 9, head.data() + 12, reply.status);
  size_t at = head.find("\r\n") + 2;
  while (at < head.size()) {
    const size_t end = head.find("\r\n", at);
    const std::string_view line = head.substr(at, end - at);
    at = end + 2;
    const size_t colon = line.find(": ");
    if (colon == line.npos) continue;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // A repeated field would be a fault of the server: it shows in the value.
    std::string& value = reply.headers[name];
    if (!value.empty()) value += ", ";
    value += line.substr(colon + 2);
  }
  return reply;
}

}  // namespace

HttpClient::HttpClient(int descriptor) : descriptor_(descriptor) {}

HttpClient::~HttpClient() {
  SSL_free(session_);
  SSL_CTX_free(context_);
  ::close(descriptor_);
}

std::unique_ptr<HttpClient> HttpClient::Connect(int port) {
  const int descriptor = ConnectToPort(port);
  if (descriptor < 0) return nullptr;
  return std::unique_ptr<HttpClient>(new HttpClient(descriptor));
}

std::unique_ptr<HttpClient> HttpClient::ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  const int descriptor = ConnectTo(AF_UNIX, address);
  if (descriptor < 0) return nullptr;
  return std::unique_ptr<HttpClient>(new HttpClient(descriptor));
}

std::unique_ptr<HttpClient> HttpClient::ConnectTls(int port, const ClientTls& tls) {
  std::unique_ptr<HttpClient> client = Connect(port);
  return client != nullptr && client->Shake(tls) ? std::move(client) : nullptr;
}

std::unique_ptr<HttpClient> HttpClient::ConnectFrom(const char* source, int port) {
  const int descriptor = ConnectToPort(port, source);
  if (descriptor < 0) return nullptr;
  return std::unique_ptr<HttpClient>(new HttpClient(descriptor));
}

bool HttpClient::Shake(const ClientTls& tls) {
  // OpenSSL writes without MSG_NOSIGNAL, and the server may have closed the connection.
  std::signal(SIGPIPE, SIG_IGN);
  context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_security_level(context_, 0);  // or old versions are refused by the client
  if (!tls.authority_file.empty()) {
    if (SSL_CTX_load_verify_file(context_, tls.authority_file.c_str()) != 1) return false;
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
  if (tls.clock != nullptr) {
    SSL_CTX_set_cert_verify_callback(
        context_,
        [](X509_STORE_CTX* context, void* clock) {
          const auto now = static_cast<const Clock*>(clock)->Now().time_since_epoch();
          X509_STORE_CTX_set_time(context, 0,
                                  std::chrono::duration_cast<std::chrono::seconds>(now).count());
          return X509_verify_cert(context);
        },
        const_cast<Clock*>(tls.clock));
  }
  if (!tls.certificate_file.empty()) {
    if (SSL_CTX_use_certificate_chain_file(context_, tls.certificate_file.c_str()) != 1 ||
        SSL_CTX_use_PrivateKey_file(context_, tls.key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
      return false;
    }
  }
  if (tls.version_max != 0) SSL_CTX_set_max_proto_version(context_, tls.version_max);
  if (!tls.ciphers.empty()) SSL_CTX_set_cipher_list(context_, tls.ciphers.c_str());
  session_ = SSL_new(context_);
  SSL_set_fd(session_, descriptor_);
  SSL_set1_host(session_, "localhost");
  if (SSL_connect(session_) != 1) return false;
  return true;
}

bool HttpClient::UpdateKeys(int count, bool both_sides) {
  const int type = both_sides ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  for (int i = 0; i < count; ++i) {
    if (SSL_key_update(session_, type) != 1 || SSL_do_handshake(session_) != 1) return false;
  }
  return true;
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    long count = 0;
    if (session_ != nullptr) {
      count = SSL_write(session_, bytes.data(),
                        static_cast<int>(std::min<size_t>(bytes.size(), 1 << 20)));
    } else {
      count = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void HttpClient::FinishSending() { ::shutdown(descriptor_, SHUT_WR); }

long HttpClient::ReadSome(char* data, size_t size) {
  if (session_ != nullptr) return SSL_read(session_, data, static_cast<int>(size));
  return ::recv(descriptor_, data, size, 0);
}

std::optional<ClientReply> HttpClient::Receive(bool head_only) {
  std::array<char, 65536> buffer;
  const auto read_more = [&] {
    const long count = ReadSome(buffer.data(), buffer.size());
    if (count > 0) pending_.append(buffer.data(), static_cast<size_t>(count));
    return count > 0;
  };
  size_t end = pending_.find("\r\n\r\n");
  while (end == pending_.npos) {
    if (!read_more()) return std::nullopt;
    end = pending_.find("\r\n\r\n");
  }
  ClientReply reply = ParseHead(std::string_view(pending_).substr(0, end + 2));
  pending_.erase(0, end + 4);
  const auto length = reply.headers.find("content-length");
  if (head_only || length == reply.headers.end()) return reply;
  const size_t size = std::stoul(length->second);
  while (pending_.size() < size) {
    if (!read_more()) return std::nullopt;
  }
  reply.body = pending_.substr(0, size);
  pending_.erase(0, size);
  return reply;
}

std::optional<ClientReply> HttpClient::Ask(std::string_view bytes) {
  if (!Send(bytes)) return std::nullopt;
  return Receive();
}

bool HttpClient::WaitForEnd() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::array<char, 4096> buffer;
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (::poll(&waiting, 1, 1000) <= 0) continue;
    // Below TLS: an end without notice is an end too.
    const long count = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (count <= 0) return true;
  }
  return false;
}

std::string HttpClient::PeerFingerprint() const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  X509_digest(SSL_get0_peer_certificate(session_), EVP_sha256(), digest.data(), &size);
  std::string text;
  for (size_t i = 0; i < size; ++i) {
    constexpr std::string_view kHex = "0123456789abcdef";
    text += kHex[digest[i] >> 4];
    text += kHex[digest[i] & 15];
  }
  return text;
}

std::string HttpClient::Cipher() const { return SSL_get_cipher_name(session_); }

size_t HttpClient::PeerChainSize() const {
  return static_cast<size_t>(sk_X509_num(SSL_get_peer_cert_chain(session_)));
}

std::string Request(std::string_view method, std::string_view path, std::string_view body) {
  std::string text(method);
  text.append(" ").append(path).append(" HTTP/1.1\r\nHost: localhost\r\n");
  if (!body.empty() || method == "POST") {
    text +=
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text.append("\r\n").append(body);
}

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + HttpClient::kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

int ThreadCount() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

}  // namespace truce
