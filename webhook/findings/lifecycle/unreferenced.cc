#include "webhook/findings/lifecycle/unreferenced.h"

#include <string>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/ownership/lineage.h"

namespace truce {
std::optional<UnreferencedObject> Unreferenced(const Object& object, const Facts& facts) {
  if (OnlyLabelled(object) && !object.parent) return UnreferencedObject{object, {}};
  const auto uid = ControllerOf(object);
  if (!uid) return std::nullopt;
  const auto controller = facts.ObjectByUid(*uid);
  // A controller without any reference is none of Crossplane's, or has not written them yet.
  if (!controller || controller->names.empty()) return std::nullopt;
  if (Names(*controller, object.slot)) return std::nullopt;
  return UnreferencedObject{object, controller->slot};
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
