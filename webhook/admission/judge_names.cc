// Judgement: the rules about names, and the names that its denials propose.
#include <algorithm>
#include <string>
#include <utility>

#include "policies/rules.h"
#include "registry/ownership/names.h"
#include "webhook/admission/judge.h"

namespace truce {
namespace {

// Whether nobody has `name` for what `resource` declares, under any account that may be meant.
bool IsFree(const DeclaredResource& resource, const std::string& name, const Catalogue& catalogue,
            const Facts& facts) {
  const TypeSpec* type = catalogue.FindType(resource.identity.type);
  if (type == nullptr) return false;
  ResourceIdentity identity = resource.identity;
  const auto named = std::find_if(
      identity.parts.begin(), identity.parts.end(),
      [&](const auto& part) { return identity.parts.size() == 1 || part.second == resource.name; });
  if (named == identity.parts.end()) return false;
  named->second = name;
  for (const std::string* account : {&resource.identity.account, &resource.further_account}) {
    if (account == &resource.further_account && account->empty()) break;
    identity.account = *account;
    const std::optional<KeyText> key = KeyOf(identity, *type);
    if (!key || OwnerByName(*key, facts)) return false;
  }
  return true;
}

// `names`, with what `facts`, unless it is null, tells of names that somebody has.
NameCase CaseWith(const Facts* facts, const Catalogue& catalogue, NameCase names) {
  if (facts == nullptr) return names;
  names.is_free = [facts, &catalogue](const DeclaredResource& resource, const std::string& name) {
    return IsFree(resource, name, catalogue, *facts);
  };
  return names;
}

}  // namespace

void Judgement::JudgeNames(const Slot& root, const Facts* facts) {
  names_root_ = root;
  name_findings_ =
      NameFindings(CaseWith(facts, *policy_->catalogue, NamesOf(root)), WordingFor(root));
}

// A denial proposes a name only where asking for it again would not be denied for its name.
void Judgement::SuggestNames(const Facts& facts, const Decision& decision) {
  other_names_.clear();
  if (decision.denied.empty() && decision.conflicts.empty()) return;
  const Wording wording = WordingFor(decision.root);
  const auto propose = [&](const Clash& clash) {
    const DeclaredResource& resource = clash.resource;
    const auto renamed = [&](const Finding& finding) {
      return finding.key == resource.key && !finding.suggestion.empty();
    };
    // One name for all that is wrong with it.
    const auto found = std::find_if(name_findings_.begin(), name_findings_.end(), renamed);
    if (found != name_findings_.end()) return found->suggestion;
    std::string name = OtherName(clash, wording);
    if (name.empty()) return name;
    const NameCase names = CaseWith(&facts, *policy_->catalogue, NamesOf(decision.root));
    const bool is_good = names.is_free(resource, name) &&
                         (names.policy == nullptr || PassesNameRules(names, resource, name));
    return is_good ? name : std::string();
  };
  for (const std::vector<Clash>* clashes : {&decision.denied, &decision.conflicts}) {
    for (const Clash& clash : *clashes) other_names_[clash.resource.key] = propose(clash);
  }
}

// What exists keeps its name.
void Judgement::SettleNames(const Facts& facts) {
  const PartyId party = PartyOf(request_.object.slot);
  for (Finding& finding : name_findings_) {
    if (finding.mode == Mode::kEnforce && IsOnRecord(finding.key, party, facts)) {
      finding.mode = Mode::kWarn;
    }
  }
}

}  // namespace truce
