#include "webhook/api/auth/caller.h"

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<CallerKind::kAnonymous> kHowKnown("operator socket", "static token",
                                                      "client certificate", "Kubernetes token",
                                                      "signed in by a proxy", "anonymous");

constexpr NameTable<ApiRole::kAdmin> kApiRoles("none", "viewer", "auditor", "admin");

std::string_view HowKnown(CallerKind kind) { return kHowKnown.Of(kind); }

}  // namespace

std::string_view Name(ApiRole role) { return kApiRoles.Of(role); }

std::optional<ApiRole> ApiRoleFromName(std::string_view name) {
  const auto role = kApiRoles.Find(name);
  return role == ApiRole::kNone ? std::nullopt : role;
}

bool IsServiceAccountOf(std::string_view user, std::string_view ns) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return false;
  user.remove_prefix(kPrefix.size());
  const std::size_t colon = user.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == user.size()) return false;
  return ns.empty() || user.substr(0, colon) == ns;
}

std::string ActorOf(const Caller& caller) {
  if (caller.kind == CallerKind::kOperator) return "operator";
  std::string out = caller.name;
  out.append(" (").append(HowKnown(caller.kind)).append(") from ").append(caller.address);
  return out;
}

ApiRole RoleFor(const Permission& permission) {
  const bool reads = permission.verb == "get" || permission.verb == "list";
  if (permission.resource == "ownerships" && permission.sub_resource.empty() && reads) {
    return ApiRole::kViewer;
  }
  if (permission.resource == "checks") return ApiRole::kViewer;
  if (permission.resource == "audit" && reads) return ApiRole::kAuditor;
  return ApiRole::kAdmin;
}

std::string ToText(const Permission& permission) {
  std::string out(permission.verb);
  out.append(" ").append(permission.resource);
  if (!permission.sub_resource.empty()) out.append("/").append(permission.sub_resource);
  if (!permission.ns.empty()) out.append(" in namespace ").append(permission.ns);
  return out;
}

}  // namespace truce
