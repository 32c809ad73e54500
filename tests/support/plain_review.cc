#include "tests/support/plain_review.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/support/json_document.h"
#include "webhook/wire/json_scan.h"

namespace truce {
namespace {

// Whether nothing reads `child` of `value`.
bool IsUnread(const Value& value, const Value& child) {
  return value.is_object() && value.key() == "metadata" && child.key() == "managedFields";
}

constexpr std::size_t kDepthMax = 10'000;  // of what is looked at

// `everywhere`: also where nothing reads; what lies too deep to be looked at counts as a fault.
bool HasFault(const Value& value, std::size_t depth, bool everywhere) {
  if (!value.is_object() && !value.is_array()) return false;
  if (depth > (everywhere ? kDepthMax : kBuiltLevels)) return everywhere;
  std::set<std::string_view> keys;
  for (Value child = value.first(); child.exists(); child = value.next(child)) {
    if (value.is_object() && !keys.insert(child.key()).second) return true;
    if (!everywhere && IsUnread(value, child)) continue;
    if (HasFault(child, depth + 1, everywhere)) return true;
  }
  return false;
}

// What is nearer to zero than any number is zero, which std::from_chars does not say.
double NumberIn(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

bool IsSame(const Value& plain, const Value& value) {
  if (plain.kind() != value.kind()) return false;
  if (plain.kind() == Document::Kind::kNumber) {
    const double a = NumberIn(plain.text());
    const double b = NumberIn(value.text());
    return plain.text() == value.text() || (a == b && std::signbit(a) == std::signbit(b));
  }
  if (plain.text() != value.text()) return false;
  Value read = value.first();
  for (Value child = plain.first(); child.exists(); child = plain.next(child)) {
    if (IsUnread(plain, child)) continue;
    if (!read.exists() || read.key() != child.key() || !IsSame(child, read)) {
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
  if (!is_json && HasHugeNumber(body)) return JsonFault::kUnread;
  if (!is_json || HasFault(root, 1, false)) return JsonFault::kRefused;
  return HasFault(root, 1, true) ? JsonFault::kUnread : JsonFault::kNone;
}

bool IsMemberOf(std::string_view body, std::string_view member, Value value) {
  if (HasHugeNumber(body)) return true;  // nobody can say
  const Document document = DocumentFromJson(body);
  const Value plain = document.root().Child("request").Child(member);
  if (!plain.exists()) return !value.exists();
  return IsSame(plain, value);
}

}  // namespace truce
