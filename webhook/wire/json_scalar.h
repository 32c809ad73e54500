// Scalars of simdjson's tree → Document: one way for reviews, objects of the cluster and checks, so
// that all of them judge the same text.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_SCALAR_H_
#define TRUCE_WEBHOOK_WIRE_JSON_SCALAR_H_

#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "registry/identity/document.h"

namespace truce {

// Appends `value`, which is neither object nor array, under `key`. A text is viewed, not copied; a
// number is the shortest text that reads back as the same one. Each value of each review passes
// here, so it is no call: g++ would make it one, for it is not local to a source. `Element` is
// simdjson::dom::element: only sources that parse have its header.
template <typename Element>
[[gnu::always_inline]] inline void AddScalar(Element value, std::string_view key,
                                             Builder& builder) {
  const auto done = [](auto code) { return static_cast<int>(code) == 0; };  // simdjson::SUCCESS
  std::string_view text;
  if (done(value.get_string().get(text))) {
    builder.Scalar(Builder::Kind::kString, key, text);
    return;
  }
  bool flag = false;
  if (done(value.get_bool().get(flag))) {
    builder.Scalar(Builder::Kind::kBool, key, flag ? "true" : "false");
    return;
  }
  if (value.is_null()) {
    builder.Scalar(Builder::Kind::kNull, key, {});
    return;
  }
  std::array<char, 32> digits;
  char* const begin = digits.data();
  char* end = begin;
  std::int64_t integer = 0;
  std::uint64_t large = 0;
  double number = 0;
  if (done(value.get_int64().get(integer))) {
    end = std::to_chars(begin, begin + digits.size(), integer).ptr;
  } else if (done(value.get_uint64().get(large))) {
    end = std::to_chars(begin, begin + digits.size(), large).ptr;
  } else if (done(value.get_double().get(number))) {
    end = std::to_chars(begin, begin + digits.size(), number).ptr;
  }
  builder.Scalar(Builder::Kind::kNumber, key, builder.Own({begin, end}));
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_SCALAR_H_
