#include "webhook/admission/policy.h"

#include <algorithm>

namespace truce {
namespace {

// Glob match with '*' only: on a mismatch the last star takes one character more.
bool Matches(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool MatchesAny(std::string_view text, std::span<const std::string> patterns) {
  // No user name of Kubernetes is longer; a longer text could make many stars slow.
  constexpr std::size_t kTextBytesMax = 512;
  if (text.size() > kTextBytesMax) return false;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return Matches(text, pattern); });
}

}  // namespace truce
