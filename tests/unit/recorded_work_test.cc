// All recordings of real cores, with every guard enforced and every detector looking: reviews and
// object versions are played together as they came. What is sick gives exactly what is expected
// here, and healthy work (claims that come, change and go, Compositions that change, a core and a
// whole cluster that start anew) gives nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/quotas.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/json_document.h"
#include "tests/support/lifecycle_fixture.h"

namespace truce::testing {
namespace recorded_work_test {

using Texts = std::vector<std::string>;
using Json = nlohmann::json;

constexpr Rule kGuards[] = {Rule::kClaimBinding,     Rule::kClaimTakeover, Rule::kOrphaningUpdate,
                            Rule::kRestoredDelete,   Rule::kRestoredTwin,  Rule::kCompositeNotSeen,
                            Rule::kCompositionChange};

// One review or one version.
struct Recorded {
  Timestamp at{};
  std::string name;  // of the review; empty: a version
  Json review;
  RecordedLine line;
};

// The lines of `file` of the reviews, each at the second that its name begins with.
std::vector<Recorded> ReviewsOf(const std::string& file) {
  std::ifstream in(std::string(TRUCE_SOURCE_DIR) + "/tests/support/recordings/lifecycle/" + file +
                   ".jsonl");
  std::vector<Recorded> out;
  for (std::string line; std::getline(in, line);) {
    Json json = Json::parse(line);
    const std::string name = json.at("name");
    const std::string time = name.substr(0, 2) + ":" + name.substr(2, 2) + ":" + name.substr(4, 2);
    out.push_back({At(time), name, std::move(json.at("review")), {}});
  }
  EXPECT_FALSE(out.empty()) << file;
  return out;
}

// Both together; within a second what was asked comes before what it made.
std::vector<Recorded> Recording(const std::string& reviews, const std::string& versions) {
  std::vector<Recorded> out = ReviewsOf(reviews);
  for (const RecordedLine& line : RecordedWatch("lifecycle/" + versions)) {
    out.push_back({line.received, "", {}, line});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Recorded& a, const Recorded& b) { return a.at < b.at; });
  return out;
}

// An API server whose objects are those of the reviews so far, which are judged; its watch shows
// the recorded versions.
class RecordedWork : public LifecycleTest, private ReviewSink {
 protected:
  RecordedWork()
      : service_({store_,
                  clock_,
                  NextId(),
                  {&sink_, this},
                  {},
                  {},
                  [this](std::string_view, std::span<const Slot> slots, Deadline) {
                    return Read(slots);
                  }},
                 Policy()) {
    service_.SetReady(true);
  }

  // What was found of reviews ("NAME: FINDING …"), and of what there is ("+ DETECTOR OBJECT").
  void Play(const std::vector<Recorded>& all) {
    clock_.Set(all.front().at);
    Seed();
    Begin();
    Timestamp last = all.front().at;
    for (const Recorded& each : all) {
      if (each.at > last) Wait(each.at - last);
      last = std::max(last, each.at);
      if (each.name.empty()) {
        Show(each.line);
      } else {
        Judge(each.name, each.review);
      }
      driver_->Settle();
    }
    Wait(30min);
  }
  void Show(const RecordedLine& line) {
    const SmallObject object = ObjectFromJson(line.object);
    if (line.type == "DELETED") {
      cluster_.Remove(object.kind, object.ns, object.name);
      there_.erase({"test", object.kind.group, object.kind.kind, object.ns, object.name});
    } else {
      cluster_.Put(object);
    }
  }
  void Judge(const std::string& name, const Json& review) {
    const Json& request = review.at("request");
    present_.unseen = UnseenKinds(Found());
    service_.SetPolicy(std::make_shared<const AdmissionPolicy>(present_));
    const std::size_t before = sink_.all().size();
    const Answered answer = Ask(service_, EndpointOf(request), review.dump());
    EXPECT_EQ(answer.status, 200) << name << answer.body;
    ASSERT_EQ(sink_.all().size(), before + 1);
    const Reported reported = sink_.last();
    std::string found;
    for (const std::string& finding : reported.findings) found += " " + finding;
    if (!found.empty()) found_.push_back(name + ":" + found);
    EXPECT_TRUE(!found.empty() || (answer.allowed && answer.warnings.empty()))
        << name << answer.body;
    ++reviews_;
    if (answer.allowed && !request.value("dryRun", false)) Apply(request);
  }

  static Endpoint EndpointOf(const Json& request) {
    if (request.value("subResource", "") == "status") return Endpoint::kStatus;
    if (request.at("kind").at("kind") == "Composition") return Endpoint::kCompositions;
    return request.at("operation") == "DELETE" ? Endpoint::kDeletions : Endpoint::kDeclarations;
  }
  static Slot SlotOf(const Json& request) {
    return {"test", request.at("kind").at("group"), request.at("kind").at("kind"),
            request.value("namespace", ""), request.at("name")};
  }

  Texts found_;
  std::size_t reviews_ = 0;
  AdmissionPolicy present_;

 private:
  IdSource NextId() {
    return [this] {
      std::string number = std::to_string(++review_ids_);
      for (char& digit : number) digit = static_cast<char>(digit - '0' + 'b');
      return PublicId{std::string(13 - number.size(), 'b') + number};
    };
  }
  std::shared_ptr<const AdmissionPolicy> Policy() {
    rules_.identity.accounts = {
        {{"aws.upbound.io", "ProviderConfig", "", "prod"}, "111111111111"},
        {{"aws.upbound.io", "ProviderConfig", "", "default"}, "222222222222"},
        {{"aws.m.upbound.io", "ClusterProviderConfig", "", "default"}, "222222222222"}};
    present_.catalogue = rules_.catalogue;
    present_.identity = rules_.identity;
    present_.identity.composites = {kXStorage};
    present_.claims = {{kStorage, kXStorage}};
    present_.definitions_known = true;
    present_.watched = true;
    present_.providers = {"system:serviceaccount:crossplane-system:provider-*"};
    present_.restorers = {"system:serviceaccount:velero:*"};
    present_.composite_controllers = {std::string(kCrossplane)};
    present_.status_entry = present_.parties.statuses_guarded = true;
    for (const Rule rule : kGuards) {
      present_.modes.rules[static_cast<std::size_t>(rule)] = {
          {Mode::kEnforce, {}, {}, {}, "truce.yaml:1"}};
    }
    SetQuotas(kLivingMax + 1);
    return std::make_shared<const AdmissionPolicy>(present_);
  }
  LiveObjects Read(std::span<const Slot> slots) {
    LiveObjects out;
    for (const Slot& slot : slots) {
      const auto there = there_.find(slot);
      out[slot] = there == there_.end() ? std::nullopt : there->second;
    }
    return out;
  }
  // As the server's own sinks do.
  void OnReview(const ReviewRecord& record) override {
    const GroupKind kind{std::string(record.group), std::string(record.kind)};
    if (record.wrote && driver_) driver_->inbox.Admitted(kind);
    const bool is_deletion =
        record.operation == "DELETE" && record.verdict == Verdict::kAllowed && !record.dry_run;
    if (!is_deletion || record.user != kCrossplane) return;
    detectors_.OnDeletionAsked(
        {"test", kind.group, kind.kind, std::string(record.ns), std::string(record.name)});
  }
  void Apply(const Json& request) {
    const bool deletes = request.at("operation") == "DELETE";
    const Json& object = request.at(deletes ? "oldObject" : "object");
    const Document document = DocumentFromJson(object.dump());
    LiveObject live = ReadLiveObject(document.root());
    live.terminating = live.terminating || deletes;
    there_[SlotOf(request)] = std::move(live);
  }

 protected:
  // The most buckets, and queues, that live at once in any of the recordings.
  static constexpr std::uint64_t kLivingMax = 3;

  // Each says so from its last place on.
  void SetQuotas(std::uint64_t max) {
    auto compiled = Quotas::Compile(
        {{.type = "s3/Bucket", .account = "*", .max = max, .warn_at = 100},
         {.type = "sqs/Queue", .account = "*", .region = "*", .max = max, .warn_at = 100}},
        *rules_.catalogue, {}, "test");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    present_.quotas = std::make_shared<const Quotas>(std::move(compiled).value());
  }

 private:
  int review_ids_ = 0;
  RecordingSink sink_;
  LiveObjects there_;
  AdmissionService service_;
};

TEST_F(RecordedWork, OfClaimsOfWhichACoreMissedOneAndStartedAnewNothingIsSaid) {
  Play(Recording("composite-reviews-1.18.1", "composites"));
  EXPECT_EQ(found_, Texts{});
  EXPECT_EQ(story_, Story{}) << "it was seen after 99 s";
}

TEST_F(RecordedWork, OfClaimsThatShareACompositeTheTwoThatComeSecondAreRefused) {
  Play(Recording("claim-reviews-1.20", "claims"));
  EXPECT_EQ(found_,
            (Texts{"045635-017.create.objectstorage.second: claim-binding enforce",
                   "045657-035.create.objectstorage.one: claim-binding enforce",
                   "045746-080.create.bucket.flux-s5kt5-g627q: duplicate-ownership enforce"}))
      << "and the bucket of a claim made anew, while that of its former life still terminates";
  EXPECT_EQ(story_, Story{"+ claim-stale ObjectStorage team-a/one"});
}

TEST_F(RecordedWork, OfUsagesTheOneThatStaysIsToldAndNoOther) {
  Play(Recording("usage-reviews-1.18.1", "usages"));
  EXPECT_EQ(found_, (Texts{"044721-058.update.composition.objectstorage-protected: "
                           "composition-change warn"}));
  EXPECT_EQ(story_, (Story{"+ stale-usage Usage keep-j8vff-pzk6h",
                           "- stale-usage Usage keep-j8vff-pzk6h"}));
}

// Crossplane tries a refused deletion again and again (5 times in 25 s); the recording left the
// repetitions out, so here the recorded one comes again, at the times of that back-off.
TEST_F(RecordedWork, ADeletionThatTheUsageRefusesAgainAndAgainIsFound) {
  std::vector<Recorded> all = Recording("usage-reviews-1.18.1", "usages");
  const auto deletion = std::find_if(all.begin(), all.end(), [](const Recorded& each) {
    return each.name.starts_with("044835-068.delete.bucket.keep-j8vff-nwrjl");
  });
  ASSERT_NE(deletion, all.end());
  const Recorded recorded = *deletion;
  for (const auto later : {1s, 3s, 7s, 15s}) {
    Recorded again = recorded;
    again.at += later;
    again.review["request"]["uid"] = "again-" + std::to_string(later.count());
    all.push_back(std::move(again));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Recorded& a, const Recorded& b) { return a.at < b.at; });
  Play(all);
  EXPECT_EQ(story_, (Story{"+ stale-usage Usage keep-j8vff-pzk6h",
                           "+ deletion-blocked Bucket keep-j8vff-nwrjl",
                           "- stale-usage Usage keep-j8vff-pzk6h",
                           "- deletion-blocked Bucket keep-j8vff-nwrjl"}));
}

TEST_F(RecordedWork, OfARestoreOnAnOldCoreTheTwinAndTheOrphanAreRefused) {
  Play(Recording("restore-reviews-1.16.1", "restore-1.16.1"));
  EXPECT_EQ(found_,
            (Texts{"045716-003.create.objectstorage.r-plain: claim-binding warn",
                   "045717-008.create.objectstorage.r-drop: claim-binding warn",
                   "045718-012.create.objectstorage.r-late: claim-binding warn",
                   "045748-023.create.bucket.r-late-txdbj-w4ws9: duplicate-ownership enforce",
                   "045801-024.update.composition.objectstorage-restored: composition-change warn",
                   "045810-037.update.xobjectstorage.r-drop-f9gpr: orphaning-update enforce"}))
      << "claims are restored before their composites, and told so";
  EXPECT_EQ(story_, (Story{"+ unreferenced-resource Bucket.s3.aws.upbound.io r-late-txdbj-w4ws9",
                           "+ unreferenced-resource Queue.sqs.aws.upbound.io r-drop-f9gpr-n5gck"}))
      << "the recorded core was refused nothing";
}

TEST_F(RecordedWork, OfARestoreOnANewCoreTheTwinAndTheDeletionAreRefused) {
  Play(Recording("restore-reviews-1.20", "restore-1.20"));
  EXPECT_EQ(found_,
            (Texts{"045331-003.create.objectstorage.r-plain: claim-binding warn",
                   "045332-008.create.objectstorage.r-drop: claim-binding warn",
                   "045334-012.create.objectstorage.r-late: claim-binding warn",
                   "045401-023.create.bucket.r-late-8dg5m-v5r6k: duplicate-ownership enforce",
                   "045410-024.update.composition.objectstorage-restored: composition-change warn",
                   "045508-040.delete.queue.r-drop-5jkz8-4wtsf: restored-delete enforce",
                   "045508-041.update.xobjectstorage.r-drop-5jkz8: orphaning-update enforce"}));
  EXPECT_EQ(story_, Story{"+ unreferenced-resource Bucket.s3.aws.upbound.io r-late-8dg5m-v5r6k"});
}

// By that name it rotates with sanitizers.
using RotatingRecordedWork = RecordedWork;

// The claim that the core saw at once, 30 times over, two seconds apart.
TEST_F(RotatingRecordedWork, OfThirtyClaimsNothingIsSaid) {
  constexpr int kClaims = 30;
  const std::vector<Recorded> all = Recording("composite-reviews-1.18.1", "composites");
  std::vector<Recorded> many;
  for (int i = 0; i < kClaims; ++i) {
    const std::string number = std::to_string(10 + i);
    // Names begin with the claim's; uids are told apart by their first digits.
    const auto copy = [&](std::string text) {
      text = std::regex_replace(text, std::regex("early"), "early" + number);
      return std::regex_replace(text, std::regex(R"re("uid":"[0-9a-f]{8}-)re"),
                                "\"uid\":\"000000" + number + "-");
    };
    for (const Recorded& each : all) {
      const bool is_early = each.name.empty()
                                ? each.line.object.find("\"name\":\"early") != std::string::npos
                                : each.name.find(".early") != std::string::npos;
      if (!is_early) continue;
      Recorded one = each;
      one.at += i * 2s;
      one.line.object = copy(each.line.object);
      if (!each.name.empty()) one.review = Json::parse(copy(each.review.dump()));
      many.push_back(std::move(one));
    }
  }
  std::stable_sort(many.begin(), many.end(),
                   [](const Recorded& a, const Recorded& b) { return a.at < b.at; });
  SetQuotas(kClaims + 1);
  Play(many);
  EXPECT_GT(reviews_, 300U);
  EXPECT_EQ(found_, Texts{});
  EXPECT_EQ(story_, Story{});
}

// What people and tools do, one scenario after the other, each before an empty registry.
class RecordedScenario : public RecordedWork, public ::testing::WithParamInterface<const char*> {
 protected:
  static std::map<int, std::filesystem::path> FilesOf(const std::string& scenario) {
    const std::filesystem::path folder =
        std::filesystem::path(TRUCE_SOURCE_DIR) / "tests/golden/admission";
    std::map<int, std::filesystem::path> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      const std::size_t digits = scenario.size() + 1;
      if (name.starts_with(scenario + "-") && std::isdigit(name[digits]) != 0) {
        out.emplace(std::stoi(name.substr(digits)), entry.path());
      }
    }
    return out;
  }
};

TEST_P(RecordedScenario, SaysNothingOfTheGuards) {
  const auto files = FilesOf(GetParam());
  ASSERT_FALSE(files.empty());
  Begin();
  for (const auto& [number, path] : files) {
    Judge(path.stem().string(), Json::parse(std::ifstream(path)));
  }
  EXPECT_EQ(reviews_, files.size());
  // Two claims declare one bucket and one queue.
  const Texts second = {"crossplane-claims-12.create.bucket: duplicate-ownership enforce",
                        "crossplane-claims-13.create.queue: duplicate-ownership enforce"};
  EXPECT_EQ(found_, std::string(GetParam()) == "crossplane-claims" ? second : Texts{});
}

INSTANTIATE_TEST_SUITE_P(
    Recorded, RecordedScenario,
    ::testing::Values("crossplane-claims", "delete-collection", "delete-dry-run",
                      "delete-no-finalizer", "delete-with-finalizer", "finalizer-removed",
                      "force-replace", "generate-name", "impersonated", "json-patch",
                      "kubectl-apply-csa-create", "kubectl-create-dry-run-server",
                      "namespaced-create", "observe-only", "pause", "policy-foreign", "policy-ref",
                      "policy-ref-resolved", "provider-initializer-update", "provider-status",
                      "queue", "rename-external-name", "ssa-create", "ssa-dry-run",
                      "ssa-force-noop", "table", "update-while-deleting", "xp-claim-delete",
                      "xp-composition-drops-queue"),
    [](const auto& scenario) {
      std::string name = scenario.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace recorded_work_test
}  // namespace truce::testing
