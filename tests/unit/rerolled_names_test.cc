// What composite controllers are refused again and again: late answers, and rule rerolled-names.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/judge.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/validate_now.h"

namespace truce {
namespace rerolled_names_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kComposite = "files-x7f2k";

std::string ControlledBy(std::string_view composite) {
  return R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1","kind":)"
         R"("XObjectStorage","name":")" +
         std::string(composite) + R"(","uid":"uid-)" + std::string(composite) +
         R"(","controller":true}])";
}

// The bucket that `composite` is composed of, at one of the tries.
Sent Composed(std::string_view composite, std::string_view tried,
              std::string_view bucket = "prod-artifacts") {
  Sent sent = Bucket(std::string(composite) + "-" + std::string(tried), bucket);
  sent.metadata += ControlledBy(composite);
  sent.user = kCrossplane;
  return sent;
}

std::string Reference(std::string_view kind, std::string_view name) {
  std::string group = kind == "Bucket" ? "s3" : "sqs";
  return R"({"apiVersion":")" + group + R"(.aws.upbound.io/v1beta1","kind":")" + std::string(kind) +
         R"(","name":")" + std::string(name) + R"("})";
}

std::string Spec(const std::vector<std::string>& references, std::string_view more = "") {
  std::string out = R"({"parameters":{"name":"prod-artifacts")" + std::string(more) + "}";
  out += R"(,"resourceRefs":[)";
  for (const std::string& reference : references) {
    out += (out.ends_with('[') ? "" : ",") + reference;
  }
  return out + "]}";
}

// An update of the composite from references `old` to `now`.
Sent Update(const std::vector<std::string>& old, const std::vector<std::string>& now) {
  Sent sent;
  sent.operation = "UPDATE";
  sent.group = "platform.example.org";
  sent.version = "v1alpha1";
  sent.kind = "XObjectStorage";
  sent.name = kComposite;
  sent.uid = "uid-" + std::string(kComposite);
  sent.metadata = R"(,"generation":5)";
  sent.old_metadata = R"(,"generation":4)";
  sent.spec = Spec(now);
  sent.old_spec = Spec(old);
  sent.user = kCrossplane;
  sent.review = "review-update";
  return sent;
}

std::string Tried(std::string_view tried) {
  return Reference("Bucket", std::string(kComposite) + "-" + std::string(tried));
}

class RerolledNames : public AdmissionFixture {
 protected:
  RerolledNames() {
    EXPECT_TRUE(Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a")).allowed);
  }

  // What is deferred is answered by itself when the test ends.
  struct Sending {
    HttpRequest request;
    TestDeferral deferral;
    std::optional<HttpResponse> response;
  };
  std::unique_ptr<Sending> Begin(const Sent& sent, std::string timeout = "10s") {
    auto out = std::make_unique<Sending>();
    out->request.method = "POST";
    out->request.path = "/validate";
    out->request.query.emplace_back("timeout", std::move(timeout));
    out->request.body = BodyOf(sent);
    out->response = AnswerReview(service_, Endpoint::kDeclarations, out->request, out->deferral);
    return out;
  }
  bool ComesLate(const Sent& sent) {
    const auto sending = Begin(sent);
    // What waits for its commit is another thing.
    return sending->deferral.is_deferred() && sending->deferral.hung_up() == WhenHungUp::kForget;
  }

  // Refuses the bucket under names "1", "2", … of `composite`.
  void Refuse(int count, std::string_view composite = kComposite) {
    for (int i = 1; i <= count; ++i) {
      static_cast<void>(Begin(Composed(composite, std::to_string(i))));
      EXPECT_EQ(sink_.last().verdict, Verdict::kDenied);
      clock_.Advance(milliseconds(100));
    }
  }

  bool Passes(const Sent& sent) { return Send(sent).allowed; }
  Sent Reroll() const { return Update({Tried("3")}, {Tried("4")}); }
};

TEST_F(RerolledNames, FromTheFourthIdenticalRefusalOnAnswersComeLate) {
  for (const char* tried : {"1", "2", "3"}) {
    EXPECT_FALSE(ComesLate(Composed(kComposite, tried))) << tried;
  }
  const Deadline begun = std::chrono::steady_clock::now();
  const auto fourth = Begin(Composed(kComposite, "4"));
  ASSERT_TRUE(fourth->deferral.is_deferred());
  EXPECT_EQ(fourth->deferral.hung_up(), WhenHungUp::kForget);
  EXPECT_GE(fourth->deferral.deadline(), begun + kLatenessMax);
  EXPECT_LE(fourth->deferral.deadline(), begun + kLatenessMax + seconds(1));
  // It was reported when it was known, and once.
  EXPECT_EQ(sink_.last().repetition, 4U);
  EXPECT_EQ(sink_.all().size(), 5U);
}

TEST_F(RerolledNames, AnswersComeWithinHalfOfTheirTime) {
  Refuse(3);
  const Deadline begun = std::chrono::steady_clock::now();
  const auto late = Begin(Composed(kComposite, "4"), "3s");
  ASSERT_TRUE(late->deferral.is_deferred());
  EXPECT_LE(late->deferral.deadline(), begun + milliseconds(1500));
  const HttpResponse response = late->deferral.Wait();
  EXPECT_EQ(response.status, 200);
  const auto answer = nlohmann::json::parse(response.body).at("response");
  EXPECT_EQ(answer.at("allowed"), false);
  EXPECT_EQ(answer.at("status").at("code"), 422);
}

TEST_F(RerolledNames, NobodyElseWaits) {
  Refuse(3);
  Sent person = Composed(kComposite, "4");
  person.user = "ann";
  EXPECT_FALSE(ComesLate(person));
  Sent dry = Composed(kComposite, "4");
  dry.dry_run = true;
  EXPECT_FALSE(ComesLate(dry));
  EXPECT_FALSE(ComesLate(Composed("other-b9d4q", "1")));
  // Of the same composite, what was not refused yet.
  EXPECT_FALSE(ComesLate(Composed(kComposite, "4", "another-name")));
}

TEST_F(RerolledNames, RefusalsFarApartDoNotStand) {
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(ComesLate(Composed(kComposite, std::to_string(i)))) << i;
    clock_.Advance(seconds(31));
  }
}

TEST_F(RerolledNames, WhatStandsStandsUntilNobodyTriesForTenMinutes) {
  Refuse(3);
  clock_.Advance(std::chrono::minutes(9));
  EXPECT_TRUE(ComesLate(Composed(kComposite, "4")));
  clock_.Advance(std::chrono::minutes(11));
  EXPECT_FALSE(ComesLate(Composed(kComposite, "5")));
}

TEST_F(RerolledNames, AtMostSixtyFourAreKeptBackAndAllAreGivenAtTheEnd) {
  Refuse(3);
  std::vector<std::unique_ptr<Sending>> kept;
  for (std::size_t i = 0; i < kLateAnswersMax; ++i) {
    kept.push_back(Begin(Composed(kComposite, "t" + std::to_string(i)), "30s"));
    ASSERT_TRUE(kept.back()->deferral.is_deferred());
  }
  EXPECT_FALSE(ComesLate(Composed(kComposite, "u")));
  EXPECT_EQ(service_.late_answers().kept_now(), kLateAnswersMax);
  // Who hangs up, or is answered, makes room.
  kept.pop_back();
  EXPECT_EQ(service_.late_answers().kept_now(), kLateAnswersMax - 1);
  service_.EndLateness();
  for (const auto& each : kept) EXPECT_TRUE(each->deferral.is_answered());
  EXPECT_EQ(service_.late_answers().kept_now(), 0U);
  EXPECT_FALSE(ComesLate(Composed(kComposite, "v")));
}

TEST_F(RerolledNames, AnotherNameForWhatIsRefusedIsRefused) {
  Refuse(3);
  const Answered answered = Send(Reroll());
  EXPECT_FALSE(answered.allowed);
  EXPECT_EQ(answered.code, 403);
  EXPECT_EQ(OnlyFinding().cause,
            "S3 bucket \"prod-artifacts\" is owned by service \"service-a\", declared by "
            "ObjectStorage team-a/artifacts.");
  EXPECT_EQ(OnlyFinding().remedy,
            "Choose another name in XObjectStorage files-x7f2k. To take it over, ask service "
            "\"service-a\" to run: `kubectl -n team-a annotate --overwrite "
            "objectstorage.platform.example.org "
            "artifacts truce.dev/transfer-to=XObjectStorage.platform.example.org/files-x7f2k`. "
            "Until then XObjectStorage files-x7f2k waits with its Bucket: under another object "
            "name it would be refused too.");
  EXPECT_EQ(sink_.last().findings, std::vector<std::string>{"rerolled-names enforce"});
  EXPECT_EQ(sink_.last().repetition, 1U);
  EXPECT_FALSE(Passes(Reroll()));
  EXPECT_EQ(sink_.last().repetition, 2U);
  // A dry run has the same answer and counts for nothing.
  Sent dry = Reroll();
  dry.dry_run = true;
  EXPECT_FALSE(Passes(dry));
  EXPECT_EQ(sink_.last().repetition, 0U);
}

TEST_F(RerolledNames, BelowSpecCrossplaneToo) {
  Refuse(3);
  Sent sent = Reroll();
  sent.spec = R"({"crossplane":{"resourceRefs":[)" + Tried("4") + "]}}";
  sent.old_spec = R"({"crossplane":{"resourceRefs":[)" + Tried("3") + "]}}";
  EXPECT_FALSE(Passes(sent));
}

TEST_F(RerolledNames, PassesUntilItWasRefusedThreeTimes) {
  EXPECT_TRUE(Passes(Update({Tried("0")}, {Tried("1")})));
  Refuse(2);
  EXPECT_TRUE(Passes(Update({Tried("2")}, {Tried("3")})));
}

TEST_F(RerolledNames, PassesOnceTheNameIsFree) {
  Refuse(3);
  EXPECT_FALSE(Passes(Reroll()));
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  EXPECT_TRUE(Passes(Reroll()));
  // And it is forgotten: another owner is another story.
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kEnforce; });
  EXPECT_TRUE(Passes(Reroll()));
}

TEST_F(RerolledNames, PassesWithAnyOtherChange) {
  Refuse(3);
  EXPECT_FALSE(Passes(Reroll()));
  Sent with_label = Reroll();
  with_label.metadata += R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Passes(with_label));
  // What it says elsewhere may have made the difference: the next one is a new try.
  EXPECT_TRUE(Passes(Reroll()));
  EXPECT_FALSE(Passes(Reroll()));
  Sent renamed = Reroll();
  renamed.spec = Spec({Tried("4")}, R"(,"tier":"b")");
  EXPECT_TRUE(Passes(renamed));
}

TEST_F(RerolledNames, PassesWhenSomebodyElseChangedTheComposite) {
  Refuse(3);
  Sent edited = Update({Tried("3")}, {Tried("3")});
  edited.user = "ann";
  edited.spec = Spec({Tried("3")}, R"(,"tier":"b")");
  EXPECT_TRUE(Passes(edited));
  EXPECT_TRUE(Passes(Reroll()));
  EXPECT_FALSE(Passes(Reroll()));
}

TEST_F(RerolledNames, PassesForAnObjectThatWasDeletedByHand) {
  Refuse(3);
  const std::string queue = Reference("Queue", "files-x7f2k-q1");
  const std::string new_queue = Reference("Queue", "files-x7f2k-q2");
  const std::string logs = Tried("logs1");
  const std::string new_logs = Tried("logs2");
  // Of another kind, of the same kind, and together with the refused one.
  EXPECT_TRUE(Passes(Update({Tried("3"), queue}, {Tried("3"), new_queue})));
  EXPECT_TRUE(Passes(Update({Tried("3"), logs}, {Tried("3"), new_logs})));
  EXPECT_TRUE(Passes(Update({Tried("3"), logs}, {Tried("4"), new_logs})));
}

TEST_F(RerolledNames, PassesWhenMoreOrLessIsComposed) {
  Refuse(3);
  EXPECT_TRUE(Passes(Update({Tried("3")}, {Tried("3"), Tried("4")})));
  EXPECT_TRUE(Passes(Update({Tried("3"), Tried("2")}, {Tried("3")})));
  EXPECT_TRUE(Passes(Update({Tried("3")}, {Reference("Queue", "files-x7f2k-4")})));
}

TEST_F(RerolledNames, PassesWhenAnObjectHasANameOrNobodyCanTell) {
  Refuse(3);
  for (const char* name : {"files-x7f2k-3", "files-x7f2k-4"}) {
    live_.objects = {{{"", "s3.aws.upbound.io", "Bucket", "", name}, LiveObject{}}};
    EXPECT_TRUE(Passes(Reroll())) << name;
  }
  live_.objects.clear();
  live_.silent = true;
  EXPECT_TRUE(Passes(Reroll()));
  live_.silent = false;
  EXPECT_FALSE(Passes(Reroll()));
  store_.FailNextRead(Error{ErrorCode::kUnavailable, "busy"});
  EXPECT_TRUE(Passes(Reroll()));
}

TEST_F(RerolledNames, PassesForPeopleAndForWhatTerminates) {
  Refuse(3);
  Sent going = Reroll();
  going.metadata += R"(,"deletionTimestamp":"2026-11-21T08:00:00Z")";
  going.old_metadata = going.metadata;
  EXPECT_TRUE(Passes(going));
  Sent person = Reroll();
  person.user = "ann";
  EXPECT_TRUE(Passes(person));
}

TEST_F(RerolledNames, LetsATryThroughNowAndThen) {
  Refuse(3);
  EXPECT_FALSE(Passes(Reroll()));
  clock_.Advance(seconds(41));
  EXPECT_TRUE(Passes(Reroll()));
  static_cast<void>(Begin(Composed(kComposite, "4")));
  EXPECT_FALSE(Passes(Update({Tried("4")}, {Tried("5")})));
}

TEST_F(RerolledNames, GoesByItsMode) {
  Refuse(3);
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kRerolledNames)] = {{.mode = Mode::kWarn}};
  });
  const Answered warned = Send(Reroll());
  EXPECT_TRUE(warned.allowed);
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_EQ(warned.warnings[0],
            "truce: XObjectStorage files-x7f2k only renames its Bucket, which is refused under any "
            "object name");
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kRerolledNames)] = {{.mode = Mode::kOff}};
  });
  EXPECT_TRUE(Send(Reroll()).warnings.empty());
}

TEST_F(RerolledNames, AProposedNameHoldsNoNameThatWasMadeUp) {
  Sent sent = Composed(kComposite, "1");
  const Answered answered = Send(sent);
  EXPECT_FALSE(answered.allowed);
  EXPECT_EQ(answered.message.find("for example"), std::string::npos) << answered.message;
  EXPECT_EQ(answered.message.find("files-x7f2k-1"), std::string::npos) << answered.message;
}

TEST(RefusalTopicTest, ANameThatWasMadeUpIsAnotherAtEachTry) {
  const Slot root{"local", "platform.example.org", "ObjectStorage", "team-b", "files"};
  const auto topic = [&](const std::string& name, const std::string& key, bool composed) {
    ObjectFacts object;
    object.slot = {"local", "s3.aws.upbound.io", "Bucket", "", name};
    if (composed) object.lineage.controller = ObjectRef{"", "", "", "files-x7f2k", {"uid"}};
    Finding finding;
    finding.key.text = key;
    return TopicOf(root, object, std::vector<Finding>{finding});
  };
  EXPECT_EQ(topic("files-x7f2k-1", "name=files-x7f2k-1", true),
            topic("files-x7f2k-2", "name=files-x7f2k-2", true));
  EXPECT_NE(topic("files-x7f2k-1", "name=logs", true), topic("files-x7f2k-2", "name=data", true));
  EXPECT_NE(topic("one", "name=one", false), topic("two", "name=two", false));
}

TEST(RepeatedRefusalsTest, ForgetsRatherThanGrows) {
  RepeatedRefusals refusals;
  const Timestamp now = *ParseTimestamp("2026-11-21T08:00:00Z");
  const Slot object{"local", "s3.aws.upbound.io", "Bucket", "", "files-1"};
  const ReviewCase asked;
  const auto refuse = [&](std::size_t composite) {
    const ObjectRef ref{"", "", "", "files", {std::to_string(composite)}};
    return refusals.Note({ref, object, {7}, asked}, now).count;
  };
  EXPECT_EQ(refuse(0), 1U);
  EXPECT_EQ(refuse(0), 2U);
  for (std::size_t i = 1; i <= kComposites; ++i) refuse(i);
  EXPECT_FALSE(refusals.IsKnown({"0"}));
  EXPECT_EQ(refuse(0), 1U);
  EXPECT_EQ(refuse(kComposites), 2U);
}

}  // namespace rerolled_names_test
}  // namespace truce
