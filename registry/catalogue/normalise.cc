#include "registry/catalogue/normalise.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::string_view kArnPrefix = "arn:";
constexpr int kArnFieldsBeforeResource = 5;
constexpr std::size_t kSecretSuffixLength = 7;  // '-' and six random characters

void StripPrefix(std::string& value, std::string_view prefix) {
  if (std::string_view(value).starts_with(prefix)) value.erase(0, prefix.size());
}

void StripSuffix(std::string& value, std::string_view suffix) {
  if (std::string_view(value).ends_with(suffix)) value.resize(value.size() - suffix.size());
}

// True if the value was an ARN and now is its resource part.
bool KeepArnResource(std::string& value) {
  if (!std::string_view(value).starts_with(kArnPrefix)) return false;
  std::size_t at = 0;
  for (int field = 0; field < kArnFieldsBeforeResource; ++field) {
    at = value.find(':', at);
    if (at == std::string::npos) return false;
    ++at;
  }
  value.erase(0, at);
  return true;
}

void KeepSecretName(std::string& value) {
  if (!KeepArnResource(value)) return;
  StripPrefix(value, "secret:");
  if (value.size() <= kSecretSuffixLength) return;
  const std::size_t dash = value.size() - kSecretSuffixLength;
  const bool random =
      std::all_of(value.begin() + static_cast<std::ptrdiff_t>(dash) + 1, value.end(), IsAlnum);
  if (value[dash] == '-' && random) value.resize(dash);
}

void Dns(std::string& value) {
  value = LowerOf(value);
  StripSuffix(value, ".");
  if (std::string_view(value).starts_with("\\052")) value.replace(0, 4, "*");
}

// A text that is no block of addresses stays.
void Cidr(std::string& value) {
  constexpr std::size_t kByte = 8;
  const std::size_t slash = value.find('/');
  if (slash == std::string::npos) return;
  std::array<std::uint8_t, sizeof(in6_addr)> address{};
  const std::string host = value.substr(0, slash);
  const int family = host.find(':') == std::string::npos ? AF_INET : AF_INET6;
  const std::size_t bits = kByte * (family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr));
  std::size_t length = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data() + slash + 1, end, length);
  const bool sound = error == std::errc() && rest == end && length <= bits;
  if (!sound || inet_pton(family, host.c_str(), address.data()) != 1) return;
  for (std::size_t bit = length; bit < bits; ++bit) {
    std::uint8_t& byte = address[bit / kByte];
    byte = static_cast<std::uint8_t>(byte & ~(0x80U >> (bit % kByte)));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(family, address.data(), text.data(), text.size()) == nullptr) return;
  value = std::string(text.data()) + '/' + std::to_string(length);
}

void StripAccount(std::string& value) {
  constexpr std::size_t kDigits = 12;
  const std::size_t end = value.find_first_not_of("0123456789");
  if (end == kDigits && value[end] == '/') value.erase(0, end + 1);
}

void ObjectKey(std::string& value) {
  StripPrefix(value, "./");
  value.erase(0, std::min(value.find_first_not_of('/'), value.size()));
  const auto both = [](char a, char b) { return a == '/' && b == '/'; };
  value.erase(std::unique(value.begin(), value.end(), both), value.end());
}

void Map(std::string& value, std::string_view rule) {
  const std::size_t arrow = rule.find('>');
  if (arrow != std::string_view::npos && value == rule.substr(0, arrow)) {
    value = rule.substr(arrow + 1);
  }
}

void Apply(const Normaliser& normaliser, std::string& value) {
  switch (normaliser.op) {
    case Normaliser::Op::kLower: value = LowerOf(value); return;
    case Normaliser::Op::kStripPrefix: return StripPrefix(value, normaliser.argument);
    case Normaliser::Op::kStripSuffix: return StripSuffix(value, normaliser.argument);
    case Normaliser::Op::kBasename:
      if (const std::size_t at = value.find_last_of("/:"); at != std::string::npos) {
        value.erase(0, at + 1);
      }
      return;
    case Normaliser::Op::kUntil:
      if (const std::size_t at = value.find(normaliser.argument); at != std::string::npos) {
        value.resize(at);
      }
      return;
    case Normaliser::Op::kArnResource: KeepArnResource(value); return;
    case Normaliser::Op::kSecretName: return KeepSecretName(value);
    case Normaliser::Op::kDns: return Dns(value);
    case Normaliser::Op::kAddPrefix: value.insert(0, normaliser.argument); return;
    case Normaliser::Op::kCidr: return Cidr(value);
    case Normaliser::Op::kStripAccount: return StripAccount(value);
    case Normaliser::Op::kObjectKey: return ObjectKey(value);
    case Normaliser::Op::kMap: return Map(value, normaliser.argument);
  }
}

struct OpName {
  Normaliser::Op op;
  std::string_view name;
  bool has_argument;
};

constexpr std::array kOpNames = {
    OpName{Normaliser::Op::kLower, "lower", false},
    OpName{Normaliser::Op::kStripPrefix, "strip-prefix", true},
    OpName{Normaliser::Op::kStripSuffix, "strip-suffix", true},
    OpName{Normaliser::Op::kBasename, "basename", false},
    OpName{Normaliser::Op::kUntil, "until", true},
    OpName{Normaliser::Op::kArnResource, "arn-resource", false},
    OpName{Normaliser::Op::kSecretName, "secret-name", false},
    OpName{Normaliser::Op::kDns, "dns", false},
    OpName{Normaliser::Op::kAddPrefix, "add-prefix", true},
    OpName{Normaliser::Op::kCidr, "cidr", false},
    OpName{Normaliser::Op::kStripAccount, "strip-account", false},
    OpName{Normaliser::Op::kObjectKey, "object-key", false},
    OpName{Normaliser::Op::kMap, "map", true},
};

}  // namespace

std::string Text(const Normaliser& normaliser) {
  for (const OpName& entry : kOpNames) {
    if (entry.op != normaliser.op) continue;
    std::string text(entry.name);
    if (entry.has_argument) text.append(":").append(normaliser.argument);
    return text;
  }
  return "";
}

std::optional<Normaliser> ParseNormaliser(std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool has_argument = colon != std::string_view::npos;
  const std::string_view argument = has_argument ? text.substr(colon + 1) : std::string_view();
  for (const OpName& entry : kOpNames) {
    if (entry.name != text.substr(0, colon) || entry.has_argument != has_argument) continue;
    if (has_argument && argument.empty()) return std::nullopt;
    const std::size_t arrow = argument.find('>');
    if (entry.op == Normaliser::Op::kMap && (arrow == std::string_view::npos || arrow == 0)) {
      return std::nullopt;
    }
    return Normaliser{.op = entry.op, .argument = std::string(argument)};
  }
  return std::nullopt;
}

std::string Normalise(std::span<const Normaliser> normalisers, std::string_view value) {
  std::string result(value);
  for (const Normaliser& normaliser : normalisers) Apply(normaliser, result);
  return result;
}

}  // namespace truce
