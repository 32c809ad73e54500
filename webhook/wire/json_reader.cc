#include "webhook/wire/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <string>
#include <utility>

#include "webhook/wire/json_scalar.h"

namespace truce {
namespace {

namespace dom = simdjson::dom;

// As for reviews; the parser counts the scalars, too.
constexpr std::size_t kDepthMax = 1002;
constexpr std::size_t kCapacityMin = std::size_t{16} * 1024;

// Builds `value` under `key`. Recursion is bounded by the parser's depth.
void Build(dom::element value, std::string_view key, bool metadata, Builder& builder);

void BuildObject(dom::object object, std::string_view key, bool metadata, Builder& builder) {
  builder.Open(Builder::Kind::kObject, key);
  for (const auto field : object) {
    // managedFields can be most of an object, and nothing reads it.
    if (metadata && field.key == "managedFields") continue;
    Build(field.value, field.key, false, builder);
  }
  builder.Close();
}

void Build(dom::element value, std::string_view key, bool metadata, Builder& builder) {
  dom::object object;
  dom::array array;
  if (value.get_object().get(object) == simdjson::SUCCESS) {
    BuildObject(object, key, metadata, builder);
  } else if (value.get_array().get(array) == simdjson::SUCCESS) {
    builder.Open(Builder::Kind::kArray, key);
    for (const dom::element child : array) Build(child, {}, false, builder);
    builder.Close();
  } else {
    AddScalar(value, key, builder);
  }
}

}  // namespace

struct JsonReader::Impl {
  dom::parser parser{kObjectBytesMax};

  bool Reserve(std::size_t size) {
    std::size_t capacity = std::max(kCapacityMin, parser.capacity());
    while (capacity < size) capacity *= 2;
    if (capacity == parser.capacity()) return true;
    return parser.allocate(capacity, kDepthMax) == simdjson::SUCCESS;
  }
};

JsonReader::JsonReader() : impl_(std::make_unique<Impl>()) {}
JsonReader::~JsonReader() = default;
JsonReader::JsonReader(JsonReader&&) noexcept = default;
JsonReader& JsonReader::operator=(JsonReader&&) noexcept = default;

Result<Document> JsonReader::Read(std::string_view json) {
  if (json.size() > kObjectBytesMax) {
    return Error{ErrorCode::kInvalidArgument, "an object larger than 8 MiB"};
  }
  if (!impl_->Reserve(json.size())) {
    return Error{ErrorCode::kResourceExhausted, "out of memory"};
  }
  dom::element root;
  const auto code = impl_->parser.parse(json.data(), json.size(), true).get(root);
  dom::object object;
  if (code != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("not an object of the API: ") + simdjson::error_message(code)};
  }
  if (root.get_object().get(object) != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidArgument, "not an object of the API: no JSON object"};
  }
  Builder builder;
  builder.Open(Builder::Kind::kObject, {});
  for (const auto field : object) Build(field.value, field.key, field.key == "metadata", builder);
  builder.Close();
  return builder.Finish();
}

}  // namespace truce
