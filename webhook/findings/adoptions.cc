#include "webhook/findings/adoptions.h"

#include <string>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"
#include "webhook/findings/conflicts.h"

namespace truce {
namespace {

// The parent that `object` names.
std::optional<Object> StatedParent(const Object& object, const Facts& facts) {
  if (const auto controller = ControllerOf(object)) return facts.ObjectByUid(*controller);
  const auto claim = ClaimOf(object);
  return claim ? facts.ObjectBySlot(*claim) : std::nullopt;
}

std::string Shown(const Slot& slot) { return OneLine(ForPeople(slot), kShownBytesMax); }

// As annotation truce.dev/transfer-to names a root.
std::string AsSuccessor(const Slot& slot) {
  std::string text = slot.kind + "." + slot.group + "/";
  if (!slot.ns.empty()) text += slot.ns + "/";
  return OneLine(text + slot.name, kShownBytesMax);
}

}  // namespace

std::optional<Adoption> AdoptionNotFollowed(const Object& object, const Facts& facts) {
  if (object.parent) return std::nullopt;
  auto parent = StatedParent(object, facts);
  if (!parent || parent->root == object.root) return std::nullopt;
  if (!Names(*parent, object.slot)) return std::nullopt;
  return Adoption{object, *std::move(parent), SpeakerFor(object.root, object.slot, facts)};
}

std::vector<LiveFinding> FindAdoptions(const std::vector<Adoption>& adoptions) {
  std::vector<LiveFinding> out;
  for (const auto& [object, parent, speaker] : adoptions) {
    const std::string name = Shown(object.slot);
    const std::string adopter = Shown(parent.slot);
    const std::string owner = Shown(object.root);
    LiveFinding finding = FindingAbout(Detector::kAdoptionNotFollowed, object.slot, name);
    finding.objects.push_back(parent.slot);
    finding.since = object.at;
    finding.cause = object.root == object.slot
                        ? name + " keeps its own owner: " + adopter +
                              " and it name each other, but nobody handed it over."
                        : name + " stays with " + owner + ": " + adopter +
                              " and it name each other, but nobody handed it over.";
    finding.evidence =
        "root of record " + owner + "; the root of " + adopter + " is " + Shown(parent.root);
    finding.remedy = "To hand it over, set truce.dev/transfer-to: " + AsSuccessor(parent.root) +
                     " on " + Shown(speaker) + ". Else take " + name + " out of what " + adopter +
                     " references, and its reference to " + adopter + " out of " + name + ".";
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace truce
