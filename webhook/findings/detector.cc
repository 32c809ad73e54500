#include "webhook/findings/detector.h"

#include <algorithm>
#include <array>

#include "registry/base/name_table.h"

namespace truce {
namespace {

constexpr NameTable<Severity::kCritical> kSeverities("info", "warning", "critical");

constexpr std::array<DetectorInfo, kDetectorCount> kDetectors = {{
    {Detector::kTagWar, "tag-war", Severity::kCritical, "TagWar", true,
     "Managed resources of one cloud resource overwrite each other now.",
     "The registry has two owners' declarations of one resource, and both sides write: within 30 "
     "minutes the count of each object's Event UpdatedExternalResource grew twice, writes that "
     "follow a change of the object's own spec left out; or tags left a value and came back to it "
     "while nobody changed the object. It is over after 11 silent minutes."},
    {Detector::kOwnershipConflict, "ownership-conflict", Severity::kWarning, "OwnershipConflict",
     true, "One cloud resource is managed by more than one owner.",
     "Two rows of the registry with one key, each of an object that writes or deletes the "
     "resource, under two roots that are not of one chain. Labels and tags are never believed."},
    {Detector::kWebhookConfiguration, "webhook-configuration", Severity::kCritical, "", false,
     "The API server does not ask Truce, or not everything it should.",
     "The ValidatingWebhookConfiguration as the watch shows it, compared entry by entry with what "
     "this server needs."},
    {Detector::kUnreferencedResource, "unreferenced-resource", Severity::kWarning, "Unreferenced",
     false, "A composed resource is referenced by no composite.",
     "The object carries crossplane.io/composition-resource-name and has no controller, or its "
     "controller is known and does not name it in its resourceRefs; two looks at least 5 minutes "
     "apart, because Crossplane adopts a restored object at its next reconcile."},
    {Detector::kNeverReal, "never-real", Severity::kInfo, "", false,
     "An ownership of something that never came to be.",
     "A reservation that could not be proved for 15 minutes, or an object that exists for 2 hours "
     "and never showed an ARN, an id or Ready=True."},
    {Detector::kOrphanedOwnership, "orphaned-ownership", Severity::kInfo, "", false,
     "An owned resource that nobody declares any more.",
     "The last declaration ended, and nothing proves that the resource is gone: the registry keeps "
     "its ownership as orphaned or transferring."},
    {Detector::kAccountUnknown, "account-unknown", Severity::kWarning, "", false,
     "It is not known which account a ProviderConfig leads to.",
     "Owned resources under a provisional account, because neither configuration nor an ARN says "
     "which one it is: two of one name in one account are not seen as one."},
    {Detector::kNotCovered, "not-covered", Severity::kWarning, "", false,
     "Something is not protected.",
     "What the API server serves and what objects declare, compared with the rules, the webhook "
     "configuration and what may be read; `truce coverage` shows the whole comparison."},
    {Detector::kNamesDisagree, "names-disagree", Severity::kWarning, "NamesDisagree", false,
     "An object's status or external name shows another resource than the object declares.",
     "The last version of the object that the watch showed."},
    {Detector::kProviderConfigMoved, "provider-config-moved", Severity::kWarning, "", false,
     "A ProviderConfig leads to another account than before, and left resources behind.",
     "Orphaned ownerships in the account to which it led, whose objects are declared in the "
     "account to which it leads now."},
    {Detector::kAdoptionNotFollowed, "adoption-not-followed", Severity::kWarning,
     "AdoptionNotFollowed", true,
     "An object and a claim or composite name each other, but belong to two owners.",
     "Both objects as the registry knows them: each names the other, and the object has another "
     "party as owner and no transfer, so that the link does not count."},
    {Detector::kStaleUsage, "stale-usage", Severity::kWarning, "UsageLeftBehind", false,
     "A Usage is deleted, stays, and goes on refusing every deletion of what it protects.",
     "All at once: the Usage terminates for 2 minutes; it is composed; the object that it says "
     "uses lives and does not terminate; its composite lives, does not terminate, and does not "
     "name "
     "it in its resourceRefs. One made by hand, which waits by design, is information only."},
    {Detector::kCompositeNotSeen, "composite-not-seen", Severity::kWarning, "CompositeNotSeen",
     false, "Crossplane never looks at a composite.",
     "The composite has no condition and not Crossplane's finalizer for 2 minutes (10 in a "
     "backlog), and Crossplane lives: it made the composite for a claim that is Synced, or wrote "
     "something younger."},
    {Detector::kClaimTwice, "claim-twice", Severity::kWarning, "ClaimTwice", false,
     "One claim stands for more than one composite.",
     "Two composites whose spec.claimRef names the claim, or one whose claim names another in "
     "spec.resourceRef; two looks at least 5 minutes apart, and none of them terminates."},
    {Detector::kClaimStale, "claim-stale", Severity::kWarning, "ClaimStale", true,
     "A claim names a composite that is missing or bound to another claim.",
     "The claim's spec.resourceRef and the composite's spec.claimRef as the registry knows them; "
     "two looks at least 5 minutes apart, of a kind of which all objects are read, and the claim "
     "is "
     "neither paused nor terminates."},
    {Detector::kThrottledApi, "throttled-api", Severity::kCritical, "", true,
     "AWS refuses calls of an account because there are too many.",
     "Conditions and Events of managed resources that hold an error code by which AWS throttles, "
     "in the form in which its SDKs write it: on two objects, three times, or for 2 minutes."},
    {Detector::kDeletionBlocked, "deletion-blocked", Severity::kWarning, "DeletionBlocked", false,
     "Crossplane tries again and again to delete what only Usages that were left behind protect.",
     "Reviews of deletions by a composite controller, 3 within 10 minutes, of an object that "
     "lives, does not terminate and carries label crossplane.io/in-use; every Usage of it is one "
     "that stale-usage found."},
    {Detector::kUnreadObject, "unread-object", Severity::kWarning, "", false,
     "A stored object that Truce cannot read, so that nobody knows what it declares.",
     "Its last version as a list or the watch showed it: no JSON, or without uid or name. No "
     "depth, number or size makes an object unreadable."},
    {Detector::kUnmatchedProvider, "unmatched-provider", Severity::kWarning, "", false,
     "A service account works as a provider, and the setting providers does not match it.",
     "Reviews since the start: of two objects or more it removed the provider's finalizer while "
     "they terminated, or wrote the marks external-create-pending and -succeeded."},
    {Detector::kForeignAttachment, "foreign-attachment", Severity::kWarning, "ForeignAttachment",
     true, "An object writes into a resource of another owner, who does not share it.",
     "The registry's rows: an attachment (a bucket policy, a policy of a role) that an object "
     "manages, and the owner of the resource that it names, who is of another party and shares "
     "nothing with it at level attach. It was declared before that resource had an owner, or a "
     "mode of the rule let it in."},
    {Detector::kOutsideEndpoint, "outside-endpoint", Severity::kWarning, "", false,
     "A ProviderConfig sends its requests to another endpoint than AWS's.",
     "Field spec.endpoint of the ProviderConfig, as the watch showed it last. What it declares "
     "there is compared with nothing in AWS, unless setting outsideEndpoints leaves its host out."},
}};

// Each row stands where its detector says, with everything that people are told.
constexpr bool IsWhole() {
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const DetectorInfo& row = kDetectors[i];
    const bool in_place = row.detector == static_cast<Detector>(i);
    if (!in_place || row.name.empty() || row.finds.empty() || row.proof.empty()) return false;
  }
  return true;
}
static_assert(IsWhole());

}  // namespace

std::string_view Name(Severity severity) { return kSeverities.Of(severity); }

std::optional<Severity> SeverityFromName(std::string_view name) { return kSeverities.Find(name); }

const DetectorInfo& InfoOf(Detector detector) {
  return kDetectors[static_cast<std::size_t>(detector)];
}

std::string_view Name(Detector detector) { return InfoOf(detector).name; }

std::optional<Detector> DetectorFromName(std::string_view name) {
  const auto found = std::find_if(kDetectors.begin(), kDetectors.end(),
                                  [&](const DetectorInfo& row) { return row.name == name; });
  if (found == kDetectors.end()) return std::nullopt;
  return found->detector;
}

}  // namespace truce
