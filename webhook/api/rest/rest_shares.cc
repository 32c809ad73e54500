// GET, POST, DELETE /shares.
#include <utility>

#include "registry/ownership/ledger.h"
#include "webhook/api/rest/agreement_desk.h"

namespace truce {
namespace {

constexpr std::string_view kSharesPath = "/api/v1/shares";

Result<HttpResponse> Give(const AgreementDesk& desk, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(
      Texts given, ReadTexts(call.request, {"resource", "namespace", "object", "cluster", "level",
                                            "until", "reason"}));
  TRUCE_ASSIGN_OR_RETURN(const auto view, desk.Resource(given["resource"], call.deadline));
  const Owner& owner = view.owner;
  const Permission permission{"ownerships", "share", "create", owner.root.ns};
  if (auto refusal = desk.rest().RefuseById(call, permission)) return *std::move(refusal);
  TRUCE_ASSIGN_OR_RETURN(const auto party, AgreementDesk::PartyIn(given, owner.root));
  const auto level = ShareLevelFromName(given["level"]);
  if (!level) return InvalidArgument("\"level\" is neither observe nor attach");
  if (given["reason"].empty()) return InvalidArgument("\"reason\" is missing");
  ShareTerms terms{party, *level, {}};
  if (!given["until"].empty()) {
    TRUCE_ASSIGN_OR_RETURN(terms.until, TimeIn("\"until\"", given["until"]));
  }
  const ByWhom by{ActorOf(call.caller), given["reason"]};
  const std::string if_match(call.request.Header("if-match"));
  return desk.Apply(
      call, {owner.id, {}, if_match},
      [&](Ledger& ledger) { return GiveShare(owner.id, terms, by, ledger); }, 201);
}

Result<HttpResponse> GetShare(const AgreementDesk& desk, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(
      const auto view, desk.ById(call.request.path.substr(kSharesPath.size() + 1), call.deadline));
  const Permission permission{"ownerships", "", "get", view.owner.root.ns};
  if (auto refusal = desk.rest().RefuseById(call, permission)) return *std::move(refusal);
  return desk.Answer(view, 200);
}

Result<HttpResponse> EndShare(const AgreementDesk& desk, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(
      const auto view, desk.ById(call.request.path.substr(kSharesPath.size() + 1), call.deadline));
  const Owner& owner = view.owner;
  const PublicId id = view.agreement.id;
  const Permission permission{"ownerships", "share", "update", owner.root.ns};
  if (auto refusal = desk.rest().RefuseById(call, permission)) return *std::move(refusal);
  if (auto refusal = AgreementDesk::NeedsMatch(call)) return *std::move(refusal);
  const ByWhom by{ActorOf(call.caller), call.Parameter("reason")};
  const std::string if_match(call.request.Header("if-match"));
  return desk.Apply(
      call, {owner.id, id, if_match}, [&](Ledger& ledger) { return EndShare(id, by, ledger); },
      200);
}

}  // namespace

std::vector<HttpRoute> ShareRoutes(const OperationPorts& ports) {
  return DeskRoutes(ports, AgreementKind::kShare, std::string(kSharesPath),
                    {&Give, &GetShare, "DELETE", &EndShare, {"reason"}});
}

}  // namespace truce
