#include "webhook/cluster/detect/unreferenced.h"

#include <algorithm>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"

namespace truce {
namespace {

constexpr std::string_view kControllerLink = "uid:";
constexpr std::string_view kRestoredLink = "composed:";

// As a composite's resourceRefs are kept in Object::names.
std::string NameInRefs(const Slot& slot) {
  return slot.group + "/" + slot.kind + "/" + slot.ns + "/" + slot.name;
}

}  // namespace

std::optional<UnreferencedObject> Unreferenced(const Object& object, const Facts& facts) {
  if (object.link.starts_with(kRestoredLink) && !object.parent)
    return UnreferencedObject{object, {}};
  if (!object.link.starts_with(kControllerLink)) return std::nullopt;
  const auto controller = facts.ObjectByUid({object.link.substr(kControllerLink.size())});
  // A controller without any reference is none of Crossplane's, or has not written them yet.
  if (!controller || controller->names.empty()) return std::nullopt;
  const bool is_named = std::binary_search(controller->names.begin(), controller->names.end(),
                                           NameInRefs(object.slot));
  if (is_named) return std::nullopt;
  return UnreferencedObject{object, controller->slot};
}

UnreferencedPage UnreferencedAfter(const Facts& facts, const Slot& slot, std::string_view after,
                                   std::size_t limit) {
  ObjectPage all = facts.ObjectsOfKind(slot, after, limit);
  UnreferencedPage page;
  page.next = std::move(all.next);
  for (const Object& object : all.objects) {
    auto found = Unreferenced(object, facts);
    if (found) page.objects.push_back(std::move(*found));
  }
  return page;
}

std::vector<LiveFinding> UnreferencedDetector::Find(const std::vector<UnreferencedObject>& present,
                                                    Timestamp now) {
  std::map<Uid, Timestamp> since;
  std::vector<LiveFinding> out;
  for (const UnreferencedObject& found : present) {
    const auto known = since_.find(found.object.uid);
    const Timestamp begin = known == since_.end() ? now : known->second;
    since[found.object.uid] = begin;
    if (now - begin < kUnreferencedAfter) continue;
    const std::string name = OneLine(ForPeople(found.object.slot), kShownBytesMax);
    LiveFinding finding;
    finding.detector = Detector::kUnreferencedResource;
    finding.subject = ToText(found.object.slot);
    finding.objects = {found.object.slot};
    finding.mode = Mode::kWarn;
    finding.resource = name;
    finding.since = begin;
    if (found.composite) {
      const std::string composite = OneLine(ForPeople(*found.composite), kShownBytesMax);
      finding.objects.push_back(*found.composite);
      finding.cause = name + " is controlled by " + composite +
                      ", which does not reference it: nobody updates or deletes it any more, and a "
                      "second one may be made in its place.";
      finding.evidence = "resourceRefs of " + composite + " do not name it";
      finding.remedy = "Add it to spec.resourceRefs of " + composite +
                       " again, or make it only observe and delete it when a new one has taken its "
                       "place.";
    } else {
      finding.cause =
          name +
          " says that it is composed, but has no controller and no composite references "
          "it (a restored backup leaves such objects): nobody updates or deletes it.";
      finding.evidence =
          "annotation crossplane.io/composition-resource-name, no controller reference";
      finding.remedy =
          "Add it to the resourceRefs of its composite, which then adopts it; or make it only "
          "observe "
          "and delete it when a new one has taken its place.";
    }
    out.push_back(std::move(finding));
  }
  since_ = std::move(since);
  return out;
}

}  // namespace truce
