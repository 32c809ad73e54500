// Texts of the values: encodings and their inverses.
#include "registry/identity/values.h"
#include "tests/support/identity_text.h"

#include <gtest/gtest.h>

#include <string>

namespace truce {
namespace identity_values_test {

TEST(IdentityValues, PercentEncodingHasOneInverse) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentEncode("aZ09._~/:@-"), "aZ09._~/:@-");
  EXPECT_EQ(PercentEncode("a|b=c%d?e f\n\xC3"), "a%7Cb%3Dc%25d%3Fe%20f%0A%C3");
  for (const char* bad : {"%", "%4", "%zz", "%2f%", "a|b", "%61", "%7c", "?"}) {
    EXPECT_FALSE(PercentDecode(bad).has_value()) << bad;
  }
}

TEST(IdentityValues, SlotsRoundTrip) {
  const Slot slot{"local", "s3.aws.upbound.io", "Bucket", "", "artifacts"};
  EXPECT_EQ(ToText(slot), "local/s3.aws.upbound.io/Bucket//artifacts");
  EXPECT_EQ(SlotFromText(ToText(slot)), slot);
  EXPECT_EQ(SlotFromText("////"), Slot{});
  for (const char* bad : {"", "a/b/c/d", "a/b/c/d/e/f", "/////"}) {
    EXPECT_FALSE(SlotFromText(bad).has_value()) << bad;
  }
  EXPECT_EQ(ForPeople(slot), "Bucket.s3.aws.upbound.io artifacts");
  EXPECT_EQ(ForPeople(Slot{"local", "", "ConfigMap", "ns", "x"}), "ConfigMap ns/x");
}

TEST(IdentityValues, IdentitiesRoundTrip) {
  const ResourceIdentity identities[] = {
      {"s3/Bucket", "aws", "", "us-west-2", {{"name", "prod-artifacts"}}},
      {"iam/AccountPasswordPolicy", "aws", "111111111111", "", {}},
      {"x/Y", "", "?local/aws.upbound.io/ProviderConfig//a%2Fb", "", {{"a", ""}, {"b", "=|%"}}},
      {"x/Y", "aws", "", "", {{"setIdentifier", ""}}},
      {},
  };
  for (const ResourceIdentity& identity : identities) {
    EXPECT_EQ(IdentityFromText(ToText(identity)), identity) << ToText(identity);
  }
  EXPECT_EQ(ToText(identities[0]), "s3/Bucket|aws||us-west-2|name=prod-artifacts");
  for (const char* bad : {"", "a", "a|b", "a|b|c", "a|b|c|d|", "a|b|c|d|e", "a|b|c|d|e=f|",
                          "a b|b|c|d", "a|b|c|d|e=f=g", "a|b|??|d"}) {
    EXPECT_FALSE(IdentityFromText(bad).has_value()) << bad;
  }
}

TEST(IdentityValues, IntentsAreOrderedAndNamed) {
  EXPECT_LT(Intent::kObserves, Intent::kManages);
  EXPECT_LT(Intent::kManages, Intent::kDeletes);
  for (const Intent intent : {Intent::kObserves, Intent::kManages, Intent::kDeletes}) {
    EXPECT_EQ(IntentFromName(Name(intent)), intent);
  }
  EXPECT_FALSE(IntentFromName("owns").has_value());
}

}  // namespace identity_values_test
}  // namespace truce
