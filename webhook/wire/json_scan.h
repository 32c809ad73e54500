// JSON → Document, front to back, in one pass over the text.
//
// The whole text is checked to be JSON, but only the first levels of it are built. The document
// keeps deeper parts as they are written (Builder::Written) and reads them level by level when
// somebody asks: so neither depth nor number of values costs memory where nobody reads, and neither
// causes a refusal (R4).
#ifndef TRUCE_WEBHOOK_WIRE_JSON_SCAN_H_
#define TRUCE_WEBHOOK_WIRE_JSON_SCAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/document.h"
#include "webhook/wire/text_marks.h"

namespace truce {

// A Document::TreeReader of a value that a scan left as written, so it is JSON.
void ReadTree(std::string_view written, std::string_view key, Builder& builder);

// A key that comes twice among `keys`, whose order is lost.
std::optional<std::string_view> KeyTwice(std::span<std::string_view> keys);

// Bytes behind a text that are readable, the first of them zero.
inline constexpr std::size_t kScanPadding = 64;
// A text of up to so many bytes is built up to so many levels; a larger one a level at a time.
inline constexpr std::size_t kBuiltBytes = 64 * 1024;
inline constexpr std::size_t kBuiltLevels = 64;

// Keeps its buffers. External synchronization.
class JsonScan final {
 public:
  enum class Fault : std::uint8_t { kNone, kEmpty, kUtf8, kText, kNumber, kKeyTwice, kOther };
  // Of the first kBuiltLevels levels of a text, also of parts that are not built.
  enum class Keys : std::uint8_t { kOnce, kAny };

  explicit JsonScan(Keys keys) : keys_once_(keys == Keys::kOnce) {}

  // Adds the value that `text` is to `builder`, under `key`. Texts and numbers are views into
  // `text`, as they are written; managedFields of an object that is called metadata, which nothing
  // reads, are left out. False: see fault(), and nothing is to be had of `builder`.
  bool Read(std::string_view text, std::string_view key, Builder& builder);

  // Of the last Read.
  Fault fault() const { return fault_; }
  // The key that comes twice in one object. Valid until the next Read, while the text lives.
  std::string_view twice() const { return twice_; }

 private:
  using Kind = Document::Kind;

  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  // One of the first objects and arrays that are open.
  struct Level {
    const char* begin;
    std::string_view key;   // its own
    std::string_view last;  // of its members, the key read last
    std::size_t left_out;   // managedFields
    bool ascends;           // its members' keys do, so none comes twice
  };
  // A text between its quotation marks.
  struct Text {
    std::string_view written;
    bool has_escapes = false;
  };

  friend void ReadTree(std::string_view written, std::string_view key, Builder& builder);

  // `is_checked`: of parts that are not built only the end is looked for.
  bool Scan(std::string_view text, std::size_t levels, bool is_checked, std::string_view key,
            Builder& builder);
  bool Fail(Fault fault);
  // Each goes on behind what it takes; false: something else is there.
  bool TakeAll(std::string_view key);
  bool TakeMember();  // or an element
  bool TakeValue(std::string_view key);
  bool TakeText(Text& text);
  bool TakeNumber();
  bool TakeWord(std::string_view word, Kind kind, std::string_view key);
  bool Take(char mark);
  std::string_view NoteKey(const Text& text);
  void Open(std::string_view key);
  void SkipTree();
  bool Close();
  bool HasKeyTwice(const Level& level);
  void TakeBlanks();
  // Puts the next value into the document, whole or as it is written.
  bool IsShown() const { return depth_ <= levels_ && depth_ < left_out_; }
  Level* Inner() { return depth_ <= open_.size() ? &open_[depth_ - 1] : nullptr; }
  std::string_view Since(const char* begin) const {
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  const bool keys_once_;
  Fault fault_ = Fault::kNone;
  std::string twice_;
  Builder* builder_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  PlainRuns runs_;
  bool is_checked_ = false;
  std::size_t levels_ = 0;    // that are built
  std::size_t depth_ = 0;     // of open values
  std::size_t left_out_ = 0;  // values so deep, or deeper, are managedFields
  bool is_new_ = false;       // the last value is open and has no member yet
  std::string closing_;       // brackets of open values
  std::array<Level, kBuiltLevels + 1> open_;
  std::vector<std::string_view> keys_;  // of the object that was looked at last
  std::string said_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_SCAN_H_
