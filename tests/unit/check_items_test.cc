// The body of POST /api/v1/checks, item by item.
#include "webhook/api/rest/check_items.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/catalogue/catalogue.h"

namespace truce {
namespace check_items_test {

TEST(CheckItems, NumbersAreReadAsReviewsReadThem) {
  std::string body = R"({"items":[{"apiVersion":"example.org/v1","kind":"Thing",
      "metadata":{"name":"a"},"spec":{"whole":7,"point":1.0,"power":2.5e3,"large":100000000000000000000}}]})";
  Result<CheckItems> items = CheckItems::Read(body, Catalogue::BuiltIn());
  ASSERT_TRUE(items.ok());
  const AskedObject review = items.value().Asked(0, "someone");
  const Value spec = review.object.Child("spec");
  EXPECT_EQ(spec.Child("whole").text(), "7");
  EXPECT_EQ(spec.Child("point").text(), "1.0");
  EXPECT_EQ(spec.Child("power").text(), "2.5e3");
  EXPECT_EQ(spec.Child("large").text(), "100000000000000000000");
}

// What only the API server writes is not the manifest's to say.
TEST(CheckItems, MetadataSaysWhoTheItemIsReviewedAs) {
  std::string body =
      R"({"namespace":"team-a","items":[{"apiVersion":"example.org/v1","kind":"Thing",
      "metadata":{"name":"a","uid":"forged","labels":{"uid":"kept"},"managedFields":[{"a":1}],
      "ownerReferences":[]},"metadata2":{"uid":"kept"}}]})";
  Result<CheckItems> items = CheckItems::Read(body, Catalogue::BuiltIn());
  ASSERT_TRUE(items.ok());
  const AskedObject review = items.value().Asked(0, "someone");
  const Value metadata = review.object.Child("metadata");
  EXPECT_EQ(metadata.Child("uid").text(), "truce-check-0");
  EXPECT_EQ(metadata.Child("namespace").text(), "team-a");
  EXPECT_EQ(metadata.Child("labels").Child("uid").text(), "kept");
  EXPECT_EQ(review.object.Child("metadata2").Child("uid").text(), "kept");
  EXPECT_EQ(metadata.size(), 4U);
}

TEST(CheckItems, AKeyThatStandsTwiceIsRefused) {
  std::string body = R"({"items":[{"apiVersion":"example.org/v1","kind":"Thing",
      "metadata":{"name":"a"},"spec":{"a":1,"a":2}}]})";
  const Result<CheckItems> items = CheckItems::Read(body, Catalogue::BuiltIn());
  ASSERT_FALSE(items.ok());
  EXPECT_EQ(items.error().message, "a key appears twice in one object");
}

}  // namespace check_items_test
}  // namespace truce
