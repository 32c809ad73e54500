#include "tests/support/plain_review.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/support/json_document.h"
#include "webhook/admission/codec.h"

namespace truce {
namespace {

// review > request > object
constexpr int kObjectDepth = 3;

// Whether nothing reads `child` of `value`, which stands at `depth`.
bool IsUnread(const Value& value, const Value& child, int depth) {
  return depth == kObjectDepth + 1 && value.is_object() && value.key() == "metadata" &&
         child.key() == "managedFields";
}

// The codec's parser knows integers of 64 bits; this one reads longer ones as any number.
bool IsLongInteger(const Value& value) {
  constexpr std::size_t kSurelyShort = 18;
  const std::string_view text = value.text();
  if (value.kind() != Document::Kind::kNumber || text.size() <= kSurelyShort) return false;
  if (text.find_first_of(".eE") != std::string_view::npos) return false;
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  const char* const end = text.data() + text.size();
  return std::from_chars(text.data(), end, integer).ec != std::errc() &&
         std::from_chars(text.data(), end, large).ec != std::errc();
}

// `everywhere`: also where nothing reads.
bool HasFault(const Value& value, int depth, bool everywhere) {
  if (IsLongInteger(value)) return true;
  if (!value.is_object() && !value.is_array()) return false;
  if (depth > kReviewDepthMax) return true;
  std::set<std::string_view> keys;
  for (Value child = value.first(); child.exists(); child = value.next(child)) {
    if (value.is_object() && !keys.insert(child.key()).second) return true;
    if (!everywhere && IsUnread(value, child, depth)) continue;
    if (HasFault(child, depth + 1, everywhere)) return true;
  }
  return false;
}

// What is nearer to zero than any number is zero, which std::from_chars does not say.
double NumberIn(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

bool IsSame(const Value& plain, int depth, const Value& value) {
  if (plain.kind() != value.kind()) return false;
  if (plain.kind() == Document::Kind::kNumber) {
    const double a = NumberIn(plain.text());
    const double b = NumberIn(value.text());
    return plain.text() == value.text() || (a == b && std::signbit(a) == std::signbit(b));
  }
  if (plain.text() != value.text()) return false;
  Value read = value.first();
  for (Value child = plain.first(); child.exists(); child = plain.next(child)) {
    if (IsUnread(plain, child, depth)) continue;
    if (!read.exists() || read.key() != child.key() || !IsSame(child, depth + 1, read)) {
      return false;
    }
    read = value.next(read);
  }
  return !read.exists();
}

}  // namespace

JsonFault JsonFaultOf(std::string_view body) {
  const Document document = DocumentFromJson(body);
  const Value root = document.root();
  // The plain reader takes a zero for the end.
  const bool ends_early = body.find('\0') != std::string_view::npos;
  const bool has_mark = body.starts_with("\xEF\xBB\xBF");
  const bool is_json = root.exists() && !ends_early && !has_mark;
  if (!is_json || HasFault(root, 1, false)) return JsonFault::kRefused;
  return HasFault(root, 1, true) ? JsonFault::kUnread : JsonFault::kNone;
}

bool IsMemberOf(std::string_view body, std::string_view member, Value value) {
  const Document document = DocumentFromJson(body);
  const Value plain = document.root().Child("request").Child(member);
  if (!plain.exists()) return !value.exists();
  return IsSame(plain, kObjectDepth, value);
}

}  // namespace truce
