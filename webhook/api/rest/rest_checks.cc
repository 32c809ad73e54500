// POST /checks: the verdicts that manifests would get at admission, with nothing written.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "policies/declared_twice.h"
#include "policies/judge.h"
#include "policies/ownership_check.h"
#include "registry/base/result.h"
#include "registry/ownership/review.h"
#include "webhook/api/described.h"
#include "webhook/api/rest/check_items.h"
#include "webhook/api/rest/rest_api.h"

namespace truce {
namespace {

constexpr std::size_t kNamespacesMax = 20;

// The answer of the rules for one item.
struct Checked {
  bool allowed = true;
  bool known = false;  // the catalogue or a mapping knows the kind
  std::vector<Finding> findings;
  std::vector<DeclaredResource> declared;
  std::map<std::size_t, std::size_t> same_check;  // index of a finding → the other item
};

void WriteFinding(const Finding& finding, std::optional<std::size_t> same_check, JsonWriter& json) {
  json.BeginObject().Fields("rule", Name(finding.rule), "mode", Name(finding.mode), "resource",
                            finding.resource, "cause", finding.cause, "remedy", finding.remedy,
                            "link", finding.link, "key", finding.key.text);
  if (same_check) json.Fields("sameCheck", *same_check);
  json.EndObject();
}

}  // namespace

void WriteJson(const DeclaredResource& resource, JsonWriter& json) {
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < resource.names.size(); ++i) {
    names.push_back(resource.names[i].text.text);
  }
  json.Object("type", resource.identity.type, "name", resource.name, "key", resource.key().text,
              "names", names, "intent", Name(resource.intent));
}

namespace {

void WriteChecked(const CheckItem& item, const Checked& checked, JsonWriter& json) {
  json.BeginObject().Key("object").Object("group", item.kind.group, "kind", item.kind.kind,
                                          "namespace", item.ns, "name", item.name);
  json.Fields("verdict", checked.allowed ? "allowed" : "denied", "known", checked.known, "declares",
              checked.declared);
  json.Key("findings").BeginArray();
  for (std::size_t i = 0; i < checked.findings.size(); ++i) {
    const auto other = checked.same_check.find(i);
    WriteFinding(checked.findings[i],
                 other == checked.same_check.end() ? std::nullopt : std::optional(other->second),
                 json);
  }
  json.EndArray().EndObject();
}

Slot ItemSlot(const CheckItem& item) {
  return {"", item.kind.group, item.kind.kind, item.ns, item.name};
}

void CompareItems(const CheckItems& items, std::vector<Checked>& checked) {
  DeclaredTwice twice;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == OwnershipCheckKind()) continue;  // asks about what others declare
    for (const DeclaredResource& resource : checked[i].declared) {
      const auto first = twice.FirstOf(resource, {i, 0});
      if (!first) continue;
      const Mode mode = DeclaredTwice::WorstOf(resource);
      if (mode == Mode::kEnforce) checked[i].allowed = false;
      checked[i].same_check.emplace(checked[i].findings.size(), first->part);
      checked[i].findings.push_back(DeclaredTwice::FindingOf(
          resource, mode, DeclaredTwice::By(ItemSlot(items[i]), ItemSlot(items[first->part]))));
    }
  }
}

// A caller, wherever it calls from; of those that nobody knows, each place is one.
std::string WhoAsks(const Caller& caller) {
  if (caller.kind == CallerKind::kAnonymous) return caller.address;
  return std::to_string(static_cast<int>(caller.kind)) + " " + caller.name;
}

}  // namespace

// A stranger to a namespace gets no answer in its name (I8). An object without a namespace has no
// party to speak for: a caller that speaks for any other namespace of the request may ask about it.
std::optional<HttpResponse> RestApi::RefuseToSpeak(const RestCall& call,
                                                   const std::set<std::string>& namespaces) const {
  for (const std::string& ns : namespaces) {
    if (ns.empty() && namespaces.size() > 1) continue;
    const Result<bool> speaks = ports_.access.SpeaksFor(call.caller, ns, call.deadline);
    if (speaks.ok() && speaks.value()) continue;
    // The answer is remembered: this asks nobody again.
    if (auto refusal = Refuse(call, {"checks", "", "create", ns})) return refusal;
  }
  return std::nullopt;
}

Result<HttpResponse> RestApi::Check(RestCall& call) const {
  const Turnstile::Turn turn(checking_, WhoAsks(call.caller));
  if (!turn.inside()) {
    return ProblemResponse(ProblemType::kTooManyRequests,
                           "another check of " + call.caller.name + " is not answered yet");
  }
  TRUCE_ASSIGN_OR_RETURN(CheckItems items,
                         CheckItems::Read(call.request.body, *call.policy->catalogue));
  std::set<std::string> namespaces;
  for (std::size_t i = 0; i < items.size(); ++i) namespaces.insert(items[i].ns);
  if (namespaces.empty()) namespaces.insert("");
  if (namespaces.size() > kNamespacesMax) {
    return InvalidArgument("the items are of more than 20 namespaces");
  }
  if (auto refusal = RefuseToSpeak(call, namespaces)) return *std::move(refusal);
  std::vector<Checked> checked(items.size());
  AskedOwnerships together;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    if (std::chrono::steady_clock::now() >= call.deadline) {
      return Error{ErrorCode::kDeadlineExceeded,
                   "the time was over after " + std::to_string(i) + " items"};
    }
    const std::string place = "items[" + std::to_string(i) + "]: ";
    const AskedObject asked = items.Asked(i, call.caller.name);
    auto question = QuestionOf(asked, *call.policy);
    if (!question.ok()) return InvalidArgument(place + question.error().message);
    checked[i].known = question.value().request.object.known_kind;
    if (!ConcernsRegistry(question.value().request)) continue;
    Judgement judgement(std::move(question).value(), *call.policy, ports_.clock.Now());
    judgement.AskAfter(&together);
    Decision decision;
    const auto look = [&](const Facts& facts) { decision = judgement.Judge(facts, ports_.ids); };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, call.deadline));
    judgement.AddAskedTo(together);
    checked[i].allowed = decision.allowed;
    checked[i].findings = judgement.FindingsOf(decision);
    checked[i].declared = judgement.request().object.resources;
  }
  CompareItems(items, checked);
  const bool allowed =
      std::all_of(checked.begin(), checked.end(), [](const Checked& each) { return each.allowed; });
  JsonWriter json;
  json.BeginObject().Field("verdict", allowed ? "allowed" : "denied").Key("items").BeginArray();
  for (std::size_t i = 0; i < checked.size(); ++i) WriteChecked(items[i], checked[i], json);
  json.EndArray().EndObject();
  return JsonResponse(json.Take());
}

}  // namespace truce
