#include "policies/rule_list.h"

#include <array>

namespace truce {
namespace {

constexpr std::array<RuleSpec, kRuleCount> kRules = {{
    {Rule::kDuplicateOwnership, "duplicate-ownership", "a resource has one owner", false, false},
    {Rule::kResourceName, "resource-name", "names contain no invisible or look-alike characters",
     false, false},
    {Rule::kReservationCap, "reservation-cap",
     "a namespace stays below the cap of unconfirmed reservations", false, false},
    {Rule::kUnclearDeclaration, "unclear-declaration", "what is declared is protected", false,
     false},
    {Rule::kForeignAttachment, "foreign-attachment", "nothing is written into another's resource",
     false, true},
    {Rule::kAwsName, "aws-name", "AWS takes the name", false, true},
    {Rule::kNamingConvention, "naming-convention", "the name follows the template", true, true},
    {Rule::kObserverWithoutShare, "observer-without-share",
     "another's resource is observed where its owner shares it", true, true},
    {Rule::kDeletionProtection, "deletion-protection",
     "shared, observed or protected resources are not deleted", true, true},
    {Rule::kStatusNames, "status-names", "what a status shows is its provider's to say", false,
     false},
    {Rule::kAccountParty, "account-party", "a namespace declares in its own accounts", false, true},
}};

constexpr bool IsOrdered() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (kRules[i].rule != static_cast<Rule>(i) || kRules[i].id.empty()) return false;
  }
  return true;
}
static_assert(IsOrdered(), "the list has one line per enumerator of Rule, in their order");

}  // namespace

std::span<const RuleSpec> RuleList() { return kRules; }

}  // namespace truce
