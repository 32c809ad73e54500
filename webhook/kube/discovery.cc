#include "webhook/kube/discovery.h"

#include <algorithm>
#include <set>
#include <utility>

#include "webhook/kube/api_json.h"

namespace truce {
namespace {

constexpr std::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";
constexpr std::string_view kPlain = "application/json";

ApiError Malformed(const Error& error) {
  ApiError malformed;
  malformed.kind = ApiErrorKind::kMalformed;
  malformed.message = error.message;
  return malformed;
}

// True when nothing else can be asked either.
bool IsOfWholeServer(const ApiError& error) {
  return error.kind == ApiErrorKind::kUnauthorized || error.kind == ApiErrorKind::kUnreachable ||
         error.kind == ApiErrorKind::kTimeout;
}

// Reads the kinds of every version of `group`. False: the group is one that failed.
ApiResult<bool> FillGroup(const DiscoveryFetch& fetch, DiscoveredGroup& group) {
  ApiJsonReader json;
  for (DiscoveredGroup::Version& version : group.versions) {
    std::string target = group.name.empty() ? "/api" : "/apis/" + EncodeSegment(group.name);
    target.append("/").append(EncodeSegment(version.name));
    const ApiResult<HttpReply> reply = fetch(target, kPlain);
    if (!reply.ok()) {
      if (IsOfWholeServer(reply.error())) return reply.error();
      // Went away between the two questions.
      if (reply.error().status == 404) continue;
      return false;
    }
    Result<std::vector<DiscoveredKind>> kinds =
        json.Resources(reply.value().body, group.name, version.name);
    if (!kinds.ok()) return false;
    version.kinds = std::move(kinds).value();
  }
  return true;
}

// Takes of each kind the version that its group prefers.
void TakeGroup(DiscoveredGroup&& group, Discovery& discovery) {
  std::set<std::string> taken;
  bool is_stale = false;
  for (DiscoveredGroup::Version& version : group.versions) {
    is_stale = is_stale || version.stale;
    for (DiscoveredKind& kind : version.kinds) {
      if (taken.insert(kind.kind.plural).second) discovery.kinds.push_back(std::move(kind));
    }
  }
  if (is_stale) discovery.failed_groups.push_back(group.name);
}

}  // namespace

ApiResult<Discovery> DiscoverKinds(const DiscoveryFetch& fetch) {
  Discovery discovery;
  ApiJsonReader json;
  for (const std::string_view root : {"/api", "/apis"}) {
    const ApiResult<HttpReply> reply = fetch(root, kAggregated);
    if (!reply.ok()) return reply.error();
    Result<DiscoveryAnswer> answer = json.Groups(reply.value().body);
    if (!answer.ok()) return Malformed(answer.error());
    for (DiscoveredGroup& group : answer.value().groups) {
      if (!answer.value().aggregated) {
        const ApiResult<bool> filled = FillGroup(fetch, group);
        if (!filled.ok()) return filled.error();
        if (!filled.value()) discovery.failed_groups.push_back(group.name);
      }
      TakeGroup(std::move(group), discovery);
    }
  }
  std::sort(discovery.kinds.begin(), discovery.kinds.end(),
            [](const DiscoveredKind& a, const DiscoveredKind& b) { return a.kind < b.kind; });
  std::sort(discovery.failed_groups.begin(), discovery.failed_groups.end());
  return discovery;
}

}  // namespace truce
