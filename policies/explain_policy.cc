#include "policies/explain_policy.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/quotas.h"
#include "policies/rule_case.h"

namespace truce {
namespace {

// In the order of a review. The others have no mode of their own, or speak above.
constexpr std::array kShownRules = {
    Rule::kDuplicateOwnership, Rule::kForeignAttachment,    Rule::kAwsName,
    Rule::kNamingConvention,   Rule::kObserverWithoutShare, Rule::kDeletionProtection,
    Rule::kAccountParty};
constexpr std::size_t kRuleWidth = 24;
constexpr std::size_t kModeWidth = 9;
constexpr std::size_t kExplainedBytesMax = 400;

std::string Padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.append(out.size() < width ? width - out.size() : 1, ' ');
  return out;
}

// "until 2026-12-01" or nothing.
std::string UntilOf(const std::optional<Timestamp>& until) {
  return until ? ", until " + FormatTimestamp(*until) : std::string();
}

std::string OriginOf(const AppliedMode& applied, Rule rule) {
  if (applied.overridden != nullptr) {
    return "override: " + OneLine(applied.overridden->reason, kExplainedBytesMax) +
           UntilOf(applied.overridden->until);
  }
  if (applied.exempt != nullptr) {
    return "exempt by " + applied.origin + ": " +
           OneLine(applied.exempt->reason, kExplainedBytesMax) + UntilOf(applied.exempt->until);
  }
  if (applied.origin.empty() && IsOptIn(rule)) return "off until configured (rules)";
  return applied.origin;
}

// One object under one policy.
class Explanation {
 public:
  explicit Explanation(const RuleCase& c) : c_(c), findings_(JudgeNames(c)) {}

  std::string Text() {
    const ObjectFacts& object = *c_.object;
    out_ = ForPeople(object.slot) + "\n";
    if (*c_.root != object.slot) Line("owner", ForPeople(*c_.root));
    const std::string_view service = DeclaredService(object);
    Line("service", service.empty() ? "none: no label says which"
                                    : Quoted(service) + (BoundService(c_) == service
                                                             ? ", bound to the namespace"
                                                             : ", as the object says"));
    for (const BadName& bad : object.bad_names) {
      Line("refused", "the " + bad.part + " " + Quoted(bad.shown) + " " + bad.reason);
    }
    if (object.resources.empty()) Line("declares", "nothing that Truce knows; no rule applies");
    for (const DeclaredResource& resource : object.resources) Resource(resource);
    return std::move(out_);
  }

 private:
  void Line(std::string_view label, std::string_view text) {
    out_.append("  ").append(Padded(label, kRuleWidth)).append(text).append("\n");
  }

  void Resource(const DeclaredResource& resource) {
    const std::string& type = resource.identity.type;
    out_.append("\n").append(TypeForPeople(type));
    if (!resource.name.empty()) out_.append(" ").append(Quoted(resource.name));
    out_.append(" (").append(type).append(")\n");
    const AwsNameRule* rule = NameRuleOf(type);
    const std::string_view name =
        rule == nullptr ? std::string_view(resource.name) : NameOf(resource, *rule);
    for (const Rule shown : kShownRules) {
      const std::string idle = WhyIdle(shown, resource, name);
      if (!idle.empty()) {
        Line(Name(shown), Padded("-", kModeWidth) + idle);
        continue;
      }
      const AppliedMode applied = ModeIn(c_, shown, TopicOf(c_, shown, resource, name));
      Line(Name(shown), Padded(Name(applied.mode), kModeWidth) + OriginOf(applied, shown));
      if (applied.distrusted) {
        Note(
            "a laxer mode or exemption by labels or service was left aside: anyone may write "
            "labels; name a namespace with it, or bind the service in parties");
      }
      if (applied.mode != Mode::kOff) Findings(shown, resource, name);
    }
  }

  // Null: AWS gives the names of this type, or names are not judged.
  const AwsNameRule* NameRuleOf(std::string_view type) const {
    const auto& names = c_.policy->names;
    return names == nullptr ? nullptr : names->aws->Find(type);
  }

  const NamingConvention* Convention() const {
    const auto& names = c_.policy->names;
    return names == nullptr || !names->convention ? nullptr : &*names->convention;
  }

  void Note(const std::string& text) {
    out_.append(2 + kRuleWidth + kModeWidth, ' ').append(text).append("\n");
  }

  // Why a rule has nothing to say of a resource, whatever its mode.
  std::string WhyIdle(Rule rule, const DeclaredResource& resource, std::string_view name) const {
    const std::string& type = resource.identity.type;
    const TypeSpec* spec = c_.policy->catalogue->FindType(type);
    switch (rule) {
      case Rule::kForeignAttachment:
        return spec != nullptr && spec->attachment ? "" : "writes into no other resource";
      case Rule::kAwsName:
        if (NameRuleOf(type) == nullptr) return "names of this type are not the user's";
        return name.empty() ? "the name is not known yet" : "";
      case Rule::kNamingConvention:
        if (Convention() == nullptr) return "off until configured (rules)";
        if (!Convention()->Covers(type)) return "the type is not in naming.types";
        return name.empty() ? "the name is not known yet" : "";
      case Rule::kObserverWithoutShare:
        return resource.intent == Intent::kObserves ? "" : "the object does not only observe";
      case Rule::kDeletionProtection:
        return resource.intent == Intent::kDeletes ? "" : "its deletion keeps the resource";
      case Rule::kAccountParty:
        return c_.policy->account_parties.empty() ? "no accountParties are configured" : "";
      case Rule::kQuota:
        return c_.policy->quotas == nullptr || c_.policy->quotas->OfType(type).empty()
                   ? "no quotas of this type are configured"
                   : "";
      case Rule::kDuplicateOwnership:
      case Rule::kResourceName:
      case Rule::kReservationCap:
      case Rule::kStatusNames:
      case Rule::kRerolledNames:
      case Rule::kOrphaningUpdate:
      case Rule::kRestoredTwin:
      case Rule::kRestoredDelete:
      case Rule::kCompositionChange:
      case Rule::kCompositeNotSeen:
      case Rule::kClaimBinding:
      case Rule::kClaimTakeover:
      case Rule::kUnclearDeclaration: break;
    }
    return "";
  }

  void Findings(Rule rule, const DeclaredResource& resource, std::string_view name) {
    if (rule == Rule::kDeletionProtection) {
      Note("decided against the registry when the object is deleted");
      return;
    }
    if (rule != Rule::kAwsName && rule != Rule::kNamingConvention) {
      Note("decided against the registry when the object comes");
      return;
    }
    if (resource.intent == Intent::kObserves) {
      Note("not judged: the object only observes");
      return;
    }
    if (rule == Rule::kNamingConvention) {
      Note("template " + std::string(Convention()->FormOf(resource.identity.type)));
    }
    bool found = false;
    const std::string about = Quoted(name);
    for (const Finding& finding : findings_) {
      if (finding.rule != rule || finding.resource.find(about) == std::string::npos) continue;
      Note(finding.cause);
      Note(finding.remedy);
      found = true;
    }
    if (!found) Note("nothing to say against " + about);
  }

  const RuleCase c_;
  std::vector<Finding> findings_;
  std::string out_;
};

}  // namespace

Result<std::string> ExplainPolicy(Value object, const AdmissionPolicy& policy, Timestamp now,
                                  const RootLookup& root_of) {
  const std::string_view version = object.Child("apiVersion").text();
  const std::size_t slash = version.find('/');
  const GroupKind kind{
      std::string(slash == std::string_view::npos ? std::string_view() : version.substr(0, slash)),
      std::string(object.Child("kind").text())};
  if (kind.kind.empty() || object.Child("metadata").Child("name").text().empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "is not a Kubernetes object: apiVersion, kind and metadata.name are needed"};
  }
  const ObjectFacts facts = Identify(object, kind, policy.identity);
  const NameEvidence evidence = ReadEvidence(object, facts, policy);
  const std::optional<Slot> known = root_of ? root_of(facts.slot) : std::nullopt;
  const RuleCase c{.policy = &policy,
                   .object = &facts,
                   .evidence = &evidence,
                   .root = known ? &*known : &facts.slot,
                   .now = now};
  return Explanation(c).Text();
}

}  // namespace truce
