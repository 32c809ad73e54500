// Texts with escapes: how long they are, and what they say, is what a plain reading finds.
#include "webhook/wire/written_text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json_document.h"

namespace truce {
namespace written_text_test {

constexpr std::size_t kReadable = 64;

// The body's rest may be anything but nothing; what is readable behind it, too.
std::size_t SizeOf(const std::string& text, const std::string& behind = "\"}") {
  std::string body = text + behind;
  const std::size_t size = body.size();
  body += '\0';
  body.append(kReadable - 1, '"');
  return WrittenSize(std::string_view(body).substr(0, size));
}

std::string Said(std::string_view written) {
  std::string said = "before";
  ReadWritten(written, said);
  return said;
}

// JSON's own reader takes the whole text, or nothing of it.
void Compare(const std::string& text) {
  const Document plain = DocumentFromJson("[\"" + text + "\"]");
  const std::size_t size = SizeOf(text);
  if (plain.root().size() != 1 || !plain.root().first().is_string()) {
    // It may end sooner, and something else follow.
    EXPECT_TRUE(size == kNoText || size < text.size()) << text;
    if (size != kNoText) Compare(text.substr(0, size));
    return;
  }
  ASSERT_EQ(size, text.size()) << text;
  EXPECT_EQ(Said(text), plain.root().first().text()) << text;
}

TEST(WrittenText, IsMeasuredAndRead) {
  struct Case {
    std::string written;
    std::string said;
  };
  const std::vector<Case> rows = {
      {"", ""},
      {"plain", "plain"},
      {R"({\"a\":\"b\\n\"})", R"({"a":"b\n"})"},
      {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"},
      {R"(\u003cb\u003E)", "<b>"},
      {R"(\u0000)", std::string(1, '\0')},
      {R"(\u00e9\u20AC\ud83d\ude00)", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
      {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\\n",
       "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\n"}};
  for (const Case& row : rows) {
    for (std::size_t shift = 0; shift < 2 * kReadable; ++shift) {
      const std::string before(shift, 'x');
      EXPECT_EQ(SizeOf(before + row.written), shift + row.written.size()) << row.written;
      EXPECT_EQ(Said(before + row.written), before + row.said) << row.written;
      Compare(before + row.written);
    }
  }
}

TEST(WrittenText, OthersAreNone) {
  const std::vector<std::string> rows = {R"(\x)",
                                         R"(\u12)",
                                         R"(\u12g4)",
                                         R"(\u 123)",
                                         R"(\U0041)",
                                         R"(\ud83d)",
                                         R"(\ud83dx)",
                                         R"(\ud83d\n)",
                                         R"(\ud83d\u0041)",
                                         R"(\ude00)",
                                         R"(\ude00\ud83d)",
                                         "\n",
                                         "\x1F",
                                         "\xFF",
                                         "\xC3",
                                         "\xC0\xAF",
                                         "\xED\xA0\x80",
                                         "\xF4\x90\x80\x80",
                                         "\\\xC3\xA9",
                                         "\\\n",
                                         std::string(1, '\0'),
                                         std::string("\\\0", 2)};
  for (const std::string& row : rows) {
    for (std::size_t shift = 0; shift < 2 * kReadable; ++shift) {
      const std::string before(shift, 'x');
      EXPECT_EQ(SizeOf(before + row), kNoText) << row << shift;
      Compare(before + row);
    }
  }
}

TEST(WrittenText, EndsBeforeTheEndOfTheBody) {
  for (std::size_t size = 0; size < 3 * kReadable; ++size) {
    const std::string text(size, 'x');
    EXPECT_EQ(SizeOf(text, ""), kNoText) << size;
    EXPECT_EQ(SizeOf(text + "\\", ""), kNoText) << size;
    EXPECT_EQ(SizeOf(text + "\\\"", ""), kNoText) << size;
    EXPECT_EQ(SizeOf(text + "\\u004", ""), kNoText) << size;
    EXPECT_EQ(SizeOf(text, "\""), size) << size;
    EXPECT_EQ(SizeOf(text + std::string(2 * size, '\\'), "\""), 3 * size) << size;
    EXPECT_EQ(SizeOf(text + std::string(2 * size + 1, '\\'), "\""), kNoText) << size;
  }
}

TEST(WrittenText, WhateverItIsMadeOfItIsReadAsAnyOther) {
  constexpr unsigned kSeed = 24;
  std::mt19937 random(kSeed);
  constexpr std::array<std::string_view, 16> kParts = {"\\",
                                                       "\\",
                                                       "\\\\",
                                                       "\\\"",
                                                       "\"",
                                                       "\\n",
                                                       "\\u0041",
                                                       "\\ud83d",
                                                       "\\ude00",
                                                       "\\u00",
                                                       "x",
                                                       "{},",
                                                       "\xC3",
                                                       "\xA9",
                                                       "\xE2\x82\xAC",
                                                       "0123456789012345678901234567"};
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  for (int round = 0; round < 20'000; ++round) {
    std::string text(below(kReadable), 'x');
    // Mostly of what is good, so that much is read.
    for (std::size_t part = below(12); part > 0; --part) {
      text += below(4) == 0 ? kParts.at(below(kParts.size())) : kParts.at(2 + 3 * below(2));
    }
    Compare(text);
  }
}

}  // namespace written_text_test
}  // namespace truce
