#include "webhook/api/use_log.h"

#include "registry/ownership/ledger.h"
#include "registry/store/store.h"

namespace truce {

Result<void> UseLog::Write(const std::string& actor, const std::string& cause, Deadline deadline) {
  const auto decide = [&](const Facts& facts) {
    const PartyRules parties;  // audit only
    Ledger ledger(facts, clock_.Now(), ids_, parties);
    ledger.Audit({.action = AuditAction::kAdministered, .cause = cause, .actor = actor});
    return ledger.Take();
  };
  return store_.Apply({}, decide, deadline);
}

Result<void> UseLog::Note(const std::string& actor, std::string_view what, Deadline deadline) {
  std::pair<std::string, std::string> use(actor, what);
  const Timestamp now = clock_.Now();
  const bool is_known = uses_.With([&](const Uses& uses) {
    const auto found = uses.find(use);
    return found != uses.end() && found->second <= now && now < found->second + kOneUse;
  });
  if (is_known) return {};
  TRUCE_RETURN_IF_ERROR(Write(actor, "read the report " + std::string(what), deadline));
  uses_.With([&](Uses& uses) {
    if (uses.size() >= kUsesKept) uses.clear();
    uses[std::move(use)] = now;
  });
  return {};
}

}  // namespace truce
