// Detector unreferenced-resource: managed resources that say they are composed, but that no
// composite references (a restored backup, a crossed Composition update).
//
// Nobody but its provider cares for it, and its composite may make a second one of the same name.
// Labels are no evidence. A controller of a kind that is not followed proves nothing: then nothing
// is found. Mode warn.
#include "registry/ownership/lineage.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::chrono::minutes kUnreferencedAfter{5};  // several polls of a composite

struct UnreferencedObject {
  Object object;
  std::optional<Slot> composite;  // which does not name it; nothing: it has no controller
  // Its former composite, by its label, else the root that the registry remembers; nothing:
  // nobody knows.
  std::optional<Slot> former;
  bool former_lives = false;
  // Another object of the same chain that manages the same resource, in words; empty: none. Of
  // another root it is not named: a label is anyone's to write.
  std::string twin;
};

// The composite below `root` that the object's label names.
std::optional<Slot> CompositeBelow(const Slot& root, std::string_view label, const Facts& facts) {
  const std::vector<Object> below = facts.ChildrenOf(root);
  const auto found = std::find_if(below.begin(), below.end(), [&](const Object& each) {
    return each.composes && each.slot.name == label;
  });
  return found == below.end() ? std::nullopt : std::optional(found->slot);
}

// The composite that it was composed by: its label says so, and the chain that it belongs to, or
// that has the resource it declares, has a composite of that name. Else the root that the registry
// remembers.
std::optional<Slot> FormerOf(const Object& object, const Facts& facts) {
  const std::string_view label = LabelOf(object);
  if (object.parent) return object.parent;
  if (object.root != object.slot) {
    return CompositeBelow(object.root, label, facts).value_or(object.root);
  }
  for (const Row& row : facts.RowsOfUid(object.uid)) {
    const auto owner = facts.OwnerOf(row.id.resource);
    auto found = owner ? CompositeBelow(owner->root, label, facts) : std::nullopt;
    if (found) return found;
  }
  return std::nullopt;
}

// Another managed object of the same chain that manages what this one does.
std::string TwinOf(const Object& object, const std::optional<Slot>& former, const Facts& facts) {
  for (const Row& own : facts.RowsOfUid(object.uid)) {
    if (!Manages(own)) continue;
    for (const Row& other : facts.RowsOf(own.id.resource)) {
      if (!Manages(other) || !other.managed || other.terminating) continue;
      if (other.slot == object.slot) continue;
      if (other.root == own.root) return FullNameOf(other.slot);
      const auto twin = facts.ObjectByUid(other.id.uid);
      if (twin && former && twin->parent == former)
        return "another object of " + FullNameOf(*former);
    }
  }
  return {};
}

// No composite has it: none did, or the one that did is gone or names it no more.
bool IsLeft(const Object& object, const Facts& facts) {
  if (!object.parent) return true;
  const auto parent = facts.ObjectBySlot(*object.parent);
  return !parent || !Names(*parent, object.slot);
}

// The remedy for an object without a controller.
std::string AdoptionRemedy(const UnreferencedObject& found) {
  if (!found.twin.empty()) {
    return "Keep one of them. To keep the other one, delete this one without what it has in AWS: "
           "`" +
           OneLine(LetGoCommand(found.object.slot), kCommandBytesMax) + "`.";
  }
  const std::string composite = !found.former ? "its composite"
                                : found.former_lives
                                    ? FullNameOf(*found.former)
                                    : "the successor of " + FullNameOf(*found.former);
  return "Let " + composite +
         " adopt it: put its template back into the Composition and it into spec.resourceRefs; or "
         "patch its controller reference (metadata.ownerReferences). To be rid of it without the "
         "cloud resource: set spec.managementPolicies: [\"Observe\"], then delete it.";
}

// Whether `object` is unreferenced by what the registry knows.
std::optional<UnreferencedObject> Unreferenced(const Object& object, const Facts& facts) {
  UnreferencedObject out{.object = object};
  if (OnlyLabelled(object)) {
    if (!IsLeft(object, facts)) return std::nullopt;
    out.former = FormerOf(object, facts);
    out.former_lives = out.former && facts.ObjectBySlot(*out.former);
    out.twin = TwinOf(object, out.former, facts);
    return out;
  }
  const auto uid = ControllerOf(object);
  if (!uid) return std::nullopt;
  const auto controller = facts.ObjectByUid(*uid);
  // A controller without any reference is none of Crossplane's, or has not written them yet.
  if (!controller || controller->names.empty()) return std::nullopt;
  if (Names(*controller, object.slot)) return std::nullopt;
  out.composite = controller->slot;
  out.twin = TwinOf(object, out.composite, facts);
  return out;
}

LiveFinding FindingOf(const UnreferencedObject& found) {
  const std::string name = FullNameOf(found.object.slot);
  LiveFinding finding = FindingAbout(Detector::kUnreferencedResource, found.object.slot, name);
  const bool has_twin = !found.twin.empty();
  const std::string danger =
      has_twin ? "; " + found.twin +
                     " has the same cloud resource, and whichever of both is deleted deletes it"
               : "";
  if (found.composite) {
    const std::string composite = FullNameOf(*found.composite);
    finding.objects.push_back(*found.composite);
    finding.cause = name + " is controlled by " + composite +
                    ", which does not reference it: nobody updates or deletes it any more" +
                    danger + (has_twin ? "." : ", and a second one may be made in its place.");
    finding.evidence = "resourceRefs of " + composite + " do not name it";
    finding.remedy =
        has_twin ? AdoptionRemedy(found)
                 : "Add it to spec.resourceRefs of " + composite +
                       " again, or make it only observe and delete it when a new one has taken "
                       "its place.";
    return finding;
  }
  if (found.former) finding.objects.push_back(*found.former);
  finding.cause = name + " says that it is composed" +
                  (found.former ? ", for " + FullNameOf(*found.former) + "," : ",") +
                  " but has no controller and no composite references it (a restored backup leaves "
                  "such objects): nobody updates or deletes it" +
                  danger + ".";
  finding.evidence = "annotation crossplane.io/composition-resource-name, no controller reference";
  finding.remedy = AdoptionRemedy(found);
  return finding;
}

class UnreferencedResources final : public Examiner {
 public:
  void BeginPass() override { found_.clear(); }

  void OnObject(const Object& object, Role role, const PassPlace& at) override {
    if (role != Role::kManaged) return;
    const auto found = Unreferenced(object, at.facts);
    if (!found) return;
    at.keep.push_back([this, uid = object.uid.text, finding = FindingOf(*found)] {
      found_.emplace_back(uid, finding);
    });
  }

  void EndPass(const Examination& at) override {
    at.report(Detector::kUnreferencedResource, lasting_.Of(std::move(found_), at.now));
  }

 private:
  std::vector<std::pair<std::string, LiveFinding>> found_;  // by uid
  LastingFindings lasting_{kUnreferencedAfter};
};

}  // namespace

constinit const DetectorInfo kUnreferencedResourceInfo{
    "unreferenced-resource",
    Severity::kWarning,
    "A composed resource is referenced by no composite.",
    "The object carries crossplane.io/composition-resource-name and has no controller, or its "
    "controller is known and does not name it in its resourceRefs; two looks at least 5 minutes "
    "apart, because Crossplane adopts a restored object at its next reconcile.",
    Make<UnreferencedResources>,
    "Unreferenced"};

}  // namespace truce
