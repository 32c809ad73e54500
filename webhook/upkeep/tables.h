// The tables beside ownerships. schema/*/0001_ownership.sql has their CREATE TABLE.
#ifndef TRUCE_WEBHOOK_UPKEEP_TABLES_H_
#define TRUCE_WEBHOOK_UPKEEP_TABLES_H_

#include <array>

#include "registry/ownership/table.h"
#include "registry/store/published.h"
#include "webhook/api/orders.h"
#include "webhook/api/override_book.h"
#include "webhook/api/review_books.h"
#include "webhook/api/watch_reports.h"
#include "webhook/findings/findings_book.h"
#include "webhook/findings/mute_book.h"
#include "webhook/findings/review_news.h"
#include "webhook/publish/notifier.h"
#include "webhook/watch/cluster_view.h"
#include "webhook/watch/kept.h"

namespace truce {

inline constexpr std::array<Table, 19> kRegistryTables = {
    kOverridesTable,      kMutesTable,           kTrialTable,        kDenialsTable,
    kWatchPositionsTable, kProviderConfigsTable, kMappedKindsTable,  kPublishedTable,
    kViewedConfigsTable,  kDefinitionsTable,     kWatchGapsTable,    kFindingsTable,
    kTagWarsTable,        kCoverageGapsTable,    kWatchedKindsTable, kWatchSummaryTable,
    kReviewNewsTable,     kOrdersTable,          kNotifiedTable};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_TABLES_H_
