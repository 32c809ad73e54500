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

// Objects of up to this many members find a repeated key in a table of places; larger ones are
// sorted.
constexpr std::size_t kTabledKeysMax = 32;
constexpr std::size_t kKeyPlaces = 2 * kTabledKeysMax;
// Of stored objects, as for reviews; the parser counts the scalars, too.
constexpr int kStoredDepthMax = 1002;
constexpr std::size_t kCapacityMin = std::size_t{16} * 1024;
constexpr std::array<std::string_view, 1> kManagedFields = {"managedFields"};

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

// The keys of one object that is open in a walk: the last ones of the list of all.
class OpenKeys final {
 public:
  explicit OpenKeys(std::vector<std::string_view>& all) : all_(all), begin_(all.size()) {}

  // False when the object has the key already and is not a large one, which Close looks at.
  [[gnu::always_inline]] bool Add(std::string_view key) {
    const std::size_t count = all_.size() - begin_;
    all_.push_back(key);
    if (count >= kTabledKeysMax) return true;
    // Below `count`: not checked once more for each key of each review.
    const std::string_view* const own = all_.data() + begin_;
    std::size_t place = PlaceOf(key);
    for (; places_[place] != 0; place = (place + 1) % kKeyPlaces) {
      if (own[places_[place] - 1] == key) return false;
    }
    places_[place] = static_cast<std::uint8_t>(count + 1);
    return true;
  }

  // Forgets the object's keys. Gives one that stands twice, if the object is a large one.
  std::optional<std::string_view> Close() {
    std::optional<std::string_view> found;
    if (all_.size() - begin_ > kTabledKeysMax) {
      const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(begin_);
      std::sort(begin, all_.end());
      const auto twice = std::adjacent_find(begin, all_.end());
      if (twice != all_.end()) found = *twice;
    }
    all_.resize(begin_);
    return found;
  }

 private:
  std::vector<std::string_view>& all_;
  const std::size_t begin_;
  std::array<std::uint8_t, kKeyPlaces> places_{};  // 1 + number of a key; 0: free
};

// Appends `value`, which is neither object nor array, under `key`.
void AddScalar(dom::element value, std::string_view key, Builder& builder) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) {
    builder.Scalar(Builder::Kind::kString, key, text);
    return;
  }
  bool flag = false;
  if (value.get_bool().get(flag) == simdjson::SUCCESS) {
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
  if (value.get_int64().get(integer) == simdjson::SUCCESS) {
    end = std::to_chars(begin, begin + digits.size(), integer).ptr;
  } else if (value.get_uint64().get(large) == simdjson::SUCCESS) {
    end = std::to_chars(begin, begin + digits.size(), large).ptr;
  } else if (value.get_double().get(number) == simdjson::SUCCESS) {
    end = std::to_chars(begin, begin + digits.size(), number).ptr;
  }
  builder.Scalar(Builder::Kind::kNumber, key, builder.Own({begin, end}));
}

}  // namespace

bool TreeWalk::Read(dom::element value, int depth, Builder* builder) {
  keys_.clear();
  twice_.reset();
  return Walk(value, {}, builder, depth);
}

bool TreeWalk::CheckKeys(dom::object object) {
  keys_.clear();
  twice_.reset();
  OpenKeys open(keys_);
  for (const auto field : object) {
    if (!open.Add(field.key)) return Twice(field.key);
  }
  const auto twice = open.Close();
  return !twice || Twice(*twice);
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
  OpenKeys open(keys_);
  for (const auto field : object) {
    if (rules_.keys_once && !open.Add(field.key)) return Twice(field.key);
    const bool skip = metadata && IsLeftOut(field.key);
    if (skip && !rules_.keys_once) continue;
    if (!Walk(field.value, field.key, skip ? nullptr : builder, depth + 1)) return false;
  }
  if (const auto twice = open.Close()) return Twice(*twice);
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

bool TreeWalk::Twice(std::string_view key) {
  twice_ = key;
  return false;
}

bool TreeWalk::IsLeftOut(std::string_view key) const {
  return std::find(rules_.left_out.begin(), rules_.left_out.end(), key) != rules_.left_out.end();
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
