// Kubernetes Events: what is said, how often, and that nobody waits for it.
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"
#include "tests/support/validate_now.h"
#include "webhook/findings/event_queue.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/object_events.h"

namespace truce {
namespace detect_events_test {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;

const Timestamp kNow = *ParseTimestamp("2026-11-21T08:00:00Z");
const Slot kComposite{"prod", "platform.example.org", "XObjectStorage", "", "files-x7f2k"};
const Slot kClaim{"prod", "platform.example.org", "ObjectStorage", "team-b", "files"};

ObjectEvent EventAbout(const std::string& name, const std::string& note = "n") {
  ObjectEvent event;
  event.object = kClaim;
  event.object.name = name;
  event.uid = {"local/uid-" + name};
  event.version = "v1";
  event.reason = "OwnershipRefused";
  event.note = note;
  return event;
}

TEST(EventNoteTest, KeepsWholeLinesAndTheFirstOneAtAnyRate) {
  EXPECT_EQ(EventNote("cause\nremedy\nlink", 1024), "cause\nremedy\nlink");
  EXPECT_EQ(EventNote("cause\nremedy\nlink", 15), "cause\nremedy…");
  EXPECT_EQ(EventNote("cause\nremedy", 9), "cause…");
  EXPECT_EQ(EventNote(std::string(2000, 'x'), 1024).size(), 1024U);
  EXPECT_EQ(EventNote("", 1024), "");
  EXPECT_EQ(EventNote("a\x1b[31m\u202e", 1024), "a\\u{1b}[31m\\u{202e}");
  const std::string lines =
      EventNote(std::string(400, 'a') + "\n" + std::string(600, 'b') + "\n" + std::string(600, 'c'),
                kEventNoteBytesMax);
  EXPECT_LE(lines.size(), kEventNoteBytesMax);
  EXPECT_TRUE(lines.ends_with("b…")) << lines;
}

TEST(EventNameTest, IsValidAndSaysTheSameForTheSame) {
  EXPECT_EQ(EventName(EventAbout("a")), EventName(EventAbout("a")));
  EXPECT_NE(EventName(EventAbout("a")), EventName(EventAbout("a", "other")));
  EXPECT_NE(EventName(EventAbout("a")), EventName(EventAbout("b")));
  for (const std::string& name :
       {std::string(300, 'x'), std::string("Odd_Name:x"), std::string("...")}) {
    const std::string event = EventName(EventAbout(name));
    EXPECT_LE(event.size(), 253U);
    EXPECT_EQ(event.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), std::string::npos);
    EXPECT_NE(event.front(), '.');
    EXPECT_EQ(event.find(".."), std::string::npos) << event;
  }
}

TEST(EventQueueTest, SaysTheSameOnceAnHour) {
  EventQueue queue({});
  EXPECT_EQ(queue.Push(EventAbout("a"), kNow), EventQueue::Outcome::kQueued);
  EXPECT_EQ(queue.Push(EventAbout("a"), kNow + minutes(59)), EventQueue::Outcome::kRepeated);
  EXPECT_EQ(queue.Push(EventAbout("a", "other"), kNow), EventQueue::Outcome::kQueued);
  EXPECT_EQ(queue.Push(EventAbout("a"), kNow + minutes(60)), EventQueue::Outcome::kQueued);
  queue.Forget(EventAbout("a"));
  EXPECT_EQ(queue.Push(EventAbout("a"), kNow + minutes(60)), EventQueue::Outcome::kQueued);
}

TEST(EventQueueTest, BoundedAndAtALimitedRate) {
  EventQueue queue({.queued_max = 10, .per_second = 2, .burst = 3});
  int queued = 0;
  for (int i = 0; i < 20; ++i) {
    queued += queue.Push(EventAbout(std::to_string(i)), kNow) == EventQueue::Outcome::kQueued;
  }
  EXPECT_EQ(queued, 10);
  EXPECT_EQ(queue.WaitTime(kNow), std::chrono::milliseconds(0));
  int taken = 0;
  while (queue.Take(kNow)) ++taken;
  EXPECT_EQ(taken, 3);
  const auto wait = queue.WaitTime(kNow);
  ASSERT_TRUE(wait);
  EXPECT_GE(*wait, std::chrono::milliseconds(500));
  EXPECT_LE(*wait, std::chrono::milliseconds(502));
  EXPECT_FALSE(queue.Take(kNow - seconds(100)));  // a clock set back gives nothing
  EXPECT_TRUE(queue.Take(kNow + *wait));
  EXPECT_FALSE(queue.Take(kNow + *wait));
}

TEST(EventQueueTest, ARootHidesNoOther) {
  EventQueue queue({.queued_max = 100, .queued_of_root_max = 10, .said_of_root_max = 15});
  const auto about = [](int i, const std::string& root) {
    ObjectEvent event = EventAbout("files", "refused " + std::to_string(i));
    event.root = root;
    return event;
  };
  int queued = 0;
  for (int i = 0; i < 1000; ++i) {
    queued += queue.Push(about(i, "storm"), kNow) == EventQueue::Outcome::kQueued;
  }
  EXPECT_EQ(queued, 10);
  EXPECT_EQ(queue.Push(about(5000, "other"), kNow), EventQueue::Outcome::kQueued);
  // What was taken makes room, up to what a root may say in an hour.
  while (queue.Take(kNow)) {
  }
  for (int i = 0; i < 1000; ++i) {
    queued += queue.Push(about(1000 + i, "storm"), kNow) == EventQueue::Outcome::kQueued;
  }
  EXPECT_EQ(queued, 15);
  EXPECT_EQ(queue.Push(about(3000, "storm"), kNow + minutes(61)), EventQueue::Outcome::kQueued);
}

TEST(EventQueueTest, ForgetsRatherThanGrows) {
  EventQueue queue({.queued_max = 100000, .remembered_max = 100});
  for (int i = 0; i < 1000; ++i) queue.Push(EventAbout(std::to_string(i)), kNow);
  EXPECT_EQ(queue.size(), 1000U);
}

// An API server that takes Events. Thread-safe.
class FakeApi final : public ClusterApi {
 public:
  ApiResult<Discovery> Discover(Deadline /*deadline*/) override { return Discovery{}; }
  ApiResult<std::string> Get(const ServedKind& /*kind*/, std::string_view /*ns*/,
                             std::string_view /*name*/, Deadline /*deadline*/) override {
    return ApiError{ApiErrorKind::kNoSuchObject, 404, "no", {}};
  }
  ApiResult<ListPage> List(const ListQuery& /*query*/, Deadline /*deadline*/) override {
    return ListPage{};
  }
  ApiResult<std::string> Create(const ServedKind& kind, std::string_view ns,
                                std::string_view object, Deadline /*deadline*/) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_EQ(kind.plural, "events");
    if (!errors_.empty()) {
      const ApiErrorKind error = errors_.front();
      errors_.pop_front();
      return ApiError{error, 0, "refused", std::chrono::milliseconds(1)};
    }
    created_.push_back(json::parse(object));
    EXPECT_EQ(created_.back().at("metadata").at("namespace"), ns);
    return std::string(object);
  }
  ApiResult<std::string> Patch(const PatchTarget& /*target*/, std::string_view /*patch*/,
                               Deadline /*deadline*/) override {
    return std::string();
  }
  ApiResult<std::string> Delete(const ServedKind& /*kind*/, std::string_view /*ns*/,
                                std::string_view /*name*/, Deadline /*deadline*/) override {
    return std::string();
  }

  std::vector<json> created() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return created_;
  }
  void FailWith(std::deque<ApiErrorKind> errors) {
    const std::lock_guard<std::mutex> lock(mutex_);
    errors_ = std::move(errors);
  }

 private:
  std::mutex mutex_;
  std::vector<json> created_;
  std::deque<ApiErrorKind> errors_;
};

Deadline Soon() { return std::chrono::steady_clock::now() + seconds(30); }

std::string MetricsOf(const EventWriter& writer) {
  MetricWriter metrics;
  writer.WriteMetrics(metrics);
  return std::move(metrics).Take();
}

TEST(EventWriterTest, WritesWhatKubectlShows) {
  FakeApi api;
  FakeClock clock(kNow);
  EventWriter writer(api, clock, {.reporter = "truce-0"});
  ObjectEvent cluster_scoped = EventAbout("x");
  cluster_scoped.object = kComposite;
  writer.Post(EventAbout("files", "refused\nask them"));
  writer.Post(cluster_scoped);
  writer.Post(EventAbout("files", "refused\nask them"));
  ASSERT_TRUE(writer.Flush(Soon()));
  const auto created = api.created();
  ASSERT_EQ(created.size(), 2U);
  const json& event = created[0];
  EXPECT_EQ(event.at("kind"), "Event");
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("message"), "refused\nask them");
  EXPECT_EQ(event.at("involvedObject").at("uid"), "uid-files");
  EXPECT_EQ(event.at("involvedObject").at("apiVersion"), "platform.example.org/v1");
  EXPECT_EQ(event.at("firstTimestamp"), "2026-11-21T08:00:00Z");
  EXPECT_EQ(created[1].at("metadata").at("namespace"), "default");
  EXPECT_FALSE(created[1].at("involvedObject").contains("namespace"));
  const std::string metrics = MetricsOf(writer);
  EXPECT_NE(metrics.find("truce_events_total{outcome=\"written\"} 2"), std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find("truce_events_total{outcome=\"repeated\"} 1"), std::string::npos);
}

// The end of a server: what it asks by goes before the writer does.
TEST(EventWriterTest, AStoppedWriterAsksNothing) {
  FakeApi api;
  FakeClock clock(kNow);
  EventWriter writer(api, clock, {});
  writer.Post(EventAbout("before"));
  ASSERT_TRUE(writer.Flush(Soon()));
  writer.Stop();
  writer.Post(EventAbout("after"));
  writer.PostLater({}, [] { return std::vector<ObjectEvent>{EventAbout("later")}; });
  writer.Stop();
  EXPECT_EQ(api.created().size(), 1U);
}

TEST(EventWriterTest, TriesAgainWhatMayPassAndTellsOnceOfTrouble) {
  FakeApi api;
  FakeClock clock(kNow);
  std::vector<std::string> troubles;
  api.FailWith({ApiErrorKind::kServer, ApiErrorKind::kTimeout, ApiErrorKind::kForbidden,
                ApiErrorKind::kAlreadyExists});
  {
    EventWriter writer(api, clock, {.on_trouble = [&](const std::string& message) {
                         troubles.push_back(message);
                       }});
    writer.Post(EventAbout("a"));  // 500, time-out, then forbidden: failed
    writer.Post(EventAbout("b"));  // exists already
    writer.Post(EventAbout("c"));
    ASSERT_TRUE(writer.Flush(Soon()));
    writer.Post(EventAbout("a"));  // it was never said
    ASSERT_TRUE(writer.Flush(Soon()));
    EXPECT_NE(MetricsOf(writer).find("truce_events_total{outcome=\"failed\"} 1"),
              std::string::npos);
  }
  EXPECT_EQ(api.created().size(), 2U);
  EXPECT_EQ(troubles, (std::vector<std::string>{"refused", ""}));
}

TEST(EventWriterTest, EndsAtOnceWithAFullQueue) {
  FakeApi api;
  FakeClock clock(kNow);
  EventWriter writer(api, clock, {.limits = {.queued_max = 5, .per_second = 0.001, .burst = 1}});
  for (int i = 0; i < 20; ++i) writer.Post(EventAbout(std::to_string(i)));
  EXPECT_FALSE(writer.Flush(std::chrono::steady_clock::now()));
  EXPECT_EQ(MetricsOf(writer).find("outcome=\"dropped\"} 0"), std::string::npos);
}

// A registry that knows a claim, its composite, and how their kinds are served.
class Registry {
 public:
  Registry() {
    Object composite;
    composite.uid = {"local/xr-uid"};
    composite.slot = kComposite;
    composite.link = "claim:platform.example.org/ObjectStorage/team-b/files";
    Object claim;
    claim.uid = {"claim-uid"};
    claim.slot = kClaim;
    Changes changes;
    changes.put_objects = {composite, claim};
    EXPECT_TRUE(testing::Write(store_, changes).ok());
  }

  const KnownObjects objects{
      store_, [](const GroupKind& kind) {
        if (kind.group != "platform.example.org") {
          return std::optional<ServedKind>();
        }
        return std::optional<ServedKind>(
            {kind.group, "v1alpha1", kind.kind, "x", kind.kind == "ObjectStorage"});
      }};

 private:
  MemoryStore store_;
};

ObjectRef CompositeRef(const std::string& uid) {
  return {"platform.example.org", "XObjectStorage", "", "files-x7f2k", {uid}};
}

TEST(RefusalTest, TheCompositeAndItsClaimAreTold) {
  const auto events = EventsOf({"prod", "Bucket", CompositeRef("local/xr-uid"), "cause\nremedy"},
                               Registry().objects);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].object, kComposite);
  EXPECT_EQ(events[0].uid.text, "local/xr-uid");
  EXPECT_EQ(events[1].object, kClaim);
  EXPECT_EQ(events[1].uid.text, "claim-uid");
  EXPECT_EQ(events[1].version, "v1alpha1");
  EXPECT_EQ(events[1].note, "Composed Bucket refused: cause\nremedy");
  EXPECT_TRUE(events[1].warning);
}

TEST(RefusalTest, ACompositeNotSeenYetIsToldByItsReference) {
  ObjectRef reference = CompositeRef("new");
  reference.ns = "team-b";  // of the namespaced object that it composes; itself it has none
  const auto events = EventsOf({"prod", "Bucket", reference, "cause"}, Registry().objects);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].object, kComposite);
  EXPECT_EQ(events[0].uid.text, "new");
  reference.group = "unknown.example.org";
  EXPECT_TRUE(EventsOf({"prod", "Bucket", reference, "cause"}, Registry().objects).empty());
}

// I8.
TEST(FindingEventsTest, NameNoOtherOwnerBelowFullDisclosure) {
  for (const Detector detector :
       {Detector::kTagWar, Detector::kOwnershipConflict, Detector::kAdoptionNotFollowed}) {
    LiveFinding finding;
    finding.detector = detector;
    finding.resource = "S3 bucket \"reports\"";
    finding.cause = "S3 bucket \"reports\" is declared by ObjectStorage team-a/files";
    finding.remedy = "Ask team-a";
    finding.objects = {kClaim};
    const auto events = EventsOf(finding, Registry().objects, true);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].note.find("team-a"), std::string::npos) << events[0].note;
    EXPECT_EQ(events[0].note,
              "S3 bucket \"reports\": this object and another owner's are in conflict.\n`truce "
              "conflicts` tells as much of it as you may read; else ask your platform team.");
  }
}

TEST(FindingEventsTest, OnTheObjectsConcerned) {
  LiveFinding finding;
  finding.detector = Detector::kTagWar;
  finding.cause = "they fight";
  finding.remedy = "stop it";
  finding.objects = {kComposite, kClaim, {"prod", "unserved.example.org", "Thing", "", "t"}};
  const auto events = EventsOf(finding, Registry().objects, false);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].reason, "TagWar");
  EXPECT_EQ(events[0].note, "they fight\nstop it");
  finding.detector = Detector::kNotCovered;
  EXPECT_TRUE(EventsOf(finding, Registry().objects, false).empty());
}

// From a review to the claim's Event.
class RefusalEventsTest : public AdmissionFixture {
 protected:
  RefusalEventsTest()
      : writer_(api_, event_clock_, {}),
        events_("prod", known_.objects, writer_),
        denials_("prod", known_.objects, writer_),
        told_(AdmissionPorts{store_,
                             clock_,
                             [this] { return PublicId{std::to_string(++made_)}; },
                             {&events_, &sink_}},
              service_.policy()) {
    told_.SetReady(true);
  }
  void Review(const Sent& sent) {
    HttpRequest request;
    request.body = BodyOf(sent);
    request.body.reserve(request.body.size() + HttpRequest::kBodyPadding);
    ValidateNow(told_, request);
    ASSERT_TRUE(writer_.Flush(Soon()));
  }
  Sent Composed() {
    Sent sent = Bucket("files-x7f2k-9qzlw", "prod-artifacts");
    sent.uid = "composed-uid";
    sent.review = "review-2";
    sent.user = std::string(kCrossplane);
    sent.metadata +=
        R"(,"ownerReferences":[{"apiVersion":"platform.example.org/v1alpha1","kind":"XObjectStorage","name":"files-x7f2k","uid":"xr-uid","controller":true}])";
    return sent;
  }

  FakeApi api_;
  FakeClock event_clock_{kNow};
  EventWriter writer_;
  const Registry known_;
  RefusalEvents events_;
  DenialEvents denials_;
  int made_ = 0;
  AdmissionService told_;
};

TEST_F(RefusalEventsTest, ARefusedComposedResourceIsToldToItsClaim) {
  Review(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  EXPECT_TRUE(api_.created().empty());
  Review(Composed());
  ASSERT_EQ(sink_.last().verdict, Verdict::kDenied) << sink_.last().detail;
  const auto created = api_.created();
  ASSERT_EQ(created.size(), 2U);
  EXPECT_EQ(created[1].at("involvedObject").at("name"), "files");
  const std::string message = created[1].at("message");
  EXPECT_EQ(message,
            "Composed Bucket refused: S3 bucket \"prod-artifacts\" is owned by service "
            "\"service-a\", declared by ObjectStorage team-a/artifacts.\nChoose another name in "
            "XObjectStorage files-x7f2k. To take it over, ask service \"service-a\" to run: "
            "`kubectl -n team-a annotate --overwrite objectstorage.platform.example.org artifacts "
            "truce.dev/transfer-to=XObjectStorage.platform.example.org/files-x7f2k` "
            "[duplicate-ownership]");
  EXPECT_LE(message.size(), kEventNoteBytesMax);
  Review(Composed());  // Crossplane tries again and again
  EXPECT_EQ(api_.created().size(), 2U);
}

TEST_F(RefusalEventsTest, OtherRefusalsAndDryRunsAreTheCallersOwn) {
  Review(Claim("team-a", "artifacts", "prod-artifacts", "service-a"));
  Sent dry = Composed();
  dry.dry_run = true;
  Review(dry);
  Sent by_hand = Composed();
  by_hand.user = "ann";
  Review(by_hand);
  EXPECT_TRUE(api_.created().empty());
}

// Off unless it is listed as a sink.
TEST_F(RefusalEventsTest, ADenialIsToldInItsNamespace) {
  ReviewRecord record;
  record.verdict = Verdict::kDenied;
  record.operation = "CREATE";
  record.group = kClaim.group;
  record.kind = kClaim.kind;
  record.ns = kClaim.ns;
  record.name = "copy";
  record.denial = "cause\nremedy";
  const auto tell = [&] {
    denials_.OnReview(record);
    ASSERT_TRUE(writer_.Flush(Soon()));
  };
  tell();
  tell();  // the same is said once an hour
  ASSERT_EQ(api_.created().size(), 1U);
  const json event = api_.created()[0];
  EXPECT_EQ(event.at("metadata").at("namespace"), kClaim.ns);
  EXPECT_EQ(event.at("involvedObject").at("name"), "copy");
  EXPECT_EQ(event.at("reason"), "OwnershipRefused");
  EXPECT_EQ(event.at("message"), "CREATE refused: cause\nremedy");
  const ObjectRef composite;
  record.composite = &composite;  // told to its claim
  record.name = "composed";
  tell();
  record.composite = nullptr;
  record.dry_run = true;
  tell();
  record.dry_run = false;
  record.ns = "";
  tell();
  EXPECT_EQ(api_.created().size(), 1U);
  record.ns = kClaim.ns;
  record.name = "another";
  tell();
  EXPECT_EQ(api_.created().back().at("involvedObject").at("name"), "another");
}

}  // namespace detect_events_test
}  // namespace truce
