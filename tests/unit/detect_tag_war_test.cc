// Detector tag-war: the recorded war is found within two minutes, the lone bucket never; and what
// looks like a war but is none.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/sight.h"
#include "tests/support/json_document.h"
#include "tests/support/memory_store.h"
#include "tests/support/recorded_watch.h"
#include "tests/support/store_samples.h"
#include "webhook/findings/tag_war.h"

namespace truce {
namespace detect_tag_war_test {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::Soon;

constexpr char kSearch[] = "4dabff51-6248-4e56-8071-8c06e7ab4e02";
constexpr char kSearchAgain[] = "638dedf7-acaf-49ef-b629-bce33e798c49";

// Plays recorded streams into a registry and the detector, as the engine does, and looks every ten
// seconds.
class Replay {
 public:
  void Play(const std::string& phase) {
    std::multimap<Timestamp, std::pair<bool, RecordedLine>> lines;
    for (const std::string what : {"buckets", "events"}) {
      if (phase == "instep" && what == "buckets") continue;  // it has bookmarks only
      for (RecordedLine& line : RecordedWatch("tag-war-" + phase + "-" + what)) {
        const Timestamp at = line.received;
        lines.emplace(at, std::make_pair(what == "events", std::move(line)));
      }
    }
    for (const auto& [at, entry] : lines) {
      LookUntil(at);
      const Document document = DocumentFromJson(entry.second.object);
      if (entry.first) {
        Event(document, at);
      } else {
        Bucket(document, at);
      }
    }
  }

  void LookUntil(Timestamp end) {
    if (now == Timestamp{}) now = end;
    while (now + seconds(10) <= end) {
      now += seconds(10);
      const std::vector<TagWar> running = detector.Running(now);
      if (!running.empty() && !found) found = now;
      if (running.empty() && found && !over) over = now;
    }
  }

  void Event(const Document& document, Timestamp at) {
    const auto event = ReadUpdateEvent(document.root(), "prod");
    if (event) detector.OnEvent(*event, listed, at);
  }

  std::vector<LiveFinding> Find() { return detector.Find(now); }

  void Bucket(const Document& document, Timestamp at) {
    const IdentityRules rules{.cluster = "prod", .catalogue = &Catalogue::BuiltIn()};
    const ObjectFacts object = Identify(document.root(), {"s3.aws.crossplane.io", "Bucket"}, rules);
    const IdSource source = [this] { return PublicId{std::to_string(++ids_)}; };
    const auto decide = [&](const Facts& facts) {
      Ledger ledger(facts, at, source, parties_);
      See(object, false, ledger);
      return ledger.Take();
    };
    ASSERT_TRUE(store_.Apply({}, decide, Soon()).ok());
    std::vector<Conflict> conflicts;
    ASSERT_TRUE(store_
                    .Read(
                        [&](const AllFacts& facts) {
                          conflicts = ConflictsAfter(facts, {}, 100).conflicts;
                        },
                        Soon())
                    .ok());
    detector.SetConflicts(conflicts);
    const Value generation = document.root().Child("metadata").Child("generation");
    detector.OnObject(object.uid, std::stoll(std::string(generation.text())), std::nullopt, at);
  }

  std::optional<Timestamp> found;
  std::optional<Timestamp> over;
  bool listed = false;
  TagWarDetector detector;
  Timestamp now{};

 private:
  MemoryStore store_;
  PartyRules parties_;
  int ids_ = 0;
};

TEST(TagWarRecorded, TheLoneBucketIsNeverAtWar) {
  Replay replay;
  replay.Play("lone");
  replay.LookUntil(replay.now + minutes(60));
  EXPECT_FALSE(replay.found);
}

TEST(TagWarRecorded, TheWarIsFoundWithinTwoMinutesAndStays) {
  Replay replay;
  replay.Play("lone");
  ASSERT_FALSE(replay.found);
  replay.Play("war");
  const Timestamp begin = *ParseTimestamp("2026-11-21T08:50:26Z");  // the second bucket was created
  ASSERT_TRUE(replay.found);
  EXPECT_LE(*replay.found - begin, minutes(2));
  EXPECT_FALSE(replay.over) << FormatTimestamp(*replay.over);
  const auto findings = replay.Find();
  ASSERT_EQ(findings.size(), 1U);
  const LiveFinding& war = findings[0];
  EXPECT_EQ(
      war.cause,
      "Bucket.s3.aws.crossplane.io payments-logs and Bucket.s3.aws.crossplane.io search-logs "
      "overwrite each other's settings of S3 bucket \"acme-prod-logs\" since "
      "2026-11-21T08:50:27Z, although both look healthy. Deleting either deletes the S3 bucket "
      "\"acme-prod-logs\" of both.");
  // 10.8 a minute were counted between provider and AWS; Events that were dropped are in `count`.
  EXPECT_EQ(war.evidence,
            "58 writes to AWS (Events UpdatedExternalResource) in the last 30 minutes, 10.8 a "
            "minute; the last one at 2026-11-21T08:55:55Z");
  EXPECT_EQ(
      war.remedy,
      "Decide who keeps it; as recorded, service \"payments-logs\" does. To hand it over to Bucket "
      "search-logs instead, first run `kubectl annotate --overwrite bucket.s3.aws.crossplane.io "
      "payments-logs "
      "truce.dev/transfer-to=Bucket.s3.aws.crossplane.io/search-logs`; then take the next steps "
      "with the objects of Bucket payments-logs. Make Bucket search-logs leave the resource when "
      "it "
      "goes: `kubectl patch bucket.s3.aws.crossplane.io search-logs --type merge -p "
      "'{\"spec\":{\"deletionPolicy\":\"Orphan\",\"managementPolicies\":[\"*\"]}}'`. Remove Bucket "
      "search-logs from Git or delete it: it stays in AWS. Whoever gave it up and "
      "needs such a resource declares one under a name of its own.");
  EXPECT_EQ(war.objects.size(), 2U);
  EXPECT_EQ(war.mode, Mode::kEnforce);
  // One event in five minutes is enough to go on.
  replay.LookUntil(replay.now + minutes(5));
  EXPECT_FALSE(replay.over);
}

TEST(TagWarRecorded, AfterEqualTagsItIsOver) {
  Replay replay;
  replay.Play("lone");
  replay.Play("war");
  replay.Play("after");  // one writes, deletes and re-creates; no UpdatedExternalResource any more
  replay.LookUntil(replay.now + minutes(20));
  ASSERT_TRUE(replay.over);
  EXPECT_LE(*replay.over - *ParseTimestamp("2026-11-21T08:55:56Z"), minutes(20));
}

TEST(TagWarRecorded, AfterARestartOfTheProviderInStep) {
  Replay replay;
  replay.Play("lone");
  replay.Play("war");
  replay.found.reset();
  replay.over.reset();
  replay.detector = TagWarDetector();  // Truce restarted too: nothing is remembered
  replay.Play("after");                // brings the conflict back
  EXPECT_FALSE(replay.found);
  // Its owner made the second object again before this recording began.
  std::string again = RecordedWatch("tag-war-war-buckets").back().object;
  again.replace(again.find(kSearch), sizeof(kSearch) - 1, kSearchAgain);
  replay.Bucket(DocumentFromJson(again), *ParseTimestamp("2026-11-21T09:06:30Z"));
  replay.Play("instep");
  ASSERT_TRUE(replay.found);
  EXPECT_LE(*replay.found - *ParseTimestamp("2026-11-21T09:06:57Z"), minutes(2));
}

TEST(TagWarRecorded, WhatAListBringsIsHistory) {
  Replay replay;
  replay.Play("lone");
  replay.listed = true;
  replay.Play("war");
  // Truce starts after the war: counts of 31 and 28 in a list say that there was one.
  TagWarDetector fresh;
  replay.detector = fresh;
  replay.Play("after");
  for (const RecordedLine& line : RecordedWatch("tag-war-war-events")) {
    const Document document = DocumentFromJson(line.object);
    replay.Event(document, replay.now);
  }
  EXPECT_FALSE(replay.found && *replay.found >= replay.now);
}

// Made-up streams: two managed buckets of one name, or one.
class TagWarTest : public ::testing::Test {
 protected:
  TagWarTest() {
    conflict_.owner.key = {"s3/Bucket|aws|||name=b"};
    conflict_.resource = "S3 bucket \"b\"";
    for (const char* name : {"a", "b"}) {
      ConflictSide side;
      side.root = {"prod", "s3.aws.upbound.io", "Bucket", "", name};
      side.objects = {{.slot = side.root, .uid = {name}, .seen = true}};
      conflict_.sides.push_back(side);
    }
  }

  void Contest() { detector_.SetConflicts(std::vector<Conflict>{conflict_}); }

  // A write of `object`, told by its Event.
  void Write(const std::string& object, Timestamp at, std::chrono::milliseconds skew = {}) {
    UpdateEvent event;
    event.event = {object + "-event"};
    event.object = {object};
    event.count = ++counts_[object];
    event.last = at + skew;
    detector_.OnEvent(event, false, at);
  }
  void Tags(const std::string& object, std::int64_t generation, std::uint64_t tags, Timestamp at) {
    detector_.OnObject({object}, generation, tags, at);
  }
  bool RunsAt(Timestamp at) { return !detector_.Running(at).empty(); }

  const Timestamp t0_ = *ParseTimestamp("2026-11-21T08:00:00Z");
  Conflict conflict_;
  TagWarDetector detector_;
  std::map<std::string, std::uint64_t> counts_;
};

TEST_F(TagWarTest, WithoutConflictNothingRuns) {
  for (int i = 0; i < 40; ++i) {
    Write(i % 2 == 0 ? "a" : "b", t0_ + seconds(10 * i));
    Tags(i % 2 == 0 ? "a" : "b", 1, static_cast<std::uint64_t>(i / 2 % 2), t0_ + seconds(10 * i));
  }
  EXPECT_FALSE(RunsAt(t0_ + seconds(400)));
}

TEST_F(TagWarTest, AConflictWithoutWritesIsQuiet) {
  Contest();
  for (int i = 0; i < 60; ++i) EXPECT_FALSE(RunsAt(t0_ + minutes(i)));
}

TEST_F(TagWarTest, OneSideThatWritesIsNoWar) {
  Contest();
  Write("b", t0_);
  for (int i = 0; i < 100; ++i) {
    Write("a", t0_ + seconds(10 * i));
    EXPECT_FALSE(RunsAt(t0_ + seconds(10 * i)));
  }
}

TEST_F(TagWarTest, OneWriteEachIsOneChangeOfTwoPeople) {
  Contest();
  Write("a", t0_);
  Write("b", t0_ + seconds(5));
  EXPECT_FALSE(RunsAt(t0_ + seconds(10)));
}

TEST_F(TagWarTest, WritesThatFollowTheOwnSpecAreNotCounted) {
  Contest();
  Tags("a", 1, 7, t0_);
  Tags("b", 1, 7, t0_);
  for (int i = 1; i <= 10; ++i) {
    // Both users deploy new tags: each change is written once.
    const Timestamp at = t0_ + minutes(i);
    Tags("a", 1 + i, static_cast<std::uint64_t>(100 + i), at);
    Tags("b", 1 + i, static_cast<std::uint64_t>(100 + i), at);
    Write("a", at + seconds(1));
    Write("b", at + seconds(2));
    EXPECT_FALSE(RunsAt(at + seconds(3))) << i;
  }
}

TEST_F(TagWarTest, FoundWithinTwoMinutesAtTheDefaultPollOfAMinute) {
  Contest();
  std::optional<Timestamp> found;
  for (int i = 0; i < 20 && !found; ++i) {
    const Timestamp at = t0_ + seconds(30 * i);
    Write(i % 2 == 0 ? "b" : "a", at);
    if (RunsAt(at)) found = at;
  }
  ASSERT_TRUE(found);
  EXPECT_LE(*found - t0_, minutes(2));
}

TEST_F(TagWarTest, FoundAtAPollOfTenMinutesAndNotLostBetweenPolls) {
  Contest();
  bool was_found = false;
  for (int minute = 0; minute <= 120; ++minute) {
    const Timestamp at = t0_ + minutes(minute);
    if (minute % 10 == 0) Write("a", at);
    if (minute % 10 == 5) Write("b", at);
    was_found = was_found || RunsAt(at);
    EXPECT_TRUE(minute < 20 || RunsAt(at)) << minute;
  }
  EXPECT_TRUE(was_found);
}

TEST_F(TagWarTest, ClocksThatDisagreeChangeNothing) {
  for (const auto skew : {-std::chrono::hours(30), std::chrono::hours(30)}) {
    detector_ = TagWarDetector();
    counts_.clear();
    Contest();
    for (int i = 0; i < 12; ++i) Write(i % 2 == 0 ? "a" : "b", t0_ + seconds(10 * i), skew);
    const auto running = detector_.Running(t0_ + seconds(120));
    ASSERT_EQ(running.size(), 1U);
    EXPECT_EQ(running[0].since, t0_ + seconds(10));
    EXPECT_NEAR(running[0].writes_per_minute, 6, 0.1);
    EXPECT_FALSE(RunsAt(t0_ + minutes(20)));
  }
}

TEST_F(TagWarTest, RepeatedAndLateEventsCountOnce) {
  Contest();
  UpdateEvent event;
  event.event = {"a-event"};
  event.object = {"a"};
  for (int i = 0; i < 50; ++i) {
    event.count = static_cast<std::uint64_t>(i % 2 == 0 ? 5 : 4);
    detector_.OnEvent(event, i % 3 == 0, t0_ + seconds(i));
  }
  Write("b", t0_ + seconds(1));
  Write("b", t0_ + seconds(2));
  EXPECT_FALSE(RunsAt(t0_ + seconds(60)));
}

TEST_F(TagWarTest, ANewEventObjectGoesOn) {
  Contest();
  for (int i = 0; i < 6; ++i) Write(i % 2 == 0 ? "a" : "b", t0_ + seconds(10 * i));
  EXPECT_TRUE(RunsAt(t0_ + seconds(60)));
  UpdateEvent event;
  for (int i = 6; i < 12; ++i) {
    const std::string object = i % 2 == 0 ? "a" : "b";
    event.event = {object + "-second"};
    event.object = {object};
    event.count = static_cast<std::uint64_t>(i / 2 - 2);
    detector_.OnEvent(event, false, t0_ + seconds(10 * i));
  }
  const auto running = detector_.Running(t0_ + seconds(120));
  ASSERT_EQ(running.size(), 1U);
  EXPECT_EQ(running[0].since, t0_ + seconds(10));
}

TEST_F(TagWarTest, ItEndsWithTheConflict) {
  Contest();
  for (int i = 0; i < 6; ++i) Write(i % 2 == 0 ? "a" : "b", t0_ + seconds(10 * i));
  EXPECT_TRUE(RunsAt(t0_ + seconds(60)));
  detector_.SetConflicts({});
  EXPECT_FALSE(RunsAt(t0_ + seconds(61)));
}

TEST_F(TagWarTest, UpjetTagsThatComeAndGoAreAWar) {
  Contest();
  for (int i = 0; i < 4; ++i) {
    Tags("a", 1, i % 2 == 0 ? 1 : 2, t0_ + minutes(10 * i));
    Tags("b", 3, i % 2 == 0 ? 2 : 1, t0_ + minutes(10 * i) + seconds(30));
  }
  const auto running = detector_.Running(t0_ + minutes(31));
  ASSERT_EQ(running.size(), 1U);
  EXPECT_TRUE(running[0].by_tags);
  EXPECT_EQ(running[0].fighters.size(), 2U);
}

TEST_F(TagWarTest, LateInitialisationFlipsOnce) {
  Contest();
  detector_.OnObject({"a"}, 1, std::nullopt, t0_);
  detector_.OnObject({"b"}, 1, std::nullopt, t0_);
  Tags("a", 1, 1, t0_ + seconds(1));
  Tags("b", 1, 1, t0_ + seconds(1));
  Tags("a", 1, 2, t0_ + seconds(2));
  Tags("b", 1, 2, t0_ + seconds(2));
  EXPECT_FALSE(RunsAt(t0_ + seconds(3)));
}

TEST_F(TagWarTest, AUserWhoTakesBackHisTagsIsNoWar) {
  Contest();
  for (int i = 0; i < 10; ++i) {
    // Each change of the spec has a generation of its own.
    Tags("a", i, i % 2 == 0 ? 1 : 2, t0_ + seconds(10 * i));
    Tags("b", i, i % 2 == 0 ? 1 : 2, t0_ + seconds(10 * i));
    Tags("a", i, i % 2 == 0 ? 2 : 1, t0_ + seconds(10 * i + 3));
  }
  EXPECT_FALSE(RunsAt(t0_ + seconds(100)));
}

TEST_F(TagWarTest, TagsOfOneSideOnlyAreSomebodyElses) {
  Contest();
  for (int i = 0; i < 10; ++i) Tags("a", 1, i % 2 == 0 ? 1 : 2, t0_ + minutes(i));
  Tags("b", 1, 9, t0_);
  EXPECT_FALSE(RunsAt(t0_ + minutes(10)));
}

TEST_F(TagWarTest, MemoryIsBounded) {
  Contest();
  for (int i = 0; i < 60000; ++i) {
    UpdateEvent event;
    event.event = {std::to_string(i)};
    event.object = {std::to_string(i)};
    detector_.OnEvent(event, false, t0_);
  }
  // The contested ones were not pushed out.
  for (int i = 0; i < 6; ++i) Write(i % 2 == 0 ? "a" : "b", t0_ + seconds(10 * i));
  EXPECT_TRUE(RunsAt(t0_ + seconds(60)));
}

TEST(UpdateEventTest, ReadsBothKindsOfEvents) {
  const Document classic = DocumentFromJson(
      R"({"metadata":{"uid":"e"},"reason":"UpdatedExternalResource","count":28,
          "firstTimestamp":"2026-11-21T08:50:27Z","lastTimestamp":"2026-11-21T08:55:28Z",
          "involvedObject":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","name":"b","uid":"u"}})");
  const auto event = ReadUpdateEvent(classic.root(), "prod");
  ASSERT_TRUE(event);
  EXPECT_EQ(event->count, 28U);
  EXPECT_EQ(event->last, ParseTimestamp("2026-11-21T08:55:28Z"));
  const Document series = DocumentFromJson(
      R"({"metadata":{"uid":"e"},"reason":"UpdatedExternalResource","eventTime":"2026-11-21T08:50:27.000001Z",
          "series":{"count":3,"lastObservedTime":"2026-11-21T08:51:27.000001Z"},"firstTimestamp":null,
          "involvedObject":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","name":"b","uid":"u"}})");
  EXPECT_EQ(ReadUpdateEvent(series.root(), "prod")->count, 3U);
  for (
      const char* other :
      {R"({"metadata":{"uid":"e"},"reason":"CreatedExternalResource","involvedObject":{"uid":"u"}})",
       R"({"metadata":{"uid":"e"},"reason":"UpdatedExternalResource"})",
       R"({"reason":"UpdatedExternalResource","involvedObject":{"uid":"u"}})", R"([])", R"("x")"}) {
    const Document document = DocumentFromJson(other);
    EXPECT_FALSE(ReadUpdateEvent(document.root(), "prod")) << other;
  }
}

}  // namespace detect_tag_war_test
}  // namespace truce
