// Texts of strangers as one line: whole where they fit, cut at a character otherwise.
#include "registry/base/one_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/text.h"

namespace truce {
namespace one_line_test {

constexpr std::size_t kNoLimit = 10'000;
constexpr std::string_view kCut = "…";

TEST(OneLine, Vectors) {
  EXPECT_EQ(OneLine("", kNoLimit), "");
  EXPECT_EQ(OneLine("plain", kNoLimit), "plain");
  EXPECT_EQ(OneLine("a\nb", kNoLimit), "a\\u{0a}b");
  EXPECT_EQ(OneLine("spent …", kNoLimit), "spent …");
  EXPECT_EQ(OneLine("\xFF", kNoLimit), "\\u{fffd}");
  EXPECT_EQ(OneLine("map[a:b]", kNoLimit), "map [a:b]");
  EXPECT_EQ(OneLine("xmap[map[", kNoLimit), "xmap [map [");
  EXPECT_EQ(OneLine("[map", kNoLimit), "[map");
  EXPECT_EQ(OneLine("é map[é", kNoLimit), "é map [é");
  EXPECT_EQ(OneLine("ma\u200Bp[", kNoLimit), "ma\\u{200b}p[");
  EXPECT_EQ(OneLine("abcdef", 5), "ab…");
  EXPECT_EQ(OneLine("abcdef", 2), "");
}

TEST(OneLine, NothingUnseenIsLeft) {
  EXPECT_EQ(OneLine("a\x1b[2J\xC2\x9B\u202E\u2066\u200B\uFE0F\U000E0041\u3164"),
            "a\\u{1b}[2J\\u{9b}\\u{202e}\\u{2066}\\u{200b}\\u{fe0f}\\u{e0041}\\u{3164}");
}

TEST(Lines, EachIsOne) {
  EXPECT_EQ(Lines(""), "");
  EXPECT_EQ(Lines("a\n\tb\x1b\n\n"), "a\n\tb\\u{1b}\n\n");
  EXPECT_EQ(Folded(" a\r\nb\u200Bc\n"), "a  b\\u{200b}c");
  EXPECT_EQ(Folded("abcdef", 5), "ab…");
}

std::vector<std::string> Pieces() {
  return {"m", "map", "map[", "[", "…", "é", "\n", "a", "0123456789abcdef", "\xFF", "\u200B", "p["};
}

// Every limit cuts the whole line at a character, and no later character would have fitted.
void ExpectCutRightly(const std::string& text) {
  const std::string whole = OneLine(text, kNoLimit);
  for (std::size_t limit = kCut.size(); limit <= whole.size() + 1; ++limit) {
    const std::string line = OneLine(text, limit);
    ASSERT_LE(line.size(), limit) << text;
    if (whole.size() <= limit) {
      ASSERT_EQ(line, whole);
      continue;
    }
    ASSERT_TRUE(line.ends_with(kCut)) << line;
    const std::string_view kept = std::string_view(line).substr(0, line.size() - kCut.size());
    ASSERT_TRUE(whole.starts_with(kept)) << line << "\n" << whole;
    // An escape of at most eight bytes is one character here, as " [" is.
    ASSERT_GT(line.size() + std::string_view("\\u{fffd}").size(), limit) << line;
  }
}

TEST(OneLine, CutsAtCharacters) {
  const std::vector<std::string> pieces = Pieces();
  for (const std::string& first : pieces) {
    for (const std::string& second : pieces) {
      for (const std::string& third : pieces) ExpectCutRightly(first + second + third + first);
    }
  }
}

// A line does not depend on where its plain parts begin.
TEST(OneLine, IsThatOfItsCharacters) {
  for (const std::string& first : Pieces()) {
    for (const std::string& second : Pieces()) {
      const std::string text = first + second + first;
      std::string expected;
      for (std::string_view rest = text; !rest.empty();) {
        const std::size_t length = std::max<std::size_t>(FirstCharacter(rest).length, 1);
        std::string shown = OneLine(rest.substr(0, length), kNoLimit);
        if (shown == "[" && expected.ends_with("map")) shown = " [";
        expected += shown;
        rest.remove_prefix(length);
      }
      EXPECT_EQ(OneLine(text, kNoLimit), expected);
    }
  }
}

}  // namespace one_line_test
}  // namespace truce
