// The findings book, and the detectors that read the registry: conflicts, orphans, ownerships that
// never became real, unknown accounts, unreferenced resources.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "policies/people.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lists/import.h"
#include "tests/model/scene.h"
#include "tests/support/detector_bench.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"
#include "webhook/findings/conflicts.h"
#include "webhook/findings/findings_book.h"

namespace truce {
namespace detect_findings_test {

using std::chrono::hours;
using std::chrono::minutes;
using testing::At;
using testing::DetectorBench;
using testing::Soon;

LiveFinding FindingAbout(const std::string& subject, const std::string& cause = "c") {
  LiveFinding finding;
  finding.subject = subject;
  finding.cause = cause;
  return finding;
}

TEST(FindingsBookTest, AppearsChangesAndIsResolved) {
  FindingsBook book;
  const auto first =
      book.Replace(Detector::kTagWar, {FindingAbout("a"), FindingAbout("b")}, At(1000));
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].kind, FindingChange::Kind::kAppeared);
  LiveFinding same = FindingAbout("a");
  same.evidence = "other numbers";  // no news
  const auto second = book.Replace(Detector::kTagWar, {same, FindingAbout("b", "worse")}, At(2000));
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].kind, FindingChange::Kind::kChanged);
  EXPECT_EQ(second[0].finding.first_seen, At(1000));
  EXPECT_EQ(second[0].finding.last_seen, At(2000));
  const auto third = book.Replace(Detector::kTagWar, {same}, At(3000));
  ASSERT_EQ(third.size(), 1U);
  EXPECT_EQ(third[0].kind, FindingChange::Kind::kResolved);
  EXPECT_EQ(third[0].finding.subject, "b");
  // Other detectors are left alone.
  book.Replace(Detector::kNotCovered, {}, At(4000));
  EXPECT_EQ(book.Snapshot().size(), 1U);
  EXPECT_EQ(book.Snapshot(Detector::kNotCovered).size(), 0U);
}

// Of an earlier life of the watch, or of another server.
TEST(FindingsBookTest, RestoredFindingsAreNoNewsAndStayUntilTheirDetectorLooks) {
  const auto of = [](Detector detector, const std::string& subject) {
    LiveFinding finding = FindingAbout(subject);
    finding.detector = detector;
    return finding;
  };
  FindingsBook before;
  before.Replace(Detector::kTagWar, {of(Detector::kTagWar, "a"), of(Detector::kTagWar, "b")},
                 At(1000));
  before.Replace(Detector::kNeverReal, {of(Detector::kNeverReal, "c")}, At(1000));
  FindingsBook book;
  book.Restore(before.Snapshot());
  EXPECT_EQ(book.Snapshot(), before.Snapshot());
  EXPECT_EQ(book.Counts(), before.Counts());
  const auto changes = book.Replace(
      Detector::kTagWar, {of(Detector::kTagWar, "a"), of(Detector::kTagWar, "d")}, At(5000));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].kind, FindingChange::Kind::kAppeared);
  EXPECT_EQ(changes[0].finding.subject, "d");
  EXPECT_EQ(changes[1].kind, FindingChange::Kind::kResolved);
  EXPECT_EQ(changes[1].finding.subject, "b");
  EXPECT_EQ(book.Find(Detector::kTagWar, "a")->first_seen, At(1000));
  EXPECT_EQ(book.Snapshot(Detector::kNeverReal).size(), 1U);
}

TEST(FindingsBookTest, IsBoundedAndCountsWhatItDoesNotKeep) {
  FindingsBook book;
  std::vector<LiveFinding> many;
  for (std::size_t i = 0; i < FindingsBook::kFindingsMax + 500; ++i) {
    many.push_back(FindingAbout(std::to_string(i)));
  }
  book.Replace(Detector::kOwnershipConflict, many, At(1));
  EXPECT_EQ(book.Snapshot().size(), FindingsBook::kFindingsMax);
  const auto counts = book.Counts();
  EXPECT_EQ(counts.at({Detector::kOwnershipConflict, Mode::kWarn}), many.size());
}

TEST(FindingsBookTest, NothingIsWorseThanItsDetectorsRow) {
  FindingsBook book;
  LiveFinding harm = FindingAbout("a");
  harm.mode = Mode::kEnforce;
  book.Replace(Detector::kTagWar, {harm}, At(1));
  book.Replace(Detector::kNeverReal, {harm}, At(1));
  EXPECT_EQ(SeverityOf(book.Snapshot(Detector::kTagWar)[0].mode), Severity::kCritical);
  EXPECT_EQ(SeverityOf(book.Snapshot(Detector::kNeverReal)[0].mode), Severity::kInfo);
}

// People write them down: they may never change.
TEST(FindingsBookTest, IdsAreTheSameForEver) {
  EXPECT_EQ(FindingId(Detector::kTagWar, "s3/Bucket|aws|||name=x"), "yb7o2e4yzu");
  EXPECT_EQ(FindingId(Detector::kTagWar, "s3/Bucket|aws|||name=y"), "rm7blfin5p");
  EXPECT_EQ(FindingId(Detector::kOwnershipConflict, "s3/Bucket|aws|||name=x"), "l45uky6mre");
}

TEST(DetectorTest, NamesLeadBack) {
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const auto detector = static_cast<Detector>(i);
    const DetectorInfo& info = InfoOf(detector);
    EXPECT_FALSE(info.name.empty() || info.finds.empty() || info.proof.empty()) << info.name;
    EXPECT_EQ(DetectorFromName(Name(detector)), detector);
  }
  EXPECT_EQ(DetectorFromName("no-such"), std::nullopt);
  EXPECT_EQ(SeverityFromName("critical"), Severity::kCritical);
  EXPECT_EQ(SeverityFromName("Critical"), std::nullopt);
}

// Objects of a live cluster, seen by the watch.
class ConflictsTest : public ::testing::Test {
 protected:
  std::vector<Conflict> Conflicts(std::size_t limit = 100) {
    std::vector<Conflict> out;
    KeyText after;
    do {
      ConflictPage page;
      EXPECT_TRUE(
          store_
              .Read([&](const AllFacts& facts) { page = ConflictsAfter(facts, after, limit); },
                    Soon())
              .ok());
      out.insert(out.end(), page.conflicts.begin(), page.conflicts.end());
      after = page.last;
    } while (!after.empty());
    return out;
  }

  void SeeBucket(const std::string& name, const std::string& bucket,
                 Intent intent = Intent::kDeletes) {
    registry_.See(
        scene::ManagedBucket(scene::SlotOf("Bucket", "", name), "uid-" + name, bucket, intent, 1));
    registry_.Advance(minutes(1));
  }

  MemoryStore store_;
  scene::Registry registry_{store_};
};

TEST_F(ConflictsTest, OneManagerAndItsObserverAreNone) {
  SeeBucket("a", "logs");
  SeeBucket("b", "logs", Intent::kObserves);
  SeeBucket("c", "other");
  EXPECT_TRUE(Conflicts().empty());
}

TEST_F(ConflictsTest, NamesTheOwnerOfRecordFirst) {
  SeeBucket("z", "logs");
  SeeBucket("a", "logs");
  const auto conflicts = Conflicts();
  ASSERT_EQ(conflicts.size(), 1U);
  const Conflict& conflict = conflicts[0];
  ASSERT_EQ(conflict.sides.size(), 2U);
  EXPECT_EQ(conflict.sides[0].root.name, "z");
  EXPECT_TRUE(conflict.sides[0].incumbent);
  EXPECT_FALSE(conflict.sides[1].incumbent);
  EXPECT_EQ(DeletionEffect(conflict), "Deleting either deletes the S3 bucket \"logs\" of both.");
  const std::vector<std::string> steps = ResolutionSteps(conflict);
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[0],
            "Decide who keeps it; as recorded, service \"/z\" does. To hand it over to Bucket a "
            "instead, first run `kubectl annotate --overwrite bucket.s3.aws.m.upbound.io z "
            "truce.dev/transfer-to=Bucket.s3.aws.m.upbound.io/a`; then take the next steps with "
            "the objects of Bucket z.");
  EXPECT_EQ(steps[1],
            "Make Bucket a only observe, so that it neither writes nor deletes: `kubectl patch "
            "bucket.s3.aws.m.upbound.io a --type merge -p "
            "'{\"spec\":{\"managementPolicies\":[\"Observe\"]}}'`.");
  EXPECT_EQ(steps[2],
            "Remove Bucket a from Git or delete it: what only observes deletes nothing in AWS.");
  const LiveFinding finding = FindingOf(conflict);
  EXPECT_EQ(finding.objects.size(), 2U);
  EXPECT_EQ(finding.cause,
            "S3 bucket \"logs\" is managed by 2 owners: Bucket z in cluster \"local\" since "
            "1970-02-11T16:00:00Z (owner of record); Bucket a in cluster \"local\" since "
            "1970-02-11T16:01:00Z. Deleting either deletes the S3 bucket \"logs\" of both.");
}

// Of one name in two groups: each text tells the two apart, and its command is the kind's.
TEST_F(ConflictsTest, OneNameInTwoGroupsIsToldApart) {
  ObjectFacts bucket =
      scene::ManagedBucket(scene::SlotOf("Bucket", "", "a"), "u1", "logs", Intent::kDeletes, 1);
  registry_.See(bucket);
  bucket.slot.group = "s3.aws.crossplane.io";
  bucket.uid.text = "u2";
  registry_.See(bucket);
  const Conflict conflict = Conflicts().at(0);
  const LiveFinding finding = FindingOf(conflict);
  EXPECT_EQ(
      finding.cause,
      "S3 bucket \"logs\" is managed by 2 owners: Bucket.s3.aws.m.upbound.io a in cluster "
      "\"local\" since 1970-02-11T16:00:00Z (owner of record); Bucket.s3.aws.crossplane.io a "
      "in cluster \"local\" since 1970-02-11T16:00:00Z. Deleting either deletes the S3 bucket "
      "\"logs\" of both.");
  const std::vector<std::string> steps = ResolutionSteps(conflict);
  EXPECT_EQ(steps.at(1),
            "Make Bucket.s3.aws.crossplane.io a leave the resource when it goes: `kubectl patch "
            "bucket.s3.aws.crossplane.io a --type merge -p "
            R"('{"spec":{"deletionPolicy":"Orphan","managementPolicies":["*"]}}'`.)");
  EXPECT_EQ(steps.at(2),
            "Remove Bucket.s3.aws.crossplane.io a from Git or delete it: it stays in AWS.");
}

// What ACK refused is no second hand on the resource, yet.
TEST_F(ConflictsTest, ADormantObjectIsNamed) {
  SeeBucket("a", "logs");
  ObservedVersion refused;
  refused.facts = scene::ManagedBucket({"local", "s3.services.k8s.aws", "Bucket", "team-b", "copy"},
                                       "u2", "logs", Intent::kDeletes, 1);
  refused.dormant = true;
  registry_.See(refused.facts);
  DetectorBench bench(Detector::kTagWar, Detector::kOwnershipConflict);
  const auto effect = [&] {
    const auto found = bench.Look(At(1), store_);
    EXPECT_EQ(found.size(), 1U);
    const std::string cause = found.empty() ? "" : found[0].cause;
    return cause.substr(std::min(cause.size(), cause.find(". ")));
  };
  const std::string both = ". Deleting either deletes the S3 bucket \"logs\" of both.";
  EXPECT_EQ(effect(), both);
  bench.See(refused, At(1));
  EXPECT_EQ(effect(),
            ". Deleting Bucket a deletes the S3 bucket \"logs\" of all. "
            "Bucket.s3.services.k8s.aws team-b/copy manages nothing for now "
            "(condition ACK.Terminal): its controller creates the resource anew once it is gone.");
  refused.dormant = false;
  bench.See(refused, At(2));
  EXPECT_EQ(effect(), both) << "it manages again";
  refused.dormant = true;
  bench.See(refused, At(3));
  bench.Gone(refused.facts.uid);
  EXPECT_EQ(effect(), both);
}

// Both were there before Truce: the objects tell since when, and a restored one what it made.
TEST_F(ConflictsTest, SinceIsWhenTheObjectsOrTheirResourcesWereMade) {
  ObjectFacts bucket =
      scene::ManagedBucket(scene::SlotOf("Bucket", "", "a"), "u1", "logs", Intent::kDeletes, 1);
  bucket.created = ParseTimestamp("1970-01-03T00:00:00Z");
  registry_.See(bucket);
  bucket.slot.name = "b";
  bucket.uid.text = "u2";
  bucket.created = ParseTimestamp("1970-01-09T00:00:00Z");
  bucket.created_marks = "1970-01-02T00:00:00Z 1970-01-02T00:00:01Z ";
  registry_.See(bucket);
  const Conflict conflict = Conflicts().at(0);
  EXPECT_EQ(FormatTimestamp(conflict.sides.at(0).since), "1970-01-03T00:00:00Z");
  EXPECT_EQ(FormatTimestamp(conflict.sides.at(1).since), "1970-01-02T00:00:00Z");
  EXPECT_EQ(FormatTimestamp(FindingOf(conflict).since), "1970-01-03T00:00:00Z")
      << "there were two from then on";
}

// A step names an object that lives, and never the end of a claim, which is the end of all it has.
TEST_F(ConflictsTest, StepsNameWhatLives) {
  const Slot gone = scene::SlotOf("Storage", "", "gone");
  std::vector<ConflictObject> objects(1);
  objects[0].slot = scene::SlotOf("Bucket", "", "a-x7f2k");
  objects[0].seen = true;
  Conflict conflict;
  conflict.resource = "S3 bucket \"logs\"";
  conflict.sides = {{.root = scene::SlotOf("Bucket", "", "keeper"), .objects = objects},
                    {.root = gone, .objects = objects},
                    {.root = gone, .speaker = objects[0].slot, .objects = objects}};
  const std::vector<std::string> steps = ResolutionSteps(conflict);
  EXPECT_EQ(steps.at(2),
            "Take Bucket a-x7f2k out of Storage gone: what only observes deletes nothing in AWS.");
  EXPECT_EQ(steps.at(4),
            "Remove Bucket a-x7f2k from Git or delete it: what only observes deletes nothing in "
            "AWS.");
}

TEST_F(ConflictsTest, ThreeManagersAndManagersThatDeleteNothing) {
  SeeBucket("a", "logs", Intent::kManages);
  SeeBucket("b", "logs", Intent::kManages);
  EXPECT_EQ(DeletionEffect(Conflicts().at(0)),
            "No declaration deletes it, but each overwrites the settings of the other.");
  SeeBucket("c", "logs");
  const auto conflicts = Conflicts();
  ASSERT_EQ(conflicts.at(0).sides.size(), 3U);
  const std::string decide = ResolutionSteps(conflicts[0]).front();
  EXPECT_EQ(decide,
            "Decide who keeps it; as recorded, service \"/a\" does. To hand it over to Bucket b "
            "instead, first run `kubectl annotate --overwrite bucket.s3.aws.m.upbound.io a "
            "truce.dev/transfer-to=Bucket.s3.aws.m.upbound.io/b`, to Bucket c `kubectl annotate "
            "--overwrite "
            "bucket.s3.aws.m.upbound.io a truce.dev/transfer-to=Bucket.s3.aws.m.upbound.io/c`; "
            "then take the next steps with the objects of Bucket a.");
  EXPECT_EQ(DeletionEffect(conflicts[0]),
            "Deleting Bucket c deletes the S3 bucket \"logs\" of all.");
}

TEST_F(ConflictsTest, PagesShowEachOnce) {
  for (int i = 0; i < 7; ++i) {
    SeeBucket("a" + std::to_string(i), "logs-" + std::to_string(i));
    SeeBucket("b" + std::to_string(i), "logs-" + std::to_string(i));
  }
  EXPECT_EQ(Conflicts(2).size(), 7U);
  EXPECT_EQ(Conflicts(7).size(), 7U);
}

TEST_F(ConflictsTest, TwoBranchesOfOneRootAreTwoSides) {
  Owner owner;
  owner.id = {"logs"};
  owner.key = scene::BucketKey("logs");
  owner.identity.type = "s3/Bucket";
  owner.name = "logs";
  const Slot claim = scene::SlotOf("ObjectStorage", "team-a", "files");
  owner.root = claim;
  Changes changes;
  changes.put_owners = {owner};
  for (const char* name : {"one", "two"}) {
    Row row;
    row.id = {owner.id, {name}, RowState::kSeen};
    row.slot = scene::SlotOf("Bucket", "", name);
    row.root = claim;
    changes.put_rows.push_back(row);
  }
  Row mapped;
  mapped.id = {owner.id, {"claim"}, RowState::kSeen};
  mapped.slot = claim;
  mapped.root = claim;
  mapped.managed = false;
  changes.put_rows.push_back(mapped);
  Conflict conflict;
  ASSERT_TRUE(testing::Write(store_, changes).ok());
  ASSERT_TRUE(
      store_.Read([&](const Facts& facts) { conflict = ConflictAt(owner, facts); }, Soon()).ok());
  ASSERT_EQ(conflict.sides.size(), 2U);
  EXPECT_EQ(conflict.sides[0].objects.size(), 1U);
  EXPECT_EQ(conflict.sides[0].objects[0].slot.name, "one");
  const std::vector<std::string> steps = ResolutionSteps(conflict);
  EXPECT_EQ(steps.front().find("hand it over"), std::string::npos) << steps.front();
}

// A list is a side, whoever was first. No annotation reaches it.
TEST_F(ConflictsTest, AListBesideAManager) {
  ImportList list{"terraform:net", {{scene::Bucket("logs", Intent::kDeletes), "", "", "x"}}};
  const auto import = [&] {
    registry_.RunOnAll([&](const AllFacts& facts, Ledger& ledger) {
      ApplyImport(list, PlanImport(list, facts), "ann", ledger);
    });
  };
  import();
  SeeBucket("a", "logs");
  auto conflicts = Conflicts();
  ASSERT_EQ(conflicts.size(), 1U);
  ASSERT_EQ(conflicts[0].sides.size(), 2U);
  EXPECT_TRUE(conflicts[0].sides[0].incumbent);
  EXPECT_EQ(conflicts[0].sides[0].record, Record::kImported);
  EXPECT_TRUE(conflicts[0].sides[0].objects.empty());
  EXPECT_EQ(store_.Counts().conflicts, 1U);
  EXPECT_EQ(DeletionEffect(conflicts[0]),
            "Deleting Bucket a deletes the S3 bucket \"logs\" of all.");
  std::vector<std::string> steps = ResolutionSteps(conflicts[0]);
  EXPECT_EQ(steps[0],
            "Decide who keeps it; as recorded, list \"terraform:net\" does. To let service \"/a\" "
            "have it instead, run `truce release s3/Bucket logs --reason '…'`.");
  EXPECT_EQ(steps[1].substr(0, 26), "Make Bucket a only observe");
  LiveFinding finding = FindingOf(conflicts[0]);
  EXPECT_EQ(finding.cause,
            "S3 bucket \"logs\" is managed by 2 owners: list \"terraform:net\" of what is owned "
            "outside since 1970-02-11T16:00:00Z (owner of record); Bucket a in cluster \"local\" "
            "since 1970-02-11T16:00:00Z. Deleting Bucket a deletes the S3 bucket \"logs\" of all.");
  EXPECT_EQ(finding.evidence, "1 managing declaration and 1 record in the registry");
  EXPECT_EQ(finding.objects.size(), 1U);
  EXPECT_NE(ConflictsText(conflicts, {}, true).find("list \"terraform:net\""), std::string::npos);
  EXPECT_TRUE(registry_.Release(scene::BucketKey("logs")).done);
  EXPECT_TRUE(Conflicts().empty());
  EXPECT_EQ(store_.Counts().conflicts, 0U);
  // Now the list comes second.
  import();
  conflicts = Conflicts();
  ASSERT_EQ(conflicts.size(), 1U);
  ASSERT_EQ(conflicts[0].sides.size(), 2U);
  EXPECT_TRUE(conflicts[0].sides[0].incumbent);
  EXPECT_EQ(conflicts[0].sides[0].root.name, "a");
  EXPECT_EQ(conflicts[0].sides[1].record, Record::kImported);
  EXPECT_TRUE(conflicts[0].sides[1].objects.empty());
  steps = ResolutionSteps(conflicts[0]);
  EXPECT_EQ(steps[0],
            "Decide who keeps it; as recorded, service \"/a\" does. To leave it to list "
            "\"terraform:net\", let Bucket a only observe it, then run `truce release s3/Bucket "
            "logs --reason '…'`.");
  EXPECT_EQ(steps[1],
            "Take it out of list \"terraform:net\", and import that list again with `--retire`.");
  finding = FindingOf(conflicts[0]);
  EXPECT_EQ(finding.objects.size(), 1U) << "nothing stands for the list";
}

// What was admitted and never seen may never come: it is told so, and is not told to be edited.
TEST_F(ConflictsTest, ASideThatNobodyHasSeen) {
  SeeBucket("a", "logs");
  const ObjectFacts second =
      scene::ManagedBucket(scene::SlotOf("Bucket", "", "b"), "uid-b", "logs", Intent::kDeletes, 1);
  ASSERT_TRUE(registry_.Create(second, "dev", Mode::kWarn).allowed);
  const auto unseen = [&] {
    const std::vector<Conflict> conflicts = Conflicts();
    const std::string cause = FindingOf(conflicts.at(0)).cause;
    return std::pair(cause.find("Bucket b, which Truce has not seen yet, in") != std::string::npos,
                     ResolutionSteps(conflicts[0]).at(1));
  };
  EXPECT_EQ(unseen(), std::pair(true, std::string("Take back Bucket b in Git: Truce has not seen "
                                                  "it yet, and it may never come.")));
  registry_.See(second);
  EXPECT_FALSE(unseen().first);
  EXPECT_EQ(unseen().second.substr(0, 26), "Make Bucket b only observe");
}

TEST_F(ConflictsTest, AnOrphanBesideAManager) {
  const Slot slot = scene::SlotOf("Bucket", "", "a");
  SeeBucket("b", "other");
  ObjectFacts bucket = scene::ManagedBucket(slot, "uid-a", "logs", Intent::kManages, 1);
  bucket.real = true;
  registry_.See(bucket);
  registry_.Advance(minutes(5));
  registry_.SeeDeleted(bucket);  // an orphan since then
  EXPECT_TRUE(Conflicts().empty());
  SeeBucket("c", "logs");
  const auto conflicts = Conflicts();
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(conflicts[0].sides[0].record, Record::kOrphaned);
  EXPECT_EQ(store_.Counts().conflicts, 1U);
  EXPECT_EQ(
      FindingOf(conflicts[0]).cause,
      "S3 bucket \"logs\" is managed by 2 owners: Bucket a, which left it orphaned, in cluster "
      "\"local\" since 1970-02-11T16:06:00Z (owner of record); Bucket c in cluster \"local\" "
      "since 1970-02-11T16:06:00Z. Deleting Bucket c deletes the S3 bucket \"logs\" of all.");
}

Owner SomeOwner(const std::string& name, Record record, bool real, HolderState state) {
  Owner owner;
  owner.key = scene::BucketKey(name);
  owner.identity.type = "s3/Bucket";
  owner.name = name;
  owner.root = scene::SlotOf("Bucket", "", name);
  owner.record = record;
  owner.real = real;
  owner.state = state;
  owner.since = At(0);
  return owner;
}

TEST(OwnershipGapsTest, OrphansAreListedWithTheWayOut) {
  DetectorBench orphans(Detector::kOrphanedOwnership);
  const auto found =
      orphans.Pass({{SomeOwner("held", Record::kNone, true, HolderState::kHeld),
                     SomeOwner("gone", Record::kOrphaned, true, HolderState::kHeld),
                     SomeOwner("outside", Record::kImported, true, HolderState::kHeld)},
                    {}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].resource, "S3 bucket \"gone\"");
  EXPECT_EQ(found[0].remedy,
            "Declare it again from Bucket.s3.aws.m.upbound.io gone or its namespace, or, when it "
            "is known to be gone, free the name with `truce release s3/Bucket gone --reason '…'`.");
}

TEST(OwnershipGapsTest, NeverRealOnlyAfterItsTime) {
  const std::vector<Owner> owners = {
      SomeOwner("reserved", Record::kNone, false, HolderState::kReserved),
      SomeOwner("pending", Record::kNone, false, HolderState::kHeld),
      SomeOwner("real", Record::kNone, true, HolderState::kHeld),
      SomeOwner("orphan", Record::kOrphaned, false, HolderState::kHeld)};
  DetectorBench never_real(Detector::kNeverReal);
  const auto found = [&](Timestamp now) { return never_real.Pass({owners, {}}, now).size(); };
  EXPECT_EQ(found(At(0) + minutes(14)), 0U);
  EXPECT_EQ(found(At(0) + minutes(16)), 1U);
  EXPECT_EQ(found(At(0) + hours(3)), 2U);
}

// A root of record that is gone has no conditions to look at.
TEST(OwnershipGapsTest, NeverRealNamesWhatLives) {
  MemoryStore store;
  scene::Registry registry(store);
  ObjectFacts composite = scene::Composite(scene::SlotOf("XStorage", "", "files"), "c", "", 1);
  registry.See(composite);
  ObjectFacts bucket = scene::ManagedBucket(scene::SlotOf("Bucket", "", "files-x"), "b", "logs",
                                            Intent::kDeletes, 2);
  bucket.lineage.controller = scene::RefTo(composite.slot, "c");
  composite.lineage.resources = {scene::RefTo(bucket.slot, "")};
  composite.version = 3;
  registry.See(composite);
  registry.See(bucket);
  registry.Advance(hours(3));
  const auto remedy = [&] {
    DetectorBench never_real(Detector::kNeverReal);
    const auto found = never_real.Pass({registry.Contents().owners, {}}, registry.now(), store);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? std::string() : found[0].remedy;
  };
  EXPECT_EQ(
      remedy(),
      "Look at the conditions of XStorage.platform.example.org files and of what "
      "it composes. Before you delete what is not needed, set spec.managementPolicies: "
      "[\"Observe\"] on Bucket.s3.aws.m.upbound.io files-x: it may have adopted what exists in "
      "AWS.");
  registry.SeeDeleted(composite);
  EXPECT_EQ(remedy().substr(0, 64),
            "Look at the conditions of Bucket.s3.aws.m.upbound.io files-x and");
}

TEST(OwnershipGapsTest, UnknownAccountsByProviderConfig) {
  Owner known = SomeOwner("a", Record::kNone, true, HolderState::kHeld);
  Owner queue = known;
  queue.key = {"sqs/Queue|aws|%3Fprod|eu-west-1|name=q"};
  queue.identity.account = "?prod/aws.upbound.io/ProviderConfig//default";
  queue.key = {"sqs/Queue|aws|?prod/aws.upbound.io/ProviderConfig//default|eu-west-1|name=q"};
  Owner bucket = known;  // its name is unique in the partition: the account does not matter
  bucket.identity.account = "?prod/aws.upbound.io/ProviderConfig//default";
  DetectorBench accounts(Detector::kAccountUnknown);
  const auto found = accounts.Pass({{known, queue, bucket}, {}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].evidence, "1 resource");
  Owner of_ack = queue;
  of_ack.identity.account = "?prod//Namespace//team-a";
  of_ack.key = {"sqs/Queue|aws|?prod//Namespace//team-a|eu-west-1|name=q"};
  const auto of_namespace = accounts.Pass({{of_ack}, {}});
  ASSERT_EQ(of_namespace.size(), 1U);
  EXPECT_EQ(of_namespace[0].resource, "Namespace team-a");
  EXPECT_EQ(of_namespace[0].remedy, "Name its account in the setting providerConfigs.");
}

TEST(UnreferencedTest, OnlyWhatStaysUnreferenced) {
  MemoryStore store;
  Object composite;
  composite.uid = {"xr"};
  composite.slot = scene::SlotOf("XObjectStorage", "", "files");
  Object child;
  child.slot = scene::SlotOf("Bucket", "", "kept");
  composite.names = {child.slot.group + "/Bucket//kept"};
  Changes changes;
  for (const auto& [name, link] :
       std::vector<std::pair<std::string, std::string>>{{"kept", "uid:xr"},
                                                        {"dropped", "uid:xr"},
                                                        {"restored", "composed:"},
                                                        {"by-hand", ""},
                                                        {"of-another", "uid:nobody-knows"}}) {
    child.uid = {name};
    child.slot.name = name;
    child.link = link;
    changes.put_objects.push_back(child);
  }
  changes.put_objects.push_back(composite);
  ASSERT_TRUE(testing::Write(store, changes).ok());
  const std::vector<Object>& all = changes.put_objects;
  DetectorBench detector(Detector::kUnreferencedResource);
  const auto look = [&](Timestamp now) { return detector.Pass({{}, all}, now, store); };
  EXPECT_TRUE(look(At(0)).empty());
  EXPECT_TRUE(look(At(0) + minutes(4)).empty());
  const auto found = look(At(0) + minutes(6));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].objects.front().name, "dropped");
  EXPECT_EQ(found[1].objects.front().name, "restored");
  // Adopted meanwhile: forgotten, and a later lapse begins anew.
  EXPECT_TRUE(detector.Pass({}, At(0) + minutes(7), store).empty());
  EXPECT_TRUE(look(At(0) + minutes(8)).empty());
  // Nobody is told to let a composite adopt it that is gone.
  for (const bool lives : {true, false}) {
    Object left = all[2];
    left.root = lives ? composite.slot : scene::SlotOf("XObjectStorage", "", "gone");
    DetectorBench other(Detector::kUnreferencedResource);
    (void)other.Pass({{}, {left}}, At(0), store);
    const auto of_former = other.Pass({{}, {left}}, At(0) + minutes(6), store);
    ASSERT_EQ(of_former.size(), 1U);
    EXPECT_EQ(of_former[0].remedy.substr(0, 34),
              lives ? "Let XObjectStorage.platform.exampl" : "Let the successor of XObjectStorag");
  }
}

}  // namespace detect_findings_test
}  // namespace truce
