// Field paths of any text over objects of any form.
//
// Input: two paths in the first two lines (a bucket's name and region), the object as JSON after
// them.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "registry/base/assert.h"
#include "registry/identity/identity.h"
#include "tests/support/json_document.h"

namespace truce {
namespace {

void Check(std::string_view name, std::string_view region, std::string_view json) {
  for (const FieldPath::Root root : {FieldPath::Root::kObject, FieldPath::Root::kValues}) {
    Result<FieldPath> name_path = FieldPath::Parse(name, root);
    Result<FieldPath> region_path = FieldPath::Parse(region, root);
    if (!name_path.ok() || !region_path.ok()) continue;
    TRUCE_ASSERT(name_path.value().stars() <= FieldPath::kStepsMax);
    MappedResource bucket;
    bucket.type = "s3/Bucket";
    bucket.parts["name"].path = std::move(name_path).value();
    bucket.region.emplace().path = std::move(region_path).value();
    const Result<MappingRules> rules =
        MappingRules::Create({{{"g.io", "K"}, {}, {bucket}}}, Catalogue::BuiltIn());
    if (!rules.ok()) continue;
    const Document document = DocumentFromJson(json);
    const MappedFacts facts =
        ReadMapping(document.root(), rules.value().all().front(), Catalogue::BuiltIn());
    TRUCE_ASSERT(facts.resources.size() <= FieldPath::kMatchesMax * 2);
    for (const DeclaredResource& resource : facts.resources) {
      TRUCE_ASSERT(resource.mapped && resource.partial == resource.key().empty());
    }
  }
}

}  // namespace
}  // namespace truce

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t first = input.find('\n');
  if (first == std::string_view::npos) return 0;
  const std::size_t second = input.find('\n', first + 1);
  if (second == std::string_view::npos) return 0;
  truce::Check(input.substr(0, first), input.substr(first + 1, second - first - 1),
               input.substr(second + 1));
  return 0;
}
