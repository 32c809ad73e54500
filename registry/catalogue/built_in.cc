// Catalogue::BuiltIn: the type files that the build compiled in.
#include <span>
#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"

namespace truce {

// Defined in the file that truce_catalogue_compiler writes.
std::span<const std::string_view> BuiltInTypeLines();
std::span<const std::string_view> BuiltInNameLines();

namespace {

std::string TextOf(std::span<const std::string_view> lines) {
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  return text;
}

}  // namespace

const Catalogue& Catalogue::BuiltIn() {
  static const Catalogue kCatalogue = [] {
    const std::string types = TextOf(BuiltInTypeLines());
    const std::string names = TextOf(BuiltInNameLines());
    // The compiler of these texts has checked them: an error here is a bug, and value() stops the
    // start.
    return Parse({types, "schema/aws-types.tsv"}, {names, "schema/external-names.tsv"}).value();
  }();
  return kCatalogue;
}

}  // namespace truce
