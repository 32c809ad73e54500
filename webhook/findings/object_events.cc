#include "webhook/findings/object_events.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsMax = 8;

std::optional<Slot> ParentOf(const Object& object) {
  return object.parent ? object.parent : ClaimOf(object);
}

// The composite's slot: an owner reference does not say whether its object has a namespace.
Slot SlotOf(const Refusal& refusal, const ObjectFinder& finder) {
  const ObjectRef& ref = refusal.composite;
  Slot slot{refusal.cluster, ref.group, ref.kind, ref.ns, ref.name};
  const auto served = finder.KindOf({ref.group, ref.kind});
  if (served && !served->namespaced) slot.ns.clear();
  return slot;
}

std::optional<ObjectEvent> EventFor(const Slot& slot, const Uid& uid, const ObjectFinder& finder) {
  const auto served = finder.KindOf({slot.group, slot.kind});
  if (!served || slot.name.empty()) return std::nullopt;
  ObjectEvent event;
  event.object = slot;
  event.uid = uid;
  event.version = served->version;
  return event;
}

// An Event is read by whoever reads its namespace: of what names objects of several owners it says
// no more than the disclosure level lets a denial say (I8).
std::string NoteOf(const LiveFinding& finding, bool discreet) {
  if (!discreet || !InfoOf(finding.detector).names_others)
    return finding.cause + "\n" + finding.remedy;
  return finding.resource + ": this object and another owner's stand against each other.\n" +
         "`truce conflicts` tells as much of it as you may read; else ask your platform team.";
}

}  // namespace

std::vector<ObjectEvent> EventsOf(const Refusal& refusal, const ObjectFinder& finder) {
  std::vector<ObjectEvent> out;
  // Not its name: a composite controller may make up a new one for each attempt, and the same text
  // is said once an hour only.
  const std::string note = "Composed " + refusal.kind + " refused: " + refusal.text;
  const auto add = [&](const Slot& slot, const Uid& uid) {
    auto event = EventFor(slot, uid, finder);
    if (!event) return;
    event->reason = "OwnershipRefused";
    event->root = refusal.root;
    event->note = note;
    out.push_back(std::move(*event));
  };
  auto known = refusal.composite.uid.empty() ? std::nullopt : finder.ByUid(refusal.composite.uid);
  add(known ? known->slot : SlotOf(refusal, finder), refusal.composite.uid);
  for (std::size_t depth = 0; known && depth < kChainLengthMax; ++depth) {
    const auto parent = ParentOf(*known);
    if (!parent) break;
    known = finder.BySlot(*parent);
    add(*parent, known ? known->uid : Uid{});
  }
  return out;
}

std::vector<ObjectEvent> EventsOf(const LiveFinding& finding, const ObjectFinder& finder) {
  std::vector<ObjectEvent> out;
  const std::string_view reason = InfoOf(finding.detector).event;
  if (reason.empty()) return out;
  for (const Slot& slot : finding.objects) {
    if (out.size() == kObjectsMax) break;
    const auto known = finder.BySlot(slot);
    auto event = EventFor(slot, known ? known->uid : Uid{}, finder);
    if (!event) continue;
    event->reason = reason;
    event->note = NoteOf(finding, finder.IsDiscreet());
    out.push_back(std::move(*event));
  }
  return out;
}

void RefusalEvents::OnReview(const ReviewRecord& record) {
  const bool is_refusal =
      record.verdict == Verdict::kDenied && record.composite != nullptr && !record.dry_run;
  // What was said is said again after an hour at the earliest.
  constexpr std::uint64_t kRepetitionsLooked = 3;
  const bool was_said = record.repetition > kRepetitionsLooked && record.repetition % 1024 != 0;
  if (!is_refusal || was_said) return;
  Refusal refusal{cluster_, std::string(record.kind), *record.composite, std::string(record.denial),
                  record.root == nullptr ? record.composite->uid.text : ToText(*record.root)};
  std::string root = refusal.root;
  writer_.PostLater(std::move(root),
                    [this, refusal = std::move(refusal)] { return EventsOf(refusal, finder_); });
}

void DenialEvents::OnReview(const ReviewRecord& record) {
  const bool is_told = record.verdict == Verdict::kDenied && !record.dry_run &&
                       record.composite == nullptr && !record.ns.empty() && !record.name.empty();
  if (!is_told) return;
  const std::string root = "denials in " + std::string(record.ns);
  Slot slot{cluster_, std::string(record.group), std::string(record.kind), std::string(record.ns),
            std::string(record.name)};
  const std::string note =
      std::string(record.operation) + " refused: " + std::string(record.denial);
  writer_.PostLater(root, [this, slot = std::move(slot), root, note] {
    std::vector<ObjectEvent> out;
    const auto known = finder_.BySlot(slot);
    auto event = EventFor(slot, known ? known->uid : Uid{}, finder_);
    if (!event) return out;
    event->reason = "OwnershipRefused";
    event->root = root;
    event->note = note;
    out.push_back(std::move(*event));
    return out;
  });
}

ObjectEvent ConfigurationRefusedEvent(const std::string& webhook, const std::string& problem,
                                      ClusterApi& api, Deadline deadline) {
  const ServedKind& kind = WebhookConfigurationKind();
  ObjectEvent event;
  event.object = {"", kind.group, kind.kind, "", webhook};
  event.version = kind.version;
  event.reason = "ConfigurationRefused";
  event.note = "A changed configuration was refused; the one before stays in force. " + problem;
  const auto found = api.Get(kind, "", webhook, deadline);
  if (!found.ok()) return event;
  const nlohmann::json object = ParseJson(found.value());
  const nlohmann::json::json_pointer uid("/metadata/uid");
  if (object.is_object() && object.contains(uid) && object[uid].is_string()) {
    event.uid.text = object[uid].get<std::string>();
  }
  return event;
}

}  // namespace truce
