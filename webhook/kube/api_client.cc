#include "webhook/kube/api_client.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "registry/base/one_line.h"
#include "webhook/kube/api_errors.h"
#include "webhook/kube/api_json.h"
#include "webhook/kube/http_call.h"
#include "webhook/kube/request_target.h"

namespace truce {
namespace {

ApiError Malformed(std::string message) {
  ApiError error;
  error.kind = ApiErrorKind::kMalformed;
  error.message = std::move(message);
  return error;
}

class HttpClusterApi final : public ClusterApi {
 public:
  HttpClusterApi(std::shared_ptr<ServerSession> session, const ApiClientOptions& options)
      : session_(std::move(session)),
        pool_(session_,
              {.calls_max = options.calls_max, .response_bytes_max = options.response_bytes_max}) {}

  ApiResult<Discovery> Discover(Deadline deadline) override {
    Discovery all;
    ApiJsonReader json;
    for (const std::string_view root : {"/api", "/apis"}) {
      HttpCall call;
      call.target = root;
      // Without the second one an older server would say no more than 406.
      call.accept =
          "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
      const ApiResult<HttpReply> reply = Ask(call, {}, deadline);
      if (!reply.ok()) return reply.error();
      Result<Discovery> found = json.Kinds(reply.value().body);
      if (!found.ok()) return Malformed(found.error().message);
      std::move(found.value().kinds.begin(), found.value().kinds.end(),
                std::back_inserter(all.kinds));
      std::move(found.value().failed_groups.begin(), found.value().failed_groups.end(),
                std::back_inserter(all.failed_groups));
    }
    std::sort(all.kinds.begin(), all.kinds.end(),
              [](const DiscoveredKind& a, const DiscoveredKind& b) { return a.kind < b.kind; });
    std::sort(all.failed_groups.begin(), all.failed_groups.end());
    return all;
  }

  ApiResult<std::string> Get(const ServedKind& kind, std::string_view ns, std::string_view name,
                             Deadline deadline) override {
    HttpCall call;
    call.target = PathOf(kind, ns, name);
    return AskForObject(call, {kind.group, kind.plural, name}, deadline);
  }

  ApiResult<ListPage> List(const ListQuery& query, Deadline deadline) override {
    HttpCall call;
    call.target = ListTarget(query);
    call.accept = ListAccept(query.selection);
    ApiResult<HttpReply> reply =
        Ask(call, {query.selection.kind.group, query.selection.kind.plural, {}}, deadline);
    if (!reply.ok()) return reply.error();
    ApiJsonReader json;
    Result<ListPage> page = json.List(reply.value().body);
    if (!page.ok()) return Malformed(page.error().message);
    return std::move(page).value();
  }

  ApiResult<std::string> Create(const ServedKind& kind, std::string_view ns,
                                std::string_view object, Deadline deadline) override {
    HttpCall call;
    call.method = "POST";
    call.target = PathOf(kind, ns);
    call.content_type = "application/json";
    call.body = object;
    // Reviews (TokenReview, SubjectAccessReview) are answered, not stored.
    const bool stored =
        kind.group != "authentication.k8s.io" && kind.group != "authorization.k8s.io";
    return AskForObject(call, {kind.group, kind.plural, {}, true}, deadline, stored);
  }

  ApiResult<std::string> Patch(const PatchTarget& target, std::string_view patch,
                               Deadline deadline) override {
    HttpCall call;
    call.method = "PATCH";
    call.target = PathOf(target.kind, target.ns, target.name);
    if (!target.subresource.empty()) call.target += "/" + EncodeSegment(target.subresource);
    call.content_type = "application/merge-patch+json";
    call.body = patch;
    return AskForObject(call, {target.kind.group, target.kind.plural, target.name, true}, deadline);
  }

  // Returns the object, while finalizers hold it, or a Status of success.
  ApiResult<std::string> Delete(const ServedKind& kind, std::string_view ns, std::string_view name,
                                Deadline deadline) override {
    HttpCall call;
    call.method = "DELETE";
    call.target = PathOf(kind, ns, name);
    ApiResult<HttpReply> reply = Ask(call, {kind.group, kind.plural, name, true}, deadline);
    if (!reply.ok()) return reply.error();
    return std::move(reply).value().body;
  }

 private:
  // The answer of status 2xx, in JSON.
  ApiResult<HttpReply> Ask(const HttpCall& call, const AskedFor& asked, Deadline deadline) {
    std::shared_ptr<const SessionState> state = session_->Current();
    ApiResult<HttpReply> reply = pool_.Do(call, state, deadline);
    if (!reply.ok()) return reply;
    if (reply.value().head.status == 401) {
      // The token may have been revoked since it was read: read it again, once.
      session_->Renew(state->generation, deadline);
      reply = pool_.Do(call, session_->Current(), deadline);
      if (!reply.ok()) return reply;
    }
    const ResponseHead& head = reply.value().head;
    if (head.status < 200 || head.status > 299) {
      ApiError error = ErrorOfReply(head, reply.value().body, asked);
      const std::string trouble =
          error.kind == ApiErrorKind::kUnauthorized ? session_->trouble() : "";
      if (!trouble.empty()) error.message += "; the credentials could not be renewed: " + trouble;
      return error;
    }
    if (head.content_type != "application/json") {
      ApiError error =
          Malformed("'" + Folded(head.content_type, kMessageBytesMax) + "' instead of JSON: is '" +
                    HostAndPort(session_->settings().address) + "' the API server's address?");
      error.status = head.status;
      return error;
    }
    return reply;
  }

  ApiResult<std::string> AskForObject(const HttpCall& call, const AskedFor& asked,
                                      Deadline deadline, bool stored = true) {
    ApiResult<HttpReply> reply = Ask(call, asked, deadline);
    if (!reply.ok()) return reply.error();
    ApiJsonReader json;
    const Result<void> checked = json.CheckObject(reply.value().body, stored);
    if (!checked.ok()) return Malformed(checked.error().message);
    return std::move(reply).value().body;
  }

  const std::shared_ptr<ServerSession> session_;
  HttpPool pool_;
};

}  // namespace

std::unique_ptr<ClusterApi> MakeApiClient(std::shared_ptr<ServerSession> session,
                                          const ApiClientOptions& options) {
  return std::make_unique<HttpClusterApi>(std::move(session), options);
}

}  // namespace truce
