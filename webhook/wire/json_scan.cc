#include "webhook/wire/json_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "registry/base/text.h"
#include "webhook/wire/written_text.h"

namespace truce {
namespace {

// Objects of up to this many members find a repeated key by comparing each with each, those of up
// to so many in a table of places; larger ones are sorted.
constexpr std::size_t kPairedKeysMax = 4;
constexpr std::size_t kTabledKeysMax = 32;
constexpr std::size_t kKeyPlaces = 2 * kTabledKeysMax;
constexpr std::string_view kLeftOut = "managedFields";
constexpr std::string_view kMetadata = "metadata";

// A key that comes twice among a few.
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

// A key that comes twice among at most kTabledKeysMax.
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

bool IsBlank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::size_t LevelsOf(std::string_view text) {
  return text.size() <= kBuiltBytes ? kBuiltLevels : 1;
}

}  // namespace

void ReadTree(std::string_view written, std::string_view key, Builder& builder) {
  JsonScan scan(JsonScan::Keys::kAny);
  const bool read = scan.Scan(written, LevelsOf(written), true, key, builder);
  TRUCE_ASSERT(read);
}

std::optional<std::string_view> KeyTwice(std::span<std::string_view> keys) {
  if (keys.size() <= kPairedKeysMax) return TwiceByPairs(keys);
  return keys.size() <= kTabledKeysMax ? TwiceByTable(keys) : TwiceBySorting(keys);
}

bool JsonScan::Read(std::string_view text, std::string_view key, Builder& builder) {
  return Scan(text, LevelsOf(text), false, key, builder);
}

bool JsonScan::Scan(std::string_view text, std::size_t levels, bool is_checked,
                    std::string_view key, Builder& builder) {
  is_checked_ = is_checked;
  builder_ = &builder;
  at_ = text.data();
  end_ = text.data() + text.size();
  runs_.Begin(at_);
  levels_ = levels;
  depth_ = 0;
  left_out_ = kNowhere;
  closing_.clear();
  fault_ = Fault::kNone;
  TakeBlanks();
  if (at_ == end_) return Fail(Fault::kEmpty);
  if (TakeAll(key)) return true;
  if (fault_ != Fault::kKeyTwice && !IsUtf8(text)) fault_ = Fault::kUtf8;
  return false;
}

bool JsonScan::Fail(Fault fault) {
  fault_ = fault;
  return false;
}

bool JsonScan::TakeAll(std::string_view key) {
  is_new_ = false;
  if (!TakeValue(key)) return false;
  while (depth_ > 0) {
    TakeBlanks();
    if (*at_ == closing_.back()) {
      if (!Close()) return false;
      continue;
    }
    if (!is_new_ && !Take(',')) return Fail(Fault::kOther);
    TakeBlanks();
    if (!TakeMember()) return false;
  }
  // More of the text may follow behind a value as written.
  if (at_ == end_) return true;
  TakeBlanks();
  return at_ == end_ || Fail(Fault::kOther);
}

inline void JsonScan::TakeBlanks() {
  while (IsBlank(*at_)) ++at_;
}

inline bool JsonScan::Take(char mark) {
  if (*at_ != mark) return false;
  ++at_;
  return true;
}

inline bool JsonScan::TakeMember() {
  is_new_ = false;
  if (closing_.back() == ']') return TakeValue({});
  Text text;
  if (*at_ != '"') return Fail(Fault::kOther);
  if (!TakeText(text)) return false;
  TakeBlanks();
  if (!Take(':')) return Fail(Fault::kOther);
  TakeBlanks();
  return TakeValue(NoteKey(text));
}

// The key that `text` is, where anybody asks for it.
std::string_view JsonScan::NoteKey(const Text& text) {
  Level* const level = Inner();
  if (level == nullptr || left_out_ != kNowhere) return {};
  std::string_view key = text.written;
  if (text.has_escapes && IsShown()) {
    ReadWritten(key, said_);
    key = builder_->Own(said_);
  } else if (text.has_escapes) {
    level->ascends = false;
  }
  if (key == kLeftOut && level->key == kMetadata) {
    left_out_ = depth_;
    ++level->left_out;
  }
  const bool is_first = level->last.data() == nullptr;
  level->ascends = level->ascends && (is_first || level->last < key);
  level->last = key;
  return key;
}

inline bool JsonScan::TakeValue(std::string_view key) {
  const char* const begin = at_;
  switch (*at_) {
    case '{':
    case '[': Open(key); return true;
    case '"': {
      Text text;
      if (!TakeText(text)) return false;
      if (!IsShown()) break;
      if (text.has_escapes) {
        builder_->Written(key, text.written, ReadWritten);
      } else {
        builder_->Scalar(Kind::kString, key, text.written);
      }
      break;
    }
    case 't':
      if (!TakeWord("true", Kind::kBool, key)) return false;
      break;
    case 'f':
      if (!TakeWord("false", Kind::kBool, key)) return false;
      break;
    case 'n':
      if (!TakeWord("null", Kind::kNull, key)) return false;
      break;
    default:
      if (!TakeNumber()) return false;
      if (IsShown()) builder_->Scalar(Kind::kNumber, key, Since(begin));
      break;
  }
  if (depth_ == left_out_) left_out_ = kNowhere;
  return true;
}

// From its bracket to behind its end.
void JsonScan::SkipTree() {
  std::size_t depth = 0;
  do {
    const char mark = *at_++;
    if (mark == '{' || mark == '[') ++depth;
    if (mark == '}' || mark == ']') --depth;
    if (mark != '"') continue;
    for (at_ = runs_.EndOf(at_); *at_ != '"'; at_ = runs_.EndOf(at_)) at_ += *at_ == '\\' ? 2 : 1;
    ++at_;
  } while (depth > 0);
}

inline void JsonScan::Open(std::string_view key) {
  if (is_checked_ && depth_ == levels_) {
    const char* const begin = at_;
    const Kind kind = *at_ == '{' ? Kind::kObject : Kind::kArray;
    SkipTree();
    if (IsShown()) builder_->Written(kind, key, Since(begin), ReadTree);
    if (depth_ == left_out_) left_out_ = kNowhere;
    return;
  }
  if (IsShown() && depth_ < levels_) {
    builder_->Open(*at_ == '{' ? Kind::kObject : Kind::kArray, key);
  }
  ++depth_;
  if (Level* const level = Inner()) *level = {at_, key, {}, 0, true};
  closing_ += *at_ == '{' ? '}' : ']';
  is_new_ = true;
  ++at_;
}

inline bool JsonScan::Close() {
  Level* const level = Inner();
  const bool checks = keys_once_ && level != nullptr && left_out_ == kNowhere;
  if (checks && !level->ascends && HasKeyTwice(*level)) return Fail(Fault::kKeyTwice);
  const Kind kind = closing_.back() == '}' ? Kind::kObject : Kind::kArray;
  ++at_;
  closing_.pop_back();
  --depth_;
  is_new_ = false;
  if (IsShown() && depth_ < levels_) {
    builder_->Close();
  } else if (IsShown()) {
    builder_->Written(kind, open_[depth_].key, Since(open_[depth_].begin), ReadTree);
  }
  if (depth_ == left_out_) left_out_ = kNowhere;
  return true;
}

// Of an object that is not built one level is built beside.
bool JsonScan::HasKeyTwice(const Level& level) {
  keys_.assign(level.left_out, kLeftOut);
  Document beside;
  if (depth_ <= levels_) {
    builder_->AddKeysTo(keys_);
  } else {
    JsonScan scan(Keys::kAny);
    Builder builder;
    const std::string_view all(level.begin, static_cast<std::size_t>(at_ + 1 - level.begin));
    const bool read = scan.Scan(all, 1, true, level.key, builder);
    TRUCE_ASSERT(read);
    beside = builder.Finish();
    const Value object = beside.root();
    for (Value at = object.first(); at.exists(); at = object.next(at)) keys_.push_back(at.key());
  }
  const std::optional<std::string_view> twice = KeyTwice(keys_);
  if (twice) twice_ = *twice;
  return twice.has_value();
}

bool JsonScan::TakeText(Text& text) {
  const char* const begin = ++at_;
  at_ = runs_.EndOf(at_);
  if (*at_ != '"') {
    const std::size_t size = WrittenSize({at_, static_cast<std::size_t>(end_ - at_)});
    if (size == kNoText) return Fail(Fault::kText);
    text.has_escapes = std::memchr(at_, '\\', size) != nullptr;
    at_ += size;
  }
  text.written = Since(begin);
  ++at_;
  return true;
}

bool JsonScan::TakeNumber() {
  Take('-');
  const char* const whole = at_;
  while (IsDigit(*at_)) ++at_;
  if (at_ == whole || (*whole == '0' && at_ - whole > 1)) {
    return Fail(at_ == whole ? Fault::kOther : Fault::kNumber);
  }
  if (Take('.')) {
    const char* const fraction = at_;
    while (IsDigit(*at_)) ++at_;
    if (at_ == fraction) return Fail(Fault::kNumber);
  }
  if (*at_ != 'e' && *at_ != 'E') return true;
  ++at_;
  if (*at_ == '-' || *at_ == '+') ++at_;
  const char* const power = at_;
  while (IsDigit(*at_)) ++at_;
  return at_ != power || Fail(Fault::kNumber);
}

bool JsonScan::TakeWord(std::string_view word, Kind kind, std::string_view key) {
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) {
    return Fail(Fault::kOther);
  }
  at_ += word.size();
  if (IsShown()) builder_->Scalar(kind, key, kind == Kind::kNull ? std::string_view() : word);
  return true;
}

}  // namespace truce
