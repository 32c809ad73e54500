#include "registry/base/one_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "registry/base/plain_run.h"
#include "registry/base/text.h"

namespace truce {
namespace {

// Go prints it before the members of a map; Argo CD deletes texts that look like one.
constexpr std::string_view kMap = "map[";

std::string Escaped(std::uint32_t code) {
  std::array<char, 16> out;
  const int length = std::snprintf(out.data(), out.size(), "\\u{%02x}", code);
  return std::string(out.data(), static_cast<std::size_t>(length));
}

// The bytes of the beginning that go into a line as they are: plain ones, up to the "[" of a map.
std::size_t RunBytes(std::string_view text) {
  if (text.front() == '[') return 0;
  const std::size_t plain = PlainRun<Quotes::kPlain>(text);
  const std::size_t map = text.substr(0, plain).find(kMap);
  return map == std::string_view::npos ? plain : map + kMap.size() - 1;
}

}  // namespace

// Controls, separators of lines, and what Unicode calls default ignorable.
bool IsInvisible(std::uint32_t code) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  static constexpr std::array<Range, 20> kRanges = {{
      {0x0, 0x1F},        {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},
      {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
      {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
      {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
      {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0x2800, 0x2800},
  }};
  return std::any_of(kRanges.begin(), kRanges.end(), [code](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

bool IsOneLine(std::string_view text) {
  return PlainRun<Quotes::kPlain>(text) == text.size() && text.find(kMap) == std::string_view::npos;
}

void AppendLine(std::string_view text, std::size_t bytes_max, std::string& out) {
  constexpr std::string_view kCut = "…";
  const bool usual = IsOneLine(text);
  if (usual && text.size() <= bytes_max) {
    out += text;
    return;
  }
  if (usual && bytes_max >= kCut.size()) {
    out.append(text.substr(0, bytes_max - kCut.size())).append(kCut);
    return;
  }
  const std::size_t begin = out.size();
  std::size_t fits = 0;  // length of the line up to which the cut mark still fits
  while (!text.empty()) {
    const std::size_t run = RunBytes(text);
    if (run > 0 && out.size() - begin + run + kCut.size() <= bytes_max) {
      out += text.substr(0, run);
      fits = out.size() - begin;
      text.remove_prefix(run);
      continue;
    }
    const Utf8Character next = FirstCharacter(text);
    std::string shown;
    if (next.length == 0) {
      shown = "\\u{fffd}";
    } else if (IsInvisible(next.code)) {
      shown = Escaped(next.code);
    } else {
      shown = text.substr(0, next.length);
    }
    if (shown == "[" && std::string_view(out).substr(begin).ends_with("map")) shown = " [";
    const std::size_t length = out.size() - begin;
    if (length + shown.size() > bytes_max) {
      out.resize(begin + fits);
      if (bytes_max >= kCut.size()) out += kCut;
      return;
    }
    out += shown;
    if (length + shown.size() + kCut.size() <= bytes_max) fits = length + shown.size();
    text.remove_prefix(std::max<std::size_t>(next.length, 1));
  }
}

std::string OneLine(std::string_view text, std::size_t bytes_max) {
  std::string out;
  AppendLine(text, bytes_max, out);
  return out;
}

std::string Lines(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    AppendLine(text.substr(0, end), std::string_view::npos, out);
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string Folded(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string folded(Trimmed(text, kBlanks));
  std::replace_if(
      folded.begin(), folded.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; },
      ' ');
  return OneLine(folded, bytes_max);
}

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kShownTextBytesMax) + '"'; }

}  // namespace truce
