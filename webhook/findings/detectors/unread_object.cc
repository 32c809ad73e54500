// Detector unread-object: stored objects that cannot be read. Mode warn: resources that such an
// object declares are not protected, and second declarations of them are not found.
#include "registry/base/text.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::size_t kUnreadMax = 2000;  // more are not kept

class UnreadObjects final : public Examiner {
 public:
  void OnUnread(const Slot& slot, const std::string& why, Timestamp now) override {
    const auto found = unread_.find(slot);
    if (why.empty()) {
      unread_.erase(slot);
    } else if (found != unread_.end()) {
      found->second.why = why;
    } else if (unread_.size() < kUnreadMax) {
      unread_[slot] = {why, now};
    }
  }
  void OnSighted(const ObservedVersion& observed, Timestamp /*now*/) override {
    unread_.erase(observed.facts.slot);
  }
  void OnGone(const Uid& /*uid*/, const Slot& slot) override { unread_.erase(slot); }
  // The kind is listed anew, or served no more.
  void OnKindState(const KindStatus& status) override {
    const bool begins_anew = status.state == KindState::kListing ||
                             status.state == KindState::kRelisting ||
                             status.state == KindState::kUnserved;
    if (!begins_anew) return;
    std::erase_if(unread_,
                  [&](const auto& one) { return IsOf(one.first, status.kind.group_kind()); });
  }

  Result<void> Examine(const Examination& at) override {
    at.report(Detector::kUnreadObject, at.watched.With([&](const auto&) { return Find(); }));
    return {};
  }

 private:
  struct One {
    std::string why;
    Timestamp since{};
  };

  std::vector<LiveFinding> Find() const {
    std::vector<LiveFinding> out;
    for (const auto& [slot, one] : unread_) {
      const std::string name = slot.name.empty()
                                   ? "an object of kind " + KindForPeople(slot.kind, slot.group)
                                   : ShortNameOf(slot);
      LiveFinding finding = FindingAbout(Detector::kUnreadObject, slot, name);
      finding.since = one.since;
      finding.cause = "Truce cannot read " + name +
                      " as the API server has it: what it declares is neither owned nor compared.";
      finding.evidence = OneLine(one.why, kShownBytesMax);
      finding.remedy =
          "Look at it with kubectl get -o yaml, and apply it again; if it looks sound, report this "
          "as a fault of Truce. Its deletion may delete what it has in AWS.";
      out.push_back(std::move(finding));
    }
    return out;
  }

  std::map<Slot, One> unread_;
};

}  // namespace

constinit const DetectorInfo kUnreadObjectInfo{
    "unread-object", Severity::kWarning,
    "A stored object that Truce cannot read, so that nobody knows what it declares.",
    "Its last version as a list or the watch showed it: no JSON, or without uid or name. No depth, "
    "number or size makes an object unreadable.",
    Make<UnreadObjects>};

}  // namespace truce
