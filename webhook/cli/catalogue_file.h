// The catalogue that a command works with: built in, with the rows of a file when one is named.
#ifndef TRUCE_WEBHOOK_CLI_CATALOGUE_FILE_H_
#define TRUCE_WEBHOOK_CLI_CATALOGUE_FILE_H_

#include <string>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"

namespace truce {

// Errors: kNotFound, kUnavailable, kInvalidArgument ("FILE:LINE: …").
Result<Catalogue> CatalogueWith(const std::string& types_file);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_CATALOGUE_FILE_H_
