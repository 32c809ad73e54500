#include "webhook/admission/usual_body.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "webhook/admission/unread_fields.h"
#include "webhook/wire/json_scan.h"
#include "webhook/wire/written_text.h"

namespace truce {
namespace {

constexpr std::size_t kInRequest = 2;  // review > request
constexpr std::string_view kUnreadKey = "managedFields";

// The first eight bytes of a key as a number that is less where they come before, zeros behind its
// end: where two differ, their keys do.
std::uint64_t BeginOf(std::string_view key) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, key.data(), sizeof bytes);
  if constexpr (std::endian::native == std::endian::little) bytes = __builtin_bswap64(bytes);
  if (key.size() >= sizeof bytes) return bytes;
  return key.empty() ? 0 : bytes & (~std::uint64_t{0} << (8 * (sizeof bytes - key.size())));
}

}  // namespace

bool UsualBody::Read(std::string_view body, Builder& builder) {
  builder_ = &builder;
  at_ = body.data();
  end_ = body.data() + body.size();
  runs_.Begin(at_);
  object_begin_ = nullptr;
  object_ = {};
  twins_ = false;
  depth_ = 0;
  return TakeAll();
}

bool UsualBody::TakeAll() {
  if (*at_ != '{') return false;
  do {
    if (!TakeMember()) return false;
    while (depth_ > 0 && *at_ == (Inner().is_object ? '}' : ']')) {
      if (!Close()) return false;
    }
    if (depth_ > 0 && !is_new_ && !Take(',')) return false;
  } while (depth_ > 0);
  while (*at_ == '\n' || *at_ == '\r' || *at_ == ' ' || *at_ == '\t') ++at_;
  return at_ == end_;
}

inline bool UsualBody::Take(char mark) {
  if (*at_ != mark) return false;
  ++at_;
  return true;
}

inline std::string_view UsualBody::TakePlain() {
  const char* const begin = at_;
  at_ = runs_.EndOf(at_);
  return Since(begin);
}

inline bool UsualBody::IsInRequest() { return depth_ == kInRequest && Inner().key == "request"; }

[[gnu::always_inline]] inline bool UsualBody::TakeMember() {
  is_new_ = false;
  if (depth_ == 0 || !Inner().is_object) return TakeValue({});
  std::string_view key;
  if (!TakeKey(key)) return false;
  if (key == kUnreadKey && Inner().key == "metadata") return SkipUnread();
  if (IsInRequest() && key == "oldObject" && TakeTwin()) return true;
  return TakeValue(key);
}

bool UsualBody::SkipUnread() {
  const std::size_t size = PlainListSize(at_);
  at_ += size;
  return size > 0 && !std::exchange(Inner().has_unread, true);
}

bool UsualBody::TakeTwin() {
  if (object_.empty() || !Rest().starts_with(object_)) return false;
  at_ += object_.size();
  twins_ = true;
  builder_->Scalar(Kind::kNull, "oldObject", {});
  return true;
}

[[gnu::always_inline]] inline bool UsualBody::TakeKey(std::string_view& key) {
  if (!Take('"')) return false;
  key = TakePlain();
  if (!Take('"') || !Take(':')) return false;
  Level& level = Inner();
  const std::uint64_t begin = BeginOf(key);
  level.ascends = level.ascends &&
                  (begin > level.last_begin || (begin == level.last_begin && key > level.last));
  level.last_begin = begin;
  level.last = key;
  return true;
}

[[gnu::always_inline]] inline bool UsualBody::TakeValue(std::string_view key) {
  switch (*at_) {
    case '"': return TakeText(key);
    case '{': return Open(Kind::kObject, key);
    case '[': return Open(Kind::kArray, key);
    case 't': return TakeWord("true", Kind::kBool, key);
    case 'f': return TakeWord("false", Kind::kBool, key);
    case 'n': return TakeWord("null", Kind::kNull, key);
    default: return TakeInteger(key);
  }
}

[[gnu::always_inline]] inline bool UsualBody::Open(Kind kind, std::string_view key) {
  if (depth_ == kDepthMax) return false;
  if (IsInRequest() && key == "object") object_begin_ = at_;
  inner_ = &levels_[depth_++];
  // Each by itself: a whole level would be copied from where it was just written.
  inner_->key = key;
  inner_->last = {};
  inner_->last_begin = 0;
  inner_->has_unread = false;
  inner_->is_object = kind == Kind::kObject;
  inner_->ascends = true;
  builder_->Open(kind, key);
  is_new_ = true;
  ++at_;
  return true;
}

[[gnu::always_inline]] inline bool UsualBody::Close() {
  if (!Inner().ascends && HasKeyTwice()) return false;
  builder_->Close();
  inner_ = --depth_ == 0 ? nullptr : inner_ - 1;
  is_new_ = false;
  ++at_;
  if (depth_ == kInRequest && object_begin_ != nullptr && object_.empty()) {
    object_ = Since(object_begin_);
  }
  return true;
}

bool UsualBody::HasKeyTwice() {
  keys_.clear();
  if (Inner().has_unread) keys_.push_back(kUnreadKey);
  builder_->AddKeysTo(keys_);
  return KeyTwice(keys_).has_value();
}

bool UsualBody::TakeWord(std::string_view word, Kind kind, std::string_view key) {
  if (!Rest().starts_with(word)) return false;
  at_ += word.size();
  builder_->Scalar(kind, key, kind == Kind::kNull ? std::string_view() : word);
  return true;
}

// As it is written, which is the shortest text that reads back as the same number.
bool UsualBody::TakeInteger(std::string_view key) {
  constexpr std::ptrdiff_t kDigitsMax = 18;
  const char* const begin = at_;
  Take('-');
  const char* const digits = at_;
  while (*at_ >= '0' && *at_ <= '9') ++at_;
  const std::ptrdiff_t count = at_ - digits;
  if (count == 0 || count > kDigitsMax || (*digits == '0' && at_ - begin > 1)) return false;
  builder_->Scalar(Kind::kNumber, key, Since(begin));
  return true;
}

[[gnu::always_inline]] inline bool UsualBody::TakeText(std::string_view key) {
  ++at_;
  const std::string_view plain = TakePlain();
  if (!Take('"')) return TakeOddText(key, plain.data());
  builder_->Scalar(Kind::kString, key, plain);
  return true;
}

// One that begins at `begin`, and has something odd where we are.
bool UsualBody::TakeOddText(std::string_view key, const char* begin) {
  const std::size_t size = WrittenSize(Rest());
  if (size == kNoText) return false;
  at_ += size;
  const std::string_view written = Since(begin);
  ++at_;
  if (written.find('\\') == std::string_view::npos) {
    builder_->Scalar(Kind::kString, key, written);
  } else {
    builder_->Written(key, written, ReadWritten);
  }
  return true;
}

}  // namespace truce
