// What is remembered of a registry outside of it: whether it still has that.
#include "webhook/watch/recovery/witness.h"

#include <gtest/gtest.h>

#include <string>

#include "registry/ownership/rows.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_samples.h"
#include "webhook/watch/recovery/recovery.h"

namespace truce {
namespace witness_test {

using testing::Soon;

void AddLine(Store& store, const std::string& id, std::int64_t at) {
  Changes changes;
  changes.audit.push_back({.at = Timestamp(std::chrono::milliseconds(at)), .id = {id}});
  ASSERT_TRUE(testing::Write(store, changes).ok());
}

// A registry of one mark with three lines.
class WitnessTest : public ::testing::Test {
 protected:
  WitnessTest() { Fill(store_); }

  void Fill(Store& store) {
    const IdSource ids = [] { return PublicId{"registry1"}; };
    ASSERT_TRUE(CountStart(store, ids, Soon()).ok());
    AddLine(store, "a", 1000);
    AddLine(store, "", 2000);
  }
  static std::string LossOf(const Store& store, const AuditWitness& remembered) {
    return ReadWitness(store, remembered, Soon()).value().loss;
  }

  MemoryStore store_;
};

TEST_F(WitnessTest, IsTheNewestLine) {
  AddLine(store_, "c", 3000);
  const auto look = ReadWitness(store_, std::nullopt, Soon()).value();
  EXPECT_EQ(look.newest,
            (AuditWitness{"registry1", 3, Timestamp(std::chrono::seconds(3)), ResourceId{"c"}}));
  EXPECT_EQ(look.loss, "");
  const auto nothing = ReadWitness(MemoryStore(), std::nullopt, Soon()).value();
  EXPECT_FALSE(nothing.newest.has_value());
}

TEST_F(WitnessTest, ARegistryThatLacksItSaysWhatItLacks) {
  MemoryStore copy;
  Fill(copy);
  AddLine(store_, "c", 3000);
  const AuditWitness newest = *ReadWitness(store_, std::nullopt, Soon()).value().newest;
  EXPECT_EQ(LossOf(store_, newest), "");
  EXPECT_EQ(LossOf(copy, newest),
            "the registry no longer has line 3 of its audit log, of 1970-01-01T00:00:03Z: it was "
            "restored, or its database failed over to a standby that was behind");
  // It wrote on since it was restored: another line has the number.
  AddLine(copy, "c", 3001);
  EXPECT_NE(LossOf(copy, newest), "");
  AddLine(store_, "d", 4000);
  EXPECT_EQ(LossOf(store_, newest), "");
}

TEST_F(WitnessTest, WhatWasLetGoIsNotMissed) {
  AddLine(store_, "c", 3000);
  const AuditWitness newest = *ReadWitness(store_, std::nullopt, Soon()).value().newest;
  AddLine(store_, "d", 4000);
  Changes let_go;
  let_go.put_settings.emplace_back("audit.let-go", "3");
  ASSERT_TRUE(testing::Write(store_, let_go).ok());
  EXPECT_EQ(LossOf(store_, newest), "");
}

TEST_F(WitnessTest, OfAnotherRegistryNothingIsMissed) {
  AddLine(store_, "c", 3000);
  AuditWitness newest = *ReadWitness(store_, std::nullopt, Soon()).value().newest;
  newest.number = 9;
  EXPECT_NE(LossOf(store_, newest), "");
  newest.registry = "registry2";
  EXPECT_EQ(LossOf(store_, newest), "");
}

TEST_F(WitnessTest, ItsTextCanBeReadAgain) {
  for (const char* id : {"", "4vzq3r7k2m5n6"}) {
    const AuditWitness witness{id, 7, Timestamp(std::chrono::seconds(3)), ResourceId{id}};
    EXPECT_EQ(AuditWitnessFromText(ToText(witness) + "\n"), witness);
  }
  for (const char* text :
       {"", " ", "a", "a 1", "a 1 2", "a 1 2 b c", "a x 2 b", "a 1 2x b", "a  1 2"}) {
    EXPECT_FALSE(AuditWitnessFromText(text)) << text;
  }
}

}  // namespace witness_test
}  // namespace truce
