#include "policies/rule_list.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "policies/lifecycle/claim_rules.h"
#include "policies/lifecycle/composition_change.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/name_rules.h"
#include "policies/policy.h"
#include "policies/rule_case.h"

namespace truce {
namespace {

constexpr Entry kDeclared = Entry::kDeclarations;

constexpr std::array<RuleSpec, kRuleCount> kRules = {{
    {Rule::kDuplicateOwnership, "duplicate-ownership", "a resource has one owner", false, false,
     kDeclared, nullptr},
    {Rule::kResourceName, "resource-name", "names contain no invisible or look-alike characters",
     false, false, kDeclared, nullptr},
    {Rule::kReservationCap, "reservation-cap",
     "a namespace stays below the cap of unconfirmed reservations", false, false, kDeclared,
     nullptr},
    {Rule::kUnclearDeclaration, "unclear-declaration", "what is declared is protected", false,
     false, kDeclared, nullptr},
    {Rule::kForeignAttachment, "foreign-attachment", "nothing is written into another's resource",
     false, true, kDeclared, &JudgeAttachments},
    {Rule::kObserverWithoutShare, "observer-without-share",
     "another's resource is observed where its owner shares it", true, true, kDeclared,
     &JudgeObservers},
    {Rule::kAccountParty, "account-party", "a namespace declares in its own accounts", false, true,
     kDeclared, &JudgeAccounts},
    // Both rules about names: they propose one name.
    {Rule::kAwsName, "aws-name", "AWS takes the name", false, true, kDeclared, &JudgeNames},
    {Rule::kNamingConvention, "naming-convention", "the name follows the template", true, true,
     kDeclared, nullptr},
    {Rule::kDeletionProtection, "deletion-protection",
     "shared, observed or protected resources are not deleted", false, true, Entry::kDeletions,
     &JudgeDeletions, true},
    {Rule::kStatusNames, "status-names", "what a status shows is its provider's to say", false,
     false, Entry::kStatuses, &JudgeStatusNames},
    {Rule::kRerolledNames, "rerolled-names",
     "what is refused is not tried again and again under other names", false, false,
     Entry::kRerolls, &JudgeRerolledNames},
    {Rule::kQuota, "quota", "nobody has more of a type than is allowed", false, true, kDeclared,
     &JudgeQuotas},
    {Rule::kOrphaningUpdate, "orphaning-update",
     "a composite drops nothing that was restored and not adopted", false, false, kDeclared,
     &JudgeOrphanings, true},
    {Rule::kRestoredTwin, "restored-twin", "what a restored object has gets no second one", false,
     false, kDeclared, &JudgeTwins, true},
    {Rule::kRestoredDelete, "restored-delete",
     "Crossplane deletes nothing that was restored and not adopted", false, false,
     Entry::kDeletions, &JudgeRestoredDeletions, true},
    {Rule::kCompositionChange, "composition-change",
     "who changes a Composition knows what that does to composites", false, false,
     Entry::kCompositions, &JudgeCompositions, true},
    {Rule::kCompositeNotSeen, "composite-not-seen",
     "who creates what Crossplane does not see is told so", false, false, Entry::kCreations,
     &JudgeUnseen, true},
    {Rule::kClaimBinding, "claim-binding", "a claim names no composite that another claim has",
     false, false, kDeclared, &JudgeClaimBindings, true},
    {Rule::kClaimTakeover, "claim-takeover", "a composite keeps its claim", false, false, kDeclared,
     &JudgeClaimTakeovers, true},
}};

constexpr bool IsOrdered() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].rule != static_cast<Rule>(i) || kRules[i].id.empty()) return false;
  }
  return true;
}
static_assert(IsOrdered(), "the list has one line per enumerator of Rule, in their order");

// Nobody asked for the rule. Deletions are another matter: a mark is enforced unasked.
bool IsIdle(const RuleSpec& spec, const RuleCase& c) {
  return spec.opt_in && spec.entry == kDeclared && !IsConfigured(c.policy->modes, spec.rule);
}

}  // namespace

std::span<const RuleSpec> RuleList() { return kRules; }

std::vector<Finding> JudgeByRules(Entry entry, const RuleCase& c) {
  std::vector<Finding> out;
  for (const RuleSpec& spec : kRules) {
    if (spec.judge == nullptr || spec.entry != entry || IsIdle(spec, c)) continue;
    std::vector<Finding> found = spec.judge(c);
    std::move(found.begin(), found.end(), std::back_inserter(out));
  }
  return out;
}

Wording WordingOf(const RuleCase& c) {
  return {.disclosure = c.policy->disclosure,
          .public_url = c.policy->public_url,
          .catalogue = c.policy->catalogue.get(),
          .object = c.object,
          .root = c.root};
}

std::string_view BoundService(const RuleCase& c) {
  const std::string& ns = c.root->ns.empty() ? c.object->slot.ns : c.root->ns;
  const auto& services = c.policy->parties.services;
  if (ns.empty() || services.empty()) return {};
  const auto found = services.find(c.policy->identity.cluster + "/" + ns);
  return found == services.end() ? std::string_view() : std::string_view(found->second);
}

AppliedMode ModeIn(const RuleCase& c, Rule rule, const ModeTopic& topic) {
  ModeSubject subject{.rule = rule,
                      .type = topic.type,
                      .sure = topic.sure,
                      .resource_name = topic.name,
                      .object = &c.object->slot,
                      .root = c.root,
                      .service = topic.service.empty() ? DeclaredService(*c.object) : topic.service,
                      .bound_service = BoundService(c),
                      .marked = topic.marked};
  if (c.evidence != nullptr) subject.labels = c.evidence->labels;
  return ModeFor(c.policy->modes, subject, c.now);
}

Mode StrictestMode(const RuleCase& c) {
  if (c.requester == nullptr) return Mode::kEnforce;
  if (c.object->terminating) return Mode::kAudit;
  return c.policy->recovering ? Mode::kWarn : Mode::kEnforce;
}

void Keep(const RuleCase& c, Finding finding, const ModeTopic& topic, std::vector<Finding>& out) {
  const AppliedMode applied = ModeIn(c, finding.rule, topic);
  Keep(c, std::move(finding), applied, out);
}

void Keep(const RuleCase& c, Finding finding, const AppliedMode& applied,
          std::vector<Finding>& out) {
  const Mode strictest = StrictestMode(c);
  finding.at_most = std::min({finding.mode, applied.at_most, strictest});
  finding.mode = std::min({finding.mode, applied.mode, strictest});
  if (finding.mode == Mode::kOff) return;
  if (applied.expired != nullptr) NoteExpiry(*applied.expired, finding);
  out.push_back(std::move(finding));
}

bool MayBindLate(const RuleCase& c) {
  return c.requester != nullptr && c.requester->provider && c.old_object != nullptr;
}

}  // namespace truce
