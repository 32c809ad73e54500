#include "webhook/check/rule_help.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "policies/rule_list.h"

namespace truce {
namespace {

struct PolicyHelp {
  std::string_view id;
  std::string_view why;
  std::string_view help;
};

constexpr std::array<PolicyHelp, kRuleCount> kOfPolicies = {{
    {"duplicate-ownership",
     "Two declarations of one resource overwrite each other for ever, and deleting either deletes "
     "the resource of both.",
     "Choose another name. Or ask the owner that the finding names to share the resource (`truce "
     "share`) or to hand it over (`truce transfer`). To only read it, declare it with "
     "managementPolicies: [\"Observe\"]."},
    {"resource-name",
     "A name with invisible or look-alike characters can pass for somebody else's.",
     "Write the name with the characters that it shows, or choose another one."},
    {"reservation-cap", "Declarations that are admitted and never created keep names from others.",
     "Wait a few minutes and apply again. If it stays, ask your platform team: setting "
     "reservationCap."},
    {"unclear-declaration",
     "Truce cannot tell which resource is declared, so it protects nothing there.",
     "Give every part of the name that the finding says is missing, in the object or in its "
     "mapping rule."},
    {"foreign-attachment",
     "What is attached to a resource (a policy, a record, a notification) changes it for its "
     "owner.",
     "Point it at a resource of your own, or ask the owner for a share at level attach (`truce "
     "share`)."},
    {"observer-without-share",
     "Who observes another's resource depends on it, and its owner does not know.",
     "Ask the owner for a share at level observe (`truce share`)."},
    {"account-party", "The AWS account is bound to other namespaces.",
     "Declare it with a ProviderConfig of your own account, or ask your platform team: setting "
     "accountParties."},
    {"aws-name", "AWS would refuse the name, after the object was admitted.",
     "Take the name that the finding proposes, or one that keeps AWS's rules."},
    {"naming-convention", "The name departs from your organisation's template.",
     "Take the name that the finding proposes, or ask your platform team for an exemption."},
    {"deletion-protection", "Others need the resource, or it is marked as protected.",
     "Keep it with managementPolicies: [\"Observe\"], end the shares, or lift the protection "
     "(`truce protect --off`)."},
    {"status-names", "Names are read from statuses, and only a provider knows what is true.",
     "Leave the status to the provider; who restores backups belongs into the setting restorers."},
    {"rerolled-names", "The resource was refused; other names of its object change nothing.",
     "Mend what the refusal says, or take the resource out of the composite."},
    {"quota", "An account, region, namespace or service has as many as it may have.",
     "Ask your platform team for more (setting quotas), or give up what nobody needs: `truce "
     "quotas` shows how far they are used."},
    {"orphaning-update",
     "The composite drops an object that was restored; nobody would update or delete it any more.",
     "Adopt it first, or mark it with annotation truce.dev/orphan: \"true\"."},
    {"restored-twin", "Crossplane would make a second object of a resource that was restored.",
     "Put the restored object into the composite's resourceRefs first."},
    {"restored-delete", "The object was restored and no composite has adopted it yet.",
     "Let the composite adopt it before Crossplane collects what it does not know."},
    {"composition-change", "The change reaches composites that exist.",
     "Read what the finding lists before you apply the Composition."},
    {"composite-not-seen", "Crossplane does not see new composites of this kind.",
     "Restart Crossplane, then apply again."},
    {"claim-binding", "A composite has one claim; Crossplane refuses the newer one for ever.",
     "Name another composite, or leave spec.resourceRef out."},
    {"claim-takeover", "Who has the claim changes and deletes all that the composite made.",
     "Ask the owner to hand it over (`truce transfer`)."},
}};

constexpr std::array<std::pair<std::string_view, RuleHelp>, 5> kOfTheCheck = {{
    {"plain-scalar",
     {"a name without quotes is read as it was meant",
      "kubectl and Helm read an unquoted value that looks like a number, a date or a boolean as "
      "one.",
      "Write it with quotes."}},
    {"unknown-kind",
     {"every object's kind is known", "Of kinds that Truce does not know nothing is checked.",
      "If it declares cloud resources, add a DeclarationMapping; --fail-on-unknown makes it "
      "count."}},
    {"no-declaration",
     {"the input declares something", "A check of nothing finds nothing.",
      "Check what is passed in; a kind of your own needs a mapping rule."}},
    {"input",
     {"the input can be read as it was meant", "What is passed over is not checked.",
      "Mend what the finding names."}},
    {"admission",
     {"the API server admits it without a warning", "The API server, or another webhook, said so.",
      "Read the text of the finding."}},
}};

}  // namespace

RuleHelp HelpOf(std::string_view rule) {
  for (const auto& [id, help] : kOfTheCheck) {
    if (id == rule) return help;
  }
  const std::optional<Rule> known = RuleFromName(rule);
  const auto found = std::find_if(kOfPolicies.begin(), kOfPolicies.end(),
                                  [&](const PolicyHelp& each) { return each.id == rule; });
  if (!known || found == kOfPolicies.end()) {
    return {"a rule of the server", "", "Read the text of the finding."};
  }
  return {RuleList()[static_cast<std::size_t>(*known)].about, found->why, found->help};
}

}  // namespace truce
