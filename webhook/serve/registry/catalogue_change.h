// A catalogue that computes other keys than the one the store was written with.
#ifndef TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_
#define TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_

#include <cstddef>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"

namespace truce {

struct CatalogueChange {
  const Catalogue& catalogue;
  const PartyRules& parties;
  const IdSource& ids;
  Timestamp now;
};

// Re-keys the store in one transaction when it was written with another version of the catalogue
// (setting `catalogue`); does nothing otherwise. Idempotent. Returns how many keys changed. Errors:
// those of Store::Apply; nothing was written then.
Result<std::size_t> RekeyForCatalogue(Store& store, const CatalogueChange& change);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_REGISTRY_CATALOGUE_CHANGE_H_
