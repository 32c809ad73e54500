// Common parts of the operations on shares and transfers: finding, listing, and acting inside
// one transaction. For rest_shares.cc, rest_transfers.cc and
// grants declared in the cluster.
#ifndef TRUCE_WEBHOOK_API_REST_AGREEMENT_DESK_H_
#define TRUCE_WEBHOOK_API_REST_AGREEMENT_DESK_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/ownership/agreements.h"
#include "webhook/api/rest/operations.h"

namespace truce {

using Texts = std::map<std::string, std::string>;

// How a party is named: one of the two, of a cluster.
struct PartyName {
  std::string cluster;
  std::string ns;
  std::string object;  // as Bucket.s3.aws.upbound.io/artifacts
};
// Errors: kInvalidArgument.
Result<PartyId> PartyNamed(const PartyName& name);

// Thread-safe.
class AgreementDesk final {
 public:
  AgreementDesk(const OperationPorts& ports, AgreementKind kind);

  const RestApi& rest() const { return ports_.rest; }

  // GET of the list: parameters namespace (of the owner's root), to (the receiver's), resource,
  // limit, cursor. Needs list on ownerships in `to` when it is given, else in `namespace` or all.
  Result<HttpResponse> List(RestCall& call) const;

  // The agreement of that id. Errors: kNotFound.
  Result<AgreementView> ById(const std::string& id, Deadline deadline) const;
  // The resource of that public id. Errors: kNotFound, kInvalidArgument.
  Result<ResourceView> Resource(const std::string& id, Deadline deadline) const;

  // The party that the texts "namespace" (with "cluster") or "object" (as Bucket.group/name) name.
  // Errors: kInvalidArgument.
  static Result<PartyId> PartyIn(const Texts& texts, const Slot& root);
  // The namespace of a party; empty for a cluster-scoped object or a service.
  static std::string NamespaceOf(const PartyId& party);

  using Act = std::function<Result<Agreement>(Ledger&)>;
  // The state that must not have changed meanwhile.
  struct Expected {
    ResourceId resource;
    std::optional<PublicId> agreement;  // then its tag is compared, else the resource's
    std::string if_match;               // empty: nothing is compared
  };
  // Runs `act` in one transaction and answers with the agreement as it is then (or was, when it has
  // ended).
  Result<HttpResponse> Apply(RestCall& call, const Expected& expected, const Act& act,
                             int status) const;

  HttpResponse Answer(const AgreementView& view, int status) const;
  // Whether a caller who changes something says which state of it; a problem when not.
  static std::optional<HttpResponse> NeedsMatch(const RestCall& call);

 private:
  OperationPorts ports_;
  AgreementKind kind_;
  RegistryQueries queries_;
  CursorSeal seal_;
};

// The operations of a desk, beside the list.
using DeskAction = Result<HttpResponse> (*)(const AgreementDesk&, RestCall&);
struct DeskActions {
  DeskAction add;             // POST of the list
  DeskAction get;             // GET of one
  const char* change_method;  // of one: DELETE, or POST with a verb
  DeskAction change;
  std::vector<std::string_view> change_takes = {};  // its parameters
};
// The routes of "/api/v1/<plural>" and of what is below it.
std::vector<HttpRoute> DeskRoutes(const OperationPorts& ports, AgreementKind kind,
                                  const std::string& path, const DeskActions& actions);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_AGREEMENT_DESK_H_
