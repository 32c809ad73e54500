#include "registry/base/document.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/json_document.h"

namespace truce {
namespace document_test {

using Kind = Document::Kind;

TEST(Document, MissingValuesCanBeFollowedWithoutChecks) {
  const Value missing;
  EXPECT_EQ(missing.kind(), Kind::kMissing);
  EXPECT_FALSE(missing.exists());
  EXPECT_TRUE(missing.empty());
  EXPECT_EQ(missing.text(), "");
  EXPECT_EQ(missing.key(), "");
  EXPECT_FALSE(missing.Child("a").Child("b").first().exists());
  EXPECT_EQ(missing.size(), 0U);
  const std::vector<std::string> path = {"a", "b"};
  EXPECT_FALSE(missing.At(path).exists());
  const Document empty;
  EXPECT_FALSE(empty.root().exists());
}

TEST(Document, KeepsKindsTextsAndOrder) {
  const Document document = DocumentFromJson(
      R"({"s":"x","n":1.50,"t":true,"f":false,"z":null,"a":[1,[2],{}],"o":{"k":"v"},"e":[]})");
  const Value root = document.root();
  ASSERT_TRUE(root.is_object());
  EXPECT_EQ(root.size(), 8U);
  std::string keys;
  for (Value v = root.first(); v.exists(); v = root.next(v)) keys += v.key();
  EXPECT_EQ(keys, "sntfzaoe");
  EXPECT_TRUE(root.Child("s").is_string());
  EXPECT_EQ(root.Child("n").text(), "1.50");
  EXPECT_EQ(root.Child("n").kind(), Kind::kNumber);
  EXPECT_TRUE(root.Child("t").is_true());
  EXPECT_FALSE(root.Child("f").is_true());
  EXPECT_TRUE(root.Child("z").exists());
  EXPECT_TRUE(root.Child("z").empty());
  EXPECT_EQ(root.Child("a").size(), 3U);
  EXPECT_EQ(root.Child("e").size(), 0U);
  EXPECT_FALSE(root.Child("e").first().exists());
  EXPECT_FALSE(root.Child("missing").exists());
  EXPECT_FALSE(root.Child("s").Child("x").exists());
}

TEST(Document, PathsLookThroughListsOfOne) {
  const Document document = DocumentFromJson(
      R"({"a":[{"b":{"c":"one"}}],"d":[{"c":1},{"c":2}],"e":[[{"c":"two deep"}]]})");
  const auto at = [&document](std::vector<std::string> path) {
    return document.root().At(path).text();
  };
  EXPECT_EQ(at({"a", "b", "c"}), "one");
  EXPECT_EQ(at({"d", "c"}), "");
  EXPECT_EQ(at({"e", "c"}), "");
  EXPECT_TRUE(document.root().At({}).is_object());
}

TEST(Document, SurvivesMovesOfTheBuilderAndItself) {
  Builder builder;
  builder.Open(Kind::kObject, "");
  builder.Scalar(Kind::kString, builder.Own("k"), builder.Own("short"));
  builder.Scalar(Kind::kString, "l", builder.Own(std::string(100, 'x')));
  builder.Close();
  Document first = builder.Finish();
  const Document nothing = builder.Finish();
  EXPECT_FALSE(nothing.root().exists());
  const Document second = std::move(first);
  EXPECT_EQ(second.root().Child("k").text(), "short");
  EXPECT_EQ(second.root().Child("l").text(), std::string(100, 'x'));
}

TEST(Document, OwnedTextsStayWhereTheyAre) {
  Builder builder;
  std::vector<std::pair<std::string_view, std::string>> texts;
  for (std::size_t i = 0; i < 5000; ++i) {
    std::string text(i % 97 == 0 ? 70'000 : i % 41, static_cast<char>('a' + i % 26));
    const std::string_view view = builder.Own(text);
    texts.emplace_back(view, std::move(text));
  }
  builder.Scalar(Kind::kNull, "", {});
  const Document document = builder.Finish();
  for (const auto& [view, text] : texts) ASSERT_EQ(view, text);
}

// {"a": [<text>, {"k": "v"}]}, built in the memory of `used`.
Document Sample(std::string_view text, std::string_view key, Document used = {}) {
  Builder builder(std::move(used));
  builder.Open(Kind::kObject, "");
  builder.Open(Kind::kArray, "a");
  builder.Scalar(Kind::kString, "", text);
  builder.Open(Kind::kObject, "");
  builder.Scalar(Kind::kString, key, "v");
  builder.Close();
  builder.Close();
  builder.Close();
  return builder.Finish();
}

TEST(Document, EqualsComparesWholeTrees) {
  const Document one = Sample("x", "k");
  const Document same = Sample("x", "k");
  EXPECT_TRUE(one.root().Equals(same.root()));
  const Document other_text = Sample("y", "k");
  const Document other_key = Sample("x", "l");
  EXPECT_FALSE(one.root().Equals(other_text.root()));
  EXPECT_FALSE(one.root().Equals(other_key.root()));
  const auto inner = [](const Document& document) {
    const Value array = document.root().Child("a");
    return array.next(array.first());
  };
  EXPECT_TRUE(inner(one).Equals(inner(other_text)));
  EXPECT_FALSE(inner(one).Equals(inner(other_key)));
  EXPECT_FALSE(one.root().Equals(inner(one)));
  EXPECT_FALSE(one.root().Equals(Value()));
  EXPECT_TRUE(Value().Equals(Value()));
}

TEST(Document, IsBuiltInTheMemoryOfAnother) {
  Document first = Sample("old", "old");
  const Document second = Sample("x", "k", std::move(first));
  const Document fresh = Sample("x", "k");
  EXPECT_TRUE(second.root().Equals(fresh.root()));
}

// What is written says it in capitals.
Document Written(std::string_view text, int* reads = nullptr) {
  static int* counted = nullptr;
  counted = reads;
  Builder builder;
  builder.Open(Kind::kArray, "");
  builder.Written("", text, [](std::string_view written, std::string& said) {
    said.clear();
    for (const char c : written) said += static_cast<char>(c - 'a' + 'A');
    if (counted != nullptr) ++*counted;
  });
  builder.Scalar(Kind::kString, "", "B");
  builder.Close();
  return builder.Finish();
}

TEST(Document, WrittenTextsAreReadOnceSomebodyAsks) {
  int reads = 0;
  Document first = Written("b", &reads);
  const Document document = std::move(first);
  const Value written = document.root().first();
  EXPECT_TRUE(written.is_string());
  EXPECT_EQ(reads, 0);
  const std::string_view text = written.text();
  EXPECT_EQ(text, "B");
  EXPECT_EQ(written.text().data(), text.data());
  EXPECT_EQ(reads, 1);
}

TEST(Document, WrittenTextsAreEqualByWhatTheySay) {
  int reads = 0;
  const Document one = Written("b");
  const Document other = Written("c");
  const Document same = Written("b", &reads);
  EXPECT_TRUE(one.root().Equals(same.root()));
  EXPECT_EQ(reads, 0);
  const Value plain = same.root().next(same.root().first());
  EXPECT_FALSE(one.root().Equals(other.root()));
  EXPECT_FALSE(other.root().first().Equals(plain));
  EXPECT_TRUE(plain.Equals(same.root().first()));
  EXPECT_TRUE(one.root().first().Equals(plain));
  EXPECT_TRUE(one.root().Equals(same.root()));
}

TEST(Document, DepthCostsNoStack) {
  constexpr std::size_t kDepth = 200000;
  Builder builder;
  for (std::size_t i = 0; i < kDepth; ++i) builder.Open(Kind::kArray, "");
  for (std::size_t i = 0; i < kDepth; ++i) builder.Close();
  const Document document = builder.Finish();
  std::size_t depth = 0;
  for (Value value = document.root(); value.exists(); value = value.first()) ++depth;
  EXPECT_EQ(depth, kDepth);
}

}  // namespace document_test
}  // namespace truce
