#include "webhook/api/auth/api_access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::string_view kSocketAddress = "unix";  // HttpRequest::remote_address of a Unix socket
constexpr std::size_t kTokenBytesMax = 16 * 1024;

// The token of "Bearer <token>", or nothing when the field is not of that form.
std::optional<std::string> BearerOf(std::string_view field) {
  constexpr std::string_view kScheme = "bearer";
  if (field.size() <= kScheme.size() || field[kScheme.size()] != ' ') return std::nullopt;
  if (!EqualsIgnoringCase(field.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  field.remove_prefix(kScheme.size());
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  if (field.empty() || field.size() > kTokenBytesMax) return std::nullopt;
  if (!IsAllVisible(field)) return std::nullopt;
  return std::string(field);
}

Problem Unauthenticated(std::string detail) {
  return {ProblemType::kUnauthenticated, std::move(detail), {}};
}

// The value of the only field of that name; nothing, where there are several: one of them may be
// what the browser wrote.
std::optional<std::string_view> OnlyField(const HttpRequest& request, std::string_view name) {
  std::string_view value;
  std::size_t count = 0;
  for (const HttpField& field : request.headers) {
    if (field.name != name) continue;
    value = field.value;
    ++count;
  }
  return count > 1 ? std::nullopt : std::optional(value);
}

// Whether it can name somebody whom a proxy signed in: nobody of those of the cluster itself.
bool IsPersonsName(std::string_view name) {
  const auto is_printed = [](char c) { return c > 0x20 && c < 0x7f; };
  return !name.empty() && name.size() <= kProxiedNameBytesMax && !name.starts_with("system:") &&
         std::all_of(name.begin(), name.end(), is_printed);
}

// Nothing: one of them is no group of people, or they are too many.
std::optional<std::vector<std::string>> GroupsIn(std::string_view list) {
  std::vector<std::string> groups;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view group = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    while (group.starts_with(' ')) group.remove_prefix(1);
    while (group.ends_with(' ')) group.remove_suffix(1);
    if (group.empty()) continue;
    if (!IsPersonsName(group) || groups.size() == kProxiedGroupsMax) return std::nullopt;
    groups.emplace_back(group);
  }
  return groups;
}

}  // namespace

std::variant<Caller, Problem> ApiAccess::Authenticate(const HttpRequest& request) {
  if (request.remote_address == kSocketAddress) {
    return Caller{CallerKind::kOperator, "operator", ApiRole::kAdmin, {}, request.remote_address};
  }
  const auto rules = rules_.Current();
  const std::string_view direct = request.Header("authorization");
  const std::string_view forwarded = request.Header("x-truce-authorization");
  // Which of two tokens counts would hang on who reads them: here, or a proxy before us.
  if (!direct.empty() && !forwarded.empty()) {
    return Unauthenticated("Authorization and X-Truce-Authorization are both given; leave one out");
  }
  if (!direct.empty()) return ByToken(direct, request, *rules);
  if (!forwarded.empty()) return ByToken(forwarded, request, *rules);
  // Before the certificate: that is the proxy's own, and the caller is somebody else.
  if (auto proxied = ByProxy(request, *rules)) return *std::move(proxied);
  if (request.client_name) {
    const auto client = rules->clients.find(*request.client_name);
    if (client == rules->clients.end()) {
      return Unauthenticated("the client certificate's name is not in apiClients");
    }
    return Caller{
        CallerKind::kCertificate, client->first, client->second, {}, request.remote_address};
  }
  if (rules->anonymous_read) {
    return Caller{
        CallerKind::kAnonymous, "anonymous", ApiRole::kViewer, {}, request.remote_address};
  }
  return Unauthenticated("the request carries no bearer token and no client certificate");
}

std::optional<std::variant<Caller, Problem>> ApiAccess::ByProxy(const HttpRequest& request,
                                                                const AccessRules& rules) {
  if (rules.proxies.empty()) return std::nullopt;
  const bool is_proxy = request.client_name && rules.proxies.contains(*request.client_name);
  const auto user = OnlyField(request, rules.user_field);
  const auto list = OnlyField(request, rules.groups_field);
  const bool names_somebody = !user || !list || !user->empty() || !list->empty();
  if (!is_proxy && !names_somebody) return std::nullopt;
  if (!is_proxy) {
    return Unauthenticated(
        "only a proxy, by its client certificate, may say who calls; leave out " +
        rules.user_field + " and " + rules.groups_field);
  }
  if (!user || !list) {
    return Unauthenticated("the proxy passes on a field of the browser's: " + rules.user_field +
                           " or " + rules.groups_field + " is there twice");
  }
  if (!IsPersonsName(*user)) {
    return Unauthenticated("the proxy names nobody in " + rules.user_field +
                           ": one printable word of at most 256 bytes that does not begin with "
                           "system:");
  }
  auto groups = GroupsIn(*list);
  if (!groups) {
    return Unauthenticated("the groups in " + rules.groups_field +
                           " are not at most 200 printable words, none beginning with system:");
  }
  // As the API server has it for every user that it knows: roles bound to that group hold.
  groups->emplace_back("system:authenticated");
  Caller caller{
      CallerKind::kProxied, std::string(*user), ApiRole::kNone, {}, request.remote_address};
  caller.user.name = caller.name;
  caller.user.groups = *std::move(groups);
  return caller;
}

std::variant<Caller, Problem> ApiAccess::ByToken(std::string_view field, const HttpRequest& request,
                                                 const AccessRules& rules) {
  const auto token = BearerOf(field);
  if (!token)
    return Unauthenticated("the field that holds the token is not of the form Bearer TOKEN");
  if (const auto found = rules.tokens.Find(*token)) {
    return Caller{CallerKind::kStaticToken, found->name, found->role, {}, request.remote_address};
  }
  if (tokens_ == nullptr) return Unauthenticated("the token is not known");
  Result<std::optional<KubernetesUser>> user =
      tokens_->FindUser(*token, request.remote_address, request.deadline);
  if (!user.ok()) {
    const bool too_many = user.error().code == ErrorCode::kResourceExhausted;
    return Problem{too_many ? ProblemType::kTooManyRequests : ProblemType::kUnavailable,
                   user.error().message,
                   {}};
  }
  if (!user.value()) {
    return Unauthenticated("the token is not good, or not made for the audience truce");
  }
  Caller caller{
      CallerKind::kKubernetes, user.value()->name, ApiRole::kNone, {}, request.remote_address};
  caller.user = std::move(*std::move(user).value());
  return caller;
}

Result<bool> ApiAccess::SpeaksFor(const Caller& caller, std::string_view ns, Deadline deadline) {
  const bool is_account =
      caller.kind == CallerKind::kKubernetes && IsServiceAccountOf(caller.user.name, ns);
  if (is_account) return true;
  return Allows(caller, {"checks", "", "create", ns}, deadline);
}

Result<bool> ApiAccess::Allows(const Caller& caller, const Permission& permission,
                               Deadline deadline) {
  const bool is_proxied = caller.kind == CallerKind::kProxied;
  if (caller.kind != CallerKind::kKubernetes && !is_proxied) {
    return caller.role >= RoleFor(permission);
  }
  const bool reads =
      permission.verb == "get" || permission.verb == "list" || permission.resource == "checks";
  if (access_ == nullptr || (is_proxied && !reads)) return false;
  return access_->Allowed(caller.user, permission, deadline);
}

}  // namespace truce
