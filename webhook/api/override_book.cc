#include "webhook/api/override_book.h"
#include "registry/base/result.h"
#include "registry/store/administration.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace truce {
namespace {

// The oldest first, without what is over.
void InOrder(std::vector<StoredOverride>& overrides, Timestamp now) {
  std::erase_if(overrides, [&](const StoredOverride& each) { return each.what.until <= now; });
  std::ranges::stable_sort(overrides, {}, &StoredOverride::at);
}

}  // namespace

Result<void> OverrideBook::LoadLocked(Deadline deadline) {
  TRUCE_ASSIGN_OR_RETURN(std::vector<StoredOverride> read,
                         ReadTable(store_, kOverridesTable, deadline));
  // The policy judges by `until` itself; this only keeps the list short.
  InOrder(read, clock_.Now());
  std::vector<Override> overrides;
  for (const StoredOverride& each : read) overrides.push_back(each.what);
  const bool changed = present_.With([&](auto& present) {
    if (present == read) return false;
    present = std::move(read);
    return true;
  });
  if (changed) on_change_(overrides);
  return {};
}

Result<void> OverrideBook::Load(Deadline deadline) {
  const std::lock_guard<std::mutex> lock(changing_);
  return LoadLocked(deadline);
}

Result<void> OverrideBook::Change(
    const std::function<void(std::vector<StoredOverride>&, Administration&)>& change,
    Deadline deadline) {
  const std::lock_guard<std::mutex> lock(changing_);
  bool readable = true;
  TRUCE_RETURN_IF_ERROR(Administer(store_, clock_.Now(), deadline, [&](Administration& books) {
    auto overrides = kOverridesTable.Values(books.TableRows(kOverridesTable));
    readable = overrides.has_value();
    // Nothing is written over it: somebody's way out may still stand there.
    if (!readable) return;
    InOrder(*overrides, books.now());
    change(*overrides, books);
    books.SetTableRows(kOverridesTable, kOverridesTable.Rows(*overrides));
  }));
  if (!readable) return Unreadable(kOverridesTable);
  return LoadLocked(deadline);
}

Result<StoredOverride> OverrideBook::Add(const Override& what, const std::string& by,
                                         Deadline deadline) {
  const auto count = [](const std::string& field) { return field.empty() ? 0 : 1; };
  if (count(what.name) + count(what.object) + count(what.ns) + count(what.group) != 1) {
    return InvalidArgument("name exactly one of name, object, namespace and group");
  }
  if (what.reason.empty()) return InvalidArgument("\"reason\" is missing");
  const Timestamp now = clock_.Now();
  if (what.until <= now) return InvalidArgument("\"until\" is not in the future");
  if (what.until > now + kLongest) {
    return InvalidArgument(
        "\"until\" is more than 7 days ahead; what holds longer stands in the configuration");
  }
  StoredOverride made{ids_().text, what, by, now};
  bool too_many = false;
  TRUCE_RETURN_IF_ERROR(Change(
      [&](std::vector<StoredOverride>& overrides, Administration& books) {
        too_many = overrides.size() >= kOverridesMax;
        if (too_many) return;
        overrides.push_back(made);
        books.Audit(by, "override of " + TargetText(what) + " until " +
                            FormatTimestamp(what.until) + ": " + what.reason);
      },
      deadline));
  if (too_many) {
    return Error{ErrorCode::kConflict, "100 overrides hold already; end some of them first"};
  }
  return made;
}

Result<StoredOverride> OverrideBook::End(const std::string& id, const std::string& by,
                                         Deadline deadline) {
  std::optional<StoredOverride> ended;
  TRUCE_RETURN_IF_ERROR(Change(
      [&](std::vector<StoredOverride>& overrides, Administration& books) {
        ended.reset();
        const auto found = std::find_if(overrides.begin(), overrides.end(),
                                        [&](const StoredOverride& each) { return each.id == id; });
        if (found == overrides.end()) return;
        ended = *found;
        overrides.erase(found);
        books.Audit(by, "override of " + TargetText(ended->what) + " ended");
      },
      deadline));
  if (!ended) return Error{ErrorCode::kNotFound, "there is no override of that id, or it is over"};
  return *std::move(ended);
}

std::vector<StoredOverride> OverrideBook::Present() const {
  auto overrides = present_.With([](const auto& present) { return present; });
  InOrder(overrides, clock_.Now());
  return overrides;
}

}  // namespace truce
