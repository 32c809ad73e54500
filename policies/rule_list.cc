#include "policies/rule_list.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "policies/lifecycle/claim_rules.h"
#include "policies/lifecycle/composition_change.h"
#include "policies/lifecycle/restore_rules.h"
#include "policies/name_rules.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::array<RuleSpec, kRuleCount> kRules = {{
    {.rule = Rule::kDuplicateOwnership,
     .id = "duplicate-ownership",
     .about = "a resource has one owner"},
    {.rule = Rule::kResourceName,
     .id = "resource-name",
     .about = "names contain no invisible or look-alike characters"},
    {.rule = Rule::kReservationCap,
     .id = "reservation-cap",
     .about = "a namespace stays below the cap of unconfirmed reservations",
     .settings = "`reservationCap`, `reservationBurst`",
     .configurable = false},
    {.rule = Rule::kUnclearDeclaration,
     .id = "unclear-declaration",
     .about = "a declaration gives every part of its name",
     .configurable = false},
    {.rule = Rule::kForeignAttachment,
     .id = "foreign-attachment",
     .about = "nothing is written into another's resource",
     .judge = &JudgeAttachments,
     .exemptible = true,
     .added = true},
    {.rule = Rule::kObserverWithoutShare,
     .id = "observer-without-share",
     .about = "another's resource is observed only if its owner shares it",
     .judge = &JudgeObservers,
     .opt_in = true,
     .exemptible = true},
    {.rule = Rule::kAccountParty,
     .id = "account-party",
     .about = "a namespace declares in its own accounts",
     .settings = "`accountParties`",
     .judge = &JudgeAccounts,
     .exemptible = true,
     .added = true},
    // Judges both rules about names: they propose one name.
    {.rule = Rule::kAwsName,
     .id = "aws-name",
     .about = "AWS takes the name",
     .judge = &JudgeNames,
     .exemptible = true},
    {.rule = Rule::kNamingConvention,
     .id = "naming-convention",
     .about = "the name follows the template",
     .settings = "`naming`",
     .opt_in = true,
     .exemptible = true},
    {.rule = Rule::kDeletionProtection,
     .id = "deletion-protection",
     .about = "shared, observed or protected resources are not deleted",
     .entry = Entry::kDeletions,
     .judge = &JudgeDeletions,
     .exemptible = true,
     .warns = true},
    {.rule = Rule::kStatusNames,
     .id = "status-names",
     .about = "only providers and restorers change names in statuses",
     .settings = "`providers`, `restorers`",
     .entry = Entry::kStatuses,
     .judge = &JudgeStatusNames},
    {.rule = Rule::kRerolledNames,
     .id = "rerolled-names",
     .about = "a composite does not retry refused resources under other names",
     .entry = Entry::kRerolls,
     .judge = &JudgeRerolledNames},
    {.rule = Rule::kQuota,
     .id = "quota",
     .about = "resources stay within the quota of their type",
     .settings = "`quotas`",
     .judge = &JudgeQuotas,
     .exemptible = true,
     .added = true},
    {.rule = Rule::kOrphaningUpdate,
     .id = "orphaning-update",
     .about = "a composite drops no restored object before Crossplane adopts it",
     .when = When::kChanged,
     .judge = &JudgeOrphanings,
     .look_at = &DroppedToLookAt,
     .warns = true,
     .forbids = true},
    {.rule = Rule::kRestoredTwin,
     .id = "restored-twin",
     .about = "the resource of a restored object gets no second object",
     .when = When::kNew,
     .judge = &JudgeTwins,
     .look_at = &EldersToLookAt,
     .warns = true,
     .forbids = true,
     .explains = true},
    {.rule = Rule::kRestoredDelete,
     .id = "restored-delete",
     .about = "Crossplane deletes no restored object before it adopts it",
     .entry = Entry::kDeletions,
     .concerns = &IsRestoredDeletion,
     .judge = &JudgeRestoredDeletions,
     .warns = true,
     .forbids = true},
    {.rule = Rule::kCompositionChange,
     .id = "composition-change",
     .about = "a changed Composition breaks no existing composite unnoticed",
     .entry = Entry::kCompositions,
     .judge = &JudgeCompositions,
     .warns = true},
    {.rule = Rule::kCompositeNotSeen,
     .id = "composite-not-seen",
     .about = "a created composite is one that Crossplane sees",
     .entry = Entry::kCreations,
     .judge = &JudgeUnseen,
     .warns = true},
    {.rule = Rule::kClaimBinding,
     .id = "claim-binding",
     .about = "a claim names no composite that another claim has",
     .judge = &JudgeClaimBindings,
     .look_at = &CompositeToLookAt,
     .warns = true},
    {.rule = Rule::kClaimTakeover,
     .id = "claim-takeover",
     .about = "a composite keeps its claim",
     .when = When::kChanged,
     .judge = &JudgeClaimTakeovers,
     .warns = true},
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
  return spec.opt_in && spec.entry == Entry::kDeclarations &&
         !IsConfigured(c.policy->modes, spec.rule);
}

bool IsAsked(const RuleSpec& spec, Entry entry, const RuleCase& c) {
  if (spec.entry != entry || IsIdle(spec, c)) return false;
  if (spec.concerns != nullptr && !spec.concerns(c)) return false;
  const bool is_new = c.old_object == nullptr;
  return spec.when == When::kAlways || (spec.when == When::kNew) == is_new;
}

}  // namespace

std::span<const RuleSpec> RuleList() { return kRules; }

std::vector<Finding> JudgeByRules(Entry entry, const RuleCase& c) {
  std::vector<Finding> out;
  for (const RuleSpec& spec : kRules) {
    if (spec.judge == nullptr || !IsAsked(spec, entry, c)) continue;
    std::vector<Finding> found = spec.judge(c);
    std::move(found.begin(), found.end(), std::back_inserter(out));
  }
  return out;
}

bool WaitsForRegistry(Entry entry, const RuleCase& c) {
  return std::any_of(kRules.begin(), kRules.end(), [&](const RuleSpec& spec) {
    return IsConfigured(c.policy->modes, spec.rule) && IsAsked(spec, entry, c);
  });
}

std::vector<Slot> ToLookAt(Entry entry, const RuleCase& c) {
  std::vector<Slot> out;
  for (const RuleSpec& spec : kRules) {
    if (spec.look_at == nullptr || !IsAsked(spec, entry, c)) continue;
    std::vector<Slot> wanted = spec.look_at(c);
    std::move(wanted.begin(), wanted.end(), std::back_inserter(out));
  }
  if (out.size() > kLookedAtMax) out.resize(kLookedAtMax);
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

Mode StrictestMode(const RuleCase& c, Rule rule) {
  if (c.requester == nullptr) return Mode::kEnforce;
  if (c.object->terminating && !SpecOf(rule).added) return Mode::kAudit;
  return c.policy->recovery.empty() ? Mode::kEnforce : Mode::kWarn;
}

void Keep(const RuleCase& c, Finding finding, const ModeTopic& topic, std::vector<Finding>& out) {
  const AppliedMode applied = ModeIn(c, finding.rule, topic);
  Keep(c, std::move(finding), applied, out);
}

void Keep(const RuleCase& c, Finding finding, const AppliedMode& applied,
          std::vector<Finding>& out) {
  const Mode strictest = StrictestMode(c, finding.rule);
  finding.at_most = std::min({finding.mode, applied.at_most, strictest});
  finding.mode = std::min({finding.mode, applied.mode, strictest});
  if (finding.mode == Mode::kOff) return;
  if (applied.expired != nullptr) NoteExpiry(*applied.expired, finding);
  out.push_back(std::move(finding));
}

bool BringsWhatExists(const RuleCase& c) {
  if (c.requester == nullptr) return false;
  return c.requester->restorer || (c.requester->provider && c.old_object != nullptr);
}

bool IsHeld(const RuleCase& c, const KeyText& name) {
  if (c.requester == nullptr || c.facts == nullptr || name.empty()) return false;
  const std::optional<ResourceName> named = c.facts->Named(name);
  if (!named || named->observed) return false;
  const std::optional<Owner> owner = c.facts->OwnerOf(named->resource);
  return owner && !IsOfOthers(*owner, c);
}

}  // namespace truce
