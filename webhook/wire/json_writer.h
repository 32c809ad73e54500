// JsonWriter: JSON text, written front to back.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_
#define TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. On the
// path of every answer to a review: one pass, no copy.
void AppendJsonString(std::string_view text, std::string& out);

// Commas are its own business; that begins match ends is the caller's. Bytes that are not UTF-8
// become U+FFFD. External synchronization.
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

  // What was written; the writer is empty again.
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

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_WRITER_H_
