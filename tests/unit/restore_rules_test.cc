// Rules orphaning-update, restored-twin and restored-delete: the recorded restores before
// Crossplane 1.16.1 and 1.20, and what looks like the moments that harm and is none.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/admission_fixture.h"

namespace truce {
namespace restore_rules_test {

constexpr std::string_view kVelero = "system:serviceaccount:velero:velero-server";
constexpr Rule kGuards[] = {Rule::kOrphaningUpdate, Rule::kRestoredTwin, Rule::kRestoredDelete};

class RestoreTest : public AdmissionFixture {
 protected:
  RestoreTest() {
    ChangePolicy([](AdmissionPolicy& policy) {
      policy.identity.composites = {{"platform.example.org", "XObjectStorage"}};
      policy.restorers = {"system:serviceaccount:velero:*"};
    });
  }
  void Enforce() {
    ChangePolicy([](AdmissionPolicy& policy) {
      for (const Rule rule : kGuards) {
        policy.modes.rules[static_cast<std::size_t>(rule)] = {
            {Mode::kEnforce, {}, {}, {}, "truce.yaml:1"}};
      }
    });
  }

  static std::string References(const std::vector<std::string>& queues) {
    std::string out;
    for (const std::string& name : queues) {
      out += out.empty() ? "" : ",";
      out +=
          R"({"apiVersion":"sqs.aws.upbound.io/v1beta1","kind":"Queue","name":")" + name + R"("})";
    }
    return R"({"resourceRefs":[)" + out + "]}";
  }
  // Crossplane's update of composite `xr` from `old` to `now`.
  static Sent Update(const std::vector<std::string>& old, const std::vector<std::string>& now) {
    Sent sent;
    sent.operation = "UPDATE";
    sent.group = "platform.example.org";
    sent.version = "v1alpha1";
    sent.kind = "XObjectStorage";
    sent.name = "xr";
    sent.uid = "uid-xr";
    sent.review = "update-xr";
    sent.spec = References(now);
    sent.old_spec = References(old);
    sent.user = kCrossplane;
    return sent;
  }
  static Sent Queue(std::string_view name, const std::string& metadata = "") {
    Sent sent = Managed("sqs", "Queue", name, R"({"name":"jobs","region":"us-west-2"})");
    sent.metadata = R"(,"annotations":{"crossplane.io/composition-resource-name":"queue"},)"
                    R"("labels":{"crossplane.io/composite":"xr"})" +
                    metadata;
    return sent;
  }
  static Sent Controlled(std::string_view name) {
    return Queue(name, R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1",)"
                       R"("kind":"XObjectStorage","name":"xr","uid":"uid-xr","controller":true}])");
  }
  static Sent Deleted(Sent sent) {
    sent.operation = "DELETE";
    sent.review = "delete";
    sent.user = kCrossplane;
    return sent;
  }
  static Slot SlotOf(const std::string& queue) {
    return {"local", "sqs.aws.upbound.io", "Queue", "", queue};
  }
  // `queue` came back by a restore: it exists, and has no controller.
  void Restored(const std::string& queue) {
    Sent sent = Queue(queue);
    sent.user = kVelero;
    ASSERT_TRUE(Send(sent).allowed);
    live_.objects[SlotOf(queue)] = LiveObject{.composed_as = "queue"};
  }

  std::vector<std::string> Findings() const { return sink_.last().findings; }
  using Texts = std::vector<std::string>;
};

TEST_F(RestoreTest, WithoutConfigurationADroppedRestoredObjectIsWarnedOf) {
  Restored("old");
  const Answered answer = Send(Update({"old"}, {}));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(Findings(), Texts{"orphaning-update warn"});
  EXPECT_EQ(answer.warnings, Texts{"truce: Queue old has no controller and would be orphaned"});
}

TEST_F(RestoreTest, EnforcedItIsRefusedWithTheRemedy) {
  Enforce();
  Restored("old");
  const Answered answer = Send(Update({"old", "kept"}, {"kept"}));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403) << "names do not change: Crossplane backs off by itself";
  EXPECT_EQ(OnlyFinding().cause,
            "Queue old would be orphaned: XObjectStorage xr drops it, but it has no controller (a "
            "restored backup leaves such objects), so Crossplane would neither delete nor update "
            "it ever again.");
  EXPECT_EQ(
      OnlyFinding().remedy,
      "Put its template back into the Composition: at its next look Crossplane adopts it, and then "
      "it can be dropped. Nothing else of this composite is adopted before. To let go of it on "
      "purpose: `kubectl annotate --overwrite queue.sqs.aws.upbound.io old "
      "truce.dev/orphan=true`.");
}

TEST_F(RestoreTest, WhatTheWatchDoesNotKnowIsLookedAtWhereTheRuleEnforces) {
  live_.objects[SlotOf("unseen")] = LiveObject{};
  EXPECT_TRUE(Send(Update({"unseen"}, {})).allowed);
  EXPECT_TRUE(live_.asked.empty()) << "a warning is not worth the call";
  Enforce();
  EXPECT_FALSE(Send(Update({"unseen"}, {})).allowed);
  EXPECT_EQ(live_.asked, std::vector<Slot>{SlotOf("unseen")});
}

TEST_F(RestoreTest, ALaggingWatchRefusesNothing) {
  Enforce();
  Restored("old");
  live_.objects[SlotOf("old")]->controlled = true;
  EXPECT_TRUE(Send(Update({"old"}, {})).allowed) << "it was adopted a moment ago";
  EXPECT_TRUE(Findings().empty());
  live_.objects[SlotOf("old")] = LiveObject{.terminating = true};
  EXPECT_TRUE(Send(Update({"old"}, {})).allowed) << "it goes already";
  live_.objects.clear();
  EXPECT_TRUE(Send(Update({"old"}, {})).allowed) << "it is gone";
  EXPECT_TRUE(Findings().empty());
  live_.silent = true;
  const Answered answer = Send(Update({"old"}, {}));
  EXPECT_TRUE(answer.allowed) << "nobody can look";
  EXPECT_EQ(Findings(), Texts{"orphaning-update warn"});
}

TEST_F(RestoreTest, NamesThatNoObjectHasMayBeExchanged) {
  Enforce();
  EXPECT_TRUE(Send(Update({"xr-aaaaa"}, {"xr-bbbbb"})).allowed);
  EXPECT_TRUE(Findings().empty());
}

TEST_F(RestoreTest, AnAdoptedObjectMayBeDropped) {
  Enforce();
  Sent create = Controlled("adopted");
  create.user = kCrossplane;
  ASSERT_TRUE(Send(create).allowed);
  live_.objects[SlotOf("adopted")] = LiveObject{.controlled = true, .composed_as = "queue"};
  EXPECT_TRUE(Send(Update({"adopted"}, {})).allowed);
  EXPECT_TRUE(Findings().empty());
}

TEST_F(RestoreTest, WhoMeansItSaysSoOnTheObject) {
  Enforce();
  Restored("old");
  live_.objects[SlotOf("old")]->kept = true;
  EXPECT_TRUE(Send(Update({"old"}, {})).allowed);
}

TEST_F(RestoreTest, OnlyCompositeControllersAreJudged) {
  Enforce();
  Restored("old");
  Sent update = Update({"old"}, {});
  update.user = "ann";
  EXPECT_TRUE(Send(update).allowed);
  Sent deletion = Deleted(Queue("old"));
  deletion.user = "system:serviceaccount:kube-system:generic-garbage-collector";
  EXPECT_TRUE(Deletion(BodyOf(deletion)).allowed);
  deletion.user = "ann";
  EXPECT_TRUE(Deletion(BodyOf(deletion)).allowed);
  EXPECT_TRUE(live_.asked.empty());
}

TEST_F(RestoreTest, OfVeryManyDroppedObjectsTheRestoredOnesAreLookedAtFirst) {
  Enforce();
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("n" + std::to_string(i));
  names.emplace_back("zz");
  Restored("zz");
  const Answered answer = Send(Update(names, {}));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(live_.asked.size(), kLookedAtMax);
  EXPECT_EQ(live_.asked.front(), SlotOf("zz"));
}

TEST_F(RestoreTest, ATerminatingCompositeDropsWhatItHas) {
  Enforce();
  Restored("old");
  Sent update = Update({"old"}, {});
  update.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  update.old_metadata = update.metadata;
  EXPECT_TRUE(Send(update).allowed) << "I10";
}

TEST_F(RestoreTest, ARestoredObjectIsNotDeletedByCrossplane) {
  Restored("old");
  EXPECT_TRUE(Deletion(BodyOf(Deleted(Queue("old")))).allowed);
  EXPECT_EQ(Findings(), Texts{"restored-delete warn"});
  Enforce();
  Sent unlabelled = Deleted(Queue("old"));
  unlabelled.metadata = R"(,"annotations":{"crossplane.io/composition-resource-name":"queue"})";
  const Answered answer = Deletion(BodyOf(unlabelled));
  EXPECT_FALSE(answer.allowed) << "Crossplane takes the labels off a moment before";
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "Queue old would be deleted, and SQS queue \"jobs\" with it: its composite drops it, "
            "but has not adopted it since it was restored (it has no controller).");
  EXPECT_TRUE(Deletion(BodyOf(Deleted(Controlled("old")))).allowed) << "adopted";
}

TEST_F(RestoreTest, OfAKindThatNobodyFollowsTheReviewOfItsDeletionTellsAll) {
  Enforce();
  Sent release = Deleted(Queue("chart"));
  release.group = "helm.crossplane.io";
  release.kind = "Release";
  const Answered answer = Deletion(BodyOf(release));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(Findings(), Texts{"restored-delete enforce"});
  EXPECT_EQ(OnlyFinding().cause,
            "Release chart would be deleted: its composite drops it, but has not adopted it since "
            "it was restored (it has no controller).");
  EXPECT_TRUE(live_.asked.empty());
}

TEST_F(RestoreTest, WhatARestoredObjectHasGetsNoSecondOne) {
  ASSERT_TRUE(Send(Update({}, {"old"})).allowed);
  Sent first = Controlled("old");
  first.user = kCrossplane;
  ASSERT_TRUE(Send(first).allowed);
  Sent back = Queue("old");
  back.uid = "uid-old-again";
  back.review = "review-old-again";
  back.user = kVelero;
  ASSERT_TRUE(Send(back).allowed);
  live_.objects[SlotOf("old")] = LiveObject{.composed_as = "queue"};
  Sent made = Controlled("new");
  made.user = kCrossplane;
  const Answered refused = Send(made);
  EXPECT_FALSE(refused.allowed) << "it is a second manager, whatever this rule says";
  EXPECT_EQ(Findings(), (Texts{"duplicate-ownership enforce", "restored-twin warn"}));
  Enforce();
  const Answered explained = Send(made);
  EXPECT_FALSE(explained.allowed);
  EXPECT_EQ(explained.code, 403);
  EXPECT_EQ(Findings(), Texts{"restored-twin enforce"}) << "one text, and that says why";
  EXPECT_EQ(OnlyFinding().cause,
            "Queue new would be a second object of SQS queue \"jobs\": Queue old has it already, "
            "for the same XObjectStorage, but has no controller, as a restored backup leaves it. "
            "Whichever of both is deleted deletes what both have.");
  live_.objects[SlotOf("old")]->composed_as = "another-queue";
  Send(made);
  EXPECT_EQ(Findings(), Texts{"duplicate-ownership enforce"}) << "another template";
  live_.objects.clear();
  Send(made);
  EXPECT_EQ(Findings(), Texts{"duplicate-ownership enforce"}) << "gone; the watch lags";
}

// Plays a recorded restore, before a registry that knew nothing, as an API server would, whose
// objects are those of the reviews so far.
class RecordedRestoreTest : public RestoreTest {
 protected:
  RecordedRestoreTest() {
    ChangePolicy([](AdmissionPolicy& policy) { policy.identity.mappings = {}; });
  }
  // What was found of each review that anything was found of: "NAME: FINDING …".
  Texts Play(const std::string& name) {
    std::ifstream file(std::string(TRUCE_SOURCE_DIR) + "/tests/support/recordings/lifecycle/" +
                       name + ".jsonl");
    Texts out;
    for (std::string line; std::getline(file, line);) {
      const auto recorded = nlohmann::json::parse(line);
      const auto& review = recorded.at("review");
      if (review.at("request").at("kind").at("kind") == "Composition") continue;
      PlayOne(recorded.at("name").get<std::string>(), review, out);
    }
    return out;
  }

 private:
  void PlayOne(const std::string& name, const nlohmann::json& review, Texts& out) {
    const auto& request = review.at("request");
    const Answered answer =
        request.at("operation") == "DELETE" ? Deletion(review.dump()) : Post(review.dump());
    std::string found;
    for (const std::string& finding : Findings()) found += " " + finding;
    if (!found.empty()) out.push_back(name + ":" + found);
    if (answer.allowed) Apply(request);
  }
  void Apply(const nlohmann::json& request) {
    const bool deletes = request.at("operation") == "DELETE";
    const auto& object = request.at(deletes ? "oldObject" : "object");
    const Slot slot{"local", request.at("kind").at("group").get<std::string>(),
                    request.at("kind").at("kind").get<std::string>(),
                    request.value("namespace", ""), request.at("name").get<std::string>()};
    const auto& metadata = object.at("metadata");
    LiveObject live;
    live.terminating = deletes || metadata.contains("deletionTimestamp");
    for (const auto& owner : metadata.value("ownerReferences", nlohmann::json::array())) {
      live.controlled = live.controlled || owner.value("controller", false);
    }
    live.composed_as = metadata.value("annotations", nlohmann::json::object())
                           .value("crossplane.io/composition-resource-name", "");
    live_.objects[slot] = live;
  }
};

// The restored bucket that comes when Crossplane has made a new one is refused by R2.
TEST_F(RecordedRestoreTest, OfCrossplaneBefore117TheUpdateThatOrphansIsRefused) {
  Enforce();
  EXPECT_EQ(Play("restore-reviews-1.16.1"),
            (Texts{"045748-023.create.bucket.r-late-txdbj-w4ws9: duplicate-ownership enforce",
                   "045810-037.update.xobjectstorage.r-drop-f9gpr: orphaning-update enforce"}));
}

TEST_F(RecordedRestoreTest, OfCrossplaneSince117TheDeletionIsRefused) {
  Enforce();
  EXPECT_EQ(Play("restore-reviews-1.20"),
            (Texts{"045401-023.create.bucket.r-late-8dg5m-v5r6k: duplicate-ownership enforce",
                   "045508-040.delete.queue.r-drop-5jkz8-4wtsf: restored-delete enforce",
                   "045508-041.update.xobjectstorage.r-drop-5jkz8: orphaning-update enforce"}))
      << "the update would orphan what was not deleted";
}

TEST_F(RecordedRestoreTest, WithoutConfigurationTheSameIsWarnedOf) {
  EXPECT_EQ(Play("restore-reviews-1.20"),
            (Texts{"045401-023.create.bucket.r-late-8dg5m-v5r6k: duplicate-ownership enforce",
                   "045508-040.delete.queue.r-drop-5jkz8-4wtsf: restored-delete warn"}))
      << "once deleted it is not orphaned";
}

}  // namespace restore_rules_test
}  // namespace truce
