// Caller: the sender of a request to the API, the proof of that, and the operation.
#ifndef TRUCE_WEBHOOK_API_AUTH_CALLER_H_
#define TRUCE_WEBHOOK_API_AUTH_CALLER_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

// The rights of a static token or a client certificate; ordered, each role includes those before
// it.
enum class ApiRole : std::uint8_t {
  kNone,
  kViewer,   // "viewer": read ownerships, services and denials; run checks
  kAuditor,  // "auditor": read the audit log too
  kAdmin,    // "admin": everything
};
std::string_view Name(ApiRole role);
std::optional<ApiRole> ApiRoleFromName(std::string_view name);  // not of kNone

// A user as the API server describes it (authentication.k8s.io/v1 UserInfo).
struct KubernetesUser {
  std::string name;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> extra;

  auto operator<=>(const KubernetesUser&) const = default;
};

enum class CallerKind : std::uint8_t {
  kOperator,     // opened the operator socket, which only its owner can
  kStaticToken,  // a token of apiTokenFile
  kCertificate,  // a client certificate of apiClientCA
  kKubernetes,   // a token that the API server vouches for
  kProxied,      // named by a proxy that signed it in (apiProxyNames)
  kAnonymous,    // showed nothing, and apiAnonymousRead is set
};

struct Caller {
  CallerKind kind = CallerKind::kAnonymous;
  std::string name;
  ApiRole role = ApiRole::kNone;  // of the kinds other than kKubernetes and kProxied
  KubernetesUser user;            // of kKubernetes and kProxied
  std::string address;            // where the request came from
};

// Whether `user` is a service account of namespace `ns`; of any, where `ns` is empty.
bool IsServiceAccountOf(std::string_view user, std::string_view ns);

// For the audit log: "alice (static token) from 192.0.2.7".
std::string ActorOf(const Caller& caller);

// One thing to be allowed, in the words of Kubernetes' access rules, of group truce.dev.
struct Permission {
  // "ownerships", "checks", "audit", "overrides", "imports", "findings", "recovery", "brake",
  // "backups".
  std::string_view resource;
  // "release", "share", "transfer", "mute"; empty: the resource itself.
  std::string_view sub_resource;
  std::string_view verb;  // "get", "list", "create", "update"
  std::string_view ns;    // of the root; empty: all namespaces, or cluster-scoped

  bool operator==(const Permission&) const = default;
};

// The least role that may do it.
ApiRole RoleFor(const Permission& permission);

// "create ownerships/release in namespace team-a".
std::string ToText(const Permission& permission);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_AUTH_CALLER_H_
