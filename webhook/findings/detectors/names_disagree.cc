// Detector names-disagree: objects whose status or external name names another resource, or another
// account, than their fields and configuration do.
//
// Such a name is none of the resource's (N4 of DESIGN.md). It says that one of both is wrong: the
// account of the ProviderConfig, the external name, or a status that somebody else wrote. The
// registry says whose the resource is that a status shows. Mode warn.
#include "registry/identity/key_accounts.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/names.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::size_t kDisagreementsMax = 10'000;  // more are not kept

// Says whose the resource is that a status shows (`finding.key`), where that is another owner's;
// else clears the key.
void NameOwner(LiveFinding& finding, const Facts& facts) {
  const auto owner = finding.key.empty() ? std::nullopt : OwnerByName(finding.key, facts);
  finding.key = {};
  const auto object = facts.ObjectBySlot(finding.objects.front());
  if (!owner || (object && object->root == owner->root)) return;
  finding.key = owner->key;
  const std::string_view list = SourceOf(owner->root);
  finding.cause += " The status shows the " + TypeForPeople(owner->identity.type) + " of " +
                   (list.empty() ? FullNameOf(owner->root) : "list " + Quoted(list)) + ".";
}

class Disagreements final : public Examiner {
 public:
  void OnSighted(const ObservedVersion& observed, Timestamp now) override {
    const ObjectFacts& object = observed.facts;
    const bool of_another = !object.shown_key.empty();
    const bool disagrees =
        of_another || !object.account_disagreement.empty() || !object.name_finding.empty();
    const auto known = known_.find(object.uid);
    if (!disagrees) {
      if (known != known_.end()) known_.erase(known);
      return;
    }
    if (known == known_.end() && known_.size() >= kDisagreementsMax) return;
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
    known_[object.uid] = {object.slot, object.account_disagreement, std::move(name),
                          std::move(shown), since};
  }
  void OnGone(const Uid& uid, const Slot& /*slot*/) override { known_.erase(uid); }
  void OnKindState(const KindStatus& status) override {
    if (status.state != KindState::kUnserved) return;
    std::erase_if(known_, [&](const auto& entry) {
      return IsOf(entry.second.slot, status.kind.group_kind());
    });
  }

  Result<void> Examine(const Examination& at) override {
    const std::vector<LiveFinding> found = at.watched.With([&](const auto&) { return Find(); });
    std::vector<LiveFinding> named = found;
    const auto read = [&](const Facts& facts) {
      named = found;
      for (LiveFinding& finding : named) NameOwner(finding, facts);
    };
    if (!found.empty()) TRUCE_RETURN_IF_ERROR(at.store.Read(read, at.deadline));
    at.report(Detector::kNamesDisagree, std::move(named));
    return {};
  }

 private:
  struct Known {
    Slot slot;
    std::string account;  // ObjectFacts::account_disagreement
    std::string name;     // ObjectFacts::name_finding
    KeyText shown;        // the first name in the account that the status shows
    Timestamp since{};
  };

  std::vector<LiveFinding> Find() const {
    std::vector<LiveFinding> out;
    for (const auto& [uid, known] : known_) {
      const std::string name = FullNameOf(known.slot);
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

  std::map<Uid, Known> known_;
};

}  // namespace

constinit const DetectorInfo kNamesDisagreeInfo{
    "names-disagree",
    Severity::kWarning,
    "An object's status or external name shows another resource than the object declares.",
    "The last version of the object that the watch showed.",
    Make<Disagreements>,
    "NamesDisagree"};

}  // namespace truce
