// Detector provider-config-moved: ProviderConfigs that lead to another account than before. It ends
// with the last resource that is declared again or released. Mode warn.
#include <compare>

#include "registry/identity/evidence.h"
#include "registry/ownership/names.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

class MovedConfigs final : public Examiner {
 public:
  void BeginPass() override { moves_.clear(); }

  void OnOwner(const Owner& owner, const PassPlace& at) override {
    if (owner.record != Record::kOrphaned && owner.record != Record::kTransferring) return;
    const auto moved = ReadMovedReason(owner.record_reason);
    if (!moved || !IsAccount(owner.identity.account)) return;
    const Move move{moved->from.substr(1), owner.identity.account, moved->to};
    at.keep.push_back([this, move] { ++moves_[move]; });
  }

  void EndPass(const Examination& at) override {
    std::vector<LiveFinding> found;
    for (const auto& [move, count] : moves_) {
      LiveFinding finding{.detector = Detector::kProviderConfigMoved,
                          .subject = move.config + " " + move.from + " " + move.to,
                          .resource = ConfigForPeople(move.config)};
      finding.cause = finding.resource + " led to AWS account " + move.from +
                      " and leads to account " + move.to +
                      " now. What it managed before may still exist in account " + move.from +
                      ", and stays with its owners.";
      finding.evidence =
          Counted(count, "resource is", "resources are") + " orphaned in account " + move.from;
      finding.remedy = "If the move was a mistake, point the ProviderConfig back to account " +
                       move.from +
                       ". Else the owners declare what they still need through another "
                       "ProviderConfig of that account; find the rest with `truce list --state "
                       "orphaned`, ask each owner whether it may go, and free the names of what is "
                       "gone from AWS with `truce release`.";
      found.push_back(std::move(finding));
    }
    at.report(Detector::kProviderConfigMoved, std::move(found));
  }

 private:
  struct Move {
    std::string config;  // "prod/aws.upbound.io/ProviderConfig//default"
    std::string from;    // 12 digits
    std::string to;

    auto operator<=>(const Move&) const = default;
  };
  std::map<Move, std::uint64_t> moves_;  // how many resources each left behind
};

}  // namespace

constinit const DetectorInfo kProviderConfigMovedInfo{
    "provider-config-moved", Severity::kWarning,
    "A ProviderConfig leads to another account than before, and left resources behind.",
    "Orphaned ownerships in the account to which it led, whose objects are declared in the account "
    "to which it leads now.",
    Make<MovedConfigs>};

}  // namespace truce
