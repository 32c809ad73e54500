#include "webhook/findings/lifecycle/stale_usages.h"

#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::string_view kProtection = "protection.crossplane.io";

std::string Mentioned(const Slot& slot) { return OneLine(ObjectForPeople(slot), kShownBytesMax); }

// The group of an apiVersion.
std::string_view GroupOf(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// What spec.of or spec.by names. A Usage in a namespace is about objects of that one, unless it
// says another.
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

// The used object is named by whoever wrote the Usage: what is no plain word must not reach a
// shell.
bool IsPlain(const Slot& slot) {
  return IsPlainWord(KubectlKind(slot)) && IsPlainWord(slot.name) &&
         (slot.ns.empty() || IsPlainWord(slot.ns));
}

}  // namespace

UsageSeen ReadUsage(Value object, const GroupKind& kind, const std::string& cluster) {
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

LiveFinding FindingOf(const StaleUsage& stale) {
  const UsageSeen& usage = stale.usage;
  const std::string user = Mentioned(stale.user.slot);
  const std::string used = usage.used ? Mentioned(*usage.used) : "the object that it protects";
  LiveFinding finding = FindingAbout(Detector::kStaleUsage, usage.slot, Mentioned(usage.slot));
  if (stale.composite) finding.objects.push_back(stale.composite->slot);
  if (!stale.composite) finding.mode = Mode::kAudit;
  if (usage.terminating) finding.since = *usage.terminating;
  finding.evidence = "terminating since " + FormatTimestamp(finding.since) + "; " + user +
                     " lives and is not terminating";
  if (stale.composite) {
    const std::string composite = Mentioned(stale.composite->slot);
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

std::string RemedyFor(const UsageSeen& usage) {
  std::string out;
  const std::string used = usage.used ? Mentioned(*usage.used) : "the used object";
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

void KnownUsages::OnUsage(UsageSeen usage, bool gone, Timestamp now) {
  if (usage.uid.text.empty()) return;
  if (gone) {
    known_.erase(usage.uid);
    return;
  }
  const std::uint64_t list = lists_[{usage.slot.group, usage.slot.kind}];
  const auto at = known_.try_emplace(usage.uid).first;
  if (usage.terminating && !at->second.usage.terminating) at->second.noticed = now;
  at->second.usage = std::move(usage);
  at->second.list = list;
}

void KnownUsages::OnGap(const GroupKind& kind, bool gap) {
  if (gap) {
    if (gaps_.insert(kind).second) ++lists_[kind];
    return;
  }
  if (gaps_.erase(kind) == 0) return;
  const std::uint64_t list = lists_[kind];
  std::erase_if(known_, [&](const auto& entry) {
    const Slot& slot = entry.second.usage.slot;
    return slot.group == kind.group && slot.kind == kind.kind && entry.second.list != list;
  });
}

void KnownUsages::Forget(const GroupKind& kind) {
  std::erase_if(known_, [&](const auto& entry) {
    const Slot& slot = entry.second.usage.slot;
    return slot.group == kind.group && slot.kind == kind.kind;
  });
}

std::vector<UsageSeen> KnownUsages::Lasting(Timestamp now) const {
  std::vector<UsageSeen> out;
  for (const auto& [uid, known] : known_) {
    const UsageSeen& usage = known.usage;
    const bool waits = usage.terminating && usage.user;
    if (waits && now - known.noticed >= kStaleUsageAfter) out.push_back(usage);
  }
  return out;
}

std::vector<Uid> KnownUsages::UsagesOf(const Slot& used) const {
  std::vector<Uid> out;
  for (const auto& [uid, known] : known_) {
    if (!known.usage.used) continue;
    Slot slot = *known.usage.used;
    slot.cluster = used.cluster;
    if (slot == used) out.push_back(uid);
  }
  return out;
}

}  // namespace truce
