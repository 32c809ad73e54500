// Bodies as API servers write them, read in one pass: most of reading a review is here.
#ifndef TRUCE_WEBHOOK_ADMISSION_USUAL_BODY_H_
#define TRUCE_WEBHOOK_ADMISSION_USUAL_BODY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "registry/base/document.h"
#include "webhook/wire/text_marks.h"

namespace truce {

// Reads a body that is JSON without blanks but at its end, of at most 64 levels, whose keys are
// printable ASCII without escapes and unique in their objects, and whose numbers are integers
// of at most 18 digits. Keeps its buffers. External synchronization.
class UsualBody final {
 public:
  // Builds all of `body` but for the managedFields of members `metadata`, which are only checked to
  // be JSON. 64 bytes behind its end are readable, the first of them zero; texts are views into it,
  // those with escapes as they are written. False: the body is another one, or no JSON: nothing is
  // to be had of `builder`.
  bool Read(std::string_view body, Builder& builder);

  // Of the body read last: its request's oldObject is the same bytes as its object, and is null in
  // the built document.
  bool twins() const { return twins_; }

 private:
  using Kind = Document::Kind;

  // An object or array that is open.
  struct Level {
    std::string_view key;      // its own
    std::string_view last;     // of its members, the key read last
    std::uint64_t last_begin;  // the first bytes of that
    bool has_unread;           // managedFields, which are not built
    bool is_object;
    bool ascends;  // its members' keys do, so none comes twice
  };
  static constexpr std::size_t kDepthMax = 64;

  Level& Inner() { return *inner_; }
  bool IsInRequest();  // the value is a member of the review's request
  std::string_view Rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }
  std::string_view Since(const char* begin) const {
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  // Each goes on behind what it takes; false: something else is there.
  bool TakeAll();
  bool TakeMember();  // or an element
  bool SkipUnread();
  bool TakeKey(std::string_view& key);
  bool TakeValue(std::string_view key);
  bool Open(Kind kind, std::string_view key);
  bool Close();
  bool TakeWord(std::string_view word, Kind kind, std::string_view key);
  bool TakeInteger(std::string_view key);
  bool TakeText(std::string_view key);
  bool TakeOddText(std::string_view key, const char* begin);
  bool TakeTwin();
  bool Take(char mark);
  bool HasKeyTwice();  // the innermost object does
  std::string_view TakePlain();

  Builder* builder_ = nullptr;
  const char* at_ = nullptr;
  PlainRuns runs_;
  const char* end_ = nullptr;
  const char* object_begin_ = nullptr;  // of the request's object
  std::string_view object_;             // all of it, once it is closed
  bool twins_ = false;
  bool is_new_ = false;  // the last value is open and has no member yet
  std::size_t depth_ = 0;
  std::array<Level, kDepthMax> levels_;
  Level* inner_ = nullptr;              // the last of them; at depth 0 none
  std::vector<std::string_view> keys_;  // of the object that was looked at last
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_USUAL_BODY_H_
