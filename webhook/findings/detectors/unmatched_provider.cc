// Detector unmatched-provider: service accounts that do what only a provider does, and that no
// setting names as provider, restorer or composite controller.
//
// Its word proves no end (W7), so each deletion leaves an orphaned ownership. Look-alikes that are
// none: people, and an account that does so to one object. False alarm: a job that strips
// finalizers. It ends when the setting matches. Mode warn.
#include "policies/mode.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::size_t kUnmatchedObjects = 2;
// More users are not kept, nor more objects of each.
constexpr std::size_t kUsersMax = 100;
constexpr std::size_t kObjectsOfUserMax = 100;

class UnmatchedProviders final : public Examiner {
 public:
  void OnProviderAct(const ProviderAct& act, Timestamp now) override {
    if (!users_.contains(act.user) && users_.size() >= kUsersMax) return;
    Acts& acts = users_[act.user];
    if (acts.objects.empty()) acts.since = now;
    if (acts.objects.size() < kObjectsOfUserMax) acts.objects.insert(act.slot);
  }

  Result<void> Examine(const Examination& at) override {
    at.report(Detector::kUnmatchedProvider,
              at.watched.With([&](const auto&) { return Find(at.around.policy->providers); }));
    return {};
  }

 private:
  struct Acts {
    std::set<Slot> objects;
    Timestamp since{};
  };

  std::vector<LiveFinding> Find(const std::vector<std::string>& matched) {
    std::erase_if(users_, [&](const auto& entry) { return MatchesAny(entry.first, matched); });
    std::vector<LiveFinding> out;
    for (const auto& [user, acts] : users_) {
      if (acts.objects.size() < kUnmatchedObjects) continue;
      const std::string shown = OneLine(user, kShownBytesMax);
      LiveFinding finding{
          .detector = Detector::kUnmatchedProvider, .subject = user, .resource = shown};
      finding.since = acts.since;
      finding.cause = shown +
                      " does what only a provider does, and the setting providers does not match "
                      "it: whatever it deletes stays on record as orphaned, and blocks its name.";
      finding.evidence = "creation marks or finalizers of " +
                         Counted(acts.objects.size(), "object") + ", as " +
                         ShortNameOf(*acts.objects.begin());
      finding.remedy = "If a provider runs as this account, add \"" + shown +
                       "\" to the setting providers, beside what it holds. What was left orphaned "
                       "until then is listed by `truce list --state orphaned`; free what is gone "
                       "from AWS with `truce release`.";
      out.push_back(std::move(finding));
    }
    return out;
  }

  std::map<std::string, Acts> users_;
};

}  // namespace

constinit const DetectorInfo kUnmatchedProviderInfo{
    "unmatched-provider", Severity::kWarning,
    "A service account works as a provider, and the setting providers does not match it.",
    "Reviews since the start: of two objects or more it removed the provider's finalizer while "
    "they terminated, or wrote the marks external-create-pending and -succeeded.",
    Make<UnmatchedProviders>};

}  // namespace truce
