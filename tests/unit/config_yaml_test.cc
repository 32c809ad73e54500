#include "webhook/wire/yaml.h"

#include <gtest/gtest.h>

#include <string>

namespace truce {
namespace config_yaml_test {

YamlNode Parsed(std::string_view text) {
  Result<YamlNode> node = ParseYaml(text, "t.yaml");
  EXPECT_TRUE(node.ok()) << (node.ok() ? "" : node.error().message) << "\n" << text;
  return node.ok() ? std::move(node).value() : YamlNode{};
}

TEST(Yaml, KeepsLinesQuotesAndOrder) {
  const YamlNode root = Parsed("# comment\na: 1\nb:\n  - 'x'\n  - y\n");
  ASSERT_EQ(root.keys.size(), 2U);
  EXPECT_EQ(root.keys[1].text, "b");
  EXPECT_EQ(root.keys[1].location.line, 3);
  EXPECT_FALSE(root.children[0].quoted);
  EXPECT_TRUE(root.children[1].children[0].quoted);
  EXPECT_EQ(root.children[1].children[1].location.line, 5);
  EXPECT_EQ(root.Find("a")->scalar, "1");
  EXPECT_EQ(root.Find("c"), nullptr);
}

TEST(Yaml, EmptyFilesAreEmptyMappings) {
  for (const std::string_view text :
       {"", "\n", "# only a comment\n", "---\n", "---\n...\n", "\xEF\xBB\xBF"}) {
    const YamlNode root = Parsed(text);
    EXPECT_EQ(root.kind, YamlNode::Kind::kMapping) << text;
    EXPECT_TRUE(root.keys.empty()) << text;
  }
}

struct BadYaml {
  const char* reason;
  std::string text;
  std::string message;  // what the message must contain
};

TEST(Yaml, RefusesTrapsWithLineAndRemedy) {
  const BadYaml rows[] = {
      {"duplicate key", "a: 1\nb: 2\na: 3\n",
       "t.yaml:3: the key 'a' stands here a second time; the first is on line 1"},
      {"anchor", "a: &x 1\n",
       "t.yaml:1: anchors and aliases ('&', '*') are not supported; write the value out"},
      {"alias", "a: 1\nb: *x\n",
       "t.yaml:2: anchors and aliases ('&', '*') are not supported; write the value out"},
      {"alias as key", "? *x\n: 1\n",
       "t.yaml:1: anchors and aliases ('&', '*') are not supported; write the value out"},
      {"merge key", "a:\n  <<: {b: 1}\n",
       "t.yaml:2: merge keys ('<<') are not supported; write the keys out"},
      {"tag", "a: !!str 1\n",
       "t.yaml:1: tags ('!…') are not supported; put text in quotes instead"},
      {"second document", "a: 1\n---\nb: 2\n",
       "t.yaml:2: a second document ('---') is not read; keep one"},
      {"list as key", "? [a]\n: 1\n",
       "t.yaml:1: a key must be a single word, not a list or mapping"},
      {"line break in a key", "\"a\\nb\": 1\n",
       "t.yaml:1: a key must be at most 256 bytes on one line"},
      {"tab", "a:\n\tb: 1\n",
       "t.yaml:2: found character that cannot start any token (while scanning for the next token); "
       "indent with spaces, and put text with special characters in quotes"},
      {"open quote", "a: \"b\nc: d\n",
       "t.yaml:3: found unexpected end of stream (while scanning a quoted scalar)"},
      {"open flow", "a: [1, 2\n",
       "t.yaml:2: did not find expected ',' or ']' (while parsing a flow sequence)"},
      {"control character", std::string("a: \x01\n"),
       "t.yaml:1: byte 3: control characters are not allowed"},
      {"null byte", std::string("a: b\0c\n", 7),
       "t.yaml:1: byte 4: control characters are not allowed"},
      {"not UTF-8", "a: \xff\n", "t.yaml:1: byte 3: invalid leading UTF-8 octet"},
      {"deep", std::string(100, '['), "t.yaml:1: nested deeper than 32 levels"},
      {"deep blocks",
       [] {
         std::string text;
         for (std::size_t i = 0; i < 40; ++i) text += std::string(i, ' ') + "a:\n";
         return text;
       }(),
       "t.yaml:33: nested deeper than 32 levels"},
      {"many values",
       "a: [" +
           [] {
             std::string items;
             for (int i = 0; i < 210'000; ++i) items += "1,";
             return items;
           }() +
           "]",
       "t.yaml:1: more than 200000 values"},
      {"large", std::string(kYamlBytesMax + 1, '#'), "t.yaml:1: larger than 4194304 bytes"},
  };
  for (const BadYaml& row : rows) {
    const Result<YamlNode> node = ParseYaml(row.text, "t.yaml");
    ASSERT_FALSE(node.ok()) << row.reason;
    EXPECT_EQ(node.error().code, ErrorCode::kInvalidArgument) << row.reason;
    EXPECT_EQ(node.error().message, row.message) << row.reason;
    EXPECT_EQ(node.error().message.find('\n'), std::string::npos) << row.reason;
  }
}

TEST(Yaml, DeepFlowInputEndsQuickly) {
  // libyaml alone would take all of it; the cap ends at the 33rd level.
  const Result<YamlNode> node = ParseYaml(std::string(kYamlBytesMax, '['), "t.yaml");
  EXPECT_FALSE(node.ok());
}

TEST(Yaml, KnowsWhatReadersTakeForSomethingElse) {
  for (const std::string_view text :
       {"",    "~",   "null", "Null", "true",  "yes",       "No",   "ON",   "off",
        "y",   "n",   "1",    "-1",   "+2",    "0777",      "0o17", "0x1F", "1_000",
        "1e3", "1.5", ".5",   "1.",   "22:22", "190:20:30", ".inf", ".NaN", "-.inf"}) {
    EXPECT_TRUE(LooksLikeOtherThanText(text)) << text;
  }
  for (const std::string_view text :
       {"a", "local", "127.0.0.1:8443", "2026-11-21", "2026-11-21T18:00:00Z", "s3/Bucket", "-",
        "1a", "ever", "yess", ":8080", "180s"}) {
    EXPECT_FALSE(LooksLikeOtherThanText(text)) << text;
  }
}

TEST(Yaml, WritesWhatItReads) {
  const std::string_view texts[] = {
      "a: 1\n",
      "a:\n  - b: 1\n    c: [x, y]\n  - {}\n  - []\n  - - 1\n    - 2\n",
      "'on': \"yes\"\n\"a b\": \"line\\nbreak \\\"q\\\" \\\\\"\n",
      "p: \"123456789012\"\nq: 0123\nr: \"\"\ns: \": x\"\nt: '- x'\nu: '*'\nv: \"a: b\"\nw: 'é'\n",
  };
  for (const std::string_view text : texts) {
    const YamlNode first = Parsed(text);
    const std::string written = WriteYaml(first, 0);
    const YamlNode second = Parsed(written);
    EXPECT_EQ(WriteYaml(second, 0), written) << text;
    ASSERT_EQ(first.children.size(), second.children.size()) << written;
    for (std::size_t i = 0; i < first.children.size(); ++i) {
      EXPECT_EQ(first.keys[i].text, second.keys[i].text);
      EXPECT_EQ(first.children[i].scalar, second.children[i].scalar) << written;
      const bool was_text =
          first.children[i].quoted || !LooksLikeOtherThanText(first.children[i].scalar);
      const bool is_text =
          second.children[i].quoted || !LooksLikeOtherThanText(second.children[i].scalar);
      EXPECT_EQ(was_text, is_text) << written;
    }
  }
}

}  // namespace config_yaml_test
}  // namespace truce
