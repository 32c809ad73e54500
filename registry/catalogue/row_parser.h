// From the text of a type file to types; the inside of Catalogue::Parse and WithOverrides.
#ifndef TRUCE_REGISTRY_CATALOGUE_ROW_PARSER_H_
#define TRUCE_REGISTRY_CATALOGUE_ROW_PARSER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"

namespace truce {

// The types that `text` states, in its order. A row of a type that `known` (sorted by name) holds
// starts from it and changes the columns that the file has; other rows start empty. Every row is
// checked by itself. Errors: kInvalidArgument, "FILE:LINE: COLUMN: ...".
Result<std::vector<TypeSpec>> ParseTypes(std::string_view text, std::string_view file_name,
                                         std::span<const TypeSpec> known);

// Checks across rows: kinds and names are unique, references exist, spaces agree. `types`
// sorted by name. Errors as above, with the place of the row at fault.
Result<void> CheckTypes(std::span<const TypeSpec> types);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_ROW_PARSER_H_
