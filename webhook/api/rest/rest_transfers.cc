// GET, POST /transfers, and what becomes of an offer: accept, decline, withdraw.
#include <utility>

#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "webhook/api/rest/agreement_desk.h"

namespace truce {
namespace {

constexpr std::string_view kTransfersPath = "/api/v1/transfers";

Result<HttpResponse> Offer(const AgreementDesk& desk, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(Texts given,
                         ReadTexts(call.request, {"resource", "namespace", "object", "cluster",
                                                  "successor", "reason", "force"}));
  TRUCE_ASSIGN_OR_RETURN(const auto view, desk.Resource(given["resource"], call.deadline));
  const Owner& owner = view.owner;
  const std::string& force = given["force"];
  if (!force.empty() && force != "true" && force != "false") {
    return InvalidArgument("\"force\" is neither \"true\" nor \"false\"");
  }
  // Speaking for both sides needs the right everywhere.
  const bool forced = force == "true";
  const Permission permission{"ownerships", "transfer", "create",
                              forced ? std::string_view() : std::string_view(owner.root.ns)};
  if (auto refusal = desk.rest().RefuseById(call, permission)) return *std::move(refusal);
  TRUCE_ASSIGN_OR_RETURN(const auto party, AgreementDesk::PartyIn(given, owner.root));
  if (given["reason"].empty()) return InvalidArgument("\"reason\" is missing");
  const TransferTerms terms{party, given["successor"], forced};
  const ByWhom by{ActorOf(call.caller), given["reason"]};
  const std::string if_match(call.request.Header("if-match"));
  return desk.Apply(
      call, {owner.id, {}, if_match},
      [&](Ledger& ledger) { return OfferTransfer(owner.id, terms, by, ledger); }, 201);
}

// A right over ownerships in the owner's or the receiver's namespace.
std::optional<HttpResponse> RefuseBoth(const AgreementDesk& desk, const RestCall& call,
                                       const AgreementView& view) {
  auto refusal = desk.rest().RefuseById(call, {"ownerships", "", "get", view.owner.root.ns});
  const std::string receiver = AgreementDesk::NamespaceOf(view.agreement.party);
  if (!refusal || receiver.empty()) return refusal;
  return desk.rest().RefuseById(call, {"ownerships", "", "get", receiver});
}

Result<HttpResponse> GetTransfer(const AgreementDesk& desk, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(
      const auto view,
      desk.ById(call.request.path.substr(kTransfersPath.size() + 1), call.deadline));
  if (auto refusal = RefuseBoth(desk, call, view)) return *std::move(refusal);
  return desk.Answer(view, 200);
}

Result<HttpResponse> ActOn(const AgreementDesk& desk, RestCall& call) {
  const std::string rest = call.request.path.substr(kTransfersPath.size() + 1);
  const std::size_t colon = rest.find(':');
  const std::string verb = colon == std::string::npos ? std::string() : rest.substr(colon + 1);
  const bool accepts = verb == "accept";
  const bool declines = verb == "decline";
  if (!accepts && !declines && verb != "withdraw") {
    return ProblemResponse(ProblemType::kNotFound, "there is no such transfer or action");
  }
  TRUCE_ASSIGN_OR_RETURN(const auto view, desk.ById(rest.substr(0, colon), call.deadline));
  const Owner& owner = view.owner;
  const PublicId id = view.agreement.id;
  const std::string receiver = AgreementDesk::NamespaceOf(view.agreement.party);
  const Permission permission{"ownerships", "transfer", "update",
                              accepts || declines ? receiver : owner.root.ns};
  if (auto refusal = desk.rest().RefuseById(call, permission)) return *std::move(refusal);
  TRUCE_ASSIGN_OR_RETURN(Texts given, ReadTexts(call.request, {"successor", "reason"}));
  if (given["reason"].empty() && !accepts) return InvalidArgument("\"reason\" is missing");
  if (!given["successor"].empty() && !accepts)
    return InvalidArgument("only accept takes a \"successor\"");
  if (auto refusal = AgreementDesk::NeedsMatch(call)) return *std::move(refusal);
  const ByWhom by{ActorOf(call.caller), given["reason"]};
  const std::string if_match(call.request.Header("if-match"));
  const auto act = [&](Ledger& ledger) {
    if (accepts) return AcceptTransfer(id, given["successor"], by, ledger);
    return EndTransfer(id, declines ? "declined" : "withdrawn", by, ledger);
  };
  return desk.Apply(call, {owner.id, id, if_match}, act, 200);
}

}  // namespace

std::vector<HttpRoute> TransferRoutes(const OperationPorts& ports) {
  return DeskRoutes(ports, AgreementKind::kTransfer, std::string(kTransfersPath),
                    {&Offer, &GetTransfer, "POST", &ActOn});
}

}  // namespace truce
