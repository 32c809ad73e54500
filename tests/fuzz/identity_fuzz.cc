// Objects of any form: reading them ends, is repeatable, and every key is canonical.
//
// Input: "Kind.group" in the first line, the object as JSON after it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "registry/base/assert.h"
#include "registry/identity/identity.h"
#include "tests/support/identity_text.h"
#include "tests/support/json_document.h"

namespace truce {
namespace {

void CheckResource(const DeclaredResource& resource, const Catalogue& catalogue) {
  const TypeSpec* type = catalogue.FindType(resource.identity.type);
  TRUCE_ASSERT(type != nullptr);
  TRUCE_ASSERT(IdentityFromText(ToText(resource.identity)) == resource.identity);
  for (const char c : resource.name) TRUCE_ASSERT(static_cast<unsigned char>(c) >= ' ');
  TRUCE_ASSERT(resource.key().empty() != resource.missing.empty());
  if (resource.key().empty()) return;
  TRUCE_ASSERT(KeyOf(resource.identity, *type) == resource.key());
  for (const char c : resource.key().text) TRUCE_ASSERT(c > ' ' && c < 0x7F);
  ParentKeyOf(resource.identity, *type, catalogue);
}

void CheckObject(std::string_view kind, std::string_view json) {
  const std::size_t dot = kind.find('.');
  if (dot == std::string_view::npos) return;
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  rules.service_labels = {"team"};
  const GroupKind group_kind{std::string(kind.substr(dot + 1)), std::string(kind.substr(0, dot))};
  const Document document = DocumentFromJson(json);
  const ObjectFacts facts = Identify(document.root(), group_kind, rules);
  TRUCE_ASSERT(Identify(document.root(), group_kind, rules) == facts);
  TRUCE_ASSERT(facts.resources.size() <= kResourcesMax + 1);
  for (const BadName& name : facts.bad_names) {
    for (const char c : name.shown) TRUCE_ASSERT(c >= ' ' && c < 0x7F);
  }
  for (const DeclaredResource& resource : facts.resources) {
    CheckResource(resource, *rules.catalogue);
  }
}

}  // namespace
}  // namespace truce

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  truce::CheckObject(input.substr(0, line), input.substr(line + 1));
  return 0;
}
