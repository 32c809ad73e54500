// Numbers with what they count, for people: one word where there is one, another for all others.
#ifndef TRUCE_REGISTRY_BASE_COUNTED_H_
#define TRUCE_REGISTRY_BASE_COUNTED_H_

#include <concepts>
#include <string>
#include <string_view>

namespace truce {

// `one` where `count` is 1, else `many`: " is", " are".
constexpr std::string_view NumberedBy(std::integral auto count, std::string_view one,
                                      std::string_view many) {
  return count == 1 ? one : many;
}

// "1 object", "0 objects": `one` is a word, or words, whose plural ends with an s.
inline std::string Counted(std::integral auto count, std::string_view one) {
  return std::to_string(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

// "1 object is", "2 objects are": the words behind the number.
inline std::string Counted(std::integral auto count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(" ").append(NumberedBy(count, one, many));
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_COUNTED_H_
