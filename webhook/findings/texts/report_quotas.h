// The report `truce quotas`: how far each quota is used, where.
#ifndef TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_QUOTAS_H_
#define TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_QUOTAS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policies/quotas.h"
#include "webhook/metrics/metrics.h"
#include "webhook/wire/json_writer.h"

namespace truce {

class AllFacts;

struct QuotaLine {
  Quota quota;
  QuotaSpot spot;
  std::uint64_t used = 0;
};

// Ownerships that no quota of an account counts, because their account is not known.
struct UncountedLine {
  std::string type;
  std::uint64_t count = 0;
};

struct QuotaReport {
  std::vector<QuotaLine> lines;  // in the order of configuration, the fullest spot first
  bool cut = false;              // there are more
  std::vector<UncountedLine> uncounted;
};

inline constexpr std::size_t kQuotaLinesMax = 10'000;

// `ns`: only what counts in that namespace; empty: all.
QuotaReport ReportQuotas(const Quotas& quotas, const AllFacts& facts, std::string_view ns);

// "free", "warns" (from warnAt on), "full" (or beyond).
std::string_view QuotaStateOf(const QuotaLine& line);

// Tables with bars, for people.
std::string QuotaText(const QuotaReport& report);
// The field `items`, and the fields beside it, of an object that is open.
void WriteQuotas(const QuotaReport& report, JsonWriter& json);

// truce_quota_used, truce_quota_max: of each quota, of the fullest spot where it counts. A label is
// the quota as configured, never a namespace or account that only a tenant knows.
void WriteQuotaMetrics(const Quotas& quotas, const AllFacts& facts, MetricWriter& writer);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_TEXTS_REPORT_QUOTAS_H_
