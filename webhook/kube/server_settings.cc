#include "webhook/kube/server_settings.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kHostBytesMax = 253;  // RFC 1035, section 2.3.4

Error BadAddress(std::string_view url, std::string_view what) {
  std::string message = "server address '";
  message.append(url.substr(0, 200)).append("': ").append(what);
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

bool IsHost(std::string_view host) {
  if (host.empty() || host.size() > kHostBytesMax) return false;
  return std::all_of(host.begin(), host.end(),
                     [](char c) { return IsAlnum(c) || c == '.' || c == '-' || c == '_'; });
}

bool IsIpv6(std::string_view host) {
  in6_addr ignored{};
  return ::inet_pton(AF_INET6, std::string(host).c_str(), &ignored) == 1;
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Cuts "host[:port]" into its parts.
Result<void> ParseAuthority(std::string_view url, std::string_view authority,
                            ServerAddress& address) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return BadAddress(url, "'[' without ']'");
    address.host = authority.substr(1, end - 1);
    if (!IsIpv6(address.host)) return BadAddress(url, "no IPv6 address between the brackets");
    port = authority.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return BadAddress(url, "text after ']'");
  } else {
    const std::size_t colon = authority.find(':');
    address.host = authority.substr(0, colon);
    if (!IsHost(address.host)) return BadAddress(url, "no valid host");
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (port.empty()) return {};
  const std::optional<std::uint16_t> parsed = ParsePort(port.substr(1));
  if (!parsed) return BadAddress(url, "the port must be between 1 and 65535");
  address.port = *parsed;
  return {};
}

}  // namespace

Result<ServerAddress> ParseServerAddress(std::string_view url) {
  ServerAddress address;
  std::string_view rest = url;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    address.tls = false;
    address.port = 80;
  } else if (rest.find("://") != std::string_view::npos) {
    return BadAddress(url, "only https:// and http:// are spoken");
  }
  // kubectl takes a missing scheme for http, which no cluster of today speaks.
  if (rest.size() == url.size()) return BadAddress(url, "it must begin with https:// or http://");
  if (rest.find_first_of("?#") != std::string_view::npos)
    return BadAddress(url, "a query or fragment");
  if (!IsAllVisible(rest)) return BadAddress(url, "a space or odd character");
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) {
    return Error{ErrorCode::kInvalidArgument, "server address: a user name or password in it"};
  }
  TRUCE_RETURN_IF_ERROR(ParseAuthority(url, authority, address));
  if (slash != std::string_view::npos) address.path = rest.substr(slash);
  while (address.path.ends_with('/')) address.path.pop_back();
  return address;
}

std::string HostAndPort(const ServerAddress& address) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  std::string text = is_ipv6 ? "[" + address.host + "]" : address.host;
  return text.append(":").append(std::to_string(address.port));
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1") return true;
  in_addr address{};
  if (::inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return false;
  return (ntohl(address.s_addr) >> 24U) == 127;
}

}  // namespace truce
