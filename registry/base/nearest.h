// Slips of the pen: which of the words that there are somebody may have meant.
#ifndef TRUCE_REGISTRY_BASE_NEAREST_H_
#define TRUCE_REGISTRY_BASE_NEAREST_H_

#include <span>
#include <string_view>

namespace truce {

// The name among `candidates` that `word` is a slip of, or empty.
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_NEAREST_H_
