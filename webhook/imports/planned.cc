#include "webhook/imports/planned.h"

#include <algorithm>
#include <utility>

#include "registry/identity/identity.h"
#include "webhook/imports/readers.h"

namespace truce {

bool IsGivenByAws(const TypeSpec& spec) {
  return spec.scope == Scope::kAssignedId ||
         std::any_of(spec.parts.begin(), spec.parts.end(), [](const KeyPart& part) {
           return part.source == KeyPart::Source::kAssignedExternalName;
         });
}

void AddDeclared(const TypeSpec& spec, const PartValues& values, const Catalogue& catalogue,
                 PlannedResource& out) {
  const auto lacks = [&](std::string_view name) {
    const auto at = values.find(name);
    return at == values.end() || at->second.empty();
  };
  if (spec.KeyHasRegion() && lacks("region")) {
    out.unclear = "its region is not known";
    out.remedy = "Name it with --region";
    return;
  }
  if (spec.KeyHasAccount() && lacks("account")) {
    out.unclear = "its account is not known";
    out.remedy = "Name it with --account";
    return;
  }
  MappedFacts facts = ReadConstants(spec, values, out.intent, catalogue);
  for (const BadName& bad : facts.bad_names) {
    out.unclear = "its " + bad.part + " \"" + bad.shown + "\" " + bad.reason;
  }
  for (DeclaredResource& each : facts.resources) {
    if (!each.partial && !each.key().empty()) out.declares.push_back(std::move(each));
  }
}

}  // namespace truce
