// What a namespace owns, as an OwnershipCheck that asks for a list is answered.
#include "webhook/serve/ownership/ownership_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "tests/support/admission_fixture.h"
#include "webhook/check/manifest_reader.h"

namespace truce {
namespace ownership_list_test {

class OwnershipListTest : public AdmissionFixture {
 protected:
  void Own(const std::string& ns, const std::string& bucket, const std::string& service = "files") {
    Sent claim = Claim(ns, "claim-" + bucket, bucket, service);
    ASSERT_TRUE(Send(claim).allowed);
  }

  Result<std::string> List(const std::string& ns, const std::string& list = "{}") {
    const std::atomic<bool> stop{false};
    IndexedStore indexed{store_};
    EXPECT_TRUE(indexed.Fill(stop).ok());
    return Ask(indexed, ns, list);
  }

  Result<std::string> Ask(const IndexedStore& indexed, const std::string& ns,
                          const std::string& list) {
    const YamlNode whole = ParseYaml("spec: {list: " + list + "}", "check").value();
    const Document document = ReadDocument(whole);
    AdmissionRequest review;
    review.ns = ns;
    review.object = document.root();
    return OwnershipsInWords({indexed, present_}, review, In(std::chrono::seconds(5)));
  }
};

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

TEST_F(OwnershipListTest, TellsWhatTheNamespaceOwnsAndNothingElse) {
  Own("team-a", "reports");
  Own("team-b", "secret");
  const std::string text = List("team-a").value();
  EXPECT_EQ(text.find("1 ownership of namespace team-a\nRESOURCE"), 0U) << text;
  EXPECT_NE(text.find("\ns3/Bucket/reports "), std::string::npos) << text;
  EXPECT_NE(text.find("ObjectStorage team-a/claim-reports"), std::string::npos) << text;
  EXPECT_EQ(text.find("secret"), std::string::npos) << text;
  EXPECT_EQ(text.back() == '\n', false);
  EXPECT_EQ(List("team-c").value(), "no ownerships of namespace team-c");
}

TEST_F(OwnershipListTest, IsNarrowedByTypeAndService) {
  Own("team-a", "reports", "files");
  Own("team-a", "logs", "logging");
  EXPECT_EQ(LinesOf(List("team-a", "{type: s3/Bucket}").value()), 4U);
  EXPECT_EQ(List("team-a", "{type: sqs/Queue}").value(), "no ownerships of namespace team-a");
  const std::string text = List("team-a", "{service: logging}").value();
  EXPECT_EQ(LinesOf(text), 3U) << text;
  EXPECT_NE(text.find("s3/Bucket/logs"), std::string::npos) << text;
  const auto unknown = List("team-a", "{type: s3/Bukket}");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(unknown.error().message,
            "spec.list.type: no type \"s3/Bukket\"; write SERVICE/KIND, `truce types` lists all");
}

TEST_F(OwnershipListTest, SaysThatThereAreMore) {
  for (std::size_t i = 0; i < kListedMax; ++i) Own("team-a", "bucket-" + std::to_string(i));
  const std::string all = List("team-a").value();
  EXPECT_EQ(all.find("100 ownerships of namespace team-a\n"), 0U) << all.substr(0, 100);
  EXPECT_EQ(LinesOf(all), kListedMax + 2);
  Own("team-a", "one-more");
  const std::string some = List("team-a").value();
  EXPECT_EQ(some.find("the first 100 ownerships of namespace team-a; there are more, or may be: "),
            0U)
      << some.substr(0, 100);
  EXPECT_EQ(LinesOf(some), kListedMax + 2);
}

TEST_F(OwnershipListTest, LongNamesMakeItShorterByWholeLines) {
  for (int i = 0; i < 80; ++i) {
    const std::string number = std::to_string(100 + i);
    Sent claim = Claim("team-a", std::string(200, 'c') + number, "bucket-" + number, "files");
    claim.uid = "uid-" + number;
    claim.review = "review-" + number;
    const Answered answer = Send(claim);
    ASSERT_TRUE(answer.allowed) << answer.message << answer.body;
  }
  const std::string text = List("team-a").value();
  EXPECT_LE(text.size(), kListBytesMax + 256);
  EXPECT_EQ(text.find("the first "), 0U) << text.substr(0, 100);
  EXPECT_EQ(text.find("the first " + std::to_string(LinesOf(text) - 2) + " ownerships"), 0U)
      << text.substr(0, 100);
}

TEST_F(OwnershipListTest, AnotherClustersNamespaceIsAnother) {
  Own("team-a", "reports");
  ChangePolicy([](AdmissionPolicy& policy) { policy.identity.cluster = "elsewhere"; });
  EXPECT_EQ(List("team-a").value(), "no ownerships of namespace team-a");
}

TEST_F(OwnershipListTest, IsNotKnownWhileTheDirectoryIsFilled) {
  const IndexedStore unfilled{store_};
  const auto told = Ask(unfilled, "team-a", "{service: files}");
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(told.error().code, ErrorCode::kUnavailable);
}

}  // namespace ownership_list_test
}  // namespace truce
