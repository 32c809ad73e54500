// Names that must not become keys: confusables, invisible characters, odd bytes.
#include <gtest/gtest.h>

#include <string>

#include "registry/identity/identity.h"
#include "registry/identity/values.h"
#include "tests/support/json_document.h"

namespace truce {
namespace identity_names_test {

IdentityRules Rules() {
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  return rules;
}

// A Document of {"metadata":{"name":...},"spec":{"forProvider":...}} from raw bytes, which JSON
// could not carry.
Document BucketNamed(std::string_view name) {
  Builder builder;
  builder.Open(Document::Kind::kObject, "");
  builder.Open(Document::Kind::kObject, "metadata");
  builder.Scalar(Document::Kind::kString, "name", name);
  builder.Close();
  builder.Open(Document::Kind::kObject, "spec");
  builder.Open(Document::Kind::kObject, "forProvider");
  builder.Scalar(Document::Kind::kString, "bucket", name);
  builder.Scalar(Document::Kind::kString, "key", name);
  builder.Scalar(Document::Kind::kString, "name", name);
  builder.Scalar(Document::Kind::kString, "region", "us-west-2");
  builder.Close();
  builder.Close();
  builder.Close();
  return builder.Finish();
}

struct Row {
  const char* reason;  // what an attacker hopes for
  std::string_view name;
  const char* why;  // nullptr: a good name
};

constexpr std::string_view Bytes(const char* text, std::size_t size) { return {text, size}; }

// For a bucket, whose rule allows ASCII only.
const Row kBucketNames[] = {
    {"plain", "prod-artifacts", nullptr},
    {"dots", "prod.artifacts", nullptr},
    {"upper case is AWS's to refuse", "Prod-Artifacts", nullptr},
    {"a space is seen and encoded", "prod artifacts", nullptr},
    {"separators of keys are encoded", "a|b=c%/..?", nullptr},
    {"cyrillic a", "prod-\u0430rtifacts", "contains U+0430 (not ASCII, which AWS requires here)"},
    {"cyrillic o", "pr\u043Ed-artifacts", "contains U+043E (not ASCII, which AWS requires here)"},
    {"cyrillic e", "l\u0435dger", "contains U+0435 (not ASCII, which AWS requires here)"},
    {"cyrillic p", "\u0440rod", "contains U+0440 (not ASCII, which AWS requires here)"},
    {"cyrillic c", "a\u0441me", "contains U+0441 (not ASCII, which AWS requires here)"},
    {"cyrillic i", "f\u0456le", "contains U+0456 (not ASCII, which AWS requires here)"},
    {"greek omicron", "pr\u03BFd", "contains U+03BF (not ASCII, which AWS requires here)"},
    {"greek alpha", "\u03B1cme", "contains U+03B1 (not ASCII, which AWS requires here)"},
    {"latin dotless i", "art\u0131facts", "contains U+0131 (not ASCII, which AWS requires here)"},
    {"latin alpha", "\u0251cme", "contains U+0251 (not ASCII, which AWS requires here)"},
    {"fullwidth letters", "\uFF50rod", "contains U+FF50 (not ASCII, which AWS requires here)"},
    {"fullwidth hyphen", "prod\uFF0Dx", "contains U+FF0D (not ASCII, which AWS requires here)"},
    {"mathematical letter", "\U0001D429rod",
     "contains U+1D429 (not ASCII, which AWS requires here)"},
    {"hyphen that is not one", "prod\u2010x",
     "contains U+2010 (not ASCII, which AWS requires here)"},
    {"non-breaking hyphen", "prod\u2011x", "contains U+2011 (not ASCII, which AWS requires here)"},
    {"en dash", "prod\u2013x", "contains U+2013 (not ASCII, which AWS requires here)"},
    {"minus sign", "prod\u2212x", "contains U+2212 (not ASCII, which AWS requires here)"},
    {"one dot leader", "prod\u2024x", "contains U+2024 (not ASCII, which AWS requires here)"},
    {"combining accent", "prod-a\u0301", "contains U+0301 (not ASCII, which AWS requires here)"},
    {"accented letter", "prod-\u00E1", "contains U+00E1 (not ASCII, which AWS requires here)"},
    {"arabic digit", "logs-\u0661", "contains U+0661 (not ASCII, which AWS requires here)"},
    {"turkish dotted I", "LOG\u0130", "contains U+0130 (not ASCII, which AWS requires here)"},
    {"kelvin sign", "\u212A", "contains U+212A (not ASCII, which AWS requires here)"},
    {"long s", "\u017Flogs", "contains U+017F (not ASCII, which AWS requires here)"},
    {"replacement character", "prod\uFFFD", "contains U+FFFD (not ASCII, which AWS requires here)"},
};

// For an S3 object's key, which may be any UTF-8 that can be seen.
const Row kObjectKeys[] = {
    {"plain", "a/b.txt", nullptr},
    {"accents", "r\u00E9sum\u00E9.pdf", nullptr},
    {"cyrillic", "\u043E\u0442\u0447\u0451\u0442", nullptr},
    {"emoji", "\U0001F600", nullptr},
    {"chinese", "\u62A5\u544A", nullptr},
    {"zero width space", "a\u200Bb", "contains U+200B (zero width space)"},
    {"zero width non-joiner", "a\u200Cb", "contains U+200C (zero width non-joiner)"},
    {"zero width joiner", "a\u200Db", "contains U+200D (zero width joiner)"},
    {"word joiner", "a\u2060b", "contains U+2060 (word joiner)"},
    {"byte order mark", "\uFEFFa", "contains U+FEFF (byte order mark)"},
    {"soft hyphen", "a\u00ADb", "contains U+00AD (soft hyphen)"},
    {"no-break space", "a\u00A0b", "contains U+00A0 (no-break space)"},
    {"narrow no-break space", "a\u202Fb", "contains U+202F (narrow no-break space)"},
    {"ideographic space", "a\u3000b", "contains U+3000 (blank)"},
    {"em space", "a\u2003b", "contains U+2003 (blank)"},
    {"braille blank", "a\u2800b", "contains U+2800 (blank)"},
    {"right to left override", "a\u202Etxt.exe", "contains U+202E (direction override)"},
    {"left to right mark", "a\u200Eb", "contains U+200E (direction mark)"},
    {"isolate", "a\u2066b", "contains U+2066 (direction isolate)"},
    {"arabic letter mark", "a\u061Cb", "contains U+061C (arabic letter mark)"},
    {"variation selector", "a\uFE0Fb", "contains U+FE0F (variation selector)"},
    {"supplementary variation selector", "a\U000E0100b",
     "contains U+E0100 (tag or variation selector)"},
    {"tag", "a\U000E0061b", "contains U+E0061 (tag or variation selector)"},
    {"hangul filler", "a\u3164b", "contains U+3164 (invisible letter)"},
    {"halfwidth filler", "a\uFFA0b", "contains U+FFA0 (invisible letter)"},
    {"grapheme joiner", "a\u034Fb", "contains U+034F (combining grapheme joiner)"},
    {"mongolian vowel separator", "a\u180Eb", "contains U+180E (invisible mark)"},
    {"invisible times", "a\u2062b", "contains U+2062 (invisible operator)"},
    {"line separator", "a\u2028b", "contains U+2028 (line separator)"},
    {"noncharacter", "a\uFDD0b", "contains U+FDD0 (noncharacter)"},
    {"noncharacter at the end of a plane", "a\U0001FFFFb", "contains U+1FFFF (noncharacter)"},
    {"line feed", "a\nb", "contains U+000A (line feed)"},
    {"carriage return", "a\rb", "contains U+000D (carriage return)"},
    {"tab", "a\tb", "contains U+0009 (tab)"},
    {"escape", "a\x1B[31mb", "contains U+001B (control character)"},
    {"delete", "a\x7F", "contains U+007F (control character)"},
    {"next line", "a\xC2\x85", "contains U+0085 (control character)"},
    {"zero byte", Bytes("a\0b", 3), "contains U+0000 (control character)"},
    {"lone continuation", "a\x80", "is not valid UTF-8"},
    {"cut sequence", "a\xE2\x82", "is not valid UTF-8"},
    {"overlong slash", "a\xC0\xAF", "is not valid UTF-8"},
    {"overlong of three", "a\xE0\x80\xAF", "is not valid UTF-8"},
    {"surrogate", "a\xED\xA0\x80", "is not valid UTF-8"},
    {"beyond Unicode", "a\xF4\x90\x80\x80", "is not valid UTF-8"},
    {"latin-1", "a\xE9", "is not valid UTF-8"},
    {"five bytes", "a\xF8\x88\x80\x80\x80", "is not valid UTF-8"},
};

void ExpectRow(const Row& row, const GroupKind& kind, const char* part) {
  SCOPED_TRACE(row.reason);
  const Document document = BucketNamed(row.name);
  ObjectFacts facts = Identify(document.root(), kind, Rules());
  ASSERT_EQ(facts.resources.size(), 1U);
  if (row.why == nullptr) {
    EXPECT_TRUE(facts.bad_names.empty());
    EXPECT_FALSE(facts.resources[0].key().empty());
    const std::string& key = facts.resources[0].key().text;
    for (const char c : key) EXPECT_TRUE(c > ' ' && c < 0x7F) << key;
    return;
  }
  EXPECT_TRUE(facts.resources[0].key().empty());
  ASSERT_FALSE(facts.bad_names.empty());
  EXPECT_EQ(facts.bad_names.back().part, part);
  EXPECT_EQ(facts.bad_names.back().reason, row.why);
  for (const char c : facts.bad_names.back().shown) EXPECT_TRUE(c >= ' ' && c < 0x7F);
}

TEST(IdentityNames, BucketNamesAreAscii) {
  for (const Row& row : kBucketNames) ExpectRow(row, {"s3.aws.upbound.io", "Bucket"}, "name");
}

TEST(IdentityNames, ObjectKeysMayBeAnythingThatCanBeSeen) {
  for (const Row& row : kObjectKeys) {
    Builder builder;
    builder.Open(Document::Kind::kObject, "");
    builder.Open(Document::Kind::kObject, "spec");
    builder.Open(Document::Kind::kObject, "forProvider");
    builder.Scalar(Document::Kind::kString, "bucket", "b");
    builder.Scalar(Document::Kind::kString, "key", row.name);
    builder.Close();
    builder.Close();
    builder.Close();
    const Document document = builder.Finish();
    SCOPED_TRACE(row.reason);
    const ObjectFacts facts = Identify(document.root(), {"s3.aws.upbound.io", "Object"}, Rules());
    ASSERT_EQ(facts.resources.size(), 1U);
    EXPECT_EQ(facts.resources[0].key().empty(), row.why != nullptr);
    ASSERT_EQ(facts.bad_names.size(), row.why == nullptr ? 0U : 1U);
    if (row.why == nullptr) continue;
    EXPECT_EQ(facts.bad_names[0].reason, row.why);
  }
}

TEST(IdentityNames, TheRuleHoldsForEverythingThatHoldsTheName) {
  const Row row{"cyrillic", "prod-\u0430", "contains U+0430 (not ASCII, which AWS requires here)"};
  ExpectRow(row, {"s3.aws.m.upbound.io", "Bucket"}, "name");
  ExpectRow(row, {"s3.aws.crossplane.io", "Bucket"}, "name");
  // The rule is that of the spelling beside the key; the key holds the same text in lower case.
  ExpectRow(row, {"iam.aws.upbound.io", "Role"}, "name");
  ExpectRow(row, {"iam.aws.crossplane.io", "Policy"}, "name");
  // The parent's rule is the child's too.
  ExpectRow(row, {"s3.aws.upbound.io", "BucketPolicy"}, "bucket");
}

TEST(IdentityNames, AssignedIdsAndRegionsAreAscii) {
  const Document vpc = DocumentFromJson(
      R"({"metadata":{"name":"x","annotations":{"crossplane.io/external-name":"vpc-\u0430"}},
          "spec":{"forProvider":{"region":"us-west-2"}}})");
  EXPECT_EQ(Identify(vpc.root(), {"ec2.aws.upbound.io", "VPC"}, Rules()).bad_names.size(), 1U);
  const Document table = DocumentFromJson(
      R"({"metadata":{"name":"x"},"spec":{"forProvider":{"region":"us-west-2\u200b"}}})");
  const ObjectFacts facts = Identify(table.root(), {"dynamodb.aws.upbound.io", "Table"}, Rules());
  ASSERT_EQ(facts.bad_names.size(), 1U);
  EXPECT_EQ(facts.bad_names[0], (BadName{"dynamodb/Table", "region", "us-west-2\\u{200B}",
                                         "contains U+200B (zero width space)"}));
  EXPECT_TRUE(facts.resources.at(0).key().empty());
}

TEST(IdentityNames, LengthIsBounded) {
  const std::string longest(kPartBytesMax, 'a');
  const Document good = BucketNamed(longest);
  EXPECT_FALSE(Identify(good.root(), {"s3.aws.upbound.io", "Bucket"}, Rules())
                   .resources.at(0)
                   .key()
                   .empty());
  const std::string longer = longest + "a";
  const Document bad = BucketNamed(longer);
  const ObjectFacts facts = Identify(bad.root(), {"s3.aws.upbound.io", "Bucket"}, Rules());
  ASSERT_EQ(facts.bad_names.size(), 1U);
  EXPECT_EQ(facts.bad_names[0].reason, "is longer than 1024 bytes");
  EXPECT_LE(facts.bad_names[0].shown.size(), kLabelBytesMax);
}

TEST(IdentityNames, OddTextsArePrintedByTheirCodes) {
  EXPECT_EQ(Printable("a\u0430\n\xFF|"), "a\\u{0430}\\u{000A}\\x{FF}|");
  EXPECT_EQ(Printable(std::string(500, 'a')), std::string(kLabelBytesMax - 3, 'a') + "...");
  EXPECT_TRUE(Presentable("caf\u00E9"));
  EXPECT_FALSE(Presentable(""));
  EXPECT_FALSE(Presentable("a\nb"));
  EXPECT_FALSE(Presentable(std::string(kLabelBytesMax + 1, 'a')));
}

TEST(IdentityNames, PatternsThatOnlyAsciiMatchesAreTold) {
  for (const char* regex : {"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", "^[\\w\\-]+$", "^[!-9;-~]+$",
                            "^a\\.b$", "^[a-zA-Z0-9 ._:/()#,@+=&;{}!$*\\[\\]-]+$"}) {
    EXPECT_TRUE(MatchesAsciiOnly(regex)) << regex;
  }
  for (const char* regex : {"", "^.+$", "^[^/]+$", "^\\p{L}+$", "^\\S+$", "^[\\x{400}-\\x{4ff}]$",
                            "^[\u0430]$", "^\\D$"}) {
    EXPECT_FALSE(MatchesAsciiOnly(regex)) << regex;
  }
}

}  // namespace identity_names_test
}  // namespace truce
