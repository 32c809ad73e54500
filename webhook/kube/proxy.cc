#include "webhook/kube/proxy.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "registry/base/text.h"
#include "webhook/wire/base64.h"

namespace truce {
namespace {

constexpr std::array<const char*, 4> kVariables = {"HTTPS_PROXY", "https_proxy", "NO_PROXY",
                                                   "no_proxy"};

Error BadProxy(std::string_view what) {
  return InvalidArgument("a proxy is written http://[USER:PASSWORD@]HOST[:PORT]; " +
                         std::string(what));
}

// Percent-encoding as people write it, with digits of either case.
std::optional<std::string> Decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = text.size() - i > 2 ? HexValue(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : HexValue(text[i + 2]);
    if (low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

// The bytes of an address, and of an IPv4 one as IPv6 holds it.
std::optional<std::array<unsigned char, 16>> BytesOf(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  if (::inet_pton(AF_INET, text.c_str(), bytes.data() + 12) != 1) return std::nullopt;
  bytes[10] = bytes[11] = 0xff;
  return bytes;
}

// Whether `host` is an address of `block`, "10.0.0.0/8".
bool IsInBlock(const std::string& host, std::string_view block) {
  const std::string_view length = block.substr(block.find('/') + 1);
  const std::string base(block.substr(0, block.find('/')));
  const auto own = BytesOf(host);
  const auto first = BytesOf(base);
  unsigned bits = 0;
  const auto read = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (!own || !first || read.ec != std::errc{} || read.ptr != length.data() + length.size()) {
    return false;
  }
  const unsigned bits_before = base.find(':') == std::string::npos ? 96 : 0;
  if (bits > 128 - bits_before) return false;
  bits += bits_before;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((((*own)[bit / 8] ^ (*first)[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// Whether `entry` of NO_PROXY means `server`.
bool Means(std::string_view entry, const ServerAddress& server) {
  if (entry == "*") return true;
  const std::string host = LowerOf(server.host);
  if (entry.find('/') != std::string_view::npos) return IsInBlock(host, entry);
  const bool is_bare_ipv6 = std::count(entry.begin(), entry.end(), ':') > 1 && entry[0] != '[';
  const std::size_t colon = is_bare_ipv6 ? std::string_view::npos : entry.rfind(':');
  if (colon != std::string_view::npos && entry.find(']', colon) == std::string_view::npos) {
    if (entry.substr(colon + 1) != std::to_string(server.port)) return false;
    entry = entry.substr(0, colon);
  }
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  if (entry.empty()) return false;
  if (const auto own = BytesOf(host)) return own == BytesOf(std::string(entry));
  if (entry.starts_with('.')) return host.size() > entry.size() && host.ends_with(entry);
  return host == entry || host.ends_with("." + std::string(entry));
}

}  // namespace

Result<ProxySettings> ParseProxy(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos && url.substr(0, scheme) != "http") {
    return BadProxy("Truce speaks to a proxy over http:// only");
  }
  std::string_view rest = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  ProxySettings proxy;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::optional<std::string> user = Decoded(rest.substr(0, at));
    if (!user) return BadProxy("its user or password is not percent-encoded");
    proxy.authorization = "Basic " + EncodeBase64(*user);
    rest.remove_prefix(at + 1);
  }
  Result<ServerAddress> address = ParseServerAddress("http://" + std::string(rest));
  if (!address.ok()) return BadProxy(address.error().message);
  if (!address.value().path.empty()) return BadProxy("it has no path");
  proxy.address = std::move(address).value();
  return proxy;
}

std::map<std::string, std::string> ProxyVariables() {
  std::map<std::string, std::string> variables;
  for (const char* name : kVariables) {
    if (const char* value = std::getenv(name)) variables[name] = value;
  }
  return variables;
}

Result<std::optional<ProxySettings>> ProxyFor(const ServerAddress& server,
                                              const std::map<std::string, std::string>& variables) {
  const auto value = [&](const char* name, const char* otherwise) {
    auto found = variables.find(name);
    if (found == variables.end() || found->second.empty()) found = variables.find(otherwise);
    return found == variables.end() ? std::string() : found->second;
  };
  const std::string url = value("HTTPS_PROXY", "https_proxy");
  const bool is_near = !server.socket.empty() || IsLoopback(server.host);
  if (url.empty() || !server.tls || is_near) return std::optional<ProxySettings>();
  const std::string direct = LowerOf(value("NO_PROXY", "no_proxy"));
  std::string_view rest = direct;
  while (!rest.empty()) {
    if (Means(Trimmed(TakeUntil(rest, ',')), server)) return std::optional<ProxySettings>();
  }
  Result<ProxySettings> proxy = ParseProxy(url);
  if (!proxy.ok()) return std::move(proxy).error().Within("HTTPS_PROXY");
  return std::optional(std::move(proxy).value());
}

}  // namespace truce
