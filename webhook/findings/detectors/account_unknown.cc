// Detector account-unknown: ProviderConfigs of which nobody knows to which account they lead. Mode
// warn: equal names in one account may pass. Counts the accounts for the report of coverage, too.
#include <optional>

#include "registry/identity/values.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

class UnknownAccounts final : public Examiner {
 public:
  void BeginPass() override {
    provisional_.clear();
    known_.clear();
  }

  void OnOwner(const Owner& owner, const PassPlace& at) override {
    const std::string account = owner.identity.account;
    if (!account.starts_with('?')) {
      if (!account.empty()) at.keep.push_back([this, account] { ++known_[account]; });
      return;
    }
    // One in a name space of its own leads to no account of AWS; and a key that holds no account
    // needs none: nobody is let in because it is not known.
    const bool is_outside = IsNameSpace(owner.identity.partition);
    if (!is_outside && owner.key.text.find('?') != std::string::npos) {
      at.keep.push_back([this, config = account.substr(1)] { ++provisional_[config]; });
    }
  }

  void EndPass(const Examination& at) override {
    std::vector<LiveFinding> found;
    for (const auto& [config, count] : provisional_) {
      LiveFinding finding{.detector = Detector::kAccountUnknown,
                          .subject = config,
                          .resource = ConfigForPeople(config)};
      finding.cause = "The AWS account of " + finding.resource +
                      " is not known: the same name declared through another ProviderConfig of the "
                      "same account only warns.";
      finding.evidence = Counted(count, "resource");
      const std::optional<Slot> slot = SlotFromText(config);
      finding.remedy = "Name its account in the setting providerConfigs";
      // A Namespace has no role, and its annotation alone makes ACK use none.
      const bool has_role = !slot || !slot->group.empty();
      finding.remedy += has_role ? ", or give it a role ARN that Truce can read." : ".";
      found.push_back(std::move(finding));
    }
    at.watched.With([&](WatchedCluster& cluster) {
      cluster.provisional_accounts = std::move(provisional_);
      cluster.accounts = std::move(known_);
    });
    at.report(Detector::kAccountUnknown, std::move(found));
  }

 private:
  AccountCounts provisional_;
  AccountCounts known_;
};

}  // namespace

constinit const DetectorInfo kAccountUnknownInfo{
    "account-unknown", Severity::kWarning,
    "It is not known which account a ProviderConfig leads to.",
    "Owned resources under a provisional account, because neither configuration nor an ARN says "
    "which one it is: two of one name in one account are not seen as one.",
    Make<UnknownAccounts>};

}  // namespace truce
