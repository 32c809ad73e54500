#include <string>
#include <utility>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "policies/sharing_rules.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"

namespace truce {

std::string ResourceInWords(const Owner& owner) {
  return TypeForPeople(owner.identity.type) + " \"" + Said(owner.name) + '"';
}

std::string ShareCommand(const Owner& owner, const PartyId& with, ShareLevel level) {
  std::string out = "`truce share " + WordOf(owner);
  const std::string party = ForPeople(with);
  constexpr std::string_view kNamespace = "namespace ";
  const auto slot =
      with.text.starts_with("slot:") ? SlotFromText(with.text.substr(5)) : std::nullopt;
  if (slot) {
    out.append(" --with-object ").append(SuccessorWord(*slot));
  } else {
    out += " --with ";
    const bool is_namespace = party.starts_with(kNamespace);
    const std::string ns = is_namespace ? party.substr(kNamespace.size()) : std::string();
    out += IsPlainWord(ns) ? ns : "NAMESPACE";
  }
  out.append(level == ShareLevel::kAttach ? " --level attach" : " --level observe");
  return OneLine(out + " --reason '…'`", kCommandBytesMax);
}

void AddLink(const Owner& owner, const Wording& wording, Finding& finding) {
  if (wording.public_url.empty() || owner.id.empty()) return;
  finding.link = std::string(wording.public_url) + "/r/" + owner.id.text;
}

bool IsOfOthers(const Owner& holder, const RuleCase& c) {
  return holder.root != *c.root && !OneParty(holder.party, PartyOf(*c.root), c.policy->parties);
}

void KeepUse(const RuleCase& c, UseFacts use,
             std::optional<Finding> (*rule)(const UseFacts&, const Wording&),
             std::vector<Finding>& out) {
  const std::vector<Agreement> agreements = c.facts->AgreementsOf(use.holder->id);
  use.party = PartyOf(*c.root);
  use.parties = &c.policy->parties;
  use.agreements = agreements;
  use.now = c.now;
  std::optional<Finding> finding = rule(use, WordingOf(c));
  if (!finding) return;
  const DeclaredResource& resource = *use.use;
  Keep(c, *std::move(finding),
       {.type = resource.identity.type, .name = use.holder->name, .sure = resource.sure}, out);
}

Standing StandingOf(const UseFacts& facts, ShareLevel level) {
  const Agreement* share = ShareFor(facts.agreements, facts.party, level, *facts.parties);
  if (share == nullptr) return Standing::kNone;
  if (!HoldsAt(*share, facts.now)) return Standing::kEnded;
  return HoldsAt(*share, facts.now + kShareNotice) ? Standing::kShared : Standing::kEndsSoon;
}

Finding ShareEnds(Rule rule, const UseFacts& facts, bool ended, const Wording& wording) {
  const Owner& holder = *facts.holder;
  const Agreement* share =
      ShareFor(facts.agreements, facts.party, ShareLevel::kObserve, *facts.parties);
  const bool has_time = share != nullptr && share->until.has_value();
  const std::string when =
      (ended ? " ended on " : " ends on ") + (has_time ? FormatTimestamp(*share->until) : "?");
  const bool attaches = rule == Rule::kForeignAttachment;
  const std::string type = TypeForPeople(facts.use->identity.type);
  const std::string resource = ResourceInWords(holder);
  Finding out{.rule = rule, .mode = Mode::kWarn};
  out.resource = attaches ? type + " of " + resource : resource;
  out.key = facts.use->key();
  out.cause = attaches
                  ? "The share by which this " + type + " may write into " + resource + when + "."
                  : "The share by which " + ObjectForPeople(wording.object->slot) +
                        " may observe " + resource + when + ".";
  out.remedy = std::string(ended ? "It goes on as it is, but not when it is created anew"
                                 : "After that it goes on, but nothing new may rely on it") +
               "; ask the owner to share it for longer.";
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: the share of " + TypeForPeople(holder.identity.type) + " " +
                            OneLine(holder.name, 63) + when,
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
