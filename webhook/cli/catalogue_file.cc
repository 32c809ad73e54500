#include "webhook/cli/catalogue_file.h"

#include "webhook/config/load.h"

namespace truce {

Result<Catalogue> CatalogueWith(const std::string& types_file) {
  if (types_file.empty()) return Catalogue::BuiltIn();
  TRUCE_ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(types_file));
  return Catalogue::BuiltIn().WithOverrides(text, types_file);
}

}  // namespace truce
