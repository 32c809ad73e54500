#include "registry/store/sqlite/packed_text.h"

#include <algorithm>
#include <span>

namespace truce {

void TextPacker::Length(std::size_t length) {
  while (length >= 0x80U) {
    out_.push_back(static_cast<char>((length & 0x7FU) | 0x80U));
    length >>= 7U;
  }
  out_.push_back(static_cast<char>(length));
}

void TextPacker::Text(std::string_view text) {
  Length(text.size());
  out_.append(text);
}

void TextPacker::Relative(std::string_view base, std::string_view text) {
  const std::size_t bound = std::min(base.size(), text.size());
  std::size_t prefix = 0;
  while (prefix < bound && base[prefix] == text[prefix]) ++prefix;
  std::size_t suffix = 0;
  while (suffix < bound - prefix &&
         base[base.size() - 1 - suffix] == text[text.size() - 1 - suffix]) {
    ++suffix;
  }
  Length(prefix);
  Length(suffix);
  Text(text.substr(prefix, text.size() - prefix - suffix));
}

std::size_t TextUnpacker::Length() {
  std::size_t length = 0;
  for (unsigned shift = 0;; shift += 7U) {
    const auto byte = static_cast<unsigned char>(*at_++);
    length |= static_cast<std::size_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) return length;
  }
}

std::string_view TextUnpacker::Text() {
  const std::size_t length = Length();
  const std::string_view text(at_, length);
  at_ += length;
  return text;
}

std::string_view TextUnpacker::Relative(std::string_view base) {
  const std::size_t prefix = Length();
  const std::size_t suffix = Length();
  const std::string_view rest = Text();
  const std::size_t bytes = prefix + rest.size() + suffix;
  if (bytes == 0) return {};
  if (prefix == base.size() && rest.empty()) return base;
  const std::span<char> text(static_cast<char*>(memory_.allocate(bytes, 1)), bytes);
  base.copy(text.data(), prefix);
  rest.copy(text.data() + prefix, rest.size());
  base.copy(text.data() + prefix + rest.size(), suffix, base.size() - suffix);
  return {text.data(), bytes};
}

}  // namespace truce
