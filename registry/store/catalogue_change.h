// A catalogue that spells names otherwise than the one the store was written with.
#ifndef TRUCE_REGISTRY_STORE_CATALOGUE_CHANGE_H_
#define TRUCE_REGISTRY_STORE_CATALOGUE_CHANGE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/names.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"

namespace truce {

struct PartyRules;

struct CatalogueChange {
  Spelling spelling;    // of the catalogue
  std::string version;  // of the catalogue
  const PartyRules& parties;
  const IdSource& ids;
  Timestamp now;
  // Called after each part, with the number of resources that get other names, and of those that
  // have them. May be empty.
  std::function<void(std::size_t done, std::size_t all)> on_part = {};
  std::size_t part = 1000;  // resources that are looked at, and written, in one step
};

// Spells the names in the store anew when it was written with another version of the catalogue
// (setting `catalogue`); does nothing otherwise. In parts, each a decision of its own, so that
// memory and time of one are bounded. The store may end between two of them, and another server may
// do the same: the next one, with whatever catalogue, finds that not all was done, and does it. A
// pass has a number (setting `spelling`), which tells the names that it wrote from those that wait
// for it; the beginning of a pass raises it, going on with one does not. Nobody may decide about
// reviews meanwhile. Idempotent. Returns how many resources changed. Errors: those of Store::Apply;
// what is done stays.
Result<std::size_t> RespellForCatalogue(Store& store, const CatalogueChange& change);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_CATALOGUE_CHANGE_H_
