// JsonWriter: JSON text, written front to back.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_
#define TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "registry/base/clock.h"

namespace truce {

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. On the
// path of every answer to a review: one pass, no copy.
void AppendJsonString(std::string_view text, std::string& out);

// Commas are its own business; that begins match ends is the caller's. Bytes that are not UTF-8
// become U+FFFD. External synchronization.
//
// json.Object("name", owner.name, "since", owner.since, "root", owner.root);
class JsonWriter final {
 public:
  JsonWriter& BeginObject() { return Begin('{'); }
  JsonWriter& EndObject() { return End('}'); }
  JsonWriter& BeginArray() { return Begin('['); }
  JsonWriter& EndArray() { return End(']'); }

  // The name of the next value of an object.
  JsonWriter& Key(std::string_view name);

  JsonWriter& Text(std::string_view value);
  JsonWriter& Number(std::int64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  // A value that is JSON already.
  JsonWriter& Raw(std::string_view json);

  // One value, as its type says: texts, numbers, times (FormatTimestamp), lists; null for a pointer
  // or an optional without value. A function writes it itself, given this writer. For any other
  // type there is a WriteJson(value, json).
  template <typename T>
  JsonWriter& Put(const T& value);
  // Members of the object that is open: each a name, then a value for Put.
  JsonWriter& Fields() { return *this; }
  template <typename T, typename... More>
  JsonWriter& Fields(std::string_view name, const T& value, const More&... more) {
    Key(name).Put(value);
    return Fields(more...);
  }
  // The same without those that say nothing: an empty text or list, false.
  JsonWriter& Given() { return *this; }
  template <typename T, typename... More>
  JsonWriter& Given(std::string_view name, const T& value, const More&... more) {
    bool says_something = false;
    if constexpr (requires { value.empty(); }) {
      says_something = !value.empty();
    } else {
      says_something = static_cast<bool>(value);
    }
    if (says_something) Fields(name, value);
    return Given(more...);
  }
  // As Fields, an object of its own.
  template <typename... Members>
  JsonWriter& Object(const Members&... members) {
    return BeginObject().Fields(members...).EndObject();
  }

  JsonWriter& Field(std::string_view name, std::string_view value) { return Key(name).Text(value); }
  JsonWriter& Field(std::string_view name, const std::string& value) {
    return Key(name).Text(value);
  }
  JsonWriter& Field(std::string_view name, const char* value) { return Key(name).Text(value); }
  JsonWriter& Field(std::string_view name, bool value) { return Key(name).Bool(value); }
  template <std::integral Integer>
  JsonWriter& NumberField(std::string_view name, Integer value) {
    return Key(name).Number(static_cast<std::int64_t>(value));
  }
  JsonWriter& TextsField(std::string_view name, const std::vector<std::string>& values);
  // A list: of each item what `write(item, *this)` writes.
  template <typename Items, typename Write>
  JsonWriter& ListField(std::string_view name, const Items& items, const Write& write) {
    Key(name).BeginArray();
    for (const auto& item : items) write(item, *this);
    return EndArray();
  }

  // Returns the text; the writer is empty again.
  std::string Take() {
    needs_comma_ = false;
    return std::exchange(out_, {});
  }

 private:
  JsonWriter& Begin(char bracket);
  JsonWriter& End(char bracket);
  void Separate();

  std::string out_;
  bool needs_comma_ = false;
};

template <typename T>
JsonWriter& JsonWriter::Put(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    Text(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    Bool(value);
  } else if constexpr (std::is_integral_v<T>) {
    Number(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    Text(FormatTimestamp(value));
  } else if constexpr (std::is_invocable_v<const T&, JsonWriter&>) {
    value(*this);
  } else if constexpr (std::is_null_pointer_v<T>) {
    Null();
  } else if constexpr (std::is_pointer_v<T> || requires { value.has_value(); }) {
    if (value) {
      Put(*value);
    } else {
      Null();
    }
  } else if constexpr (std::ranges::range<T>) {
    BeginArray();
    for (const auto& each : value) Put(each);
    EndArray();
  } else {
    WriteJson(value, *this);
  }
  return *this;
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_
