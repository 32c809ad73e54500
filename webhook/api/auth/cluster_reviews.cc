#include "webhook/api/auth/cluster_reviews.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// Whatever went wrong between Truce and the API server: nobody can tell now (fail closed). Its own
// credentials' failures are told apart in the message only.
Error Untold(const ApiError& error, std::string_view what) {
  return {
      error.kind == ApiErrorKind::kTimeout ? ErrorCode::kDeadlineExceeded : ErrorCode::kUnavailable,
      std::string("the API server did not answer the ")
          .append(what)
          .append(" (")
          .append(Name(error.kind))
          .append(")")};
}

Error Odd(std::string_view what) {
  return {ErrorCode::kUnavailable,
          std::string("the API server's answer to the ").append(what).append(" cannot be read")};
}

std::vector<std::string> TextsOf(const Json& json) {
  std::vector<std::string> out;
  if (!json.is_array()) return out;
  for (const Json& each : json) {
    if (each.is_string()) out.push_back(each.get<std::string>());
  }
  return out;
}

// The status with which the API server answers `question`, an object of `kind`.
Result<Json> StatusOf(ClusterApi& api, const ServedKind& kind, const Json& question,
                      Deadline deadline) {
  const auto created = api.Create(kind, "", Dump(question), deadline);
  if (!created.ok()) return Untold(created.error(), kind.kind);
  const Json answer = ParseJson(created.value());
  const auto status = answer.find("status");
  if (status == answer.end() || !status->is_object()) return Odd(kind.kind);
  return *status;
}

bool IsSet(const Json& status, const char* name) {
  const auto found = status.find(name);
  return found != status.end() && found->is_boolean() && found->get<bool>();
}

std::optional<KubernetesUser> UserOf(const Json& status) {
  const auto user = status.find("user");
  if (user == status.end() || !user->is_object()) return std::nullopt;
  KubernetesUser out{TextIn(*user, "username"), TextIn(*user, "uid"), {}, {}};
  if (out.name.empty()) return std::nullopt;
  if (const auto groups = user->find("groups"); groups != user->end()) {
    out.groups = TextsOf(*groups);
  }
  const auto extra = user->find("extra");
  if (extra != user->end() && extra->is_object()) {
    for (const auto& [key, values] : extra->items()) out.extra.emplace_back(key, TextsOf(values));
  }
  return out;
}

}  // namespace

Result<std::optional<KubernetesUser>> ClusterTokenReviewer::FindUser(const std::string& token,
                                                                     const std::string&,
                                                                     Deadline deadline) {
  static const ServedKind kKind{"authentication.k8s.io", "v1", "TokenReview", "tokenreviews",
                                false};
  const Json question = {{"apiVersion", "authentication.k8s.io/v1"},
                         {"kind", "TokenReview"},
                         {"spec", {{"token", token}, {"audiences", {kApiAudience}}}}};
  TRUCE_ASSIGN_OR_RETURN(const Json status, StatusOf(api_, kKind, question, deadline));
  if (!IsSet(status, "authenticated")) {
    // An authenticator that failed says so beside "not authenticated"; a token that is no good
    // does the same, in words only. Both mean: not this caller.
    return std::optional<KubernetesUser>();
  }
  const std::vector<std::string> audiences =
      status.contains("audiences") ? TextsOf(status.at("audiences")) : std::vector<std::string>();
  const bool for_us =
      std::find(audiences.begin(), audiences.end(), kApiAudience) != audiences.end();
  if (!for_us) return std::optional<KubernetesUser>();
  std::optional<KubernetesUser> user = UserOf(status);
  if (!user) return Odd(kKind.kind);
  return user;
}

Result<bool> ClusterAccessReviewer::Allowed(const KubernetesUser& user,
                                            const Permission& permission, Deadline deadline) {
  static const ServedKind kKind{"authorization.k8s.io", "v1", "SubjectAccessReview",
                                "subjectaccessreviews", false};
  Json attributes = {
      {"group", kApiGroup}, {"resource", permission.resource}, {"verb", permission.verb}};
  if (!permission.sub_resource.empty()) attributes["subresource"] = permission.sub_resource;
  if (!permission.ns.empty()) attributes["namespace"] = permission.ns;
  Json extra = Json::object();
  for (const auto& [key, values] : user.extra) extra[key] = values;
  const Json question = {{"apiVersion", "authorization.k8s.io/v1"},
                         {"kind", "SubjectAccessReview"},
                         {"spec",
                          {{"user", user.name},
                           {"uid", user.uid},
                           {"groups", user.groups},
                           {"extra", std::move(extra)},
                           {"resourceAttributes", std::move(attributes)}}}};
  TRUCE_ASSIGN_OR_RETURN(const Json status, StatusOf(api_, kKind, question, deadline));
  return IsSet(status, "allowed") && !IsSet(status, "denied");
}

}  // namespace truce
