// Owners by id, name, ARN and service, asked of the database.
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_

#include <memory>

#include "registry/store/owner_finder.h"
#include "registry/store/postgres/pool.h"

namespace truce {

// Asks on a connection of `pool`, which must outlive it.
std::unique_ptr<const OwnerFinder> MakePgOwnerFinder(PgPool& pool);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_OWNER_FINDER_H_
