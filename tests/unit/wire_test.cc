// Vectors of the wire formats that every folder shares.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/wire/base64.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_text.h"
#include "webhook/wire/json_writer.h"
#include "webhook/wire/markup.h"

namespace truce {
namespace wire_test {

// RFC 4648, section 10, and the digits in which the two alphabets differ.
TEST(Base64, VectorsOfTheStandard) {
  struct Row {
    std::string bytes;
    std::string padded;
    std::string url;
  };
  const std::vector<Row> rows = {
      {"f", "Zg==", "Zg"},
      {"fo", "Zm8=", "Zm8"},
      {"foo", "Zm9v", "Zm9v"},
      {"foob", "Zm9vYg==", "Zm9vYg"},
      {"fooba", "Zm9vYmE=", "Zm9vYmE"},
      {"foobar", "Zm9vYmFy", "Zm9vYmFy"},
      {"\xFB\xFF\xBE", "+/++", "-_--"},
      {std::string("\0\0", 2), "AAA=", "AAA"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(EncodeBase64(row.bytes), row.padded);
    EXPECT_EQ(DecodeBase64(row.padded), row.bytes);
    EXPECT_EQ(EncodeBase64Url(row.bytes), row.url);
    EXPECT_EQ(DecodeBase64Url(row.url), row.bytes);
  }
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64Url(""), "");
}

TEST(Base64, WhatIsNoneIsNothing) {
  EXPECT_EQ(DecodeBase64("Zm 9v\r\nYmFy\n"), "foobar");  // files have lines
  for (const char* text : {"", "Z", "Zg", "Zg=", "Zm9vY", "Zm9*", "-_--"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
  for (const char* text : {"", "Z", "Zm9vY", "Zg==", "Zm9v\n", "Zm 9v", "+/++", "Zm9*"}) {
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
  }
}

TEST(Markup, NothingOfATextIsATagOrEndsAnAttribute) {
  std::string out;
  for (const char c : std::string_view("<a href=\"x\">'&amp;'\n\xC3\xA9")) AppendToMarkup(c, out);
  EXPECT_EQ(out, "&lt;a href=&quot;x&quot;&gt;'&amp;amp;'\n\xC3\xA9");
}

TEST(JsonWriter, EscapesWhatJsonWants) {
  struct Row {
    std::string text;
    std::string json;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {"", R"("")", "nothing"},
      {"a \"b\" \\c/", R"("a \"b\" \\c/")", "marks of JSON"},
      {"\n\r\t", R"("\n\r\t")", "short forms"},
      {std::string("\0\x1F\x7F", 3), R"("\u0000\u001f\u007f")", "controls"},
      {"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80", "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80\"", "UTF-8"},
      {"a\xFF\xC3z", "\"a\xEF\xBF\xBD\xEF\xBF\xBDz\"", "bytes that are none"},
  };
  for (const Row& row : rows) {
    std::string out;
    AppendJsonString(row.text, out);
    EXPECT_EQ(out, row.json) << row.reason;
    EXPECT_FALSE(ParseJson(out).is_discarded()) << row.reason;
  }
}

TEST(JsonWriter, PutsCommasItself) {
  JsonWriter json;
  json.BeginObject().Field("a", "x").NumberField("b", -1).Field("c", true).Key("d").Null();
  json.TextsField("e", {"y", "z"}).Key("f").BeginArray().EndArray().Key("g").Raw("[1,{}]");
  json.EndObject();
  EXPECT_EQ(json.Take(), R"({"a":"x","b":-1,"c":true,"d":null,"e":["y","z"],"f":[],"g":[1,{}]})");
  EXPECT_EQ(json.BeginArray().Number(1).Number(2).EndArray().Take(), "[1,2]");
}

std::string NumberAs(JsonReader& reader, const std::string& number) {
  const Result<Document> read = reader.Read(R"({"n":)" + number + "}");
  if (!read.ok()) return "unreadable";
  return std::string(read.value().root().Child("n").text());
}

TEST(JsonReader, NumbersAreReadAsTheyAreWritten) {
  JsonReader reader;
  for (const char* number :
       {"0", "-5", "-0", "9223372036854775807", "18446744073709551615", "18446744073709552000",
        "100000000000000000000", "1.0", "0.10", "2.5e3", "1E+21", "1e400", "-1e-7"}) {
    EXPECT_EQ(NumberAs(reader, number), number);
  }
  for (const char* number : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x1", "NaN", "1_000"}) {
    EXPECT_EQ(NumberAs(reader, number), "unreadable") << number;
  }
}

std::string Nested(std::size_t depth, const std::string& inside) {
  std::string open;
  for (std::size_t i = 0; i < depth; ++i) open += i % 2 == 0 ? "[" : R"({"a":)";
  std::string text = open + inside;
  for (std::size_t i = depth; i > 0; --i) text += (i - 1) % 2 == 0 ? ']' : '}';
  return text;
}

TEST(JsonReader, WhatIsDeepIsReadWhenSomebodyAsks) {
  JsonReader reader;
  for (const std::size_t depth : {62U, 63U, 64U, 65U, 66U, 127U, 128U, 129U, 1000U, 20'000U}) {
    for (const std::string& beside : {std::string(), std::string(kBuiltBytes, 'x')}) {
      if (depth == 20'000U && !beside.empty()) continue;  // a level at a time
      const Result<Document> read = reader.Read(R"({"deep":)" + Nested(depth, R"("in\nside")") +
                                                R"(,"beside":")" + beside + R"("})");
      ASSERT_TRUE(read.ok()) << depth;
      Value at = read.value().root().Child("deep");
      for (std::size_t i = 0; i < depth; ++i) {
        ASSERT_EQ(at.kind(), i % 2 == 0 ? Document::Kind::kArray : Document::Kind::kObject) << i;
        ASSERT_EQ(at.size(), 1U) << i;
        at = i % 2 == 0 ? at.first() : at.Child("a");
      }
      EXPECT_EQ(at.text(), "in\nside");
      EXPECT_EQ(read.value().root().Child("beside").text(), beside);
    }
  }
}

TEST(JsonReader, WhatIsLargeIsReadWhenSomebodyAsks) {
  std::string list;
  for (int i = 0; i < 100'000; ++i) list += R"({"a":[)" + std::to_string(i) + R"(],"b":{}},)";
  JsonReader reader;
  const Result<Document> read = reader.Read(
      R"({"metadata":{"managedFields":[{"a":1}],"name":"x","labels":{"\u0061":"b"}},"spec":{"list":[)" +
      list + R"(null],"text":"c"}})");
  ASSERT_TRUE(read.ok());
  const Value root = read.value().root();
  EXPECT_EQ(root.Child("metadata").size(), 2U);
  EXPECT_EQ(root.Child("metadata").Child("labels").Child("a").text(), "b");
  const Value spec = root.Child("spec");
  EXPECT_EQ(spec.Child("text").text(), "c");
  EXPECT_EQ(spec.text(), "");
  std::size_t count = 0;
  for (Value at = spec.Child("list").first(); at.is_object(); at = spec.Child("list").next(at)) {
    ASSERT_EQ(at.Child("a").first().text(), std::to_string(count++));
  }
  EXPECT_EQ(count, 100'000U);
}

TEST(JsonReader, BlanksAreNoPartOfWhatIsRead) {
  const std::string text = "\"" + std::string(kBuiltBytes, 'x') + "\"";
  JsonReader reader;
  const Result<Document> read = reader.Read(" { \"a\" : { \"b\" : [ { } , [ ] ] , \"c\" : " + text +
                                            " } , \"d\" : [ 1 ] } \n");
  ASSERT_TRUE(read.ok());
  const Value a = read.value().root().Child("a");
  EXPECT_EQ(a.Child("b").size(), 2U);
  EXPECT_TRUE(a.Child("b").first().is_object());
  EXPECT_EQ(a.Child("c").text().size(), kBuiltBytes);
  EXPECT_EQ(read.value().root().Child("d").first().text(), "1");
}

// Of what stands as it is written, the same text says the same, and another one in a list may.
TEST(JsonReader, ComparesWhatIsLarge) {
  const auto large = [](const std::string& noted, const std::string& number) {
    return R"({"metadata":{"managedFields":")" + noted + std::string(kBuiltBytes, 'x') +
           R"(","a":"\u0061"},"spec":{"list":[1,)" + number + R"(,"a"],"b":{"c":[]}}})";
  };
  JsonReader one_reader;
  JsonReader other_reader;
  const auto same = [&](const std::string& one, const std::string& other) {
    const Result<Document> left = one_reader.Read(one);
    const Result<Document> right = other_reader.Read(other);
    return left.ok() && right.ok() && left.value().root().Equals(right.value().root());
  };
  EXPECT_TRUE(same(large("1", "2"), large("2", "2")));
  EXPECT_FALSE(same(large("1", "2"), large("1", "3")));
  const std::string small = R"({"metadata":{"a":"a"},"spec":{"list":[1,2,"a"],"b":{"c":[]}}})";
  EXPECT_TRUE(same(large("1", "2"), small));
  EXPECT_TRUE(same(small, large("1", "2")));
  const auto deep = [](const std::string& inside) { return "{\"a\":" + Nested(100, inside) + "}"; };
  EXPECT_TRUE(same(deep("1"), deep("1")));
  EXPECT_FALSE(same(deep("1"), deep("2")));
}

TEST(JsonReader, LeavesOutWhatManagersNoted) {
  JsonReader reader;
  const Result<Document> read = reader.Read(
      R"({"metadata":{"name":"a","managedFields":[{"x":1}]},"spec":{"managedFields":true,"t":[null,"s"]}})");
  ASSERT_TRUE(read.ok());
  const Value root = read.value().root();
  EXPECT_EQ(root.Child("metadata").Child("name").text(), "a");
  EXPECT_FALSE(root.Child("metadata").Child("managedFields").exists());
  EXPECT_TRUE(root.Child("spec").Child("managedFields").is_true());
  EXPECT_EQ(root.Child("spec").Child("t").size(), 2U);
  EXPECT_EQ(root.Child("spec").Child("t").first().kind(), Document::Kind::kNull);
}

TEST(JsonReader, RefusesWhatIsNoObject) {
  JsonReader reader;
  for (const char* text :
       {"", "[]", "\"a\"", "{\"a\":", "{} {}", "{\"a\":\"\xFF\"}", "{\"a\":[1,]}", "{\"a\":1,}",
        "{,}", "{\"a\"}", "{\"a\":[1 2]}", "{\"a\":[1}", "{a:1}"}) {
    const Result<Document> read = reader.Read(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument) << text;
  }
}

}  // namespace wire_test
}  // namespace truce
