// The body of POST /api/v1/checks, item by item.
#include "webhook/api/rest/check_items.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/catalogue/catalogue.h"

namespace truce {
namespace check_items_test {

TEST(CheckItems, NumbersAreReadAsReviewsReadThem) {
  std::string body = R"({"items":[{"apiVersion":"example.org/v1","kind":"Thing",
      "metadata":{"name":"a"},"spec":{"whole":7,"point":1.0,"power":2.5e3}}]})";
  Result<CheckItems> items = CheckItems::Read(body, Catalogue::BuiltIn());
  ASSERT_TRUE(items.ok());
  const Result<AdmissionRequest> review = items.value().Review(0, "someone");
  ASSERT_TRUE(review.ok());
  const Value spec = review.value().object.Child("spec");
  EXPECT_EQ(spec.Child("whole").text(), "7");
  EXPECT_EQ(spec.Child("point").text(), "1");
  EXPECT_EQ(spec.Child("power").text(), "2500");
}

}  // namespace check_items_test
}  // namespace truce
