// OverrideBook: timed overrides (break-glass) made while the server runs, kept in the registry.
#ifndef TRUCE_WEBHOOK_API_OVERRIDE_BOOK_H_
#define TRUCE_WEBHOOK_API_OVERRIDE_BOOK_H_

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "policies/mode.h"
#include "registry/base/guarded.h"
#include "registry/ownership/table.h"
#include "registry/store/store.h"

namespace truce {

class Administration;

struct StoredOverride {
  std::string id;  // 13 base32 characters
  Override what;
  std::string by;  // who made it: "alice (static token) from 192.0.2.7"
  Timestamp at{};  // when

  bool operator==(const StoredOverride&) const = default;
};

inline constexpr auto kOverridesTable = MakeTable<StoredOverride>(
    "overrides", 1, StoredColumn("id", &StoredOverride::id),
    StoredColumn(
        "name", [](auto& each) -> auto& { return each.what.name; }),
    StoredColumn(
        "object", [](auto& each) -> auto& { return each.what.object; }),
    StoredColumn(
        "namespace", [](auto& each) -> auto& { return each.what.ns; }),
    StoredColumn(
        "group", [](auto& each) -> auto& { return each.what.group; }),
    StoredColumn(
        "until", [](auto& each) -> auto& { return each.what.until; }),
    StoredColumn(
        "reason", [](auto& each) -> auto& { return each.what.reason; }),
    StoredColumn("by", &StoredOverride::by), StoredColumn("at", &StoredOverride::at));

// Those of configuration are not its business. Thread-safe.
class OverrideBook final {
 public:
  // More at once are no break-glass any more but a policy, which belongs in the configuration.
  static constexpr std::size_t kOverridesMax = 100;
  static constexpr std::chrono::hours kLongest{7 * 24};

  // References must outlive it. `on_change` gets the overrides that hold from now on; calls do not
  // overlap.
  using OnChange = std::function<void(const std::vector<Override>&)>;
  OverrideBook(Store& store, const Clock& clock, IdSource ids, OnChange on_change)
      : store_(store), clock_(clock), ids_(std::move(ids)), on_change_(std::move(on_change)) {}

  // Takes over what the registry has: once when the store is open, and from time to time where
  // other servers make some. Errors: those of the store; kDataLoss: the stored ones cannot be read.
  // Then those that hold go on.
  Result<void> Load(Deadline deadline);

  // Keeps it, with a line in the audit log, in one transaction. Errors: kInvalidArgument (not
  // exactly one of name, object, namespace, group; `until` is not ahead or further than kLongest);
  // kConflict (kOverridesMax hold already); those of the store.
  Result<StoredOverride> Add(const Override& what, const std::string& by, Deadline deadline);

  // Ends it before its time, with a line in the audit log. Errors: kNotFound (over, or never made);
  // those of the store.
  Result<StoredOverride> End(const std::string& id, const std::string& by, Deadline deadline);

  // Those that hold at present, the oldest first. Never waits for the store.
  std::vector<StoredOverride> Present() const;

 private:
  Result<void> Change(
      const std::function<void(std::vector<StoredOverride>&, Administration&)>& change,
      Deadline deadline);
  Result<void> LoadLocked(Deadline deadline);

  Store& store_;
  const Clock& clock_;
  const IdSource ids_;
  const OnChange on_change_;
  std::mutex changing_;  // one change at a time, so that on_change_ hears the last one last
  Guarded<std::vector<StoredOverride>> present_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_OVERRIDE_BOOK_H_
