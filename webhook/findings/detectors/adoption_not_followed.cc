// Detector adoption-not-followed: an object and a claim or composite that name each other, but are
// of two chains.
//
// A link moves an existing chain only within its party, by a transfer, or when it has no party yet
// (W3 of DESIGN.md). Else nothing moves, and two owners believe that it is theirs. No false alarm
// by order: the object that is seen last joins both, where that is allowed. Mode warn.
#include "registry/ownership/lineage.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

// The parent that `object` names.
std::optional<Object> StatedParent(const Object& object, const Facts& facts) {
  if (const auto controller = ControllerOf(object)) return facts.ObjectByUid(*controller);
  const auto claim = ClaimOf(object);
  return claim ? facts.ObjectBySlot(*claim) : std::nullopt;
}

// As annotation truce.dev/transfer-to names a root.
std::string AsSuccessor(const Slot& slot) {
  std::string text = slot.kind + "." + slot.group + "/";
  if (!slot.ns.empty()) text += slot.ns + "/";
  return OneLine(text + slot.name, kShownBytesMax);
}

std::optional<LiveFinding> AdoptionNotFollowed(const Object& object, const PassPlace& at) {
  if (object.parent) return std::nullopt;
  const auto parent = StatedParent(object, at.facts);
  const bool is_followed = !parent || parent->root == object.root;
  if (is_followed || !Names(*parent, object.slot)) return std::nullopt;
  const std::string name = FullNameOf(object.slot);
  const std::string adopter = FullNameOf(parent->slot);
  const std::string owner = FullNameOf(object.root);
  LiveFinding finding = FindingAbout(Detector::kAdoptionNotFollowed, object.slot, name);
  finding.objects.push_back(parent->slot);
  finding.since = object.at;
  finding.cause = name +
                  (object.root == object.slot ? " keeps its own owner" : " stays with " + owner) +
                  ": " + adopter + " and it name each other, but nobody handed it over.";
  finding.evidence =
      "root of record " + owner + "; the root of " + adopter + " is " + FullNameOf(parent->root);
  finding.remedy = "To hand it over, set truce.dev/transfer-to: " + AsSuccessor(parent->root) +
                   " on " + FullNameOf(SpeakerFor(object.root, object.slot, at.facts)) +
                   ". Else take " + name + " out of what " + adopter +
                   " references, and its reference to " + adopter + " out of " + name + ".";
  return finding;
}

}  // namespace

constinit const DetectorInfo kAdoptionNotFollowedInfo{
    "adoption-not-followed",
    Severity::kWarning,
    "An object and a claim or composite name each other, but belong to two owners.",
    "Both objects as the registry knows them: each names the other, and the object has another "
    "party as owner and no transfer, so that the link does not count.",
    Make<ByPass<Detector::kAdoptionNotFollowed, AdoptionNotFollowed>>,
    "AdoptionNotFollowed",
    NamesOthers::kAnywhere};

}  // namespace truce
