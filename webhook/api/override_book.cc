#include "webhook/api/override_book.h"
#include "registry/base/result.h"
#include "registry/store/administration.h"
#include "webhook/wire/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kOverridesSetting[] = "overrides";

// Nothing when `text` is not what ToText wrote.
std::optional<std::vector<StoredOverride>> FromText(const std::string& text) {
  std::vector<StoredOverride> out;
  if (text.empty()) return out;
  const Json json = ParseJson(text);
  if (!json.is_array()) return std::nullopt;
  for (const Json& item : json) {
    if (!item.is_object()) return std::nullopt;
    const auto until = ParseTimestamp(TextIn(item, "until"));
    const auto at = ParseTimestamp(TextIn(item, "at"));
    if (!until || !at) return std::nullopt;
    out.push_back({TextIn(item, "id"),
                   {TextIn(item, "name"), TextIn(item, "object"), TextIn(item, "namespace"),
                    TextIn(item, "group"), *until, TextIn(item, "reason")},
                   TextIn(item, "by"),
                   *at});
  }
  return out;
}

std::string ToText(const std::vector<StoredOverride>& overrides) {
  Json json = Json::array();
  for (const StoredOverride& each : overrides) {
    json.push_back({{"id", each.id},
                    {"name", each.what.name},
                    {"object", each.what.object},
                    {"namespace", each.what.ns},
                    {"group", each.what.group},
                    {"until", FormatTimestamp(each.what.until)},
                    {"reason", each.what.reason},
                    {"by", each.by},
                    {"at", FormatTimestamp(each.at)}});
  }
  return Dump(json);
}

void DropPast(std::vector<StoredOverride>& overrides, Timestamp now) {
  std::erase_if(overrides, [&](const StoredOverride& each) { return each.what.until <= now; });
}

}  // namespace

Result<void> OverrideBook::LoadLocked(Deadline deadline) {
  std::string text;
  const auto look = [&](const Facts& facts) {
    text = facts.Setting(kOverridesSetting).value_or("");
  };
  TRUCE_RETURN_IF_ERROR(store_.Read(look, deadline));
  auto read = FromText(text);
  if (!read) return Error{ErrorCode::kDataLoss, "the overrides in the registry cannot be read"};
  // The policy judges by `until` itself; this only keeps the list short.
  DropPast(*read, clock_.Now());
  std::vector<Override> overrides;
  for (const StoredOverride& each : *read) overrides.push_back(each.what);
  const bool changed = present_.With([&](auto& present) {
    if (present == *read) return false;
    present = *std::move(read);
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
    auto overrides = FromText(books.Setting(kOverridesSetting).value_or(""));
    readable = overrides.has_value();
    // Nothing is written over it: somebody's way out may still stand there.
    if (!readable) return;
    DropPast(*overrides, books.now());
    const auto before = *overrides;
    change(*overrides, books);
    if (*overrides != before) books.PutSetting(kOverridesSetting, ToText(*overrides));
  }));
  if (!readable) {
    return Error{ErrorCode::kDataLoss, "the overrides in the registry cannot be read"};
  }
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
  DropPast(overrides, clock_.Now());
  return overrides;
}

}  // namespace truce
