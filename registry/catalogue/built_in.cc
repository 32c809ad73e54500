// Catalogue::BuiltIn: the type file that the build compiled in.
#include <span>
#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"

namespace truce {

// Defined in the file that truce_catalogue_compiler writes.
std::span<const std::string_view> BuiltInCatalogueLines();

const Catalogue& Catalogue::BuiltIn() {
  static const Catalogue kCatalogue = [] {
    std::string text;
    for (const std::string_view line : BuiltInCatalogueLines()) text.append(line).append("\n");
    // The compiler of this text has checked it: an error here is a bug, and value() stops the
    // start.
    return Parse(text, "schema/aws-types.tsv").value();
  }();
  return kCatalogue;
}

}  // namespace truce
