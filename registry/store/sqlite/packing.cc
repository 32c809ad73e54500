#include "registry/store/sqlite/packing.h"

#include <algorithm>

namespace truce {
namespace {

// So many have numbers of at most two bytes, and take a few megabytes at most: there are some for
// each type, account and region. Whoever invents more of them pays with the room of his own texts.
constexpr std::size_t kBeginningsMax = std::size_t{1} << 14U;
constexpr std::size_t kBeginningBytesMax = 256;

SplitText SplitAfter(std::string_view text, char mark, int count) {
  std::size_t at = 0;
  for (int i = 0; i < count; ++i) {
    at = text.find(mark, at);
    if (at == std::string_view::npos) return {text};
    ++at;
  }
  return {text, at};
}

}  // namespace

SplitText SplitKey(std::string_view key) { return SplitAfter(key, '=', 1); }

SplitText SplitSlot(std::string_view slot) { return SplitAfter(slot, '/', 3); }

SplitText SplitArn(std::string_view arn) { return SplitAfter(arn, ':', 5); }

std::size_t Beginnings::Keep(std::string_view beginning) {
  const auto found = numbers_.find(beginning);
  if (found != numbers_.end()) return found->second;
  if (texts_.size() >= kBeginningsMax || beginning.size() > kBeginningBytesMax) return 0;
  const std::size_t number = texts_.size();
  numbers_.emplace(texts_.emplace_back(beginning), number);
  return number;
}

void TextPacker::Number(std::size_t number) {
  while (number >= 0x80U) {
    out_.push_back(static_cast<char>((number & 0x7FU) | 0x80U));
    number >>= 7U;
  }
  out_.push_back(static_cast<char>(number));
}

void TextPacker::Text(std::string_view text) {
  Number(text.size());
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
  Number(prefix);
  Number(suffix);
  Text(text.substr(prefix, text.size() - prefix - suffix));
}

std::string_view TextPacker::AfterBeginning(const SplitText& text) {
  const std::size_t number = beginnings_.Keep(text.Beginning());
  Number(number);
  return number == 0 ? text.whole : text.Rest();
}

void TextPacker::Split(const SplitText& text) { Text(AfterBeginning(text)); }

void TextPacker::Split(std::string_view base, const SplitText& text) {
  Relative(base, AfterBeginning(text));
}

std::size_t TextUnpacker::Number() {
  std::size_t number = 0;
  for (unsigned shift = 0;; shift += 7U) {
    const auto byte = static_cast<unsigned char>(*at_++);
    number |= static_cast<std::size_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) return number;
  }
}

std::string_view TextUnpacker::Text() {
  const std::size_t length = Number();
  const std::string_view text(at_, length);
  at_ += length;
  return text;
}

std::string_view TextUnpacker::Together(std::string_view first, std::string_view second,
                                        std::string_view third) {
  const std::size_t bytes = first.size() + second.size() + third.size();
  if (bytes == 0) return {};
  auto* const text = static_cast<char*>(memory_.allocate(bytes, 1));
  first.copy(text, first.size());
  second.copy(text + first.size(), second.size());
  third.copy(text + first.size() + second.size(), third.size());
  return {text, bytes};
}

std::string_view TextUnpacker::Relative(std::string_view base) {
  const std::size_t prefix = Number();
  const std::size_t suffix = Number();
  const std::string_view rest = Text();
  if (prefix == base.size() && rest.empty()) return base;
  return Together(base.substr(0, prefix), rest, base.substr(base.size() - suffix));
}

std::string_view TextUnpacker::Split() {
  const std::string_view beginning = beginnings_.Of(Number());
  const std::string_view rest = Text();
  return beginning.empty() ? rest : Together(beginning, rest, {});
}

bool TextUnpacker::IsSplit(std::string_view text) {
  const std::string_view beginning = beginnings_.Of(Number());
  const std::string_view rest = Text();
  return text.size() == beginning.size() + rest.size() && text.ends_with(rest) &&
         text.starts_with(beginning);
}

std::string_view TextUnpacker::Split(std::string_view base) {
  const std::string_view beginning = beginnings_.Of(Number());
  const std::string_view rest = Relative(base);
  return beginning.empty() ? rest : Together(beginning, rest, {});
}

}  // namespace truce
