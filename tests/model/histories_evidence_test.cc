// Who may say what, how ownerships end, and rightful requests that look like theft: the histories
// of the rules W, E and R (DESIGN.md), each by its story.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/lineage.h"
#include "tests/model/scene.h"
#include "tests/support/strict_store.h"

namespace truce {
namespace histories_evidence_test {

using scene::Composite;
using scene::ManagedBucket;
using scene::RefTo;
using scene::SlotOf;

// A claim of team A, its composite and the bucket that is composed, as Crossplane makes them.
struct Chain {
  ObjectFacts claim;
  ObjectFacts composite;
  ObjectFacts bucket;
};

class HistoriesOfEvidence : public ::testing::Test {
 protected:
  // `mapped`: claim and composite declare the bucket, too.
  static Chain ChainOf(const std::string& ns, const std::string& name, bool mapped = true) {
    Chain chain;
    const std::string bucket = mapped ? "k" : "";
    chain.claim = Composite(SlotOf("Storage", ns, name), "claim-" + name, bucket, 1);
    chain.composite = Composite(SlotOf("XStorage", "", name + "-x"), "xr-" + name, bucket, 2);
    chain.bucket =
        ManagedBucket(SlotOf("Bucket", "", name + "-x-y"), "mr-" + name, "k", Intent::kDeletes, 3);
    chain.claim.lineage.composite = RefTo(chain.composite.slot, "");
    chain.composite.lineage.claim = RefTo(chain.claim.slot, "");
    chain.composite.lineage.resources = {RefTo(chain.bucket.slot, "")};
    chain.composite.lineage.label = chain.composite.slot.name;
    chain.bucket.lineage.controller = RefTo(chain.composite.slot, chain.composite.uid.text);
    chain.bucket.lineage.composed = true;
    chain.bucket.lineage.label = chain.composite.slot.name;
    return chain;
  }

  // Made by Crossplane, seen, and real.
  Chain Living(const std::string& ns, const std::string& name, bool mapped = true) {
    Chain chain = ChainOf(ns, name, mapped);
    EXPECT_TRUE(registry_.Create(chain.claim).allowed);
    EXPECT_TRUE(registry_.Create(chain.composite, scene::kCrossplane).allowed);
    EXPECT_TRUE(registry_.Create(chain.bucket, scene::kCrossplane).allowed);
    for (ObjectFacts* object : {&chain.claim, &chain.composite, &chain.bucket}) {
      object->real = true;
      registry_.See(*object);
    }
    return chain;
  }

  static ObjectFacts Next(ObjectFacts object) {
    *object.version += 10;
    return object;
  }
  // The same object made again, as Velero does it: another life, no owner references, no status.
  static ObjectFacts Restored(ObjectFacts object) {
    object.uid.text += "-again";
    *object.version += 100;
    object.lineage.controller.reset();
    object.real = false;
    object.terminating = false;
    object.deleting = false;
    return object;
  }
  // The last version of what its provider deleted in the cloud.
  static ObjectFacts Finished(ObjectFacts object) {
    object.terminating = true;
    object.deleting = true;
    *object.version += 5;
    return object;
  }
  static ObjectFacts Terminating(ObjectFacts object) {
    object.terminating = true;
    *object.version += 5;
    return object;
  }
  ObjectFacts Strangers() const {
    return ManagedBucket(SlotOf("Bucket", "team-b", "b"), "stranger", "k", Intent::kDeletes, 900);
  }
  bool IsFree() { return !registry_.OwnerOf("k").has_value(); }
  bool IsOf(const Chain& chain) {
    const auto owner = registry_.OwnerOf("k");
    return owner && owner->root == chain.claim.slot;
  }
  Record RecordNow() { return registry_.OwnerOf("k").value().record; }

  testing::StrictStore store_;
  scene::Registry registry_{store_};
};

// --- ends -------------------------------------------------------------------------------------

// History 5, first half: Kubernetes' foreground deletion ends the composite last, without a word of
// what became of the bucket.
TEST_F(HistoriesOfEvidence, AForegroundDeletionDoesNotWitnessForWhatItComposed) {
  Chain chain = Living("team-a", "a");
  chain.bucket.resources[0].intent = Intent::kManages;  // deletionPolicy Orphan
  registry_.See(Next(chain.bucket));
  registry_.SeeDeleted(Finished(Next(chain.bucket)));
  registry_.SeeDeleted(Finished(chain.composite));
  registry_.SeeDeleted(Finished(chain.claim));
  ASSERT_FALSE(IsFree());
  EXPECT_EQ(RecordNow(), Record::kOrphaned);
  EXPECT_FALSE(registry_.Create(Strangers()).allowed);
}

// History 5, second half: what is gone with its managed resource is not real for the claim either,
// whatever the claim's conditions still say.
TEST_F(HistoriesOfEvidence, ABucketThatIsReallyGoneIsFreeWhenTheClaimEnds) {
  const Chain chain = Living("team-a", "a");
  registry_.SeeDeleted(Finished(chain.bucket));
  EXPECT_TRUE(IsOf(chain)) << "the claim holds the name";
  EXPECT_FALSE(registry_.Create(Strangers()).allowed);
  registry_.See(Next(chain.claim));  // still Ready
  registry_.SeeDeleted(Terminating(chain.composite));
  registry_.SeeDeleted(Terminating(chain.claim));
  EXPECT_TRUE(IsFree());
}

TEST_F(HistoriesOfEvidence, AManagedResourceMadeAgainIsRealAgain) {
  const Chain chain = Living("team-a", "a");
  registry_.SeeDeleted(Finished(chain.bucket));
  ObjectFacts again = chain.bucket;
  again.uid = {"again"};
  again.version = 60;
  ASSERT_TRUE(registry_.Create(again, scene::kCrossplane).allowed);
  registry_.See(again);
  registry_.SeeDeleted(Terminating(again));  // no word of an end
  registry_.SeeDeleted(Terminating(chain.composite));
  registry_.SeeDeleted(Terminating(chain.claim));
  ASSERT_FALSE(IsFree());
  EXPECT_EQ(RecordNow(), Record::kOrphaned);
}

TEST_F(HistoriesOfEvidence, AClaimWhoseCompositionTruceDoesNotReadMakesItReal) {
  ObjectFacts claim = Composite(SlotOf("Storage", "team-a", "a"), "c", "k", 1);
  ASSERT_TRUE(registry_.Create(claim).allowed);
  claim.real = true;
  registry_.See(claim);
  registry_.SeeDeleted(Finished(claim));
  ASSERT_FALSE(IsFree()) << "no managed resource ever witnessed";
  EXPECT_EQ(RecordNow(), Record::kOrphaned);
}

// History 11: what was created is real before its status says so.
TEST_F(HistoriesOfEvidence, AnAnnouncedCreationIsReal) {
  struct Case {
    const char* what;
    const char* reviewed_from;  // empty: past the webhook
    bool seen;                  // before the end
    bool orphaned;
  };
  const std::array cases = {
      Case{"reviewed-and-seen", scene::kProvider, true, true},
      Case{"reviewed", scene::kProvider, false, true},
      Case{"seen", "", true, true},
      Case{"ended", "", false, true},
      Case{"forged", "dev", true, false},  // anybody may write an annotation
      Case{"forged-unseen", "dev", false, false},
  };
  for (const Case& test : cases) {
    const std::string name = test.what;
    const std::string user = test.reviewed_from;
    const ObjectFacts object =
        ManagedBucket(SlotOf("Bucket", "team-a", name), name, name, Intent::kDeletes, 1);
    ASSERT_TRUE(registry_.Create(object).allowed);
    registry_.See(object);
    ObjectFacts marked = Next(object);
    marked.created_marks = "2026-11-23T14:00:00Z ";
    if (!user.empty()) {
      ASSERT_TRUE(registry_.Update(object, marked, user).allowed);
    }
    if (test.seen) registry_.See(marked);
    ObjectFacts last = Terminating(marked);
    // A version from before the write: only the review knows of it.
    if (user == scene::kProvider && !test.seen) last.created_marks.clear();
    registry_.SeeDeleted(last);
    EXPECT_EQ(registry_.OwnerOf(name).has_value(), test.orphaned) << name;
  }
}

// W7: the review that strips a finalizer may fail afterwards.
TEST_F(HistoriesOfEvidence, AStrippedFinalizerCountsForTheVersionThatWasJudged) {
  for (const bool written : {true, false}) {
    const std::string name = written ? "written" : "failed";
    ObjectFacts object =
        ManagedBucket(SlotOf("Bucket", "team-a", name), name, name, Intent::kDeletes, 1);
    object.finalizers = {"finalizer.managedresource.crossplane.io"};
    ASSERT_TRUE(registry_.Create(object).allowed);
    object.real = true;
    registry_.See(object);
    const ObjectFacts last = Finished(object);
    registry_.See(last);
    ObjectFacts stripped = last;
    stripped.finalizers.clear();
    ASSERT_TRUE(registry_.Update(last, stripped, "dev").allowed);
    const ObjectFacts later = Next(last);
    if (!written) registry_.See(later);  // the provider wrote before the removal came
    registry_.SeeDeleted(Next(later), {.before = written ? last.version : later.version});
    EXPECT_EQ(registry_.OwnerOf(name).has_value(), written) << name;
  }
}

// E8: a provider that finds nothing takes its finalizer off without having said Deleting, of what
// was never made, or was deleted in the console.
class HistoriesOfLettingGo : public HistoriesOfEvidence {
 protected:
  // Real, and seen with its deletionTimestamp.
  ObjectFacts Dying(const std::string& name) {
    ObjectFacts object =
        ManagedBucket(SlotOf("Bucket", "team-a", name), name, name, Intent::kDeletes, 1);
    object.finalizers = {"finalizer.managedresource.crossplane.io"};
    object.account_fields = "1";
    EXPECT_TRUE(registry_.Create(object).allowed);
    object.real = true;
    registry_.See(object);
    object = Terminating(object);
    registry_.See(object);
    return object;
  }
  static ObjectFacts Stripped(ObjectFacts object) {
    object.finalizers.clear();
    return object;
  }
  // Its provider lets go of the version, and it is gone.
  bool Ends(const ObjectFacts& last, const std::string& user = scene::kProvider) {
    EXPECT_TRUE(registry_.Update(last, Stripped(last), user).allowed);
    registry_.SeeDeleted(Later(last), {.before = last.version});
    return !registry_.OwnerOf(last.uid.text);
  }
  static ObjectFacts Later(ObjectFacts object) {
    ++*object.version;
    return object;
  }
};

TEST_F(HistoriesOfLettingGo, AProviderThatFindsNothingIsAWitness) {
  EXPECT_TRUE(Ends(Dying("deleted-in-the-console")));
  EXPECT_FALSE(Ends(Dying("by-a-user"), "dev"));
  // Nobody reviewed it.
  const ObjectFacts unseen = Dying("past-truce");
  registry_.SeeDeleted(Later(unseen), {.before = unseen.version});
  EXPECT_TRUE(registry_.OwnerOf("past-truce"));
}

TEST_F(HistoriesOfLettingGo, WhoeverStripsItFirstLeavesNoWordToItsProvider) {
  const ObjectFacts last = Dying("k");
  ASSERT_TRUE(registry_.Update(last, Stripped(last), scene::kProvider).allowed);
  EXPECT_FALSE(Ends(last, "dev"));
}

TEST_F(HistoriesOfLettingGo, OnlyOfTheVersionThatItsProviderRead) {
  const ObjectFacts read = Dying("k");
  ASSERT_TRUE(registry_.Update(read, Stripped(read), scene::kProvider).allowed);
  const ObjectFacts written = Next(read);  // somebody wrote first: the removal fails
  registry_.See(written);
  registry_.SeeDeleted(Later(written), {.before = written.version});
  EXPECT_TRUE(registry_.OwnerOf("k")) << "past Truce";
}

TEST_F(HistoriesOfLettingGo, OfWhatOtherFinalizersHeldAfterwards) {
  ObjectFacts last = Dying("k");
  last.finalizers.push_back("example.org/held");
  last = Later(last);
  registry_.See(last);
  ObjectFacts held = last;
  held.finalizers = {"example.org/held"};
  ASSERT_TRUE(registry_.Update(last, held, scene::kProvider).allowed);
  held = Next(held);
  registry_.See(held);
  registry_.SeeDeleted(Later(held), {.before = held.version});
  EXPECT_FALSE(registry_.OwnerOf("k"));
}

TEST_F(HistoriesOfLettingGo, NotByAPolicyThatKeepsIt) {
  ObjectFacts last = Dying("edited");
  ObjectFacts kept = Later(last);
  kept.resources[0].intent = Intent::kManages;
  registry_.See(kept);
  last.version = *kept.version + 1;
  registry_.See(last);
  EXPECT_FALSE(Ends(last)) << "it was let go of by the policy of before, perhaps";
  last = Dying("kept");
  last.resources[0].intent = Intent::kManages;
  EXPECT_FALSE(Ends(Later(last))) << "not seen, but reviewed";
}

TEST_F(HistoriesOfLettingGo, NotUnderAnotherProviderConfig) {
  ObjectFacts last = Dying("at-the-end");
  last.account_fields = "2";
  EXPECT_FALSE(Ends(last));
  last = Dying("to-and-fro");
  last.account_fields = "2";
  registry_.See(last = Later(last));
  last.account_fields = "1";
  registry_.See(last = Later(last));
  EXPECT_FALSE(Ends(last));
  ObjectFacts object =
      ManagedBucket(SlotOf("Bucket", "team-a", "healed"), "healed", "healed", Intent::kDeletes, 1);
  object.finalizers = {"finalizer.managedresource.crossplane.io"};
  for (const char* fields : {"1", "2"}) {
    object.account_fields = fields;
    object.real = true;
    registry_.See(object = Later(object));
  }
  object.fields_shown = true;
  registry_.See(object = Later(object));
  object.fields_shown = false;
  registry_.See(object = Terminating(object));
  EXPECT_TRUE(Ends(object)) << "by these its provider found it";
  last = Dying("deleting");
  last.account_fields = "2";
  last.deleting = true;
  EXPECT_TRUE(Ends(last)) << "a name without account needs none";
}

TEST_F(HistoriesOfLettingGo, NotWhereTheObjectDoesNotTellThatItDeletes) {
  ObjectFacts last = Dying("by-its-namespace-perhaps-retained");
  last.is_end_unknown = true;
  EXPECT_FALSE(Ends(last));
}

TEST_F(HistoriesOfLettingGo, NotWhatItMakesMeanwhile) {
  ObjectFacts last = Dying("open");
  last.creation_open = true;
  EXPECT_FALSE(Ends(last));
  last = Dying("anew");
  ObjectFacts made = last;
  made.created_marks = "2026-11-23T14:00:00Z ";
  ASSERT_TRUE(registry_.Update(last, made, scene::kProvider).allowed);
  registry_.See(made = Later(made));
  EXPECT_FALSE(Ends(made));
}

TEST_F(HistoriesOfLettingGo, NotWhatItLooksForByAnotherName) {
  ObjectFacts last = Dying("renamed");
  last.external_name = 1;
  ObjectFacts renamed = last;
  renamed.external_name = 2;
  ASSERT_TRUE(registry_.Update(last, renamed).allowed);
  registry_.See(renamed = Later(renamed));
  EXPECT_FALSE(Ends(renamed));
  last = Dying("unnamed");
  last.external_name = 1;
  renamed = last;
  renamed.external_name = 0;
  ASSERT_TRUE(registry_.Update(last, renamed).allowed);
  EXPECT_FALSE(Ends(renamed));
  last = Dying("found");
  last.name_finding = "its external name is that of another resource";
  EXPECT_FALSE(Ends(last));
}

TEST_F(HistoriesOfLettingGo, NotAfterAGap) {
  const ObjectFacts last = Later(Dying("k"));
  registry_.See(last, true);
  EXPECT_FALSE(Ends(last));
}

// History 12: composed again while the former one lives.
TEST_F(HistoriesOfEvidence, ASecondManagedResourceOfOneRootIsRefused) {
  const Chain chain = Living("team-a", "a");
  registry_.SeeDeleted(Terminating(chain.composite));
  ObjectFacts composite = Next(chain.composite);
  composite.uid = {"xr-again"};
  ASSERT_TRUE(registry_.Create(composite, scene::kCrossplane).allowed)
      << "a returning composite is no second manager";
  ObjectFacts second =
      ManagedBucket(SlotOf("Bucket", "", "a-x-z"), "mr-2", "k", Intent::kDeletes, 40);
  second.lineage.controller = RefTo(composite.slot, composite.uid.text);
  const Decision decision = registry_.Create(second, scene::kCrossplane);
  ASSERT_FALSE(decision.allowed);
  EXPECT_EQ(decision.denied[0].reason, ClashReason::kSibling);
  EXPECT_EQ(decision.denied[0].incumbent,
            (Incumbent{.slot = chain.bucket.slot, .managed = true, .deletes = true, .seen = true}));
}

// A refusal names an object that lives: of a chain whose root is gone, the topmost that is left.
TEST_F(HistoriesOfEvidence, ARefusalNamesAnObjectThatLives) {
  const Chain chain = Living("team-a", "a", false);
  const auto speaker = [&] { return registry_.Create(Strangers()).denied.at(0).speaker; };
  EXPECT_EQ(speaker(), Slot{}) << "the claim itself";
  registry_.SeeDeleted(Terminating(chain.claim));
  EXPECT_EQ(speaker(), chain.composite.slot);
  registry_.SeeDeleted(Terminating(chain.composite));
  EXPECT_EQ(speaker(), chain.bucket.slot);
}

// What is only reserved may never come: a refusal says so.
TEST_F(HistoriesOfEvidence, ARefusalTellsWhatNobodyHasSeen) {
  const ObjectFacts first =
      ManagedBucket(SlotOf("Bucket", "team-a", "a"), "u1", "k", Intent::kDeletes, 1);
  ASSERT_TRUE(registry_.Create(first).allowed);
  const auto unseen = [&] {
    const Clash clash = registry_.Create(Strangers()).denied.at(0);
    EXPECT_EQ(clash.incumbent->seen, !clash.unseen);
    return clash.unseen;
  };
  EXPECT_TRUE(unseen());
  registry_.See(first);
  EXPECT_FALSE(unseen());
}

// History 31, and E4 without it: an orphan is not free beside a living manager of its party.
TEST_F(HistoriesOfEvidence, AnOrphanIsJudgedAgainstTheLivingOfItsParty) {
  ObjectFacts first =
      ManagedBucket(SlotOf("Bucket", "team-a", "a"), "u1", "k", Intent::kManages, 1);
  ASSERT_TRUE(registry_.Create(first).allowed);
  first.real = true;
  registry_.See(first);
  registry_.See(Strangers());  // past the webhook
  registry_.SeeDeleted(Terminating(first));
  ASSERT_EQ(RecordNow(), Record::kOrphaned);
  const ObjectFacts again =
      ManagedBucket(SlotOf("Bucket", "team-a", "a2"), "u2", "k", Intent::kDeletes, 950);
  ObjectFacts third = again;
  third.slot.ns = "team-c";
  third.uid = {"u3"};
  EXPECT_FALSE(registry_.Create(third).allowed);
  registry_.parties.services = {{"local/team-a", "files"}, {"local/team-b", "files"}};
  const Decision bound = registry_.Create(again);
  ASSERT_FALSE(bound.allowed) << "the stranger's is now of the team: a second manager";
  EXPECT_EQ(bound.denied[0].reason, ClashReason::kSibling);
  registry_.parties.services.clear();
  EXPECT_TRUE(registry_.Create(again).allowed)
      << "a stranger's conflict does not keep the party out";
}

// --- lineage ----------------------------------------------------------------------------------

// History 4.
TEST_F(HistoriesOfEvidence, AStrangersClaimTakesNothingOfAChainWithoutComposite) {
  const Chain chain = Living("team-a", "a");
  ObjectFacts bucket = Next(chain.bucket);
  bucket.lineage.controller.reset();
  ASSERT_TRUE(registry_.Update(chain.bucket, bucket, "system:garbage-collector").allowed);
  registry_.See(bucket);
  registry_.SeeDeleted(Terminating(chain.composite));
  for (const bool composes : {false, true}) {
    const std::string name = composes ? "x" : "c";
    ObjectFacts thief =
        Composite(SlotOf(composes ? "XStorage" : "Storage", composes ? "" : "team-b", name),
                  "thief-" + name, "", 50);
    thief.lineage.resources = {RefTo(bucket.slot, "")};
    thief.lineage.composite = RefTo(bucket.slot, "");
    ASSERT_TRUE(registry_.Create(thief).allowed);
    registry_.See(thief);
    registry_.See(Next(bucket));
    EXPECT_TRUE(IsOf(chain)) << name;
  }
  ObjectFacts returned = Next(chain.composite);
  returned.uid = {"xr-again"};
  EXPECT_TRUE(registry_.Create(returned, scene::kCrossplane).allowed);
  EXPECT_TRUE(IsOf(chain));
}

// History 7.
TEST_F(HistoriesOfEvidence, TheGarbageCollectorMayTakeTheOwnerReference) {
  const Chain chain = Living("team-a", "a", false);
  ObjectFacts bucket = Next(chain.bucket);
  bucket.lineage.controller.reset();
  const Decision decision = registry_.Update(chain.bucket, bucket, "system:garbage-collector");
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.root, chain.claim.slot) << "the root of record stays";
  registry_.SeeDeleted(Terminating(chain.composite));
  registry_.SeeDeleted(Terminating(chain.claim));
  registry_.See(bucket);
  EXPECT_TRUE(IsOf(chain));
  EXPECT_FALSE(registry_.Create(Strangers()).allowed);
}

// History 9.
TEST_F(HistoriesOfEvidence, AForgedClaimRefMakesNoMemberOfTheChain) {
  const Chain chain = ChainOf("team-a", "a");
  ASSERT_TRUE(registry_.Create(chain.claim).allowed);
  registry_.See(chain.claim);
  ObjectFacts forged = Composite(SlotOf("XStorage", "", "forged"), "forged", "", 20);
  forged.lineage.claim = RefTo(chain.claim.slot, "");
  ASSERT_TRUE(registry_.Create(forged, "team-b").allowed);
  ObjectFacts composing = Next(forged);
  composing.lineage.resources = {RefTo(SlotOf("Bucket", "", "forged-y"), "")};
  ASSERT_TRUE(registry_.Update(forged, composing, scene::kCrossplane).allowed)
      << "Crossplane works for it as for any";
  ObjectFacts bucket =
      ManagedBucket(SlotOf("Bucket", "", "forged-y"), "fb", "k", Intent::kDeletes, 40);
  bucket.lineage.controller = RefTo(forged.slot, "forged");
  EXPECT_FALSE(registry_.Create(bucket, scene::kCrossplane).allowed);
  ASSERT_TRUE(registry_.Create(chain.composite, scene::kCrossplane).allowed);
  EXPECT_TRUE(registry_.Create(chain.bucket, scene::kCrossplane).allowed);
}

// W1: a composite in a namespace reaches no other, and a claim composes nothing.
TEST_F(HistoriesOfEvidence, ResourceRefsCountWhereACompositeMayReach) {
  const Slot mine = SlotOf("Bucket", "team-a", "b");
  ObjectFacts bucket = ManagedBucket(mine, "u1", "k", Intent::kDeletes, 1);
  bucket.lineage.composed = true;
  bucket.lineage.label = "x";
  registry_.See(bucket);
  ObjectFacts composite = Composite(SlotOf("XStorage", "team-b", "x"), "x", "", 2);
  composite.lineage.resources = {RefTo(mine, "")};
  registry_.See(composite);
  EXPECT_EQ(registry_.OwnerOf("k")->root, mine) << "another namespace";
  ObjectFacts claim = Composite(SlotOf("Storage", "team-a", "x"), "c", "", 3);
  claim.lineage.resources = {RefTo(mine, "")};
  registry_.See(claim);
  EXPECT_EQ(registry_.OwnerOf("k")->root, mine) << "no composite";
  ObjectFacts own = Composite(SlotOf("XStorage", "team-a", "x"), "x2", "", 4);
  own.lineage.resources = {RefTo(mine, "")};
  registry_.See(own);
  EXPECT_EQ(registry_.OwnerOf("k")->root, own.slot);
}

// History 26.
TEST_F(HistoriesOfEvidence, AChainSeenInAnyOrderIsOne) {
  std::array<int, 3> order = {0, 1, 2};
  do {
    testing::StrictStore store;
    scene::Registry registry(store);
    const Chain chain = ChainOf("team-a", "a");
    const std::array objects = {chain.claim, chain.composite, chain.bucket};
    for (const int at : order) registry.See(objects[static_cast<std::size_t>(at)]);
    for (const int at : order) registry.See(objects[static_cast<std::size_t>(at)]);
    ASSERT_TRUE(registry.OwnerOf("k"));
    EXPECT_EQ(registry.OwnerOf("k")->root, chain.claim.slot) << order[0] << order[1] << order[2];
    EXPECT_FALSE(registry.OwnerOf("k")->contested) << order[0] << order[1] << order[2];
  } while (std::next_permutation(order.begin(), order.end()));
}

// History 29.
TEST_F(HistoriesOfEvidence, AfterARebuildAStrangersCompositeTakesNoOrphan) {
  const Chain chain = ChainOf("team-a", "a");
  ObjectFacts bucket = chain.bucket;  // composed, its composite gone with --cascade=orphan
  bucket.lineage.controller.reset();
  ObjectFacts thief = Composite(SlotOf("XStorage", "", "thief"), "thief", "", 50);
  thief.lineage.resources = {RefTo(bucket.slot, "")};
  for (const bool thief_first : {false, true}) {
    testing::StrictStore store;
    scene::Registry registry(store);
    if (thief_first) registry.See(thief);
    registry.See(bucket);
    registry.See(thief);
    registry.See(Next(bucket));
    EXPECT_EQ(registry.OwnerOf("k")->root, bucket.slot) << thief_first;
    ObjectFacts taken = Next(Next(bucket));  // and it is made the bucket's controller
    taken.lineage.controller = RefTo(thief.slot, "thief");
    registry.See(taken);
    registry.See(Next(taken));
    EXPECT_EQ(registry.OwnerOf("k")->root, bucket.slot) << "also a version later";
  }
}

// W3: a top that names nobody is its own party.
TEST_F(HistoriesOfEvidence, AClaimTakesNoCompositeOfAnotherParty) {
  ObjectFacts composite = Composite(SlotOf("XStorage", "", "x"), "x", "k", 1);
  composite.lineage.label = "x";
  ASSERT_TRUE(registry_.Create(composite, "platform").allowed);
  registry_.See(composite);
  ObjectFacts claim = Composite(SlotOf("Storage", "team-b", "c"), "c", "", 2);
  claim.lineage.composite = RefTo(composite.slot, "");
  ASSERT_TRUE(registry_.Create(claim).allowed);
  ObjectFacts bound = Next(composite);
  bound.lineage.claim = RefTo(claim.slot, "");
  ASSERT_TRUE(registry_.Update(composite, bound, scene::kCrossplane).allowed);
  registry_.See(claim);
  registry_.See(bound);
  EXPECT_EQ(registry_.OwnerOf("k")->root, composite.slot);
}

// History 28 (R5): it offers itself, or configuration says that any may be taken.
TEST_F(HistoriesOfEvidence, AClaimTakesACompositeThatOffersItself) {
  for (const bool by_setting : {false, true}) {
    testing::StrictStore store;
    scene::Registry registry(store);
    registry.parties.unbound_claimable = by_setting;
    ObjectFacts composite = Composite(SlotOf("XStorage", "", "x"), "x", "", 1);
    ObjectFacts bucket = ManagedBucket(SlotOf("Bucket", "", "x-y"), "b", "k", Intent::kDeletes, 2);
    composite.lineage.resources = {RefTo(bucket.slot, "")};
    bucket.lineage.controller = RefTo(composite.slot, "x");
    ASSERT_TRUE(registry.Create(composite, "platform").allowed);
    registry.See(composite);
    ASSERT_TRUE(registry.Create(bucket, scene::kCrossplane).allowed);
    registry.See(bucket);
    if (!by_setting) composite.transfer_to = "Storage/team-a/c";
    registry.See(Next(composite));
    ObjectFacts claim = Composite(SlotOf("Storage", "team-a", "c"), "c", "k", 30);
    claim.lineage.composite = RefTo(composite.slot, "");
    ObjectFacts other = claim;
    other.slot.ns = "team-b";
    other.uid = {"other"};
    if (!by_setting) {
      EXPECT_FALSE(registry.Create(other).allowed) << "it is offered to another";
    }
    ASSERT_TRUE(registry.Create(claim).allowed);
    EXPECT_EQ(registry.OwnerOf("k")->root, claim.slot);
    EXPECT_EQ(registry.OwnerOf("k")->party, PartyOf(claim.slot));
    EXPECT_EQ(registry.OwnerOf("k")->leaf, bucket.slot);
    EXPECT_FALSE(registry.OwnerOf("k")->contested);
  }
}

// History 19 (R3).
TEST_F(HistoriesOfEvidence, TheSlotOfALeafIsNobodysPass) {
  const Chain chain = Living("team-a", "a", false);
  registry_.SeeDeleted(Terminating(chain.bucket));  // orphaned
  ObjectFacts thief = chain.bucket;
  thief.uid = {"thief"};
  thief.lineage = {};
  thief.version = 60;
  EXPECT_FALSE(registry_.Create(thief, "team-b").allowed);
}

// --- parties and words ------------------------------------------------------------------------

// History 10.
TEST_F(HistoriesOfEvidence, APartyIsWhatItWasGrantedAs) {
  ObjectFacts first =
      ManagedBucket(SlotOf("Bucket", "team-a", "a"), "u1", "k", Intent::kManages, 1);
  ASSERT_TRUE(registry_.Create(first).allowed);
  first.real = true;
  registry_.See(first);
  registry_.SeeDeleted(Terminating(first));
  const ObjectFacts colleague =
      ManagedBucket(SlotOf("Bucket", "team-b", "a"), "u2", "k", Intent::kManages, 20);
  EXPECT_FALSE(registry_.Create(colleague).allowed);
  registry_.parties.services = {{"local/team-a", "files"}, {"local/team-b", "files"}};
  ASSERT_TRUE(registry_.Create(colleague).allowed) << "bound later";
  ObjectFacts seen = colleague;
  seen.real = true;
  registry_.See(seen);
  EXPECT_EQ(registry_.OwnerOf("k")->party, PartyOf(first.slot)) << "configuration rewrites nothing";
  registry_.SeeDeleted(Terminating(seen));
  registry_.parties.services.clear();
  ObjectFacts again = Next(colleague);
  again.uid = {"u3"};
  again.slot.name = "a3";
  EXPECT_FALSE(registry_.Create(again).allowed) << "unbound likewise";
  again.slot.ns = "team-a";
  EXPECT_TRUE(registry_.Create(again).allowed);
}

// History 18.
TEST_F(HistoriesOfEvidence, AStaleAnnotationDoesNotUndoAForcedTransfer) {
  ObjectFacts object = registry_.Live(SlotOf("Bucket", "team-a", "a"), "u1", "k");
  object.transfer_to = "Bucket/team-b/b";
  registry_.See(Next(object));
  ASSERT_EQ(registry_.OwnerOf("k")->successor, "Bucket/team-b/b");
  registry_.Run([&](Ledger& ledger) {
    auto owner = ledger.OwnerOf(scene::IdNamed(scene::BucketKey("k"), ledger));
    ASSERT_TRUE(owner);
    owner->successor = "Bucket/team-c/c";
    ledger.PutOwner(*std::move(owner));
  });
  registry_.See(Next(Next(object)));
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "Bucket/team-c/c");
  ObjectFacts anew = Next(Next(Next(object)));
  anew.transfer_to = "Bucket/team-d/d";
  registry_.See(anew);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "Bucket/team-d/d") << "the newest word counts";
}

TEST_F(HistoriesOfEvidence, ARestoredAnnotationIsOld) {
  for (const char* user : {scene::kRestorer, "dev"}) {
    ObjectFacts object =
        ManagedBucket(SlotOf("Bucket", "team-a", user), user, user, Intent::kDeletes, 1);
    object.transfer_to = "Bucket/team-b/b";
    ASSERT_TRUE(registry_.Create(object, user).allowed);
    registry_.See(object);
    EXPECT_EQ(registry_.OwnerOf(user)->successor.empty(), user == scene::kRestorer) << user;
  }
}

TEST_F(HistoriesOfEvidence, TheTopmostLivingSpeaksForAnEmptyRoot) {
  const Chain chain = Living("team-a", "a", false);
  ObjectFacts composite = Next(chain.composite);
  composite.transfer_to = "Storage/team-b/c";
  registry_.See(composite);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "") << "the claim lives";
  registry_.SeeDeleted(Terminating(chain.claim));
  composite = Next(composite);
  composite.transfer_to = "Storage/team-b/d";
  registry_.See(composite);
  EXPECT_EQ(registry_.OwnerOf("k")->successor, "Storage/team-b/d");
}

// --- restores ---------------------------------------------------------------------------------

// History 8.
TEST_F(HistoriesOfEvidence, AChainIsRestoredInAnyOrder) {
  for (const bool mapped : {true, false}) {
    std::array<int, 3> order = {0, 1, 2};
    do {
      testing::StrictStore store;
      scene::Registry registry(store);
      Chain chain = ChainOf("team-a", "a", mapped);
      EXPECT_TRUE(registry.Create(chain.claim).allowed);
      EXPECT_TRUE(registry.Create(chain.composite, scene::kCrossplane).allowed);
      EXPECT_TRUE(registry.Create(chain.bucket, scene::kCrossplane).allowed);
      const std::array objects = {&chain.claim, &chain.composite, &chain.bucket};
      for (ObjectFacts* object : objects) {
        object->real = true;
        registry.See(*object);
      }
      for (ObjectFacts* object : objects)
        registry.SeeDeleted(Next(*object));  // the cluster is lost
      for (const int at : order) {
        const ObjectFacts restored = Restored(*objects[static_cast<std::size_t>(at)]);
        EXPECT_TRUE(registry.Create(restored, scene::kRestorer).allowed)
            << mapped << order[0] << order[1] << order[2] << " " << at;
        registry.See(restored);
      }
      EXPECT_EQ(registry.OwnerOf("k")->root, chain.claim.slot) << order[0] << order[1] << order[2];
      EXPECT_FALSE(registry.OwnerOf("k")->contested);
      EXPECT_EQ(registry.OwnerOf("k")->record, Record::kNone);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// The same where the registry is lost, too: nobody remembers the chain (R2 c).
TEST_F(HistoriesOfEvidence, AChainIsRestoredIntoAFreshRegistryInAnyOrder) {
  for (const bool claim_mapped : {true, false}) {
    for (const bool composite_mapped : {true, false}) {
      std::array<int, 3> order = {0, 1, 2};
      do {
        testing::StrictStore store;
        scene::Registry registry(store);
        Chain chain = ChainOf("team-a", "a");
        if (!claim_mapped) chain.claim.resources.clear();
        if (!composite_mapped) chain.composite.resources.clear();
        const std::array objects = {&chain.claim, &chain.composite, &chain.bucket};
        const std::string story = std::to_string(claim_mapped) + std::to_string(composite_mapped) +
                                  " " + std::to_string(order[0]) + std::to_string(order[1]) +
                                  std::to_string(order[2]);
        for (const int at : order) {
          const ObjectFacts restored = Restored(*objects[static_cast<std::size_t>(at)]);
          EXPECT_TRUE(registry.Create(restored, scene::kRestorer).allowed) << story << " " << at;
          registry.See(restored);
        }
        ObjectFacts composite = Next(Restored(chain.composite));
        registry.See(composite);  // Crossplane goes on
        ASSERT_TRUE(registry.OwnerOf("k")) << story;
        EXPECT_EQ(registry.OwnerOf("k")->root, chain.claim.slot) << story;
        EXPECT_FALSE(registry.OwnerOf("k")->contested) << story;
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

// Nobody else makes a claim so, and no other claim takes what was restored.
TEST_F(HistoriesOfEvidence, OnlyARestoredClaimTakesWhatWaitsForItsComposite) {
  const Chain chain = ChainOf("team-a", "a");
  ASSERT_TRUE(registry_.Create(Restored(chain.bucket), scene::kRestorer).allowed);
  const ObjectFacts claim = Restored(chain.claim);
  EXPECT_FALSE(registry_.Create(claim, "team-a").allowed);
  ObjectFacts other = claim;
  other.lineage.composite->name = "another";
  EXPECT_FALSE(registry_.Create(other, scene::kRestorer).allowed);
  EXPECT_TRUE(registry_.Create(claim, scene::kRestorer).allowed);
  EXPECT_TRUE(IsOf(chain));
}

TEST_F(HistoriesOfEvidence, OnlyARestorerRestores) {
  const Chain chain = Living("team-a", "a", false);
  for (const ObjectFacts& object : {chain.claim, chain.composite, chain.bucket}) {
    registry_.SeeDeleted(Next(object));
  }
  EXPECT_FALSE(registry_.Create(Restored(chain.bucket), "team-b").allowed);
  ObjectFacts elsewhere = Restored(chain.bucket);
  elsewhere.slot.name = "elsewhere";
  EXPECT_FALSE(registry_.Create(elsewhere, scene::kRestorer).allowed)
      << "a slot that the chain never had, and no claim names its composite";
  EXPECT_TRUE(registry_.Create(Restored(chain.bucket), scene::kRestorer).allowed);
}

// R2 (b): the claim is back, and names the composite that is still missing.
TEST_F(HistoriesOfEvidence, AManagedResourceIsRestoredBeforeItsComposite) {
  const Chain chain = ChainOf("team-a", "a");
  ASSERT_TRUE(registry_.Create(chain.claim).allowed);
  registry_.See(chain.claim);
  ObjectFacts bucket = Restored(chain.bucket);
  ObjectFacts odd = bucket;
  odd.lineage.label = "another";
  EXPECT_FALSE(registry_.Create(odd, scene::kRestorer).allowed);
  ASSERT_TRUE(registry_.Create(bucket, scene::kRestorer).allowed);
  EXPECT_TRUE(IsOf(chain));
  EXPECT_EQ(registry_.OwnerOf("k")->leaf, bucket.slot);
}

// History 27.
TEST_F(HistoriesOfEvidence, NothingIsRestoredBesideALivingManagedResource) {
  const Chain chain = Living("team-a", "a");
  registry_.SeeDeleted(Terminating(chain.bucket));
  ObjectFacts second =
      ManagedBucket(SlotOf("Bucket", "", "a-x-2"), "mr-2", "k", Intent::kDeletes, 40);
  second.lineage.controller = chain.bucket.lineage.controller;
  ASSERT_TRUE(registry_.Create(second, scene::kCrossplane).allowed);
  registry_.See(second);
  EXPECT_FALSE(registry_.Create(Restored(chain.bucket), scene::kRestorer).allowed);
}

TEST_F(HistoriesOfEvidence, NothingIsRestoredBesideAStrangersManagedResource) {
  const Chain chain = Living("team-a", "a");
  registry_.See(Strangers());  // past the webhook: a recorded conflict
  registry_.SeeDeleted(Terminating(chain.bucket));
  registry_.SeeDeleted(Terminating(chain.composite));
  ASSERT_TRUE(IsOf(chain));
  EXPECT_FALSE(registry_.Create(Restored(chain.bucket), scene::kRestorer).allowed);
}

}  // namespace histories_evidence_test
}  // namespace truce
