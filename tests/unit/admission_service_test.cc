// The admission service on the memory store: verdicts, modes, overrides, purity, faults, deadlines.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"
#include "webhook/admission/routes.h"

namespace truce {
namespace admission_service_test {

using AdmissionServiceTest = AdmissionFixture;

TEST_F(AdmissionServiceTest, OfTwoClaimsForOneBucketTheSecondIsDenied) {
  const Answered first = Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  EXPECT_TRUE(first.allowed) << first.body;
  EXPECT_EQ(first.uid, "review-uid-team-a-artifacts");
  EXPECT_EQ(Contents().owners.size(), 1U);
  const Answered second = Send(Claim("team-b", "artifacts", "prod-artifacts", "service-b"));
  EXPECT_EQ(second.status, 200);
  EXPECT_FALSE(second.allowed);
  EXPECT_EQ(second.code, 403);
  EXPECT_EQ(second.reason, "Forbidden");
  EXPECT_EQ(OnlyFinding().cause,
            "S3 bucket \"prod-artifacts\" is owned by service \"service-a\", declared by "
            "ObjectStorage team-a/artifacts.");
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"duplicate-ownership enforce"}));
  EXPECT_FALSE(sink_.last().wrote);
}

// History 21: what lies deep in it is not ours to judge, and does not keep it from being judged.
TEST_F(AdmissionServiceTest, AClaimThatIsNestedDeeplyIsJudged) {
  const auto deep = [](Sent claim, std::size_t levels) {
    std::string rest = "1";
    for (std::size_t i = 0; i < levels; ++i) rest.append("]").insert(0, "[");
    claim.spec.insert(claim.spec.size() - 1, R"(,"deep":)" + rest);
    return claim;
  };
  const Sent first = Claim("team-a", "artifacts", "prod-artifacts", "service-a");
  EXPECT_TRUE(Send(deep(first, 80)).allowed);
  EXPECT_EQ(Contents().owners.size(), 1U);
  const Sent second = Claim("team-b", "artifacts", "prod-artifacts", "service-b");
  EXPECT_FALSE(Send(deep(second, 80)).allowed);
  EXPECT_FALSE(Send(deep(second, 990)).allowed);
}

TEST_F(AdmissionServiceTest, AManagedResourceOfATakenNameIsDenied) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  EXPECT_FALSE(Send(Bucket("other", "prod-artifacts")).allowed);
  EXPECT_TRUE(Send(Bucket("other", "other-artifacts")).allowed);
}

TEST_F(AdmissionServiceTest, ObservingATakenBucketIsAllowed) {
  Send(Bucket("one", "prod-artifacts"));
  Sent observer = Bucket("two", "prod-artifacts");
  observer.spec =
      R"({"forProvider":{"region":"us-west-2"},"managementPolicies":["Observe"],"providerConfigRef":{"name":"prod"}})";
  EXPECT_TRUE(Send(observer).allowed);
  Sent raised = Bucket("two", "prod-artifacts");
  raised.operation = "UPDATE";
  raised.old_spec = observer.spec;
  raised.old_metadata = raised.metadata;
  raised.review = "raise";
  EXPECT_FALSE(Send(raised).allowed);
}

TEST_F(AdmissionServiceTest, ADoubtNamesTheHolderOnlyAsFarAsMayBeDisclosed) {
  Send(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.unresolved_reason = [](const Slot& holder) {
      return ForPeople(holder) + " was not in the last list";
    };
  });
  const Sent second = Claim("team-b", "artifacts", "prod-artifacts", "service-b");
  Send(second);
  EXPECT_EQ(
      OnlyFinding().remedy,
      "Choose another name, for example \"prod-artifacts-service-b\". To take it over, ask service "
      "\"service-a\" to run: `kubectl -n team-a annotate --overwrite "
      "objectstorage.platform.example.org "
      "artifacts truce.dev/transfer-to=ObjectStorage/team-b/artifacts` About the owner: "
      "ObjectStorage.platform.example.org team-a/artifacts was not in the last list.");
  ChangePolicy([](AdmissionPolicy& policy) { policy.disclosure = Disclosure::kTaken; });
  const Answered discreet = Send(second);
  EXPECT_FALSE(discreet.allowed);
  EXPECT_EQ(discreet.message.find("team-a"), std::string::npos) << discreet.message;
  EXPECT_EQ(OnlyFinding().remedy,
            "Choose another name, for example \"prod-artifacts-service-b\", or ask your platform "
            "team about it. About the owner: whether it still exists is being looked at.");
}

// Kubernetes lets no name hold them; whoever sends a review, or serves an API of its own, may.
TEST_F(AdmissionServiceTest, NoTextHoldsAControlCharacterThatAnObjectHolds) {
  constexpr std::string_view kRaw = "x\x1b[31m\x07\r\xc2\x9b\xe2\x80\xae";
  const std::string evil = R"(x\u001b[31m\u0007\r\n\u009b\u202e)";  // in JSON
  const auto expect_clean = [&](const Answered& answer, const std::string& what) {
    std::vector<std::string> texts = answer.warnings;
    texts.push_back(answer.status == 200 ? answer.message : answer.body);
    for (const std::string& text : texts) {
      EXPECT_EQ(text.find_first_of("\x1b\x07\r"), std::string::npos) << what << ": " << text;
      EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << what << ": " << text;
      EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos) << what << ": " << text;
      EXPECT_EQ(text.find("x\n"), std::string::npos) << what << ": " << text;
    }
  };
  ASSERT_FALSE(kRaw.empty());
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kObserverWithoutShare)] = {
        {Mode::kEnforce, {}, {}, {}, ""}};
  });
  Sent holder = Claim("team-a" + evil, "artifacts" + evil, "prod-artifacts", "service-a" + evil);
  expect_clean(Send(holder), "holder");
  Sent second = Claim("team-b" + evil, "artifacts" + evil, "prod-artifacts", "service-b" + evil);
  const Answered denied = Send(second);
  EXPECT_FALSE(denied.allowed);
  expect_clean(denied, "second");
  Sent observer = Bucket("two" + evil, "prod-artifacts");
  observer.spec = R"({"forProvider":{"region":"us-west-2"},"managementPolicies":["Observe"]})";
  const Answered refused = Send(observer);
  EXPECT_EQ(Found(), "observer-without-share enforce");
  expect_clean(refused, "observer");
  Sent check;
  check.group = "truce.dev";
  check.version = "v1alpha1";
  check.kind = "OwnershipCheck";
  check.ns = "team-b" + evil;
  check.name = "before" + evil;
  check.uid = "uid-check";
  check.spec = R"({"declarations":[{"type":"s3/)" + evil + R"(","name":"a"}]})";
  const Answered unfit = Check(check);
  EXPECT_FALSE(unfit.allowed);
  expect_clean(unfit, "check");
  own_objects_ = Error{ErrorCode::kInvalidArgument, "spec: \"" + std::string(kRaw) + "\" is odd"};
  Sent own = check;
  own.kind = "NamingPolicy";
  const Answered odd = Check(own);
  EXPECT_FALSE(odd.allowed);
  expect_clean(odd, "own object");
}

TEST_F(AdmissionServiceTest, ACompositeControllerGets422) {
  Send(Bucket("one", "prod-artifacts"));
  Sent composed = Bucket("two", "prod-artifacts");
  composed.user = kCrossplane;
  const Answered answer = Send(composed);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 422);
  EXPECT_EQ(answer.reason, "Invalid");
  ChangePolicy([](AdmissionPolicy& policy) { policy.composite_denial_code = 403; });
  EXPECT_EQ(Send(composed).code, 403);
}

TEST_F(AdmissionServiceTest, UserPatternsDecideWhoIsAController) {
  ChangePolicy([](AdmissionPolicy& policy) { policy.composite_controllers = {"*:cross*ane"}; });
  Send(Bucket("one", "prod-artifacts"));
  Sent composed = Bucket("two", "prod-artifacts");
  composed.user = kCrossplane;
  EXPECT_EQ(Send(composed).code, 422);
  composed.user = std::string(kCrossplane) + "x";
  EXPECT_EQ(Send(composed).code, 403);
}

TEST_F(AdmissionServiceTest, ARepeatedReviewIsAllowedAgainAndWritesNothing) {
  const Sent claim = Claim("team-a", "artifacts", "prod-artifacts", "service-a");
  ASSERT_TRUE(Send(claim).allowed);
  const StoreContents before = Contents();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Send(claim).allowed);
    EXPECT_FALSE(sink_.last().wrote);
  }
  EXPECT_EQ(Contents(), before);
}

TEST_F(AdmissionServiceTest, ADeniedReviewWritesNothingHoweverOften) {
  Send(Bucket("one", "prod-artifacts"));
  const StoreContents before = Contents();
  const Answered first = Send(Bucket("two", "prod-artifacts"));
  const Answered again = Send(Bucket("two", "prod-artifacts"));
  EXPECT_EQ(first.body, again.body);
  EXPECT_EQ(Contents(), before);
}

TEST_F(AdmissionServiceTest, ADryRunChangesNoRowAndSaysTheSame) {
  Sent free = Bucket("one", "prod-artifacts");
  free.dry_run = true;
  EXPECT_TRUE(Send(free).allowed);
  EXPECT_EQ(Contents(), StoreContents{});
  Send(Bucket("one", "prod-artifacts"));
  const StoreContents before = Contents();
  Sent taken = Bucket("two", "prod-artifacts");
  taken.dry_run = true;
  const Answered dry = Send(taken);
  taken.dry_run = false;
  EXPECT_EQ(dry.body, Send(taken).body);
  EXPECT_EQ(Contents(), before);
}

TEST_F(AdmissionServiceTest, ADeletionIsAllowedWhateverTheStoreSays) {
  Send(Bucket("one", "prod-artifacts"));
  Sent deletion = Bucket("one", "prod-artifacts");
  deletion.operation = "DELETE";
  store_.BreakWrites({ErrorCode::kUnavailable, "disk full"});
  EXPECT_TRUE(Send(deletion).allowed);
  service_.SetReady(false);
  EXPECT_TRUE(Send(deletion).allowed);
}

TEST_F(AdmissionServiceTest, ATerminatingObjectMayChangeButNotTakeABucket) {
  Send(Bucket("one", "prod-artifacts"));
  Send(Bucket("two", "other"));
  const std::string deleted = R"(,"deletionTimestamp":"2026-11-21T08:00:00Z")";
  Sent change = Bucket("two", "other");
  change.operation = "UPDATE";
  change.review = "finalizer";
  change.old_metadata = change.metadata + deleted + R"(,"finalizers":["a/b"])";
  change.metadata += deleted;
  EXPECT_TRUE(Send(change).allowed);
  Sent aim = Bucket("two", "prod-artifacts");
  aim.operation = "UPDATE";
  aim.review = "aim";
  aim.old_metadata = Bucket("two", "other").metadata + deleted;
  aim.metadata += deleted;
  EXPECT_FALSE(Send(aim).allowed);
}

// By which a provider is known that no setting names.
TEST_F(AdmissionServiceTest, WhoDoesWhatOnlyAProviderDoesIsNoted) {
  Send(Bucket("one", "prod-artifacts"));
  const std::string external = R"("crossplane.io/external-name":"prod-artifacts")";
  const std::string deleted = R"(,"deletionTimestamp":"2026-11-21T08:00:00Z","annotations":{)";
  int reviews = 0;
  const auto noted = [&](const std::string& old_metadata, const std::string& metadata,
                         std::string_view user) {
    Sent change = Bucket("one", "prod-artifacts");
    change.operation = "UPDATE";
    change.review = "provider-" + std::to_string(++reviews);
    change.old_metadata = old_metadata;
    change.metadata = metadata;
    change.user = user;
    EXPECT_TRUE(Send(change).allowed);
    return sink_.last().acts_as_provider;
  };
  constexpr std::string_view kIrsa = "system:serviceaccount:crossplane-system:irsa";
  const std::string plain = R"(,"annotations":{)" + external + "}";
  const std::string made =
      R"(,"annotations":{"crossplane.io/external-create-succeeded":"t",)" + external + "}";
  EXPECT_FALSE(noted(plain, plain + R"(,"labels":{"a":"b"})", kIrsa));
  EXPECT_TRUE(noted(plain, made, kIrsa));
  EXPECT_FALSE(noted(plain, made, kProvider));
  EXPECT_FALSE(noted(plain, made, kCrossplane));
  const std::string gone = deleted + external + "}";
  const std::string held = gone + R"(,"finalizers":["finalizer.managedresource.crossplane.io"])";
  EXPECT_TRUE(noted(held, gone, kIrsa));
  EXPECT_FALSE(noted(held, gone, kProvider));
  EXPECT_FALSE(noted(gone + R"(,"finalizers":["a/b"])", gone, kIrsa));
}

TEST_F(AdmissionServiceTest, SubresourcesConnectionsAndForeignKindsAreAllowed) {
  Send(Bucket("one", "prod-artifacts"));
  const StoreContents before = Contents();
  store_.FailNextRead({ErrorCode::kUnavailable, "not to be read"});
  std::string status = BodyOf(Bucket("two", "prod-artifacts"));
  status.insert(status.find("\"operation\""), R"("subResource":"status",)");
  EXPECT_TRUE(Post(status).allowed);
  Sent exec = Bucket("two", "prod-artifacts");
  exec.operation = "CONNECT";
  EXPECT_TRUE(Send(exec).allowed);
  Sent pod = Bucket("two", "prod-artifacts");
  pod.group = "apps";
  pod.kind = "Deployment";
  EXPECT_TRUE(Send(pod).allowed);
  EXPECT_EQ(Contents(), before);
  EXPECT_EQ(Send(Bucket("two", "x")).status, 503);  // the fault was still there
}

TEST_F(AdmissionServiceTest, UntilReadyTheAnswerIsUnknown) {
  service_.SetReady(false);
  const Answered answer = Send(Bucket("one", "prod-artifacts"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.retry_after, "1");
  EXPECT_EQ(sink_.last().verdict, Verdict::kUnknown);
  EXPECT_EQ(sink_.last().unknown, UnknownCause::kNotReady);
  service_.SetReady(true);
  EXPECT_TRUE(Send(Bucket("one", "prod-artifacts")).allowed);
}

TEST_F(AdmissionServiceTest, AMalformedReviewIs400) {
  const Answered answer = Post("{}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(sink_.last().verdict, Verdict::kBadRequest);
  EXPECT_EQ(sink_.last().operation, "none");
  Sent without_uid = Bucket("one", "prod-artifacts");
  without_uid.uid.clear();
  EXPECT_EQ(Send(without_uid).status, 400);
  Sent without_name = Bucket("", "prod-artifacts");
  EXPECT_EQ(Send(without_name).status, 400);
  EXPECT_EQ(Contents(), StoreContents{});
}

struct FaultRow {
  ErrorCode code;
  UnknownCause cause;
};

TEST_F(AdmissionServiceTest, EveryFaultOfTheStoreIsUnknownNeverAVerdict) {
  const std::vector<FaultRow> rows = {
      {ErrorCode::kUnavailable, UnknownCause::kStoreUnavailable},
      {ErrorCode::kResourceExhausted, UnknownCause::kStoreFull},
      {ErrorCode::kDeadlineExceeded, UnknownCause::kDeadline},
      {ErrorCode::kDataLoss, UnknownCause::kStoreDamaged},
      {ErrorCode::kInternal, UnknownCause::kInternal},
      {ErrorCode::kConflict, UnknownCause::kInternal},
  };
  for (const FaultRow& row : rows) {
    for (const bool on_read : {true, false}) {
      const Error error{row.code, "fault"};
      on_read ? store_.FailNextRead(error) : store_.FailNextApply(error);
      const Answered answer = Send(Bucket("one", "prod-artifacts"));
      EXPECT_EQ(answer.status, 503) << Name(row.code);
      EXPECT_EQ(answer.retry_after, "1");
      EXPECT_EQ(sink_.last().unknown, row.cause) << Name(row.code);
      EXPECT_FALSE(sink_.last().wrote);
    }
  }
  EXPECT_EQ(Contents(), StoreContents{});
}

TEST_F(AdmissionServiceTest, ALostAnswerIsUnknownAndItsRepetitionAllowed) {
  store_.LoseNextAnswer({ErrorCode::kDeadlineExceeded, "too late"});
  EXPECT_EQ(Send(Bucket("one", "prod-artifacts")).status, 503);
  EXPECT_EQ(Contents().owners.size(), 1U);
  EXPECT_TRUE(Send(Bucket("one", "prod-artifacts")).allowed);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

TEST_F(AdmissionServiceTest, AStoreThatHangsIsUnknownAtTheDeadline) {
  store_.HoldSubmitted();
  const Answered answer = Post(BodyOf(Bucket("one", "prod-artifacts")), "1s");
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.retry_after, "1");
  EXPECT_EQ(sink_.last().unknown, UnknownCause::kDeadline);
  EXPECT_EQ(sink_.last().name, "one");
  store_.Release();  // whatever comes of it now
  EXPECT_EQ(sink_.all().size(), 1U) << "a review is told once";
  EXPECT_TRUE(Send(Bucket("one", "prod-artifacts")).allowed);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

// I3: a read may show what a writer has not made durable yet.
TEST_F(AdmissionServiceTest, ARepeatedReviewIsAllowedWhenWhatItRestsOnIsDurable) {
  const Sent bucket = Bucket("one", "prod-artifacts");
  EXPECT_TRUE(Send(bucket).allowed);
  store_.HoldSubmitted();
  EXPECT_EQ(Post(BodyOf(bucket), "1s").status, 503);
  EXPECT_EQ(sink_.last().unknown, UnknownCause::kDeadline);
  Sent dry = bucket;
  dry.dry_run = true;
  EXPECT_TRUE(Send(dry).allowed);
  EXPECT_EQ(Send(Bucket("two", "prod-artifacts")).code, 403);
  store_.Release();
  EXPECT_TRUE(Send(bucket).allowed);
  EXPECT_FALSE(sink_.last().wrote);
  EXPECT_EQ(Contents().owners.size(), 1U);
}

TEST_F(AdmissionServiceTest, WithoutDiskWhatNeedsNoWriteIsAnswered) {
  Send(Bucket("one", "prod-artifacts"));
  store_.BreakWrites({ErrorCode::kUnavailable, "disk full"});
  EXPECT_EQ(Send(Bucket("two", "prod-artifacts")).code, 403);
  EXPECT_TRUE(Send(Bucket("one", "prod-artifacts")).allowed);  // replay
  EXPECT_EQ(Send(Bucket("three", "new")).status, 503);
  store_.Mend();
  EXPECT_TRUE(Send(Bucket("three", "new")).allowed);
}

TEST_F(AdmissionServiceTest, ABadNameIsRefusedInEnforceModeOnly) {
  const Sent odd = Bucket("odd", "prod\u200b-artifacts");
  const Answered refused = Send(odd);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"resource-name enforce"}));
  EXPECT_EQ(refused.message.find("\u200b"), std::string::npos);
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
  const Answered warned = Send(odd);
  EXPECT_TRUE(warned.allowed);
  EXPECT_EQ(warned.warnings.size(), 1U);
  ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kAudit; });
  EXPECT_TRUE(Send(odd).warnings.empty());
  EXPECT_EQ(sink_.last().findings, (std::vector<std::string>{"resource-name audit"}));
}

TEST_F(AdmissionServiceTest, AnOldBadNameHindersNoOtherChangeAndNoEnd) {
  Sent update = Bucket("odd", "prod\u200b-artifacts");
  update.operation = "UPDATE";
  update.old_metadata = update.metadata;
  update.metadata += R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Send(update).allowed);
  Sent ending = Bucket("odd", "prod\u200b-artifacts");
  ending.operation = "UPDATE";
  ending.review = "ending";
  ending.old_metadata =
      Bucket("odd", "x").metadata + R"(,"deletionTimestamp":"2026-11-21T08:00:00Z")";
  ending.metadata += R"(,"deletionTimestamp":"2026-11-21T08:00:00Z")";
  EXPECT_TRUE(Send(ending).allowed);
}

TEST_F(AdmissionServiceTest, APartialMappingWarnsAndReservesNothing) {
  Sent claim = Claim("team-a", "artifacts", "x", "s");
  claim.spec = R"({"parameters":{"region":"us-west-2"}})";
  const Answered answer = Send(claim);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 1U) << answer.body;
  EXPECT_TRUE(Contents().owners.empty());
  Sent update = claim;
  update.operation = "UPDATE";
  update.old_metadata = update.metadata;
  update.metadata += R"(,"annotations":{"a":"b"})";
  const Answered again = Send(update);
  EXPECT_TRUE(again.warnings.empty()) << again.body;  // said once
}

TEST_F(AdmissionServiceTest, ALateNameOfATakenResourceIsAllowedForProvidersWithAWarning) {
  const auto vpc = [](const std::string& name, const std::string& id) {
    Sent sent = Managed("ec2", "VPC", name, R"({"region":"us-west-2","cidrBlock":"10.0.0.0/16"})");
    if (!id.empty())
      sent.metadata = R"(,"annotations":{"crossplane.io/external-name":")" + id + "\"}";
    return sent;
  };
  ASSERT_TRUE(Send(vpc("one", "vpc-0123456789abcdef0")).allowed);
  ASSERT_TRUE(Send(vpc("two", "")).allowed);
  Sent late = vpc("two", "vpc-0123456789abcdef0");
  late.operation = "UPDATE";
  late.review = "late";
  late.user = kProvider;
  const Answered by_provider = Send(late);
  EXPECT_TRUE(by_provider.allowed) << by_provider.body;
  EXPECT_EQ(by_provider.warnings.size(), 1U);
  late.user = "mallory";
  late.review = "forged";
  late.uid = "uid-three";
  late.name = "three";
  EXPECT_FALSE(Send(late).allowed);
}

TEST_F(AdmissionServiceTest, TheVerdictOfTheTransactionCounts) {
  // Many writers of one free name: whoever comes second in the store is denied, though all read it
  // free.
  constexpr int kWriters = 8;
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> allowed{0};
    std::atomic<int> denied{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        const std::string name = std::to_string(round) + "-" + std::to_string(i);
        const Answered answer = Send(Bucket(name, "bucket-" + std::to_string(round)));
        (answer.allowed ? allowed : denied).fetch_add(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(allowed, 1);
    EXPECT_EQ(denied, kWriters - 1);
  }
}

TEST_F(AdmissionServiceTest, APolicyChangesUnderLoad) {
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    while (!stop) {
      ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kWarn; });
      ChangePolicy([](AdmissionPolicy& policy) { policy.modes.global = Mode::kEnforce; });
    }
  });
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Send(Bucket(std::to_string(i), "shared")).status, 200);
  stop = true;
  changer.join();
}

TEST_F(AdmissionServiceTest, LargeAndSmallBodiesAreReportedAlike) {
  Sent large = Bucket("large", "prod-artifacts");
  large.metadata += R"(,"labels":{"x":")" + std::string(200000, 'a') + "\"}";
  EXPECT_TRUE(Send(large).allowed);
  EXPECT_EQ(sink_.last().name, "large");
  EXPECT_EQ(sink_.last().user, "ann");
  EXPECT_EQ(sink_.last().kind, "Bucket");
  EXPECT_EQ(sink_.last().operation, "CREATE");
}

struct BudgetRow {
  const char* timeout;
  std::chrono::milliseconds budget;
};

TEST(Budget, IsWhatTheApiServerSurelyGrantsLessTheWayBack) {
  using std::chrono::milliseconds;
  const std::vector<BudgetRow> rows = {
      {"10s", milliseconds(8900)},  {"5s", milliseconds(3900)},
      {"2s", milliseconds(900)},    {"1s", milliseconds(400)},
      {"30s", milliseconds(28900)}, {"3600s", milliseconds(28900)},
      {"", milliseconds(8900)},     {"s", milliseconds(8900)},
      {"0s", milliseconds(8900)},   {"-3s", milliseconds(8900)},
      {"5", milliseconds(8900)},    {"5m", milliseconds(8900)},
      {"5.5s", milliseconds(8900)}, {"99999999999s", milliseconds(8900)},
  };
  for (const BudgetRow& row : rows) {
    HttpRequest request;
    request.arrival = Deadline(std::chrono::hours(1));
    request.query.emplace_back("timeout", row.timeout);
    EXPECT_EQ(BudgetOf(request) - request.arrival, row.budget) << row.timeout;
  }
  HttpRequest limited;
  limited.arrival = Deadline(std::chrono::hours(1));
  limited.deadline = limited.arrival + milliseconds(70);
  EXPECT_EQ(BudgetOf(limited), limited.deadline);
}

TEST_F(AdmissionServiceTest, TheRecordNamesTheKeysThatWereJudged) {
  Send(Bucket("files", "prod-files"));
  EXPECT_EQ(sink_.last().keys, "s3/Bucket|aws|||name=prod-files");
  std::string groups;
  for (char c = 'a'; c < 'a' + 20; ++c) groups += std::string(c == 'a' ? "\"" : ",\"") + c + "\"";
  Send(Managed("iam", "UserGroupMembership", "m", R"({"user":"u","groups":[)" + groups + "]}"));
  const std::string keys = sink_.last().keys;
  EXPECT_EQ(std::count(keys.begin(), keys.end(), '|'), 16 * 5) << keys;
  EXPECT_TRUE(keys.ends_with(" and 4 more")) << keys;
  Send(Managed("ec2", "VPC", "vpc", R"({"region":"us-west-2","cidrBlock":"10.0.0.0/16"})"));
  EXPECT_EQ(sink_.last().keys, "");
}

}  // namespace admission_service_test
}  // namespace truce
