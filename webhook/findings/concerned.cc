#include "webhook/findings/concerned.h"

#include <algorithm>
#include <set>
#include <string>

#include "registry/identity/values.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// Of a finding with more objects the rest are of the same owners.
constexpr std::size_t kLookedAtMax = 64;

}  // namespace

void AddConcerned(LiveFinding& finding, const Facts& facts) {
  std::set<std::string> namespaces;
  std::set<std::string> services;
  const auto add = [&](const std::string& ns, const std::string& service) {
    namespaces.insert(ns);
    if (!service.empty()) services.insert(service);
  };
  if (!finding.key.empty()) {
    if (const auto owner = OwnerByName(finding.key, facts)) add(owner->root.ns, owner->service);
  }
  const std::size_t count = std::min(finding.objects.size(), kLookedAtMax);
  for (std::size_t i = 0; i < count; ++i) {
    const Slot& slot = finding.objects[i];
    const auto known = facts.ObjectBySlot(slot);
    // The root of what is not placed yet is itself.
    if (known && !known->root.kind.empty()) {
      add(known->root.ns, known->service);
    } else {
      add(slot.ns, "");
    }
  }
  finding.namespaces.assign(namespaces.begin(), namespaces.end());
  finding.services.assign(services.begin(), services.end());
}

bool Concerns(const LiveFinding& finding, std::string_view ns) {
  return std::binary_search(finding.namespaces.begin(), finding.namespaces.end(), ns);
}

LiveFinding DiscreetOf(const LiveFinding& finding, std::string_view ns) {
  LiveFinding out = finding;
  out.namespaces = {std::string(ns)};
  out.services.clear();
  std::erase_if(out.objects, [&](const Slot& slot) { return slot.ns != ns; });
  if (InfoOf(finding.detector).names_others == NamesOthers::kInEvidence) {
    out.evidence.clear();
    return out;
  }
  const auto subject = SlotFromText(finding.subject);
  if (subject && subject->ns != ns) {
    out.subject.clear();
    out.resource = "A resource";
  }
  out.cause = out.resource + ": your objects and another owner's are in conflict.";
  out.evidence.clear();
  out.remedy =
      "`truce conflicts` tells as much of it as you may read; else ask your platform team.";
  return out;
}

}  // namespace truce
