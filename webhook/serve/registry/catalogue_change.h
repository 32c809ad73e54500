// A catalogue that computes other keys than the one the store was written with.
#ifndef TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_
#define TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_

#include <cstddef>
#include <functional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/ownership/rekey.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"

namespace truce {

struct PartyRules;

struct CatalogueChange {
  NewKey new_key;       // of the catalogue
  std::string version;  // of the catalogue
  const PartyRules& parties;
  const IdSource& ids;
  Timestamp now;
  // Called after each part, with the number of resources that get other keys, and of those that
  // have them. May be empty.
  std::function<void(std::size_t done, std::size_t all)> on_part = {};
  std::size_t part = 1000;  // keys that are looked at, and moved, in one step
};

// Re-keys the store when it was written with another version of the catalogue (setting
// `catalogue`); does nothing otherwise. In parts, each a decision of its own, so that memory and
// time of one are bounded; resources that touch the same names move in one. The store may end
// between two of them, and another server may do the same: the next one, with any catalogue, finds
// that not all was done, and does it. Nobody may decide about reviews meanwhile. Idempotent.
// Returns how many keys changed. Errors: those of Store::Apply; finished parts stay.
Result<std::size_t> RekeyForCatalogue(Store& store, const CatalogueChange& change);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_
