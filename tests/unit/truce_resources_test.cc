// Truce's own objects: what of the watch counts, when their handler is called, how their status
// answers.
#include "webhook/publish/truce_resources.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <vector>

#include "registry/base/guarded.h"
#include "tests/support/fake_cluster_api.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace truce_resources_test {

const ServedKind kPolicies{"truce.dev", "v1alpha1", "NamingPolicy", "namingpolicies", false};

Deadline Soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(20); }

// Refuses the objects of these names.
class FakeHandler final : public OwnHandler {
 public:
  std::vector<ServedKind> kinds() const override { return {kPolicies}; }
  bool is_for_all() const override { return !is_for_leader; }
  std::vector<OwnVerdict> Take(std::span<const OwnObject> objects) override {
    std::vector<OwnVerdict> out;
    std::vector<std::string> names;
    for (const OwnObject& object : objects) {
      names.push_back(object.name);
      if (object.said && object.said->accepted)
        accepted_before.With([&](auto& all) { all.insert(object.name); });
      out.push_back(object.name == "bad" ? OwnVerdict{false, "spec.x: is bad"}
                                         : OwnVerdict{true, "in force"});
    }
    taken.With([&](auto& all) { all.push_back(names); });
    return out;
  }
  std::atomic<bool> is_for_leader{false};

  std::vector<std::vector<std::string>> calls() const {
    return taken.With([](const auto& present) { return present; });
  }

  std::set<std::string> accepted() const {
    return accepted_before.With([](const auto& present) { return present; });
  }

  Guarded<std::vector<std::vector<std::string>>> taken;
  Guarded<std::set<std::string>> accepted_before;
};

class TruceResourcesTest : public ::testing::Test {
 protected:
  void Note(const OwnEvent& event) {
    if (event.kind == OwnEvent::Kind::kTrouble) return;
    told_.With([&](auto& all) { all.push_back(event.object + ": " + event.message); });
  }

  static FollowedKind Kind() {
    FollowedKind kind;
    kind.selection.kind = kPolicies;
    kind.role = Role::kOther;
    return kind;
  }

  void See(const std::string& name, int generation, const std::string& status = "null",
           bool gone = false) {
    JsonReader reader;
    const std::string json = R"({"metadata": {"name": ")" + name + R"(", "uid": "uid-)" + name +
                             R"(", "generation": )" + std::to_string(generation) +
                             R"(, "creationTimestamp": "2026-11-21T12:00:0)" +
                             std::to_string(name.size()) +
                             R"(Z"}, "spec": {"a": ["1", 2, true]}, "status": )" + status + "}";
    const auto document = reader.Read(json);
    ASSERT_TRUE(document.ok()) << document.error().message;
    own_.OnOther(Kind(), document.value().root(), gone);
  }

  void State(KindState state) {
    KindStatus status;
    status.kind = Kind();
    status.state = state;
    own_.OnKindState(status);
  }

  FakeClusterApi api_;
  FakeHandler handler_;
  SystemClock clock_;
  Guarded<std::vector<std::string>> told_;
  std::atomic<bool> is_leader_{true};
  TruceResources own_{OwnPorts{clock_, api_, [this] { return is_leader_.load(); },
                               [this](const OwnEvent& event) { Note(event); }},
                      {&handler_}};
};

TEST_F(TruceResourcesTest, EachObjectIsAnsweredOnceInItsStatus) {
  See("good", 1);
  See("bad", 3);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().back(), (std::vector<std::string>{"bad", "good"}));  // the older first
  const std::vector<std::string> patches = api_.all();
  std::string all;
  for (const std::string& patch : patches) all += patch + "\n";
  EXPECT_NE(all.find(R"(good/status {"status":{"conditions":[{"type":"Accepted","status":"True",)"
                     R"("reason":"InForce","message":"in force","observedGeneration":1,)"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find(R"("status":"False","reason":"Refused","message":"spec.x: is bad",)"
                     R"("observedGeneration":3)"),
            std::string::npos)
      << all;
  // The watch brings the status back: nothing is asked or written again.
  const std::size_t calls = handler_.calls().size();
  See("good", 1,
      R"({"conditions": [{"type": "Accepted", "status": "True", "message": "in force",
          "observedGeneration": 1}]})");
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().size(), calls);
  own_.Refresh();
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_GT(handler_.calls().size(), calls);
  const auto told = told_.With([](const auto& all_told) { return all_told; });
  EXPECT_EQ(
      std::set<std::string>(told.begin(), told.end()),
      (std::set<std::string>{"NamingPolicy good: in force", "NamingPolicy bad: spec.x: is bad"}));
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(TruceResourcesTest, OfServersThatShareARegistryTheLeaderAlonePatchesAndActs) {
  is_leader_ = false;
  See("good", 1);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().back(), std::vector<std::string>{"good"});
  EXPECT_TRUE(api_.all().empty());
  handler_.is_for_leader = true;
  own_.Refresh();
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().size(), 1U);
  is_leader_ = true;
  own_.Refresh();
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_GT(handler_.calls().size(), 1U);
  EXPECT_FALSE(api_.all().empty());
}

TEST_F(TruceResourcesTest, WhatASecondListDoesNotHaveIsGone) {
  See("one", 1);
  See("three", 1);
  State(KindState::kWatched);
  State(KindState::kFailing);  // the watch is lost: all stays
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().back().size(), 2U);
  State(KindState::kRelisting);
  See("one", 1);
  State(KindState::kWatched);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().back(), std::vector<std::string>{"one"});
  See("one", 1, "null", true);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_TRUE(handler_.calls().back().empty());
}

// Of half a list the wrong one of two that clash would be taken.
TEST_F(TruceResourcesTest, HalfAListIsNotTaken) {
  State(KindState::kListing);
  See("one", 1);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_TRUE(handler_.calls().empty());
  See("three", 1, R"({"conditions": [{"type": "Accepted", "status": "True", "message": "in force",
                      "observedGeneration": 1}]})");
  State(KindState::kWatched);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls(), (std::vector<std::vector<std::string>>{{"one", "three"}}));
  EXPECT_EQ(handler_.accepted(), std::set<std::string>{"three"});
}

TEST_F(TruceResourcesTest, AStatusThatCannotBeWrittenIsTriedAgain) {
  api_.failures = 2;
  See("good", 1);
  const Deadline end = Soon();
  while (api_.all().empty() && std::chrono::steady_clock::now() < end) {
    own_.Settle(std::chrono::steady_clock::now() + std::chrono::milliseconds(20));
    std::this_thread::yield();
  }
  EXPECT_EQ(api_.all().size(), 1U);
}

TEST_F(TruceResourcesTest, AnUnservedKindTakesNothingAway) {
  See("one", 1);
  ASSERT_TRUE(own_.Settle(Soon()));
  const std::size_t calls = handler_.calls().size();
  State(KindState::kUnserved);
  ASSERT_TRUE(own_.Settle(Soon()));
  EXPECT_EQ(handler_.calls().size(), calls);
  own_.Stop();
  EXPECT_FALSE(own_.kinds().empty());
}

}  // namespace truce_resources_test
}  // namespace truce
