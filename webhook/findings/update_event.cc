#include "webhook/findings/update_event.h"

#include <algorithm>
#include <charconv>

namespace truce {
namespace {

std::uint64_t NumberOf(Value value) {
  const std::string_view text = value.text();
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc() ? number : 0;
}

std::optional<Timestamp> TimeOf(Value value) {
  return value.is_string() ? ParseTimestamp(value.text()) : std::nullopt;
}

}  // namespace

std::optional<UpdateEvent> ReadUpdateEvent(Value event) {
  if (event.Child("reason").text() != kUpdateEventReason) return std::nullopt;
  const Value involved = event.Child("involvedObject");
  UpdateEvent out;
  out.event.text = event.Child("metadata").Child("uid").text();
  out.object.text = involved.Child("uid").text();
  if (out.event.empty() || out.object.empty()) return std::nullopt;
  const std::string_view version = involved.Child("apiVersion").text();
  const std::size_t slash = version.find('/');
  if (slash != std::string_view::npos) out.group = version.substr(0, slash);
  out.kind = involved.Child("kind").text();
  out.ns = involved.Child("namespace").text();
  out.name = involved.Child("name").text();
  const Value series = event.Child("series");
  const std::uint64_t counted =
      std::max(NumberOf(event.Child("count")), NumberOf(series.Child("count")));
  out.count = std::max<std::uint64_t>(counted, 1);
  out.first = TimeOf(event.Child("firstTimestamp"));
  if (!out.first) out.first = TimeOf(event.Child("eventTime"));
  out.last = TimeOf(series.Child("lastObservedTime"));
  if (!out.last) out.last = TimeOf(event.Child("lastTimestamp"));
  if (!out.last) out.last = out.first;
  return out;
}

}  // namespace truce
