#include "webhook/findings/object_events.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "registry/ownership/facts.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::size_t kObjectsMax = 8;
constexpr std::chrono::seconds kLookUpTime{10};

std::optional<Slot> ParentOf(const Object& object) {
  return object.parent ? object.parent : ClaimOf(object);
}

// The composite's slot: an owner reference does not say whether its object has a namespace.
Slot SlotOf(const Refusal& refusal, const KnownObjects& objects) {
  const ObjectRef& ref = refusal.composite;
  Slot slot{refusal.cluster, ref.group, ref.kind, ref.ns, ref.name};
  const auto served = objects.kind_of({ref.group, ref.kind});
  if (served && !served->namespaced) slot.ns.clear();
  return slot;
}

std::optional<ObjectEvent> EventFor(const Slot& slot, const Uid& uid, const KnownObjects& objects) {
  const auto served = objects.kind_of({slot.group, slot.kind});
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
  if (!discreet || InfoOf(finding.detector).names_others == NamesOthers::kNowhere)
    return finding.cause + "\n" + finding.remedy;
  return finding.resource + ": this object and another owner's are in conflict.\n" +
         "`truce conflicts` tells as much of it as you may read; else ask your platform team.";
}

template <typename Look>
std::optional<Object> LookUp(const Store& store, const Look& look) {
  std::optional<Object> found;
  const auto read = [&](const Facts& facts) { found = look(facts); };
  if (!store.Read(read, std::chrono::steady_clock::now() + kLookUpTime).ok()) found.reset();
  return found;
}

}  // namespace

std::optional<Object> KnownObjects::BySlot(const Slot& slot) const {
  return LookUp(store, [&](const Facts& facts) { return facts.ObjectBySlot(slot); });
}

std::optional<Object> KnownObjects::ByUid(const Uid& uid) const {
  return LookUp(store, [&](const Facts& facts) { return facts.ObjectByUid(uid); });
}

std::vector<ObjectEvent> EventsOf(const Refusal& refusal, const KnownObjects& objects) {
  std::vector<ObjectEvent> out;
  // Not its name: a composite controller may make up a new one for each attempt, and the same text
  // is said once an hour only.
  const std::string note = "Composed " + refusal.kind + " refused: " + refusal.text;
  const auto add = [&](const Slot& slot, const Uid& uid) {
    auto event = EventFor(slot, uid, objects);
    if (!event) return;
    event->reason = "OwnershipRefused";
    event->root = refusal.root;
    event->note = note;
    out.push_back(std::move(*event));
  };
  auto known = refusal.composite.uid.empty() ? std::nullopt : objects.ByUid(refusal.composite.uid);
  add(known ? known->slot : SlotOf(refusal, objects), refusal.composite.uid);
  for (std::size_t depth = 0; known && depth < kChainLengthMax; ++depth) {
    const auto parent = ParentOf(*known);
    if (!parent) break;
    known = objects.BySlot(*parent);
    add(*parent, known ? known->uid : Uid{});
  }
  return out;
}

std::vector<ObjectEvent> EventsOf(const LiveFinding& finding, const KnownObjects& objects,
                                  bool discreet) {
  std::vector<ObjectEvent> out;
  const std::string_view reason = InfoOf(finding.detector).event;
  if (reason.empty()) return out;
  for (const Slot& slot : finding.objects) {
    if (out.size() == kObjectsMax) break;
    const auto known = objects.BySlot(slot);
    auto event = EventFor(slot, known ? known->uid : Uid{}, objects);
    if (!event) continue;
    event->reason = reason;
    event->note = NoteOf(finding, discreet);
    out.push_back(std::move(*event));
  }
  return out;
}

void RefusalEvents::OnReview(const ReviewRecord& record) {
  const bool is_refusal =
      record.verdict == Verdict::kDenied && record.composite != nullptr && !record.dry_run;
  // A refusal is told again after an hour at the earliest.
  constexpr std::uint64_t kRepetitionsLooked = 3;
  const bool was_said = record.repetition > kRepetitionsLooked && record.repetition % 1024 != 0;
  if (!is_refusal || was_said) return;
  Refusal refusal{cluster_, std::string(record.kind), *record.composite, std::string(record.denial),
                  record.root == nullptr ? record.composite->uid.text : ToText(*record.root)};
  std::string root = refusal.root;
  writer_.PostLater(std::move(root),
                    [this, refusal = std::move(refusal)] { return EventsOf(refusal, objects_); });
}

void DenialEvents::OnReview(const ReviewRecord& record) {
  const bool is_reported = record.verdict == Verdict::kDenied && !record.dry_run &&
                           record.composite == nullptr && !record.ns.empty() &&
                           !record.name.empty();
  if (!is_reported) return;
  const std::string root = "denials in " + std::string(record.ns);
  Slot slot{cluster_, std::string(record.group), std::string(record.kind), std::string(record.ns),
            std::string(record.name)};
  const std::string note =
      std::string(record.operation) + " refused: " + std::string(record.denial);
  writer_.PostLater(root, [this, slot = std::move(slot), root, note] {
    std::vector<ObjectEvent> out;
    const auto known = objects_.BySlot(slot);
    auto event = EventFor(slot, known ? known->uid : Uid{}, objects_);
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
