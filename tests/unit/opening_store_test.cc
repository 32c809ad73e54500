// What a server's store answers before and after it is open.
#include "registry/store/opening_store.h"
#include "tests/support/store_contents.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "registry/ownership/rows.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"

namespace truce {
namespace opening_store_test {

using testing::SampleOwner;
using testing::Soon;

class OpeningStoreTest : public ::testing::Test {
 protected:
  static Changes Nothing(const AllFacts&) { return {}; }
  static Changes OneOwner(const AllFacts&) {
    Changes changes;
    changes.put_owners = {SampleOwner("n", "u")};
    return changes;
  }
  Result<void> Submitted(const DecideFn& decide) {
    std::optional<Result<void>> done;
    store_.Submit({}, decide, Soon(), [&](const Result<void>& result) { done = result; });
    return done.value_or(Error{ErrorCode::kInternal, "nothing was told"});
  }
  static void ExpectNotOpen(const Result<void>& result) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(result.error().message, "the store is not open yet");
  }

  OpeningStore store_;
};

TEST_F(OpeningStoreTest, IsUnavailableUntilItIsOpen) {
  bool asked = false;
  const auto look = [&](const Facts&) { asked = true; };
  const auto decide = [&](const AllFacts&) {
    asked = true;
    return Changes();
  };
  ExpectNotOpen(store_.Apply({}, decide, Soon()));
  ExpectNotOpen(Submitted(decide));
  ExpectNotOpen(store_.Read(look, Soon()));
  ExpectNotOpen(store_.Health());
  EXPECT_EQ(ContentsOf(store_).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(store_.Counts(), StoreCounts());
  EXPECT_FALSE(store_.FatalFailure());
  EXPECT_FALSE(store_.is_remote());
  EXPECT_FALSE(asked);
}

TEST_F(OpeningStoreTest, PassesOnToTheStoreThatItOwns) {
  store_.Open(std::make_unique<MemoryStore>());
  EXPECT_TRUE(store_.Apply({}, OneOwner, Soon()).ok());
  EXPECT_TRUE(Submitted(Nothing).ok());
  std::optional<Owner> owner;
  const auto look = [&](const Facts& facts) { owner = facts.OwnerOf(SampleOwner("n", "u").id); };
  EXPECT_TRUE(store_.Read(look, Soon()).ok());
  EXPECT_EQ(owner, SampleOwner("n", "u"));
  EXPECT_TRUE(store_.Health().ok());
  EXPECT_EQ(store_.Counts().owners, 1U);
  EXPECT_EQ(ContentsOf(store_).value().owners.size(), 1U);
}

TEST_F(OpeningStoreTest, PassesOnToAStoreThatOutlivesIt) {
  MemoryStore other;
  store_.Open(other);
  EXPECT_TRUE(Submitted(OneOwner).ok());
  EXPECT_EQ(other.Counts().owners, 1U);
}

}  // namespace opening_store_test
}  // namespace truce
