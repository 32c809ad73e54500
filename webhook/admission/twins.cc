#include "webhook/admission/twins.h"

#include <cstddef>

namespace truce {
namespace {

// Behind the comma a quotation mark is no escaped one: it begins a key, or ends a text, behind
// which no JSON goes on with a letter.
constexpr std::string_view kObject = ",\"object\":{";
constexpr std::string_view kOldObject = ",\"oldObject\":{";
constexpr std::string_view kLink = kOldObject.substr(0, kOldObject.size() - 1);
// The rest of a request: dryRun and options.
constexpr std::size_t kAfterMax = 512;

// Neither the mark nor an escape that might stand for it.
bool IsWithoutMark(std::string_view text) {
  return text.find(kTwinMark.front()) == std::string_view::npos &&
         text.find('\\') == std::string_view::npos;
}

}  // namespace

std::optional<Twins> FindTwins(std::string_view body) {
  const std::size_t object = body.find(kObject);
  if (object == std::string_view::npos) return std::nullopt;
  const std::string_view before = body.substr(0, object + kObject.size() - 1);
  const std::string_view both = body.substr(before.size());
  if (both.size() < kAfterMax) return std::nullopt;
  // The second one begins behind the middle of what is left, as far as the rest is long.
  const std::size_t longest = (both.size() - kLink.size()) / 2;
  const std::size_t shortest = longest - kAfterMax / 2 + kLink.size();
  const std::size_t link =
      both.substr(shortest, longest - shortest + kOldObject.size()).find(kOldObject);
  if (link == std::string_view::npos) return std::nullopt;
  const std::string_view twin = both.substr(0, shortest + link);
  const std::string_view other = both.substr(twin.size() + kLink.size());
  if (!other.starts_with(twin)) return std::nullopt;
  const std::string_view after = other.substr(twin.size());
  if (!IsWithoutMark(before) || !IsWithoutMark(after)) return std::nullopt;
  return Twins{before, twin, after};
}

void WriteFrame(const Twins& twins, std::string& out) {
  out.assign(twins.before).append("\"").append(kTwinMark).append("\"").append(twins.after);
}

}  // namespace truce
