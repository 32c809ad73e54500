// Vectors of the pure text that every folder shares.
#include "registry/base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "registry/base/counted.h"
#include "registry/base/fingerprint.h"

namespace truce {
namespace text_test {

std::string AllBytes() {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  return all;
}

TEST(Text, OnlyLettersOfAsciiHaveACase) {
  EXPECT_EQ(LowerOf("Bucket.S3 @[`{\xC3\x84"), "bucket.s3 @[`{\xC3\x84");
  EXPECT_EQ(LowerOf(""), "");
  for (const char c : AllBytes()) {
    EXPECT_EQ(Lower(c) != c, IsUpper(c));
    EXPECT_EQ(Upper(c) != c, IsLower(c));
  }
}

TEST(Text, OneThingIsNotCountedAsSeveral) {
  EXPECT_EQ(Counted(0, "object"), "0 objects");
  EXPECT_EQ(Counted(1, "object"), "1 object");
  EXPECT_EQ(Counted(2, "object"), "2 objects");
  EXPECT_EQ(Counted(1, "try is", "tries are"), "1 try is");
  EXPECT_EQ(Counted(7, "try is", "tries are"), "7 tries are");
  EXPECT_EQ(NumberedBy(1, "it", "them"), "it");
  EXPECT_EQ(NumberedBy(0, "it", "them"), "them");
}

TEST(Text, EqualIgnoringCaseIsEqualInLength) {
  EXPECT_TRUE(EqualsIgnoringCase("Chunked", "cHUNKED"));
  EXPECT_TRUE(EqualsIgnoringCase("", ""));
  EXPECT_FALSE(EqualsIgnoringCase("chunked", "chunke"));
  EXPECT_FALSE(EqualsIgnoringCase("@", "`"));  // a bit apart, and no letters
  EXPECT_FALSE(EqualsIgnoringCase("[", "{"));
}

TEST(Text, QuotesAndKindsForPeople) {
  EXPECT_EQ(InQuotes("a \"b\""), "\"a \"b\"\"");
  EXPECT_EQ(InQuotes(""), "\"\"");
  EXPECT_EQ(KindForPeople("Bucket", "s3.aws.upbound.io"), "Bucket.s3.aws.upbound.io");
  EXPECT_EQ(KindForPeople("Secret", ""), "Secret");
}

TEST(Hex, DigitsHaveValuesInEitherCase) {
  constexpr std::string_view kEither = "0123456789abcdefABCDEF";
  for (const char c : AllBytes()) {
    const std::size_t at = kEither.find(c);
    const int value = at == kEither.npos ? -1 : static_cast<int>(at < 16 ? at : at - 6);
    EXPECT_EQ(HexValue(c), value) << static_cast<int>(c);
    EXPECT_EQ(IsHexDigit(c), value >= 0);
  }
}

TEST(Hex, OfBytesAndNumbers) {
  EXPECT_EQ(HexOf(std::array<std::uint8_t, 4>{0x00, 0x0F, 0xA0, 0xFF}), "000fa0ff");
  EXPECT_EQ(HexOf(std::span<const std::uint8_t>()), "");
  EXPECT_EQ(HexOf(std::uint64_t{0}), "0000000000000000");
  EXPECT_EQ(HexOf(std::uint64_t{0xcbf29ce484222325U}), "cbf29ce484222325");
  EXPECT_EQ(UpperHexOf(0, 2), "00");
  EXPECT_EQ(UpperHexOf(0x200B, 4), "200B");
  EXPECT_EQ(UpperHexOf(0x1F600, 4), "1F600");
}

TEST(Utf8, FirstCharacterOfEachLength) {
  struct Row {
    std::string_view text;
    std::size_t length;
    std::uint32_t code;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {"", 0, 0, "nothing"},
      {std::string_view("\0", 1), 1, 0, "zero is a character"},
      {"\x7F", 1, 0x7F, "last of one byte"},
      {"\xC2\x80", 2, 0x80, "first of two"},
      {"\xDF\xBFx", 2, 0x7FF, "last of two"},
      {"\xE0\xA0\x80", 3, 0x800, "first of three"},
      {"\xED\x9F\xBF", 3, 0xD7FF, "before the surrogates"},
      {"\xEE\x80\x80", 3, 0xE000, "behind the surrogates"},
      {"\xEF\xBF\xBF", 3, 0xFFFF, "last of three"},
      {"\xF0\x90\x80\x80", 4, 0x10000, "first of four"},
      {"\xF4\x8F\xBF\xBF", 4, 0x10FFFF, "last of all"},
      {"\x80", 0, 0, "a continuation alone"},
      {"\xC0\x80", 0, 0, "overlong zero"},
      {"\xC1\xBF", 0, 0, "overlong of two"},
      {"\xE0\x9F\xBF", 0, 0, "overlong of three"},
      {"\xF0\x8F\xBF\xBF", 0, 0, "overlong of four"},
      {"\xED\xA0\x80", 0, 0, "first surrogate"},
      {"\xED\xBF\xBF", 0, 0, "last surrogate"},
      {"\xF4\x90\x80\x80", 0, 0, "above the last"},
      {"\xF5\x80\x80\x80", 0, 0, "no such lead"},
      {"\xFF", 0, 0, "no such byte"},
      {"\xC3", 0, 0, "cut after one"},
      {"\xE2\x80", 0, 0, "cut after two"},
      {"\xF0\x9F\x98", 0, 0, "cut after three"},
      {"\xE2\x28\xA1", 0, 0, "no continuation in the middle"},
      {"\xF0\x9F\x98\x20", 0, 0, "no continuation at the end"},
  };
  for (const Row& row : rows) {
    const Utf8Character first = FirstCharacter(row.text);
    EXPECT_EQ(first.length, row.length) << row.reason;
    EXPECT_EQ(first.code, row.code) << row.reason;
  }
  static_assert(FirstCharacter("\xC3\xA9").code == 0xE9);
}

TEST(Utf8, WholeTexts) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"));
  EXPECT_FALSE(IsUtf8("good, then \xE2\x80"));
  EXPECT_EQ(CharacterCount("gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"), 6U);
  EXPECT_EQ(CharacterCount(""), 0U);
}

TEST(Percent, OnlyTheUnreservedStandForThemselvesInUris) {
  EXPECT_EQ(UriEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(UriEncoded("a/b?c=d&e f%"), "a%2Fb%3Fc%3Dd%26e%20f%25");
  EXPECT_EQ(UriEncoded("\r\n\xC3\xA9"), "%0D%0A%C3%A9");
  EXPECT_EQ(UriEncoded(""), "");
}

TEST(Percent, TheCallerSaysWhatStandsForItself) {
  static constexpr ByteSet kPlain = AlnumAnd("/");
  std::string out = "x=";
  AppendPercentEncoded<kPlain>("a/b-c", out);
  EXPECT_EQ(out, "x=a/b%2Dc");
  std::string_view rest = "ab/-c";
  EXPECT_EQ(TakeBytes(kPlain, rest), "ab/");
  EXPECT_EQ(rest, "-c");
}

TEST(Controls, AreFoundAndReplaced) {
  for (const std::string_view text : {"\n", "a\tb", "\x7f", "\x01z"}) {
    EXPECT_TRUE(HasControl(text)) << text;
  }
  EXPECT_TRUE(HasControl(std::string_view("\0", 1)));
  for (const std::string_view text : {"", " ", "a b~", "ä", "\xc2\x85"}) {
    EXPECT_FALSE(HasControl(text)) << text;
  }
}

// Published vectors of FNV-1a: what is stored must mean the same in every version.
TEST(Fingerprints, AreFnv1aOfTheBytes) {
  const auto of = [](std::string_view text) {
    Fingerprint fingerprint;
    fingerprint.AddBytes(text);
    return fingerprint.value();
  };
  EXPECT_EQ(of(""), 0xCBF29CE484222325ULL);
  EXPECT_EQ(of("a"), 0xAF63DC4C8601EC8CULL);
  EXPECT_EQ(of("foobar"), 0x85944171F73967E8ULL);
}

TEST(Fingerprints, KnowWhereATextEnds) {
  Fingerprint one;
  one.Add("ab");
  one.Add("c");
  Fingerprint other;
  other.Add("a");
  other.Add("bc");
  EXPECT_NE(one.value(), other.value());
}

}  // namespace text_test
}  // namespace truce
