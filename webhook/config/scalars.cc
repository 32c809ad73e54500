#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "registry/base/name_table.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/config/keys.h"

namespace truce {
namespace {

constexpr NameTable<UnboundComposites::kClaimable> kUnboundComposites("refused", "claimable");
constexpr NameTable<StoreDurability::kSingle> kStoreDurabilities("replicated", "required",
                                                                 "storage", "single");
constexpr NameTable<PolicyReports::kOpenReports> kPolicyReports("off", "auto", "wgpolicyk8s.io",
                                                                "openreports.io");
constexpr NameTable<NotifyForm::kJson> kNotifyForms("slack", "teams", "json");

Error Wrong(std::string message) { return Error{ErrorCode::kInvalidArgument, std::move(message)}; }

std::string Shown(std::string_view text) {
  constexpr std::size_t kShownMax = 80;
  return "'" + OneLine(text, kShownMax) + "'";
}

bool IsDigits(std::string_view text) { return !text.empty() && AllDigits(text); }

std::optional<std::int64_t> WholeNumber(std::string_view text) {
  std::int64_t number = 0;
  const bool padded = text.size() > 1 && text.front() == '0';
  if (!IsDigits(text) || padded) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsServerName(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  if (text.starts_with("*.")) text.remove_prefix(2);
  return !text.empty() && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '.' || c == '-' || c == ':'; });
}

Result<void> CheckAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const Error wrong =
      Wrong(Shown(text) + " is not an address; write HOST:PORT, as 127.0.0.1:8443 or [::]:8443");
  if (colon == std::string_view::npos) return wrong;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) return wrong;
  const auto port = WholeNumber(text.substr(colon + 1));
  if (!host.empty() && !IsServerName(host) && !bracketed) return wrong;
  if (!port.has_value()) return wrong;
  if (*port > 65535) return Wrong(Shown(text) + " has no valid port; it must be 0 to 65535");
  return {};
}

// The URL may hold a password: it is not repeated.
Result<void> CheckPostgresUrl(std::string_view text) {
  std::string_view rest = text.substr(text.find("://") + 3);
  const std::size_t question = rest.find('?');
  const std::string_view query = question == rest.npos ? "" : rest.substr(question);
  rest = rest.substr(0, question);
  const std::size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  const std::string_view name = slash == rest.npos ? "" : rest.substr(slash + 1);
  const std::size_t at = authority.rfind('@');
  const std::string_view user = at == authority.npos ? "" : authority.substr(0, at);
  if (user.find(':') != user.npos || query.find("password=") != query.npos) {
    return Wrong(
        "the URL holds a password, which logs and lists of processes show; remove it, and give it "
        "in storePasswordFile, by storePasswordCommand or in the file that PGPASSFILE names");
  }
  if (user.empty() || name.empty() || name.find('/') != name.npos) {
    return Wrong("the URL names no user or no database; write postgres://USER@HOST:PORT/NAME");
  }
  if (at + 1 == authority.size() && query.find("host=") == query.npos) {
    return Wrong("the URL names no host; write postgres://USER@HOST:PORT/NAME");
  }
  if (text.find_first_of(" \t\"'") != text.npos) {
    return Wrong("the URL holds a space or quotation mark; write it as %20, %22 or %27");
  }
  return {};
}

Result<void> CheckStore(std::string_view text) {
  if (text == "sqlite") return {};
  if (IsPostgresUrl(text)) return CheckPostgresUrl(text);
  if (text == "memory") {
    return Wrong(
        "'memory' is not a store; for a trial use 'sqlite', with dataDir on a directory that is "
        "thrown away afterwards");
  }
  return Wrong(Shown(text.substr(0, text.find("://"))) +
               " is not a known store; use 'sqlite' or postgres://USER@HOST:PORT/NAME");
}

Result<void> CheckClusterId(std::string_view text) {
  const bool good =
      !text.empty() && text.size() <= 32 &&
      std::all_of(text.begin(), text.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; });
  if (good) return {};
  return Wrong(Shown(text) + " is not a cluster id; use 1 to 32 characters of a-z, 0-9 and '-'");
}

Result<void> CheckUrl(std::string_view text) {
  if (text.empty()) return {};
  const bool has_scheme = text.starts_with("https://") || text.starts_with("http://");
  const std::size_t host = text.find("://") + 3;
  const bool good = has_scheme && text.size() > host && !text.ends_with('/') &&
                    text.find_first_of(" \t\r\n?#") == std::string_view::npos;
  if (good) return {};
  return Wrong(Shown(text) +
               " is not a usable URL; write https://HOST[:PORT][/PATH] without a '/' at its end");
}

bool IsLabelKey(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  const auto is_allowed = [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; };
  const auto is_good = [&](std::string_view part, std::size_t longest) {
    return !part.empty() && part.size() <= longest &&
           std::all_of(part.begin(), part.end(), is_allowed) && IsAlnum(part.front()) &&
           IsAlnum(part.back());
  };
  return is_good(name, 63) &&
         (slash == std::string_view::npos || is_good(text.substr(0, slash), 253));
}

// NAMESPACE/NAME, of the characters that Kubernetes allows in them.
bool IsObjectName(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto is_good = [](std::string_view part) {
    return !part.empty() && part.size() <= 253 &&
           part.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == part.npos;
  };
  return slash != text.npos && is_good(text.substr(0, slash)) && is_good(text.substr(slash + 1));
}

Result<void> RunCheck(Check check, std::string_view text) {
  if (HasControl(text)) return Wrong(Shown(text) + " holds a control character; remove it");
  switch (check) {
    case Check::kNone: return {};
    case Check::kAddress: return CheckAddress(text);
    case Check::kClusterId: return CheckClusterId(text);
    case Check::kStore: return CheckStore(text);
    case Check::kHttpUrl: return CheckUrl(text);
    case Check::kServerName:
      if (IsServerName(text)) return {};
      return Wrong(Shown(text) + " is neither a DNS name nor an address");
    case Check::kPattern:
      if (!text.empty() && text != "*") return {};
      return Wrong(Shown(text) + " would match everyone or no one; name a user");
    case Check::kLabelKey:
      if (IsLabelKey(text)) return {};
      return Wrong(Shown(text) + " is not a key of a label or annotation; write [DOMAIN/]NAME");
    case Check::kObjectName:
      if (text.empty() || IsObjectName(text)) return {};
      return Wrong(Shown(text) + " is not an object of a namespace; write NAMESPACE/NAME");
  }
  return Error{ErrorCode::kInternal, "unknown check"};
}

std::string RangeText(const Key& key, std::string_view unit, std::int64_t scale) {
  return std::to_string(key.minimum / scale).append(unit) + " to " +
         std::to_string(key.maximum / scale).append(unit);
}

Result<std::int64_t> ReadNumber(const Key& key, std::string_view text) {
  const auto number = WholeNumber(text);
  if (!number.has_value()) {
    return Wrong(Shown(text) + " is not a whole number; write digits only, as " +
                 std::string(key.fallback));
  }
  const bool in_range = *number >= key.minimum && *number <= key.maximum;
  const bool is_choice = key.type.find('|') != std::string_view::npos;
  if (is_choice && key.type.find(text) == std::string_view::npos) {
    return Wrong(Shown(text) + " is not allowed; use one of " + std::string(key.type));
  }
  if (in_range) return *number;
  return Wrong(Shown(text) + " is out of range; it must be " + RangeText(key, "", 1));
}

Result<std::chrono::milliseconds> ReadDuration(const Key& key, std::string_view text) {
  struct Unit {
    std::string_view name;
    std::int64_t milliseconds;
  };
  static constexpr std::array<Unit, 4> kUnits = {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000},
                                                 Unit{"h", 3'600'000}};
  constexpr std::int64_t kNumberMax = 1'000'000'000;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const auto number = WholeNumber(text.substr(0, text.size() - unit.name.size()));
    if (!number.has_value() || *number > kNumberMax) continue;
    const std::int64_t total = *number * unit.milliseconds;
    if (total >= key.minimum && total <= key.maximum) return std::chrono::milliseconds(total);
    return Wrong(Shown(text) + " is out of range; it must be " + RangeText(key, "s", 1000));
  }
  return Wrong(Shown(text) +
               " is not a duration; write a number and a unit, as 500ms, 30s, 3m or 1h");
}

Result<std::vector<std::string>> ReadList(const Key& key, std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (item.empty()) return Wrong("an item of the list is empty; separate items by one ','");
    TRUCE_RETURN_IF_ERROR(RunCheck(key.check, item));
    list.emplace_back(item);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return list;
}

// Sets the field that each alternative of ScalarField points to.
struct Setter {
  const Key& key;
  std::string_view text;
  Config& config;

  Result<void> operator()(std::string Config::*field) const {
    TRUCE_RETURN_IF_ERROR(RunCheck(key.check, text));
    config.*field = std::string(text);
    return {};
  }
  Result<void> operator()(bool Config::*field) const {
    if (text != "true" && text != "false") {
      return Wrong(Shown(text) + " is neither true nor false; write one of these words");
    }
    config.*field = text == "true";
    return {};
  }
  Result<void> operator()(std::int64_t Config::*field) const {
    TRUCE_ASSIGN_OR_RETURN(config.*field, ReadNumber(key, text));
    return {};
  }
  Result<void> operator()(std::chrono::milliseconds Config::*field) const {
    TRUCE_ASSIGN_OR_RETURN(config.*field, ReadDuration(key, text));
    return {};
  }
  Result<void> operator()(std::vector<std::string> Config::*field) const {
    TRUCE_ASSIGN_OR_RETURN(config.*field, ReadList(key, text));
    return {};
  }
  // An enumeration, whose texts `type` has in their order.
  template <typename Enum>
  Result<void> operator()(Enum Config::*field) const {
    const auto count = std::count(key.type.begin(), key.type.end(), '|') + 1;
    for (int i = 0; i < count; ++i) {
      const Enum value = static_cast<Enum>(i);
      if (Name(value) != text) continue;
      config.*field = value;
      return {};
    }
    return Wrong(Shown(text) + " is not allowed; use one of " + std::string(key.type));
  }
};

}  // namespace

std::string_view Name(UnboundComposites value) { return kUnboundComposites.Of(value); }
std::string_view Name(StoreDurability value) { return kStoreDurabilities.Of(value); }

bool IsPostgresUrl(std::string_view store) {
  return store.starts_with("postgres://") || store.starts_with("postgresql://");
}

std::string_view Name(PolicyReports value) { return kPolicyReports.Of(value); }
std::string_view Name(NotifyForm value) { return kNotifyForms.Of(value); }

Result<void> SetScalar(const Key& key, std::string_view text, Config& config) {
  TRUCE_ASSERT(!key.IsStructured());
  return std::visit(Setter{key, text, config}, std::get<ScalarField>(key.field));
}

}  // namespace truce
