#include "webhook/upkeep/registry_numbers.h"

#include <vector>

#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::size_t kSharesPage = 1000;

// The number of the first or the last line; 0: there is none.
std::uint64_t EndOfAudit(const AllFacts& facts, bool newest) {
  const std::vector<AuditLine> lines = facts.AuditLines({.newest_first = newest}, 1);
  return lines.empty() ? 0 : lines.front().place.number;
}

}  // namespace

Result<void> RegistryNumbers::Count(std::int64_t lines_max, Deadline deadline) {
  // Lines are numbered one after the other, and the oldest go first.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  const auto look = [&](const AllFacts& facts) {
    first = EndOfAudit(facts, false);
    last = EndOfAudit(facts, true);
  };
  TRUCE_RETURN_IF_ERROR(store_.Read(look, deadline));
  const Timestamp now = clock_.Now();
  std::uint64_t ending = 0;
  std::size_t looked = 0;
  PublicId after;
  while (looked < kSharesLookedMax) {
    std::vector<Agreement> page;
    const auto read = [&](const Facts& facts) {
      page = facts.AgreementsAfter(AgreementKind::kShare, after, kSharesPage);
    };
    TRUCE_RETURN_IF_ERROR(store_.Read(read, deadline));
    for (const Agreement& share : page) {
      if (share.until && HoldsAt(share, now) && *share.until < now + kEndsSoon) ++ending;
    }
    if (page.size() < kSharesPage) break;
    looked += page.size();
    after = page.back().id;
  }
  shares_ending_.store(ending, std::memory_order_relaxed);
  lines_kept_.store(last == 0 ? 0 : last - first + 1, std::memory_order_relaxed);
  lines_total_.store(last, std::memory_order_relaxed);
  lines_max_.store(lines_max, std::memory_order_relaxed);
  return {};
}

void RegistryNumbers::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_shares_ending");
  writer.Sample(static_cast<double>(shares_ending_.load(std::memory_order_relaxed)));
  writer.Family("truce_audit_lines_kept");
  writer.Sample(static_cast<double>(lines_kept_.load(std::memory_order_relaxed)));
  writer.Family("truce_audit_lines_total");
  writer.Sample(static_cast<double>(lines_total_.load(std::memory_order_relaxed)));
  writer.Family("truce_audit_lines_max");
  writer.Sample(static_cast<double>(lines_max_.load(std::memory_order_relaxed)));
}

}  // namespace truce
