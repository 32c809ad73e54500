#include "tests/support/json_document.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

using Json = nlohmann::ordered_json;

// Receives the parser's events and builds as they come, so that depth costs no stack.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(Builder& builder) : builder_(builder) {}

  bool null() override { return Add(Document::Kind::kNull, {}); }
  bool boolean(bool value) override { return Add(Document::Kind::kBool, value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override {
    return Add(Document::Kind::kNumber, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Add(Document::Kind::kNumber, std::to_string(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return Add(Document::Kind::kNumber, text);
  }
  bool string(string_t& value) override { return Add(Document::Kind::kString, value); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return Open(Document::Kind::kObject); }
  bool start_array(std::size_t /*size*/) override { return Open(Document::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& value) override {
    key_ = builder_.Own(value);
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const Json::exception& error) override {
    constexpr int kHugeNumber = 406;
    has_huge_number_ = error.id == kHugeNumber;
    return false;
  }
  bool has_huge_number() const { return has_huge_number_; }

 private:
  bool Add(Document::Kind kind, std::string text) {
    builder_.Scalar(kind, TakeKey(), builder_.Own(std::move(text)));
    return true;
  }
  bool Open(Document::Kind kind) {
    builder_.Open(kind, TakeKey());
    return true;
  }
  bool Close() {
    builder_.Close();
    return true;
  }
  std::string_view TakeKey() { return std::exchange(key_, {}); }

  Builder& builder_;
  std::string_view key_;
  bool has_huge_number_ = false;
};

}  // namespace

Document DocumentFromJson(std::string_view json) {
  if (!Json::accept(json)) return {};
  Builder builder;
  Reader reader(builder);
  const bool parsed = Json::sax_parse(json, &reader);
  TRUCE_ASSERT(parsed);
  return builder.Finish();
}

bool HasHugeNumber(std::string_view json) {
  Builder builder;
  Reader reader(builder);
  return !Json::sax_parse(json, &reader) && reader.has_huge_number();
}

}  // namespace truce
