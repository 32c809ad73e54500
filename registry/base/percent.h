// Percent-encoding (RFC 3986, section 2.1). Which bytes stand for themselves is the caller's.
#ifndef TRUCE_REGISTRY_BASE_PERCENT_H_
#define TRUCE_REGISTRY_BASE_PERCENT_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "registry/base/hex.h"
#include "registry/base/text.h"

namespace truce {

using ByteSet = std::array<bool, 256>;

// Letters and digits of ASCII, and `marks`.
constexpr ByteSet AlnumAnd(std::string_view marks) {
  ByteSet set{};
  for (std::size_t c = 0; c < 128; ++c) set[c] = IsAlnum(static_cast<char>(c));
  for (const char c : marks) set[static_cast<unsigned char>(c)] = true;
  return set;
}

// The bytes of `set` at the begin; `rest` moves behind them.
constexpr std::string_view TakeBytes(const ByteSet& set, std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && set[static_cast<unsigned char>(rest[length])]) ++length;
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

// Appends `text`, its bytes outside `kPlain` as "%2F" and its like. Keys of every review are spelt
// so, hence a set that the compiler knows.
template <const ByteSet& kPlain>
void AppendPercentEncoded(std::string_view text, std::string& out) {
  while (true) {
    out.append(TakeBytes(kPlain, text));
    if (text.empty()) return;
    out.push_back('%');
    AppendUpperHex(static_cast<unsigned char>(text.front()), out);
    text.remove_prefix(1);
  }
}

// `text` as a part of any URI: only what RFC 3986 calls unreserved stands for itself.
std::string UriEncoded(std::string_view text);

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_PERCENT_H_
