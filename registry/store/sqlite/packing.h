// Texts packed one behind the other, as differences from what is known already.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_PACKING_H_
#define TRUCE_REGISTRY_STORE_SQLITE_PACKING_H_

#include <cstddef>
#include <deque>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>

namespace truce {

// A text in two: what many begin with, and the rest.
struct SplitText {
  std::string_view whole;
  std::size_t bytes = 0;  // of its beginning

  std::string_view Beginning() const { return whole.substr(0, bytes); }
  std::string_view Rest() const { return whole.substr(bytes); }
};

// "s3/Bucket|aws|||name=" and what follows; also of an identity.
SplitText SplitKey(std::string_view key);
// "local/s3.aws.upbound.io/Bucket/" and namespace and name.
SplitText SplitSlot(std::string_view slot);
// "arn:aws:sqs:eu-central-1:123456789012:" and the resource.
SplitText SplitArn(std::string_view arn);

// What many texts begin with, each kept once, under a number. Forgets nothing; when it is full,
// or a beginning is very long, texts are packed whole. External synchronization.
class Beginnings {
 public:
  // 0, which is the empty one, when it is not kept.
  std::size_t Keep(std::string_view beginning);
  std::string_view Of(std::size_t number) const { return texts_[number]; }

 private:
  std::deque<std::string> texts_ = {""};                                   // by number
  std::unordered_map<std::string_view, std::size_t> numbers_ = {{"", 0}};  // of texts_
};

// A text is a length and its bytes; a relative text is the lengths of the prefix and suffix it
// shares with its base, and the rest as a text; of a split one the number of its beginning comes
// first, and what follows that is told relative to the base. Lengths and numbers are LEB128.
// External synchronization.
class TextPacker {
 public:
  // Appends to `out`, which must outlive it.
  TextPacker(std::string& out, Beginnings& beginnings) : out_(out), beginnings_(beginnings) {}

  void Text(std::string_view text);
  void Relative(std::string_view base, std::string_view text);
  void Split(const SplitText& text);
  void Split(std::string_view base, const SplitText& text);

 private:
  void Number(std::size_t number);
  std::string_view AfterBeginning(const SplitText& text);

  std::string& out_;
  Beginnings& beginnings_;
};

// Reads what a TextPacker wrote, in the same order. External synchronization.
class TextUnpacker {
 public:
  // Texts are put together in `memory`, which must outlive them.
  TextUnpacker(const char* at, const Beginnings& beginnings, std::pmr::memory_resource& memory)
      : at_(at), beginnings_(beginnings), memory_(memory) {}

  std::string_view Text();  // lives as long as what it is read from
  std::string_view Relative(std::string_view base);
  std::string_view Split();
  bool IsSplit(std::string_view text);  // whether Split would give it; needs no memory
  std::string_view Split(std::string_view base);

 private:
  std::size_t Number();
  std::string_view Together(std::string_view first, std::string_view second,
                            std::string_view third);

  const char* at_;
  const Beginnings& beginnings_;
  std::pmr::memory_resource& memory_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_PACKING_H_
