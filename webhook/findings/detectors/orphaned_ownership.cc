// Detector orphaned-ownership: resources whose last declaration ended without proof that the
// resource is gone. Mode audit.
#include "registry/ownership/agreements.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

std::optional<LiveFinding> OrphanOf(const Owner& owner, const PassPlace& /*at*/) {
  const bool is_orphan = owner.record == Record::kOrphaned || owner.record == Record::kTransferring;
  if (!is_orphan) return std::nullopt;
  const std::string root = FullNameOf(owner.root);
  LiveFinding finding = FindingAbout(Detector::kOrphanedOwnership, owner);
  finding.cause = finding.resource + " may still exist in AWS, but nothing declares it any more; " +
                  root + " did last.";
  finding.evidence = owner.record_reason.empty() ? "its last declaration ended without proof"
                                                 : OneLine(owner.record_reason, kShownBytesMax);
  if (!owner.successor.empty()) {
    finding.evidence += "; offered to " + OneLine(owner.successor, kShownBytesMax);
  }
  finding.remedy = "Declare it again from " + root +
                   " or its namespace, or, when it is known to be gone, free the name with `" +
                   ReleaseCommand(owner) + "`.";
  return finding;
}

}  // namespace

constinit const DetectorInfo kOrphanedOwnershipInfo{
    "orphaned-ownership", Severity::kInfo, "An owned resource that nobody declares any more.",
    "The last declaration ended, and nothing proves that the resource is gone: the registry keeps "
    "its ownership as orphaned or transferring.",
    Make<ByPass<Detector::kOrphanedOwnership, OrphanOf>>};

}  // namespace truce
