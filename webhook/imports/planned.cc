#include "webhook/imports/planned.h"

#include <algorithm>
#include <utility>

#include "registry/identity/mapping.h"
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
  MappedResource resource;
  resource.type = spec.name;
  resource.intent = out.intent;
  for (const auto& [name, value] : values) {
    if (value.empty()) continue;
    const PartSource source{std::nullopt, value};
    if (name == "region") {
      resource.region = source;
    } else if (name == "account") {
      resource.account = source;
    } else {
      resource.parts.emplace(name, source);
    }
  }
  if (spec.KeyHasRegion() && !resource.region) {
    out.unclear = "its region is not known";
    out.remedy = "Name it with --region";
    return;
  }
  if (spec.KeyHasAccount() && !resource.account) {
    out.unclear = "its account is not known";
    out.remedy = "Name it with --account";
    return;
  }
  MappingRule rule;
  rule.declares.push_back(std::move(resource));
  MappedFacts facts = ReadMapping(Value(), rule, catalogue);
  for (const BadName& bad : facts.bad_names) {
    out.unclear = "its " + bad.part + " \"" + bad.shown + "\" " + bad.reason;
  }
  for (DeclaredResource& each : facts.resources) {
    if (!each.partial && !each.key().empty()) out.declares.push_back(std::move(each));
  }
}

}  // namespace truce
