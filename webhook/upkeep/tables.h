// The tables beside ownerships. schema/*/0001_ownership.sql has their CREATE TABLE.
#ifndef TRUCE_WEBHOOK_UPKEEP_TABLES_H_
#define TRUCE_WEBHOOK_UPKEEP_TABLES_H_

#include <array>

#include "registry/ownership/table.h"
#include "webhook/api/override_book.h"
#include "webhook/api/review_books.h"
#include "webhook/findings/mute_book.h"
#include "webhook/watch/kept.h"

namespace truce {

inline constexpr std::array<Table, 7> kRegistryTables = {
    kOverridesTable,      kMutesTable,           kTrialTable,      kDenialsTable,
    kWatchPositionsTable, kProviderConfigsTable, kMappedKindsTable};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_TABLES_H_
