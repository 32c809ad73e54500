// TextPacker and TextUnpacker: texts one after the other in few bytes, for what is kept in memory.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_PACKED_TEXT_H_
#define TRUCE_REGISTRY_STORE_SQLITE_PACKED_TEXT_H_

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

namespace truce {

// A text is a length and its bytes; a relative text is the lengths of the prefix and suffix it
// shares with its base, and the rest as a text. Lengths are LEB128. External synchronization.
class TextPacker {
 public:
  // Appends to `out`, which must outlive it.
  explicit TextPacker(std::string& out) : out_(out) {}

  void Text(std::string_view text);
  void Relative(std::string_view base, std::string_view text);

 private:
  void Length(std::size_t length);

  std::string& out_;
};

// Reads what a TextPacker wrote, in the same order. External synchronization.
class TextUnpacker {
 public:
  // Relative texts are put together in `memory`, which must outlive them.
  TextUnpacker(const char* at, std::pmr::memory_resource& memory) : at_(at), memory_(memory) {}

  std::string_view Text();  // lives as long as what it is read from
  std::string_view Relative(std::string_view base);

 private:
  std::size_t Length();

  const char* at_;
  std::pmr::memory_resource& memory_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_PACKED_TEXT_H_
