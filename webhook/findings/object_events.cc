#include "webhook/findings/object_events.h"

#include <string_view>
#include <utility>

#include "registry/ownership/lineage.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsMax = 8;

std::optional<Slot> ParentOf(const Object& object) {
  return object.parent ? object.parent : ClaimOf(object);
}

// The composite's slot: an owner reference does not say whether its object has a namespace.
Slot SlotOf(const Refusal& refusal, const ObjectLookup& lookup) {
  const ObjectRef& ref = refusal.composite;
  Slot slot{refusal.cluster, ref.group, ref.kind, ref.ns, ref.name};
  const auto served = lookup.kind({ref.group, ref.kind});
  if (served && !served->namespaced) slot.ns.clear();
  return slot;
}

std::optional<ObjectEvent> EventFor(const Slot& slot, const Uid& uid, const ObjectLookup& lookup) {
  const auto served = lookup.kind({slot.group, slot.kind});
  if (!served || slot.name.empty()) return std::nullopt;
  ObjectEvent event;
  event.object = slot;
  event.uid = uid;
  event.version = served->version;
  return event;
}

std::string_view ReasonOf(Detector detector) {
  switch (detector) {
    case Detector::kTagWar: return "TagWar";
    case Detector::kOwnershipConflict: return "OwnershipConflict";
    case Detector::kUnreferencedResource: return "Unreferenced";
    case Detector::kNamesDisagree: return "NamesDisagree";
    case Detector::kAdoptionNotFollowed: return "AdoptionNotFollowed";
    case Detector::kWebhookConfiguration:
    case Detector::kNeverReal:
    case Detector::kOrphanedOwnership:
    case Detector::kAccountUnknown:
    case Detector::kProviderConfigMoved:
    case Detector::kNotCovered: break;
  }
  return {};
}

// An Event is read by whoever reads its namespace: of what names objects of several owners it says
// no more than the disclosure level lets a denial say (I8).
std::string NoteOf(const LiveFinding& finding, bool discreet) {
  const bool names_others = finding.detector == Detector::kTagWar ||
                            finding.detector == Detector::kOwnershipConflict ||
                            finding.detector == Detector::kAdoptionNotFollowed;
  if (!discreet || !names_others) return finding.cause + "\n" + finding.remedy;
  return finding.resource + ": this object and another owner's stand against each other.\n" +
         "`truce conflicts` tells as much of it as you may read; else ask your platform team.";
}

}  // namespace

std::vector<ObjectEvent> EventsOf(const Refusal& refusal, const ObjectLookup& lookup) {
  std::vector<ObjectEvent> out;
  // Not its name: a composite controller may make up a new one for each attempt, and the same text
  // is said once an hour only.
  const std::string note = "Composed " + refusal.kind + " refused: " + refusal.text;
  const auto add = [&](const Slot& slot, const Uid& uid) {
    auto event = EventFor(slot, uid, lookup);
    if (!event) return;
    event->reason = "OwnershipRefused";
    event->note = note;
    out.push_back(std::move(*event));
  };
  auto known = refusal.composite.uid.empty() ? std::nullopt : lookup.by_uid(refusal.composite.uid);
  add(known ? known->slot : SlotOf(refusal, lookup), refusal.composite.uid);
  for (std::size_t depth = 0; known && depth < kChainLengthMax; ++depth) {
    const auto parent = ParentOf(*known);
    if (!parent) break;
    known = lookup.by_slot(*parent);
    add(*parent, known ? known->uid : Uid{});
  }
  return out;
}

std::vector<ObjectEvent> EventsOf(const LiveFinding& finding, const ObjectLookup& lookup) {
  std::vector<ObjectEvent> out;
  const std::string_view reason = ReasonOf(finding.detector);
  if (reason.empty()) return out;
  for (const Slot& slot : finding.objects) {
    if (out.size() == kObjectsMax) break;
    const auto known = lookup.by_slot(slot);
    auto event = EventFor(slot, known ? known->uid : Uid{}, lookup);
    if (!event) continue;
    event->reason = reason;
    event->note = NoteOf(finding, lookup.discreet && lookup.discreet());
    out.push_back(std::move(*event));
  }
  return out;
}

void RefusalEvents::OnReview(const ReviewRecord& record) {
  const bool is_refusal =
      record.verdict == Verdict::kDenied && record.composite != nullptr && !record.dry_run;
  if (!is_refusal) return;
  Refusal refusal{cluster_, std::string(record.kind), *record.composite,
                  std::string(record.denial)};
  writer_.PostLater(
      [refusal = std::move(refusal), lookup = lookup_] { return EventsOf(refusal, lookup); });
}

}  // namespace truce
