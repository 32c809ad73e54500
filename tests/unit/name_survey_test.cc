// The naming report of a cluster: every page of every kind, roots first, and what cannot be listed.
#include "webhook/findings/name_census.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/memory_store.h"
#include "webhook/config/load.h"
#include "webhook/config/policy.h"

namespace truce {
namespace name_survey_test {

// Lists what it is given, two objects a page; fails for kinds without a list.
class ListApi final : public ClusterApi {
 public:
  ApiResult<Discovery> Discover(Deadline) override { return Discovery{}; }
  ApiResult<std::string> Get(const ServedKind&, std::string_view, std::string_view,
                             Deadline) override {
    return std::string();
  }
  ApiResult<ListPage> List(const ListQuery& query, Deadline) override {
    asked.push_back(query.selection.kind.kind);
    const auto found = lists.find(query.selection.kind.kind);
    if (found == lists.end()) return ApiError{ApiErrorKind::kForbidden, 403, "forbidden", {}};
    ListPage page;
    const std::size_t begin = query.next.empty() ? 0 : std::stoul(query.next);
    for (std::size_t i = begin; i < std::min(begin + 2, found->second.size()); ++i) {
      page.objects.push_back(found->second[i]);
    }
    if (begin + 2 < found->second.size()) page.next = std::to_string(begin + 2);
    return page;
  }
  ApiResult<std::string> Create(const ServedKind&, std::string_view, std::string_view,
                                Deadline) override {
    return std::string();
  }
  ApiResult<std::string> Patch(const PatchTarget&, std::string_view, Deadline) override {
    return std::string();
  }
  ApiResult<std::string> Delete(const ServedKind&, std::string_view, std::string_view,
                                Deadline) override {
    return std::string();
  }

  std::map<std::string, std::vector<std::string>> lists;
  std::vector<std::string> asked;
};

std::string Bucket(const std::string& name) {
  return R"({"apiVersion": "s3.aws.upbound.io/v1beta1", "kind": "Bucket", "metadata": {"name": ")" +
         name + R"(", "uid": "uid-)" + name +
         R"("}, "spec": {"forProvider": {"region": "eu-west-1"}}})";
}

FollowedKind Kind(const std::string& kind, Role role) {
  FollowedKind out;
  out.selection.kind = {"s3.aws.upbound.io", "v1beta1", kind, kind + "s", false};
  out.role = role;
  return out;
}

class NameSurveyTest : public ::testing::Test {
 protected:
  NameReport Survey(std::vector<FollowedKind> kinds, Deadline deadline) {
    const std::shared_ptr<const Catalogue> catalogue(std::shared_ptr<void>(),
                                                     &Catalogue::BuiltIn());
    const auto loaded = LoadConfigFrom({.file = "t.yaml", .flags = {}, .variables = {}},
                                       "rules: {naming-convention: {mode: audit}}\n");
    EXPECT_TRUE(loaded.ok());
    const auto policy = PolicyFrom(loaded.value().config, catalogue);
    EXPECT_TRUE(policy.ok());
    return SurveyNames({api_, store_, policy.value(), std::move(kinds), {}}, deadline);
  }

  static Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(60); }

  ListApi api_;
  MemoryStore store_;
};

TEST_F(NameSurveyTest, EveryPageCounts) {
  for (int i = 0; i < 5; ++i) {
    api_.lists["Bucket"].push_back(Bucket("pay-prod-bucket" + std::string(i == 0 ? "" : "s")));
  }
  api_.lists["Bucket"].push_back("no object");
  const NameReport report = Survey({Kind("Bucket", Role::kManaged)}, Soon());
  EXPECT_EQ(api_.asked.size(), 3U);
  EXPECT_TRUE(report.convention);
  EXPECT_EQ(report.conforming, 1U);
  EXPECT_EQ(report.violating, 1U);  // the others declare the same bucket
  EXPECT_TRUE(report.problems.empty());
}

TEST_F(NameSurveyTest, RootsAreListedFirstAndProblemsAreTold) {
  api_.lists["Bucket"] = {};
  api_.lists["Claim"] = {};
  const NameReport report = Survey({Kind("Bucket", Role::kManaged), Kind("Queue", Role::kManaged),
                                    Kind("Claim", Role::kClaim), Kind("Event", Role::kOther)},
                                   Soon());
  EXPECT_EQ(api_.asked, (std::vector<std::string>{"Claim", "Bucket", "Queue"}));
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0], (NameProblem{"Queue.s3.aws.upbound.io", "forbidden"}));
}

TEST_F(NameSurveyTest, WithoutTimeNothingIsClaimed) {
  api_.lists["Bucket"] = {Bucket("pay-prod-bucket")};
  const NameReport report =
      Survey({Kind("Bucket", Role::kManaged)}, std::chrono::steady_clock::now());
  EXPECT_TRUE(report.counts.empty());
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_EQ(report.problems[0].problem, "there was no time left");
}

}  // namespace name_survey_test
}  // namespace truce
