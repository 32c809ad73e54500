// Type files: what each malformed one is told, and what rows mean.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "registry/catalogue/catalogue.h"

namespace truce {
namespace catalogue_parse_test {

const std::vector<std::string> kColumns = {
    "type",       "kinds",           "scope",      "certainty",       "region",   "account",
    "parts",      "community_parts", "extra",      "community_extra", "space",    "arn",
    "attachment", "name_part",       "name_regex", "name_min",        "name_max", "name_rule",
    "ack_parts",  "ack_extra",       "ack_id"};
const std::string kWithAck = "@upjet Bucket.s3.aws.crossplane.io Bucket.s3.services.k8s.aws";

std::string Row(const std::vector<std::string>& cells) {
  std::string row;
  for (const std::string& cell : cells) row.append(row.empty() ? "" : "\t").append(cell);
  return row + "\n";
}

// A well-formed row of s3/Bucket with some cells changed.
struct Change {
  std::string column;
  std::string cell;
};

std::string BucketRow(const std::vector<Change>& changes) {
  std::vector<std::string> cells = {"s3/Bucket",
                                    "@upjet Bucket.s3.aws.crossplane.io",
                                    "partition",
                                    "researched",
                                    "region|locationConstraint",
                                    "-",
                                    "name=@external-name",
                                    "-",
                                    "-",
                                    "-",
                                    "-",
                                    "arn:{partition}:s3:::{name}",
                                    "-",
                                    "name",
                                    "^[a-z]+$",
                                    "3",
                                    "63",
                                    "no dots",
                                    "-",
                                    "-",
                                    "-"};
  for (const Change& change : changes) {
    const auto at = std::find(kColumns.begin(), kColumns.end(), change.column);
    EXPECT_NE(at, kColumns.end()) << change.column;
    cells[static_cast<std::size_t>(at - kColumns.begin())] = change.cell;
  }
  return Row(cells);
}

std::string File(const std::string& rows) { return "# types\n" + Row(kColumns) + rows; }

std::string ErrorOf(std::string_view text) {
  const Result<Catalogue> catalogue = Catalogue::Parse(text, "types.tsv");
  if (catalogue.ok()) return "";
  EXPECT_EQ(catalogue.error().code, ErrorCode::kInvalidArgument);
  return catalogue.error().message;
}

TEST(CatalogueParse, ReadsARow) {
  const Result<Catalogue> catalogue = Catalogue::Parse(File(BucketRow({})), "types.tsv");
  ASSERT_TRUE(catalogue.ok()) << catalogue.error().message;
  const TypeSpec* const bucket = catalogue.value().FindType("s3/Bucket");
  ASSERT_NE(bucket, nullptr);
  EXPECT_EQ(bucket->space, "s3/Bucket");
  EXPECT_EQ(bucket->Service(), "s3");
  EXPECT_EQ(bucket->origin, "types.tsv:3");
  EXPECT_EQ(bucket->scope, Scope::kPartition);
  EXPECT_EQ(bucket->certainty, Certainty::kResearched);
  EXPECT_FALSE(bucket->KeyHasAccount());
  EXPECT_FALSE(bucket->KeyHasRegion());
  EXPECT_EQ(bucket->RegionPathFor(Flavour::kUpjetCluster), std::vector<std::string>{"region"});
  EXPECT_EQ(bucket->RegionPathFor(Flavour::kCommunity),
            std::vector<std::string>{"locationConstraint"});
  ASSERT_EQ(bucket->parts.size(), 1U);
  EXPECT_EQ(bucket->parts[0].source, KeyPart::Source::kExternalName);
  EXPECT_EQ(bucket->name_rule.min_length, 3U);
  EXPECT_EQ(bucket->name_rule.max_length, 63U);
  EXPECT_EQ(bucket->name_rule.extra_rule, "no dots");
  ASSERT_EQ(bucket->kinds.size(), 3U);
  EXPECT_EQ(bucket->kinds[1].group, "s3.aws.m.upbound.io");
  EXPECT_EQ(bucket->kinds[2].flavour, Flavour::kCommunity);
}

TEST(CatalogueParse, ReadsEveryFormOfAPart) {
  const std::string row = BucketRow(
      {{"scope", "parent"},
       {"parts",
        "id=@assigned,basename;kind=@constant,default:egress;source=cidr|nested.group,list,lower,"
        "map:true>self;port,default:"},
       {"arn", "-"},
       {"name_part", "port"}});
  const Result<Catalogue> catalogue = Catalogue::Parse(File(row), "types.tsv");
  ASSERT_TRUE(catalogue.ok()) << catalogue.error().message;
  const TypeSpec& spec = *catalogue.value().FindType("s3/Bucket");
  ASSERT_EQ(spec.parts.size(), 4U);
  EXPECT_EQ(spec.parts[0].source, KeyPart::Source::kAssignedExternalName);
  EXPECT_TRUE(spec.Late(Flavour::kUpjetNamespaced));
  EXPECT_EQ(spec.parts[1].source, KeyPart::Source::kConstant);
  EXPECT_EQ(spec.parts[1].default_value, "egress");
  EXPECT_TRUE(spec.parts[2].list);
  const std::vector<std::vector<std::string>> paths = {{"cidr"}, {"nested", "group"}};
  EXPECT_EQ(spec.parts[2].paths, paths);
  EXPECT_EQ(spec.parts[2].normalisers.size(), 2U);
  EXPECT_EQ(spec.parts[3].paths, std::vector<std::vector<std::string>>{{"port"}});
  EXPECT_EQ(spec.parts[3].default_value, "");
}

TEST(CatalogueParse, ReadsWindowsLineEndsAndALastLineWithoutEnd) {
  std::string text = File(BucketRow({}));
  text.pop_back();
  std::string windows;
  for (const char c : text) windows.append(c == '\n' ? "\r\n" : std::string(1, c));
  EXPECT_EQ(ErrorOf(windows), "");
}

struct BadRow {
  std::vector<Change> changes;
  std::string error;  // how it begins, after the place
};

TEST(CatalogueParse, NamesPlaceColumnAndRemedyOfABadCell) {
  const std::vector<BadRow> rows = {
      {{{"type", "Bucket"}}, "type: \"Bucket\" is not a type; write service/Kind"},
      {{{"type", "S3/Bucket"}}, "type: \"S3/Bucket\" is not a type"},
      {{{"kinds", "Bucket"}}, "kinds: \"Bucket\" is not a kind; write Kind.group"},
      {{{"kinds", "@upjet  Bucket.s3.aws.crossplane.io"}}, "kinds: \"\" is not a kind"},
      {{{"kinds", "Bucket.s3.example.org"}}, "kinds: group \"s3.example.org\" ends in none of"},
      {{{"scope", "global"}}, "scope: \"global\" is not a scope; write partition,"},
      {{{"scope", "account@partition"}}, "scope: \"account@partition\" is not a scope"},
      {{{"certainty", "sure"}}, "certainty: \"sure\" is not a certainty; write researched,"},
      {{{"region", "a|b|c"}}, "region: at most two paths"},
      {{{"region", "re gion"}}, "region: \"re gion\" is not a field path"},
      {{{"account", ".x"}}, "account: \".x\" is not a field path"},
      {{{"parts", ""}}, "parts: the cell is empty; write - for none"},
      {{{"parts", "=x"}}, "parts: \"\" is not the name of a part"},
      {{{"parts", "a;a"}}, "parts: part \"a\" is there twice"},
      {{{"parts", "a=b..c"}}, "parts: \"b..c\" is not a field path"},
      {{{"parts", "a=@name"}}, "parts: \"@name\" is not a field path"},
      {{{"parts", "a,upper"}}, "parts: \"upper\" is not an option; write list, default:VALUE"},
      {{{"parts", "a,ref:vpc"}}, "parts: \"ref:vpc\" does not name a type"},
      {{{"parts", "a,only:b"}}, "parts: \"b\" is no condition; write only:PART=VALUE+VALUE"},
      {{{"parts", "name=@external-name,default:x,only:b=1"}},
       "parts: only:b needs a part of that name, and a default"},
      {{{"parts", "name=@external-name;b,only:name=1"}}, "parts: only:name needs a part of that"},
      {{{"parts", "name=@external-name,self:b"}}, "parts: self:b is not a part"},
      {{{"parts", "name=@external-name,form-of:x/Y"}},
       "parts: form-of: there is no type \"x/Y\" with forms in column external_name"},
      {{{"parts", "a=@constant"}}, "parts: \"a\" is @constant without a value; add default:"},
      {{{"parts", "a=@external-name,list"}}, "parts: \"a\" is a list of something that is not"},
      {{{"parts", "a;b;c;d;e;f;g;h;i;j;k;l;m;n;o;p;q"}}, "parts: more than 16 parts"},
      {{{"parts", "a,list;b,list"}, {"arn", "-"}, {"name_part", "a"}},
       "parts: at most one part may be a list"},
      {{{"parts", "-"}, {"arn", "-"}, {"extra", "name"}}, "parts: no parts: only a singleton"},
      {{{"parts", "name=@external-name,ref:ec2/VPC"}}, "parts: ref: there is no type \"ec2/VPC\""},
      {{{"community_parts", "other=@external-name"}},
       "community_parts: must name the parts name in this order"},
      {{{"community_parts", "name"}, {"kinds", "@upjet"}}, "community_parts: the type has no"},
      {{{"ack_parts", "name"}}, "ack_parts: the type has no kind of ACK; write -"},
      {{{"kinds", kWithAck}}, "ack_parts: must name the parts name in this order"},
      {{{"kinds", kWithAck}, {"ack_parts", "name=@external-name"}},
       "ack_parts: an object of ACK has no external name"},
      {{{"kinds", kWithAck}, {"ack_parts", "name=@assigned"}},
       "ack_id: an @assigned part needs the path of the id below status"},
      {{{"kinds", kWithAck}, {"ack_parts", "name"}, {"ack_extra", "alias"}},
       "ack_extra: \"alias\" is no value of column extra"},
      {{{"kinds", kWithAck}, {"ack_parts", "name"}, {"ack_id", "a..b"}}, "ack_id: \"a..b\" is not"},
      {{{"community_extra", "x"}}, "community_extra: must name -"},
      {{{"extra", "name"}}, "extra: \"name\" is a part of the key already"},
      {{{"space", "s3"}}, "space: \"s3\" is not a space"},
      {{{"arn", "aws:s3"}}, "arn: an ARN template begins with arn:{partition}:"},
      {{{"arn", "arn:{partition}:s3:::{nme}"}}, "arn: {nme} is neither partition,"},
      {{{"arn", "arn:{partition}:s3:::{name"}}, "arn: braces do not match"},
      {{{"arn", "arn:{partition}:s3:::name}"}}, "arn: braces do not match"},
      {{{"attachment", "s3/Bucket"}}, "attachment: write PARENT MODE [LINKS]"},
      {{{"attachment", "bucket exclusive"}}, "attachment: \"bucket\" is not a parent"},
      {{{"attachment", "account shared"}}, "attachment: \"shared\" is not a mode"},
      {{{"attachment", "account exclusive name=name"}}, "attachment: links need a parent of one"},
      {{{"attachment", "s3/Nothing exclusive"}}, "attachment: there is no type \"s3/Nothing\""},
      {{{"attachment", "s3/Bucket exclusive name"}}, "attachment: \"name\" is not a link"},
      {{{"attachment", "s3/Bucket exclusive id=name"}}, "attachment: \"id\" is not a key part of"},
      {{{"attachment", "s3/Bucket exclusive name=id"}}, "attachment: \"id\" is neither a part nor"},
      {{{"attachment", "s3/Bucket exclusive name=name,list"}},
       "attachment: \"list\" is not a normaliser"},
      {{{"name_part", "-"}}, "name_part: a rule for names needs the part that it rules"},
      {{{"name_part", "key"}}, "name_part: \"key\" is neither a part nor an extra"},
      {{{"name_min", "3 bytes"}}, "name_min: \"3 bytes\" is not a length"},
      {{{"name_min", "64"}}, "name_max: less than name_min"},
      {{{"name_max", "-1"}}, "name_max: \"-1\" is not a length"},
      {{{"scope", "account+region"}, {"region", "-"}}, "region: scope account+region needs"},
  };
  for (const BadRow& row : rows) {
    SCOPED_TRACE(row.error);
    const std::string expected = "types.tsv:3: " + row.error;
    EXPECT_EQ(ErrorOf(File(BucketRow(row.changes))).substr(0, expected.size()), expected);
  }
}

struct BadFile {
  std::string text;
  std::string error;  // how it begins
};

TEST(CatalogueParse, NamesPlaceAndRemedyOfABadFile) {
  const std::string bucket = BucketRow({});
  const std::string other = BucketRow({{"type", "s3/Pail"}, {"kinds", "@upjet"}});
  const std::vector<BadFile> files = {
      {"", "types.tsv:1: header: there is no header row"},
      {"# only a comment\n\n", "types.tsv:1: header: there is no header row"},
      {"type\tsize\n", "types.tsv:1: header: \"size\" is not a column"},
      {"type\ttype\n", "types.tsv:1: header: column \"type\" is there twice"},
      {"kinds\ttype\n", "types.tsv:1: header: the first column must be type"},
      {"type\nx/Y\n", "types.tsv:2: kinds: a new type needs the columns type, kinds, scope,"},
      {File("s3/Bucket\t@upjet\n"), "types.tsv:3: row: 2 cells under 21 columns; write -"},
      {File("s3/Bucket\x01\n"), "types.tsv:3: line: only printable ASCII"},
      {File("s3/B\xc3\xbc\n"), "types.tsv:3: line: only printable ASCII"},
      {File(std::string(20'000, 'x')), "types.tsv:3: line: longer than 16384 bytes"},
      {std::string((8U << 20U) + 1, '\n'), "types.tsv: larger than 8 MiB"},
      {File(bucket + bucket),
       "types.tsv:4: type: \"s3/Bucket\" is there twice, first at types.tsv:3"},
      {File(bucket + BucketRow({{"type", "s3/Pail"}})),
       "types.tsv:4: kinds: Bucket.s3.aws.crossplane.io belongs to s3/Bucket (types.tsv:3)"},
      {File(bucket + BucketRow({{"type", "s3/Pail"},
                                {"kinds", "@upjet"},
                                {"space", "s3/Bucket"},
                                {"parts", "name=@external-name;key"}})),
       "types.tsv:4: parts: space s3/Bucket has the parts name (s3/Bucket, types.tsv:3)"},
      {File(bucket + BucketRow({{"type", "s3/Pail"},
                                {"kinds", "@upjet"},
                                {"space", "s3/Bucket"},
                                {"scope", "account"}})),
       "types.tsv:4: scope: differs within space s3/Bucket from s3/Bucket (types.tsv:3)"},
      {File(bucket +
            BucketRow(
                {{"type", "s3/Pair"}, {"kinds", "@upjet"}, {"parts", "name=@external-name;key"}}) +
            BucketRow({{"type", "s3/Pairing"},
                       {"kinds", "@upjet"},
                       {"attachment", "s3/Pair additive name=name"}})),
       "types.tsv:5: attachment: links must cover all key parts of s3/Pair (name;key) or none"},
      {File(bucket +
            BucketRow(
                {{"type", "s3/Pair"}, {"kinds", "@upjet"}, {"parts", "name=@external-name;key"}}) +
            BucketRow({{"type", "s3/Pairing"},
                       {"kinds", "@upjet"},
                       {"parts", "name=@external-name,ref:s3/Pair"}})),
       "types.tsv:5: parts: ref: s3/Pair has not exactly one key part"},
  };
  EXPECT_EQ(ErrorOf(File(bucket + other)), "");
  for (const BadFile& file : files) {
    SCOPED_TRACE(file.error);
    EXPECT_EQ(ErrorOf(file.text).substr(0, file.error.size()), file.error);
  }
}

TEST(CatalogueOverrides, ChangeTheColumnsThatTheyState) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  const Result<Catalogue> changed = built_in.WithOverrides(
      "type\tcertainty\tquota\nsqs/QueueRedrivePolicy\tresearched\t-\n", "mine.tsv");
  ASSERT_TRUE(changed.ok()) << changed.error().message;
  const TypeSpec& before = *built_in.FindType("sqs/QueueRedrivePolicy");
  const TypeSpec& after = *changed.value().FindType("sqs/QueueRedrivePolicy");
  EXPECT_EQ(before.certainty, Certainty::kJudged);
  EXPECT_EQ(after.certainty, Certainty::kResearched);
  EXPECT_EQ(after.parts, before.parts);
  EXPECT_EQ(after.origin, "mine.tsv:2");
  EXPECT_EQ(changed.value().types().size(), built_in.types().size());
  EXPECT_EQ(changed.value().version(), built_in.version()) << "certainty shapes no key";
}

TEST(CatalogueOverrides, AddTypesThatMayNameBuiltInOnes) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  const Result<Catalogue> more = built_in.WithOverrides(
      "type\tkinds\tscope\tcertainty\tparts\tattachment\n"
      "s3/BucketSticker\t@upjet\tparent@partition\tjudged\tbucket,ref:s3/Bucket\t"
      "s3/Bucket exclusive name=bucket\n",
      "mine.tsv");
  ASSERT_TRUE(more.ok()) << more.error().message;
  EXPECT_EQ(more.value().types().size(), built_in.types().size() + 1);
  EXPECT_NE(more.value().version(), built_in.version());
  const KindEntry* const kind = more.value().FindKind("s3.aws.m.upbound.io", "BucketSticker");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->type, more.value().FindType("s3/BucketSticker"));
  EXPECT_EQ(built_in.FindKind("s3.aws.m.upbound.io", "BucketSticker"), nullptr);
}

TEST(CatalogueOverrides, AreCheckedAgainstTheWhole) {
  const Catalogue& built_in = Catalogue::BuiltIn();
  const std::string misfit = "mine.tsv: does not fit the other types: schema/aws-types.tsv:";
  const std::vector<BadFile> files = {
      {"type\tkinds\ns3/Bucket\t@upjet BucketPolicy.s3.aws.upbound.io\n", misfit},
      {"type\tparts\ndocdb/EventSubscription\tname=@external-name;zone\n", misfit},
      {"type\tparts\nsesv2/ConfigurationSet\tname=@external-name;zone\n", misfit},
      {"type\tparts\nneptune/EventSubscription\tname=@external-name;zone\n",
       "mine.tsv:2: parts: space rds/es has the parts name (docdb/EventSubscription"},
      {"type\tcertainty\ns3/Bucket\tjudged\ns3/Bucket\trule\n", "mine.tsv:3: type: \"s3/Bucket\""},
      {"type\tcertainty\ns3/Bukket\tjudged\n", "mine.tsv:2: kinds: a new type needs the columns"},
  };
  for (const BadFile& file : files) {
    SCOPED_TRACE(file.text);
    const Result<Catalogue> result = built_in.WithOverrides(file.text, "mine.tsv");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message.substr(0, file.error.size()), file.error);
  }
}

TEST(CatalogueVersion, FollowsWhatShapesKeys) {
  const auto version_of = [](const std::vector<Change>& changes) {
    return Catalogue::Parse(File(BucketRow(changes)), "t").value().version();
  };
  const std::string version = version_of({});
  EXPECT_EQ(version.size(), 16U);
  EXPECT_EQ(version, version_of({{"name_max", "64"}, {"certainty", "rule"}}));
  EXPECT_NE(version, version_of({{"parts", "name=@external-name,lower"}}));
  EXPECT_NE(version, version_of({{"scope", "account"}}));
  EXPECT_NE(version, version_of({{"space", "s3/bucket"}}));
  EXPECT_NE(version, version_of({{"parts", "name=@external-name,default:"}}));
}

}  // namespace catalogue_parse_test
}  // namespace truce
