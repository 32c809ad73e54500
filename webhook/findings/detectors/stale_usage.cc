// Detectors stale-usage and deletion-blocked: Usages of Crossplane that are deleted and stay, and
// go on refusing every deletion of what they protect. Mode warn.
//
// Crossplane before 1.18.2 leaves a Usage so when a Composition drops it, and a newer one does not
// heal it. One made by hand (neither annotation nor controller) waits for the using object by
// design before 1.18.2: mode audit. Look-alikes that are none: a claim was deleted and the using
// object is slow (the Usage does not terminate yet, or its composite is gone or terminates); a
// Usage that ends within seconds; a using object or composite of a kind that is not followed.
//
// Truce carries nothing of the remedy out: a Usage with replayDeletion that ends makes Crossplane
// repeat any deletion of the used object that was ever refused, even a dry run.
//
// Crossplane requeues a deletion that a Usage refuses (409) without a condition or Event, and its
// composite stays Synced: nothing but the reviews shows it. Look-alikes of deletion-blocked that
// are none: an object that another Usage protects rightly; deletions by people; dry runs.
#include <deque>

#include "policies/lifecycle/composition_change.h"
#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "registry/ownership/lineage.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::string_view kProtection = "protection.crossplane.io";
constexpr std::chrono::minutes kStaleUsageAfter{2};
constexpr std::size_t kBlockedTimes = 3;
constexpr std::chrono::minutes kBlockedWithin{10};
constexpr std::size_t kAskedMax = 2000;  // objects whose deletions are counted at once

// The facts that are read of a Usage.
struct UsageSeen {
  Slot slot;
  Uid uid;
  std::optional<Slot> used;              // spec.of, once Crossplane resolved it
  std::optional<Slot> user;              // spec.by; nothing: it protects without a using object
  std::optional<Uid> controller;         // of its ownerReferences
  std::optional<Timestamp> terminating;  // deletionTimestamp
  bool composed = false;
  bool replays = false;  // spec.replayDeletion
};

// A Usage with its proofs.
struct StaleUsage {
  UsageSeen usage;
  Object user;
  std::optional<Object> composite;  // nothing: the Usage was made by hand
};

// The group of an apiVersion.
std::string_view GroupOf(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// The object that spec.of or spec.by names. A Usage in a namespace is about objects of that one,
// unless it says another.
std::optional<Slot> ReadResource(Value resource, const Slot& usage) {
  const Value ref = resource.Child("resourceRef");
  const std::string_view name = StringOf(ref.Child("name"));
  if (name.empty()) return std::nullopt;
  const std::string_view ns = StringOf(ref.Child("namespace"));
  return Slot{usage.cluster, std::string(GroupOf(StringOf(resource.Child("apiVersion")))),
              std::string(StringOf(resource.Child("kind"))),
              ns.empty() ? usage.ns : std::string(ns), std::string(name)};
}

// "kubectl VERB KIND NAME [-n NAMESPACE]".
std::string Kubectl(const std::string& verb, const Slot& slot) {
  std::string out = "kubectl " + verb + " " + KubectlKind(slot) + " " + slot.name;
  if (!slot.ns.empty()) out += " -n " + slot.ns;
  return OneLine(out, kCommandBytesMax);
}

// The writer of the Usage names the used object: a name that is no plain word must not reach a
// shell.
bool IsPlain(const Slot& slot) {
  return IsPlainWord(KubectlKind(slot)) && IsPlainWord(slot.name) &&
         (slot.ns.empty() || IsPlainWord(slot.ns));
}

// Reads a Usage or ClusterUsage of any version.
UsageSeen ReadUsage(const OtherObject& other) {
  const Value object = other.object;
  const std::string cluster(other.cluster);
  const GroupKind kind = other.kind.group_kind();
  const ObjectView view = ViewObject(object);
  UsageSeen usage;
  usage.slot = {cluster, kind.group, kind.kind, std::string(view.ns), std::string(view.name)};
  usage.uid = {std::string(view.uid)};
  const Value spec = object.Child("spec");
  usage.used = ReadResource(spec.Child("of"), usage.slot);
  usage.user = ReadResource(spec.Child("by"), usage.slot);
  const Value owners = view.owner_references;
  for (Value at = owners.first(); at.exists(); at = owners.next(at)) {
    if (at.Child("controller").is_true()) {
      usage.controller = UidIn(cluster, StringOf(at.Child("uid")));
    }
  }
  usage.terminating = ParseTimestamp(StringOf(object.Child("metadata").Child("deletionTimestamp")));
  usage.composed = !view.Annotation("crossplane.io/composition-resource-name").empty();
  usage.replays = spec.Child("replayDeletion").is_true();
  return usage;
}

// The proofs that the registry holds.
std::optional<StaleUsage> StaleUsageOf(const UsageSeen& usage, const Facts& facts) {
  // Composed, but no more controlled (restored); or controlled by whatever: proves nothing.
  if (!usage.user || usage.composed != usage.controller.has_value()) return std::nullopt;
  auto user = facts.ObjectBySlot(*usage.user);
  if (!user) return std::nullopt;
  std::optional<Object> composite;
  if (usage.controller) {
    composite = facts.ObjectByUid(*usage.controller);
    if (!composite || !composite->composes || Names(*composite, usage.slot)) return std::nullopt;
  }
  return StaleUsage{usage, *std::move(user), std::move(composite)};
}

// How a Usage that is left behind is ended, by Crossplane's version; the trap of replayDeletion
// first.
std::string RemedyFor(const UsageSeen& usage) {
  std::string out;
  const std::string used = usage.used ? ShortNameOf(*usage.used) : "the used object";
  if (usage.replays) {
    out = "This Usage has replayDeletion: when it ends, Crossplane repeats any deletion of " +
          used + " that was ever refused, even a dry run. So, unless that shall go, first: `" +
          (usage.used && IsPlain(*usage.used) ? Kubectl("annotate", *usage.used)
                                              : "kubectl annotate KIND NAME") +
          " usage.crossplane.io/deletion-attempt-with-policy-`. Then: ";
  }
  const std::string label = "`" + Kubectl("label", usage.slot) + " crossplane.io/composite-`";
  if (usage.slot.group == kProtection) return out + label + ".";
  return out + "with Crossplane 1.18.2 or newer " + label + "; before 1.18.2 `" +
         Kubectl("patch", usage.slot) +
         R"( --type json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`.)";
}

LiveFinding StaleFinding(const StaleUsage& stale) {
  const UsageSeen& usage = stale.usage;
  const std::string user = ShortNameOf(stale.user.slot);
  const std::string used = usage.used ? ShortNameOf(*usage.used) : "the object that it protects";
  LiveFinding finding = FindingAbout(Detector::kStaleUsage, usage.slot, ShortNameOf(usage.slot));
  if (stale.composite) finding.objects.push_back(stale.composite->slot);
  if (!stale.composite) finding.mode = Mode::kAudit;
  if (usage.terminating) finding.since = *usage.terminating;
  finding.evidence = "terminating since " + FormatTimestamp(finding.since) + "; " + user +
                     " lives and is not terminating";
  if (stale.composite) {
    const std::string composite = ShortNameOf(stale.composite->slot);
    finding.cause = finding.resource + " was dropped by " + composite + ", but stays while " +
                    user + " lives, and goes on refusing every deletion of " + used +
                    ": a composite that drops it as well hangs without a condition or Event.";
    finding.evidence += "; resourceRefs of " + composite + " do not name the Usage";
  } else {
    finding.cause = finding.resource + " was deleted, but stays while " + user +
                    " lives, and goes on refusing every deletion of " + used +
                    ": Crossplane before 1.18.2 means it so.";
  }
  finding.remedy = RemedyFor(usage);
  return finding;
}

LiveFinding BlockedFinding(const Object& object, const std::vector<StaleUsage>& left_behind) {
  const std::string used = ShortNameOf(object.slot);
  const UsageSeen& first = left_behind.front().usage;
  LiveFinding finding = FindingAbout(Detector::kDeletionBlocked, object.slot, used);
  if (first.terminating) finding.since = *first.terminating;
  std::string usages;
  for (const StaleUsage& stale : left_behind) {
    finding.objects.push_back(stale.usage.slot);
    usages += (usages.empty() ? "" : ", ") + ShortNameOf(stale.usage.slot);
  }
  if (object.parent) finding.objects.push_back(*object.parent);
  const std::string composite = object.parent ? ShortNameOf(*object.parent) : "its composite";
  finding.cause = "Crossplane tries to delete " + used + " again and again, and only " + usages +
                  ", left behind, refuses it: " + composite +
                  " hangs without a condition or Event, and stays Synced.";
  finding.evidence = std::to_string(kBlockedTimes) + " deletions or more within " +
                     std::to_string(kBlockedWithin.count()) + " minutes; " + used +
                     " lives with label crossplane.io/in-use";
  finding.remedy = RemedyFor(first);
  return finding;
}

// Both detectors: the Usages that there are, and the deletions that composite controllers asked
// for.
class Usages final : public Examiner {
 public:
  std::vector<DetectorKind> Kinds(const std::string& /*webhook*/) const override {
    constexpr std::string_view kFinds = "Usages that are left behind";
    const std::string group(kProtection);
    return {AlwaysFollowed({"apiextensions.crossplane.io", "v1beta1", "Usage", "usages", false}, "",
                           kFinds),
            AlwaysFollowed({group, "v1beta1", "Usage", "usages", true}, "", kFinds),
            AlwaysFollowed({group, "v1beta1", "ClusterUsage", "clusterusages", false}, "", kFinds)};
  }

  void OnOther(const OtherObject& other) override {
    const GroupKind kind = other.kind.group_kind();
    if (!IsUsageKind(kind)) return;
    UsageSeen usage = ReadUsage(other);
    if (usage.uid.text.empty()) return;
    if (other.gone) {
      known_.erase(usage.uid);
      return;
    }
    Known& known = known_[usage.uid];
    if (usage.terminating && !known.usage.terminating) known.noticed = other.at;
    known.usage = std::move(usage);
    known.list = lists_[kind];
  }

  // A Usage that a list after a gap did not bring is gone.
  void OnKindState(const KindStatus& status) override {
    const GroupKind kind = status.kind.group_kind();
    if (!IsUsageKind(kind)) return;
    if (status.gap) {
      if (gaps_.insert(kind).second) ++lists_[kind];
    } else if (gaps_.erase(kind) > 0) {
      const std::uint64_t list = lists_[kind];
      std::erase_if(known_, [&](const auto& entry) {
        return IsOf(entry.second.usage.slot, kind) && entry.second.list != list;
      });
    }
    if (status.state != KindState::kUnserved) return;
    std::erase_if(known_, [&](const auto& entry) { return IsOf(entry.second.usage.slot, kind); });
  }

  void OnDeletionAsked(const Slot& slot, Timestamp now) override {
    if (asked_.size() >= kAskedMax && !asked_.contains(slot)) return;
    std::deque<Timestamp>& times = asked_[slot];
    times.push_back(now);
    if (times.size() > kBlockedTimes) times.pop_front();
  }
  void OnGone(const Uid& /*uid*/, const Slot& slot) override { asked_.erase(slot); }

  Result<void> Examine(const Examination& at) override;

 private:
  struct Known {
    UsageSeen usage;
    Timestamp noticed{};     // terminating since, by our clock
    std::uint64_t list = 0;  // the list that brought it last
  };

  // Those that terminate for kStaleUsageAfter, by our clock, and wait for a using object.
  std::vector<UsageSeen> Lasting(Timestamp now) const {
    std::vector<UsageSeen> out;
    for (const auto& [uid, known] : known_) {
      const bool waits = known.usage.terminating && known.usage.user;
      if (waits && now - known.noticed >= kStaleUsageAfter) out.push_back(known.usage);
    }
    return out;
  }

  // Those that were asked for kBlockedTimes within kBlockedWithin; forgets what is older.
  std::vector<Slot> AskedAgain(Timestamp now) {
    std::erase_if(asked_,
                  [&](const auto& entry) { return now - entry.second.back() >= kBlockedWithin; });
    std::vector<Slot> out;
    for (const auto& [slot, times] : asked_) {
      // A finding stays while the calls go on: Crossplane's back-off ends at a minute.
      if (times.size() == kBlockedTimes && times.back() - times.front() < kBlockedWithin) {
        out.push_back(slot);
      }
    }
    return out;
  }

  // Of `stale` those that protect `used`; none where another Usage does: it protects rightly.
  std::vector<StaleUsage> AllLeftBehind(const Slot& used,
                                        const std::vector<StaleUsage>& stale) const {
    std::vector<StaleUsage> out;
    for (const auto& [uid, known] : known_) {
      if (known.usage.used != used) continue;
      const auto found =
          std::find_if(stale.begin(), stale.end(),
                       [id = uid](const StaleUsage& each) { return each.usage.uid == id; });
      if (found == stale.end()) return {};
      out.push_back(*found);
    }
    return out;
  }

  std::map<Uid, Known> known_;
  std::map<GroupKind, std::uint64_t> lists_;     // gaps so far
  std::set<GroupKind> gaps_;                     // those that are listed anew
  std::map<Slot, std::deque<Timestamp>> asked_;  // the last kBlockedTimes each
};

Result<void> Usages::Examine(const Examination& at) {
  std::vector<UsageSeen> lasting;
  std::vector<Slot> again;
  at.watched.With([&](const auto&) {
    lasting = Lasting(at.now);
    again = AskedAgain(at.now);
  });
  std::vector<StaleUsage> stale;
  std::vector<Object> asked;  // that are to be deleted again and again
  const auto read = [&](const Facts& facts) {
    stale.clear();
    asked.clear();
    for (const UsageSeen& usage : lasting) {
      if (auto found = StaleUsageOf(usage, facts)) stale.push_back(*std::move(found));
    }
    for (const Slot& slot : again) {
      if (auto object = facts.ObjectBySlot(slot)) asked.push_back(*std::move(object));
    }
  };
  if (!lasting.empty()) TRUCE_RETURN_IF_ERROR(at.store.Read(read, at.deadline));
  std::vector<LiveFinding> found;
  std::vector<LiveFinding> blocked;
  at.watched.With([&](const WatchedCluster& cluster) {
    const auto lives = [&](const Object& object) { return cluster.Lives(object.uid, object.slot); };
    std::erase_if(stale, [&](const StaleUsage& one) {
      return !lives(one.user) || (one.composite && !lives(*one.composite));
    });
    for (const StaleUsage& one : stale) found.push_back(StaleFinding(one));
    for (const Object& object : asked) {
      if (!lives(object) || !cluster.marks.in_use.contains(object.uid)) continue;
      const std::vector<StaleUsage> usages = AllLeftBehind(object.slot, stale);
      if (!usages.empty()) blocked.push_back(BlockedFinding(object, usages));
    }
  });
  at.report(Detector::kStaleUsage, std::move(found));
  at.report(Detector::kDeletionBlocked, std::move(blocked));
  return {};
}

}  // namespace

constinit const DetectorInfo kStaleUsageInfo{
    "stale-usage",
    Severity::kWarning,
    "A Usage is deleted, stays, and goes on refusing every deletion of what it protects.",
    "All at once: the Usage terminates for 2 minutes; it is composed; the object that it says uses "
    "lives and does not terminate; its composite lives, does not terminate, and does not name it "
    "in its resourceRefs. One made by hand, which waits by design, is information only.",
    Make<Usages>,
    "UsageLeftBehind"};

constinit const DetectorInfo kDeletionBlockedInfo{
    "deletion-blocked",
    Severity::kWarning,
    "Crossplane tries again and again to delete what only Usages that were left behind protect.",
    "Reviews of deletions by a composite controller, 3 within 10 minutes, of an object that lives, "
    "does not terminate and carries label crossplane.io/in-use; every Usage of it is one that "
    "stale-usage found.",
    nullptr,
    "DeletionBlocked"};

}  // namespace truce
