#include "webhook/findings/disagreements.h"

#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/identity/key_accounts.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {

void Disagreements::OnObject(const ObjectFacts& object, Timestamp now) {
  const bool of_another = !object.shown_key.empty();
  const bool disagrees =
      of_another || !object.account_disagreement.empty() || !object.name_finding.empty();
  const auto known = known_.find(object.uid);
  if (!disagrees) {
    if (known != known_.end()) known_.erase(known);
    return;
  }
  if (known == known_.end() && known_.size() >= kMax) return;
  const Timestamp since = known == known_.end() ? now : known->second.since;
  KeyText shown = object.shown_key;
  if (!of_another && !object.account_disagreement.empty() && !object.shown_account.empty()) {
    for (const DeclaredResource& resource : object.resources) {
      if (AccountIn(resource.key()).empty()) continue;
      shown = WithAccount(resource.key(), object.shown_account);
      break;
    }
  }
  std::string name = object.name_finding;
  if (name.empty() && of_another) {
    name = "its status names another resource than the fields: " + object.shown_key.text;
  }
  known_[object.uid] = {object.slot, object.account_disagreement, std::move(name), std::move(shown),
                        since};
}

void Disagreements::Forget(const GroupKind& kind) {
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second.slot.group == kind.group && entry.second.slot.kind == kind.kind;
  });
}

std::vector<LiveFinding> Disagreements::Find() const {
  std::vector<LiveFinding> out;
  for (const auto& [uid, known] : known_) {
    const std::string name = OneLine(ForPeople(known.slot), kShownBytesMax);
    const bool of_account = !known.account.empty();
    LiveFinding finding = FindingAbout(Detector::kNamesDisagree, known.slot, name);
    finding.since = known.since;
    finding.key = known.shown;
    finding.cause = "It is not clear which resource " + name +
                    " is: " + OneLine(of_account ? known.account : known.name, kShownBytesMax) +
                    ". Truce goes by its fields and its ProviderConfig.";
    finding.evidence =
        of_account && !known.name.empty() ? OneLine(known.name, kShownBytesMax) : "as last seen";
    finding.remedy =
        of_account
            ? "Its owner looks in AWS which resource it manages. If the status is right, correct "
              "the fields, or the account of its ProviderConfig (setting providerConfigs, or its "
              "role); if not, remove the wrong status: its provider writes it anew."
            : "Its owner looks in AWS which resource it manages, and corrects the annotation "
              "crossplane.io/external-name, or the fields.";
    out.push_back(std::move(finding));
  }
  return out;
}

void NameOwners(std::vector<LiveFinding>& findings, const Facts& facts) {
  for (LiveFinding& finding : findings) {
    const auto owner = finding.key.empty() ? std::nullopt : OwnerByName(finding.key, facts);
    finding.key = {};
    const auto object = facts.ObjectBySlot(finding.objects.front());
    if (!owner || (object && object->root == owner->root)) continue;
    finding.key = owner->key;
    const std::string_view list = SourceOf(owner->root);
    finding.cause +=
        " The status shows the " + TypeForPeople(owner->identity.type) + " of " +
        (list.empty() ? OneLine(ForPeople(owner->root), kShownBytesMax) : "list " + Quoted(list)) +
        ".";
  }
}

}  // namespace truce
