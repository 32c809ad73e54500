// Ids that nobody else makes, as texts.
#ifndef TRUCE_REGISTRY_BASE_RANDOM_ID_H_
#define TRUCE_REGISTRY_BASE_RANDOM_ID_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace truce {

// The characters of an id (base32), in the order of their values: texts sort as their numbers do.
inline constexpr std::string_view kIdCharacters = "234567abcdefghijklmnopqrstuvwxyz";
inline constexpr std::size_t kIdLength = 13;

// 13 characters, in the order in which they are made (seconds since 1970, until 2106, and 32 bits
// that begin at random in each second and grow by random steps): an index of them grows at its end.
// Thread-safe; never repeats in a process, and not between two for all that is likely.
std::string NewId();

// Whether `text` is spelt as such an id.
bool IsId(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_RANDOM_ID_H_
