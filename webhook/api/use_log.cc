#include "webhook/api/use_log.h"

#include "registry/store/administration.h"

namespace truce {

Result<void> UseLog::Write(const std::string& actor, const std::string& cause, Deadline deadline) {
  return Administer(store_, clock_.Now(), deadline,
                    [&](Administration& books) { books.Audit(actor, cause); });
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
