#include "webhook/wire/json_reader.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

namespace truce {
namespace {

namespace dom = simdjson::dom;

// Objects of up to this many members find a repeated key by comparing each with each, those of up
// to so many in a table of places; larger ones are sorted.
constexpr std::size_t kPairedKeysMax = 4;
constexpr std::size_t kTabledKeysMax = 32;
constexpr std::size_t kKeyPlaces = 2 * kTabledKeysMax;
// Of stored objects, as for reviews; the parser counts the scalars, too.
constexpr int kStoredDepthMax = 1002;
constexpr std::size_t kCapacityMin = std::size_t{16} * 1024;
constexpr std::array<std::string_view, 1> kManagedFields = {"managedFields"};

// A key that stands twice among a few.
std::optional<std::string_view> TwiceByPairs(std::span<const std::string_view> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (keys[i] == keys[j]) return keys[i];
    }
  }
  return std::nullopt;
}

// A number below kKeyPlaces that differs for most keys: their length and their last bytes tell more
// than their beginning, which labels and annotations share.
std::size_t PlaceOf(std::string_view key) {
  std::uint64_t bytes = 0;
  if (key.size() >= sizeof(bytes)) {
    std::memcpy(&bytes, key.data() + key.size() - sizeof(bytes), sizeof(bytes));
  } else {
    for (const char c : key) bytes = bytes << 8U | static_cast<unsigned char>(c);
  }
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U;  // Fibonacci hashing
  static_assert(kKeyPlaces == 64);
  return ((bytes ^ key.size()) * kMultiplier) >> 58U;
}

// A key that stands twice among at most kTabledKeysMax.
std::optional<std::string_view> TwiceByTable(std::span<const std::string_view> keys) {
  std::array<std::uint8_t, kKeyPlaces> places{};  // 1 + number of a key; 0: free
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::size_t place = PlaceOf(keys[i]);
    for (; places[place] != 0; place = (place + 1) % kKeyPlaces) {
      if (keys[places[place] - 1U] == keys[i]) return keys[i];
    }
    places[place] = static_cast<std::uint8_t>(i + 1);
  }
  return std::nullopt;
}

std::optional<std::string_view> TwiceBySorting(std::span<std::string_view> keys) {
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return std::nullopt;
  return *twice;
}

// Whether the keys of an object, given one after the other, ascend, as the API server writes stored
// objects: then none stands twice, and nothing else has to be looked at.
class Ascent final {
 public:
  void Add(std::string_view key) {
    holds_ = holds_ && (first_ || last_ < key);
    first_ = false;
    last_ = key;
  }
  bool holds() const { return holds_; }

 private:
  std::string_view last_;
  bool first_ = true;
  bool holds_ = true;
};

template <typename Number>
void AddNumber(Number number, std::string_view key, Builder& builder) {
  std::array<char, 32> digits;
  char* const begin = digits.data();
  const char* const end = std::to_chars(begin, begin + digits.size(), number).ptr;
  builder.Scalar(Builder::Kind::kNumber, key,
                 builder.Own({begin, static_cast<std::size_t>(end - begin)}));
}

// Appends `value`, which is neither object nor array, under `key`.
void AddScalar(dom::element value, std::string_view key, Builder& builder) {
  using Kind = Builder::Kind;
  switch (value.type()) {
    case dom::element_type::STRING:
      return builder.Scalar(Kind::kString, key, value.get_string().value_unsafe());
    case dom::element_type::BOOL:
      return builder.Scalar(Kind::kBool, key, value.get_bool().value_unsafe() ? "true" : "false");
    case dom::element_type::NULL_VALUE: return builder.Scalar(Kind::kNull, key, {});
    case dom::element_type::INT64: return AddNumber(value.get_int64().value_unsafe(), key, builder);
    case dom::element_type::UINT64:
      return AddNumber(value.get_uint64().value_unsafe(), key, builder);
    case dom::element_type::DOUBLE:
      return AddNumber(value.get_double().value_unsafe(), key, builder);
    case dom::element_type::OBJECT:
    case dom::element_type::ARRAY: break;
  }
  TRUCE_ASSERT(false);
}

}  // namespace

std::optional<std::string_view> KeyTwice(std::span<std::string_view> keys) {
  if (keys.size() <= kPairedKeysMax) return TwiceByPairs(keys);
  return keys.size() <= kTabledKeysMax ? TwiceByTable(keys) : TwiceBySorting(keys);
}

bool TreeWalk::Read(dom::element value, int depth, Builder* builder) {
  twice_.reset();
  return Walk(value, {}, builder, depth);
}

bool TreeWalk::CheckKeys(dom::object object) {
  keys_.clear();
  for (const auto field : object) keys_.push_back(field.key);
  twice_ = KeyTwice(keys_);
  return !twice_;
}

// Leaves are many and cheap, so failure is a bool and its reason a member.
bool TreeWalk::Walk(dom::element value, std::string_view key, Builder* builder, int depth) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return WalkObject(value.get_object().value_unsafe(), key, builder, depth);
    case dom::element_type::ARRAY:
      return WalkArray(value.get_array().value_unsafe(), key, builder, depth);
    case dom::element_type::STRING:
    case dom::element_type::BOOL:
    case dom::element_type::NULL_VALUE:
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE: break;
  }
  if (builder != nullptr) AddScalar(value, key, *builder);
  return true;
}

bool TreeWalk::WalkObject(dom::object object, std::string_view key, Builder* builder, int depth) {
  if (depth > rules_.depth_max) return false;
  if (builder != nullptr) builder->Open(Builder::Kind::kObject, key);
  const bool metadata = builder != nullptr && depth == rules_.metadata_depth && key == "metadata";
  Ascent ascent;
  for (const auto field : object) {
    ascent.Add(field.key);
    if (metadata && LeavesOut(field.key)) continue;
    if (!Walk(field.value, field.key, builder, depth + 1)) return false;
  }
  if (rules_.keys_once && !ascent.holds() && !CheckKeys(object)) return false;
  if (metadata) {
    for (const auto& [name, text] : rules_.added) {
      builder->Scalar(Builder::Kind::kString, name, text);
    }
  }
  if (builder != nullptr) builder->Close();
  return true;
}

bool TreeWalk::WalkArray(dom::array array, std::string_view key, Builder* builder, int depth) {
  if (depth > rules_.depth_max) return false;
  if (builder != nullptr) builder->Open(Builder::Kind::kArray, key);
  for (const dom::element child : array) {
    if (!Walk(child, {}, builder, depth + 1)) return false;
  }
  if (builder != nullptr) builder->Close();
  return true;
}

bool TreeWalk::LeavesOut(std::string_view key) const {
  const auto& names = rules_.left_out;
  return std::find(names.begin(), names.end(), key) != names.end();
}

struct JsonReader::Impl {
  dom::parser parser{kObjectBytesMax};
  TreeWalk walk{{.depth_max = kStoredDepthMax,
                 .keys_once = false,
                 .metadata_depth = 2,
                 .left_out = kManagedFields}};

  bool Reserve(std::size_t size) {
    std::size_t capacity = std::max(kCapacityMin, parser.capacity());
    while (capacity < size) capacity *= 2;
    if (capacity == parser.capacity()) return true;
    return parser.allocate(capacity, kStoredDepthMax) == simdjson::SUCCESS;
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
  if (code != simdjson::SUCCESS) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string("not an object of the API: ") + simdjson::error_message(code)};
  }
  if (!root.is_object()) {
    return Error{ErrorCode::kInvalidArgument, "not an object of the API: no JSON object"};
  }
  Builder builder;
  if (!impl_->walk.Read(root, 1, &builder)) {
    return Error{ErrorCode::kInvalidArgument, "not an object of the API: nested too deeply"};
  }
  return builder.Finish();
}

}  // namespace truce
