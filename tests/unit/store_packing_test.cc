#include "registry/store/sqlite/packing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

namespace truce {
namespace store_packing_test {

TEST(SplitText, EndsWhereTextsBeginToDiffer) {
  EXPECT_EQ(SplitKey("s3/Bucket|aws|||name=a=b").Beginning(), "s3/Bucket|aws|||name=");
  EXPECT_EQ(SplitKey("s3/Bucket|aws|||name=a=b").Rest(), "a=b");
  EXPECT_EQ(SplitSlot("local/g/Bucket/team-a/b").Beginning(), "local/g/Bucket/");
  EXPECT_EQ(SplitArn("arn:aws:sqs:eu-west-1:123456789012:a:b").Beginning(),
            "arn:aws:sqs:eu-west-1:123456789012:");
  for (const SplitText& odd :
       {SplitKey("odd"), SplitSlot("a/b"), SplitArn("arn:aws:"), SplitKey("")}) {
    EXPECT_EQ(odd.Beginning(), "");
    EXPECT_EQ(odd.Rest(), odd.whole);
  }
}

// Packs and unpacks a split text, alone and beside a base; the bytes it took alone.
std::size_t RoundTrip(const SplitText& text, std::string_view base, Beginnings& beginnings) {
  std::string packed;
  TextPacker packer(packed, beginnings);
  packer.Split(text);
  const std::size_t bytes = packed.size();
  packer.Split(base, text);
  packer.Text("end");
  std::pmr::monotonic_buffer_resource memory;
  TextUnpacker unpacker(packed.data(), beginnings, memory);
  EXPECT_EQ(unpacker.Split(), text.whole);
  EXPECT_EQ(unpacker.Split(base), text.whole);
  EXPECT_EQ(unpacker.Text(), "end");
  const auto is_it = [&](std::string_view other) {
    return TextUnpacker(packed.data(), beginnings, *std::pmr::null_memory_resource())
        .IsSplit(other);
  };
  EXPECT_TRUE(is_it(text.whole));
  EXPECT_FALSE(is_it(std::string(text.whole) + "x"));
  EXPECT_FALSE(is_it("x" + std::string(text.whole)));
  return bytes;
}

TEST(TextPacker, TellsACommonBeginningByItsNumber) {
  Beginnings beginnings;
  const std::string base = "sqs/Queue|aws|123456789012|eu-west-1|name=jobs";
  EXPECT_EQ(RoundTrip(SplitKey(base), base, beginnings), 1 + 1 + std::string_view("jobs").size());
  RoundTrip(SplitSlot("local/sqs.aws.upbound.io/Queue/team-a/jobs"), base, beginnings);
  RoundTrip(SplitArn("arn:aws:sqs:eu-west-1:123456789012:jobs"), base, beginnings);
  RoundTrip(SplitKey(""), base, beginnings);
  RoundTrip(SplitKey("odd"), "", beginnings);
}

// Whoever invents beginnings fills no memory with them, and takes them from nobody who had one.
TEST(TextPacker, PacksWholeWhatBeginsLikeTooManyOthers) {
  constexpr std::size_t kMore = 20'000;
  Beginnings beginnings;
  const std::size_t known = beginnings.Keep("s3/Bucket|aws|||name=");
  std::size_t kept = 0;
  for (std::size_t i = 0; i < kMore; ++i) {
    kept += beginnings.Keep("invented" + std::to_string(i)) != 0 ? 1U : 0U;
  }
  EXPECT_LT(kept, kMore);
  EXPECT_EQ(beginnings.Keep("s3/Bucket|aws|||name="), known);
  const std::string late = "ec2/VPC|aws|||id=vpc-1";
  EXPECT_GT(RoundTrip(SplitKey(late), "", beginnings), late.size());
  EXPECT_EQ(Beginnings().Keep(std::string(10'000, 'l')), 0U);
}

}  // namespace store_packing_test
}  // namespace truce
