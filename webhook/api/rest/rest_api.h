// RestApi: the REST API under /api/v1, with who may call it. schema/openapi.yaml describes it
// whole.
#ifndef TRUCE_WEBHOOK_API_REST_REST_API_H_
#define TRUCE_WEBHOOK_API_REST_REST_API_H_

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/guarded.h"
#include "registry/base/turnstile.h"
#include "registry/ownership/terms.h"
#include "webhook/api/auth/api_access.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/api/rest/cursor.h"
#include "webhook/api/rest/queries.h"
#include "webhook/api/review_books.h"
#include "webhook/wire/json_writer.h"

namespace truce {

struct RefusedCallers;

class Ledger;
struct ByWhom;
struct Owner;

// The API's dependencies; references must outlive it.
struct RestPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;  // thread-safe
  const InForce<AdmissionPolicy>& policy;
  ApiAccess& access;
  const DenialBook& denials;
  std::string_view version;  // outlives it
  // Of a followed cluster; null: none is. Thread-safe; they never block.
  // Writes the member "findings": the list of those about these keys.
  std::function<void(const std::vector<KeyText>& keys, JsonWriter& json)> write_findings = nullptr;
  // Why deletions do not come to Truce.
  std::function<std::vector<Hindrance>()> deletions_unsent = nullptr;
  RefusedCallers* refused = nullptr;          // counts whose token is no good; null: nobody does
  std::size_t check_bytes_max = 1024 * 1024;  // of a body of POST /checks; beyond: 413
};

// Thread-safe. Every answer carries X-Request-Id: the caller's, when it sent a usable one.
class RestApi final {
 public:
  explicit RestApi(RestPorts ports);

  // Of all lists.
  const CursorKey& cursor_key() const { return cursor_key_; }
  void SetCursorKey(std::string key) { cursor_key_.Set(std::move(key)); }

  // The routes, for the API listener and the operator socket alike. The API must outlive them.
  std::vector<HttpRoute> Routes() const;

  using Operation = std::function<Result<HttpResponse>(RestCall&)>;
  enum class Kind {
    kOrdinary,  // of a known caller; may wait at any time
    kQuick,     // of a known caller; marks its waits by a BlockingRegion
    kPublic,    // answers anybody
  };
  // An operation, as its file's routes list it. A POST takes application/json.
  struct Route {
    const char* method;
    std::string path;                          // one that ends with "/": all below it
    std::vector<std::string_view> takes = {};  // its parameters: any other one is 400
    Permission right = {};                     // in the namespace of the parameter `namespace`,
                                               // else in all; no verb: the operation asks itself
    Operation act = {};
    Kind kind = Kind::kOrdinary;
  };
  // The API must outlive it.
  HttpRoute Routed(Route route) const;
  // A response when `call` may not do it, else nothing. It names the right and the namespace.
  std::optional<HttpResponse> Refuse(const RestCall& call, const Permission& permission) const;
  // The same in the namespace of an id: below disclosure "full" it is not named.
  std::optional<HttpResponse> RefuseById(const RestCall& call, const Permission& permission) const;
  // Whether `call` may do it. Errors: as ApiAccess::Allows.
  Result<bool> Allows(const RestCall& call, const Permission& permission) const {
    return ports_.access.Allows(call.caller, permission, call.deadline);
  }
  // Whether the caller is known by a Kubernetes token and speaks for `ns` (ApiAccess::SpeaksFor);
  // false when that is not known now.
  bool SpeaksAsUser(const RestCall& call, const std::string& ns) const;
  // Whether the caller may read ownerships whose root is in `ns`.
  Result<bool> MayRead(const RestCall& call, const std::string& ns) const;

 private:
  Result<HttpResponse> Answer(const Route& route, RestCall& call) const;
  HttpResponse Serve(HttpRequest& request, const Route& route) const;

  Result<HttpResponse> ListResources(RestCall& call) const;
  Result<HttpResponse> GetResource(RestCall& call) const;
  Result<HttpResponse> Lookup(RestCall& call) const;
  Result<HttpResponse> ActOnResource(RestCall& call) const;
  // A change of one resource, in the state that its caller has seen (If-Match).
  struct ResourceChange {
    Permission permission;  // in the namespace of the resource's root
    const char* unmatched;  // the answer to a caller who names no state
    // `now` is the resource as the store has it; it becomes the answer's. Nothing: done.
    std::function<std::optional<Problem>(const ByWhom& by, ResourceView& now, Ledger& ledger)>
        change;
  };
  // A response when it was not made, else nothing: then `now` is as the change left it.
  std::optional<HttpResponse> Change(RestCall& call, const ResourceId& id,
                                     const ResourceChange& what, ResourceView& now) const;
  Result<HttpResponse> Release(RestCall& call, const ResourceId& id) const;
  Result<HttpResponse> SetProtection(RestCall& call, const ResourceId& id, bool on) const;
  // Of a resource that is marked as protected: the override that lets its deletion pass.
  std::vector<Hindrance> HindrancesOf(const ResourceView& view, const RestCall& call) const;
  Result<HttpResponse> ListServices(RestCall& call) const;
  Result<HttpResponse> GetService(RestCall& call) const;
  Result<HttpResponse> ListAudit(RestCall& call) const;
  Result<HttpResponse> Check(RestCall& call) const;
  std::optional<HttpResponse> Refusal(const RestCall& call, const Permission& permission,
                                      const std::string& right) const;
  std::optional<HttpResponse> RefuseToSpeak(const RestCall& call,
                                            const std::set<std::string>& namespaces) const;
  Result<HttpResponse> ListTypes(RestCall& call) const;
  Result<HttpResponse> Version(RestCall& call) const;
  Result<HttpResponse> Refusals(RestCall& call) const;
  Result<HttpResponse> Specification(RestCall& call) const;

  // The resource as the caller may see it.
  Result<bool> WriteVisible(const RestCall& call, const Owner& owner, JsonWriter& json) const;

  RestPorts ports_;
  RegistryQueries queries_;
  CursorKey cursor_key_;
  CursorSeal seal_;
  // Of one caller one check at a time.
  mutable Turnstile checking_{std::numeric_limits<int>::max(), 1};
};

// The operation that is `act` of `it`, a pointer.
template <typename Pointer, typename T>
RestApi::Operation Calling(Pointer it, Result<HttpResponse> (T::*act)(RestCall&) const) {
  return [it = std::move(it), act](RestCall& call) { return ((*it).*act)(call); };
}

// Dependencies of operations in files of their own; references must outlive their routes.
struct OperationPorts {
  const RestApi& rest;
  Store& store;
  const Clock& clock;
  IdSource ids;  // thread-safe
};

// The filter that the call's parameters are; those that it does not allow are missing. Errors:
// kInvalidArgument.
Result<ResourceFilter> ResourceFilterOf(const RestCall& call);

// The entity tag of a resource: changes whenever the owner, a declaration or an agreement does.
std::string EntityTagOf(const ResourceView& view);
// Of an agreement: changes whenever it does.
std::string EntityTagOf(const Agreement& agreement);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_API_H_
