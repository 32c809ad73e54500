#include "webhook/api/rest/call.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "registry/base/result.h"
#include "registry/base/text.h"
#include "webhook/wire/json_text.h"

namespace truce {

bool NestsTooDeep(std::string_view json) {
  int depth = 0;
  ForEachBracket(json, [&](std::size_t /*place*/, bool opens) {
    depth += opens ? 1 : -1;
    return depth <= kBodyDepthMax;
  });
  return depth > kBodyDepthMax;
}

std::string TooDeepText() {
  return "the body nests deeper than " + std::to_string(kBodyDepthMax) + " levels";
}

Result<Timestamp> TimeIn(std::string_view name, std::string_view text) {
  if (const auto time = ParseTimestamp(text)) return *time;
  return InvalidArgument(std::string(name) + " is not a time; write it as 2026-11-21T18:00:00Z");
}

bool IsLine(std::string_view text, std::size_t bytes_max) {
  return !text.empty() && text.size() <= bytes_max && !HasControl(text) && IsUtf8(text);
}

Result<nlohmann::json> ReadBody(const HttpRequest& request) {
  if (request.body.size() > kSmallBodyBytesMax)
    return InvalidArgument("the body is larger than 64 KiB");
  if (NestsTooDeep(request.body)) return InvalidArgument(TooDeepText());
  nlohmann::json json = ParseJson(request.body);
  if (!json.is_object()) return InvalidArgument("the body is not a JSON object");
  return json;
}

Result<std::map<std::string, std::string>> ReadTexts(
    const HttpRequest& request, std::initializer_list<std::string_view> allowed) {
  TRUCE_ASSIGN_OR_RETURN(const nlohmann::json json, ReadBody(request));
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : json.items()) {
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return InvalidArgument("the body has an unknown member; it takes " + Joined(allowed));
    }
    constexpr std::size_t kTextBytesMax = 1024;
    if (!value.is_string() || !IsLine(value.get_ref<const std::string&>(), kTextBytesMax)) {
      return InvalidArgument("\"" + name + "\" is not a line of text of 1 to 1024 bytes");
    }
    texts.emplace(name, value.get<std::string>());
  }
  return texts;
}

Result<void> RestCall::AllowOnly(const std::vector<std::string_view>& allowed) const {
  for (auto it = request.query.begin(); it != request.query.end(); ++it) {
    const std::string& name = it->first;
    const std::string& value = it->second;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
      return InvalidArgument(allowed.empty() ? "this takes no parameters"
                                             : "unknown parameter; this takes " + Joined(allowed));
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::any_of(request.query.begin(), it, same))
      return InvalidArgument(name + " is given twice");
    if (value.size() > kParameterBytesMax)
      return InvalidArgument(name + " is longer than 2048 bytes");
    if (HasControl(value) || !IsUtf8(value))
      return InvalidArgument(name + " holds bytes that are not text");
  }
  return {};
}

std::string RestCall::Parameter(std::string_view name) const {
  return std::string(request.Query(name).value_or(std::string_view()));
}

Result<std::optional<bool>> RestCall::Switch(std::string_view name) const {
  const auto value = request.Query(name);
  if (!value) return std::optional<bool>();
  if (*value == "true") return std::optional<bool>(true);
  if (*value == "false") return std::optional<bool>(false);
  return InvalidArgument(std::string(name) + " is neither true nor false");
}

Result<std::string> RestCall::OneOf(std::string_view name,
                                    std::initializer_list<std::string_view> known) const {
  const std::string value = Parameter(name);
  if (value.empty()) return std::string(*known.begin());
  if (std::find(known.begin(), known.end(), value) != known.end()) return value;
  return InvalidArgument(std::string(name) + " is none of " + Joined(known));
}

Result<std::size_t> RestCall::Limit() const {
  const auto value = request.Query("limit");
  if (!value) return kPageDefault;
  std::int64_t limit = 0;
  const auto [end, code] = std::from_chars(value->data(), value->data() + value->size(), limit);
  const bool whole = end == value->data() + value->size() && !value->empty();
  // A number however large asks for the largest page, as a smaller one beyond it does.
  if (code == std::errc::result_out_of_range && whole && value->front() != '-') return kPageMax;
  if (code != std::errc() || !whole || limit < 1)
    return InvalidArgument("limit is not a number from 1 on");
  return std::min(static_cast<std::size_t>(limit), kPageMax);
}

}  // namespace truce
