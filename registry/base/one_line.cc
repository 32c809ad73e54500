#include "registry/base/one_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "registry/base/plain_run.h"
#include "registry/base/text.h"

namespace truce {
namespace {

// What Go prints before the members of a map; Argo CD deletes what looks like one.
constexpr std::string_view kMap = "map[";

// Characters that change a line without being seen in it.
bool IsInvisible(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0xA0) || code == 0xAD || code == 0x61C ||
         code == 0x180E || (code >= 0x200B && code <= 0x200F) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
         code == 0xFEFF || (code >= 0xFFF0 && code <= 0xFFFB) ||
         (code >= 0xE0000 && code <= 0xE007F);
}

std::string Escaped(std::uint32_t code) {
  std::array<char, 16> out;
  const int length = std::snprintf(out.data(), out.size(), "\\u{%02x}", code);
  return std::string(out.data(), static_cast<std::size_t>(length));
}

// How much of the beginning goes into a line as it is: what is plain, up to the "[" of a map.
std::size_t RunBytes(std::string_view text) {
  if (text.front() == '[') return 0;
  const std::size_t plain = PlainRun<Quotes::kPlain>(text);
  const std::size_t map = text.substr(0, plain).find(kMap);
  return map == std::string_view::npos ? plain : map + kMap.size() - 1;
}

}  // namespace

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

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kShownTextBytesMax) + '"'; }

}  // namespace truce
