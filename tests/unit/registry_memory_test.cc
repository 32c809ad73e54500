// What the data directory and the cluster's Lease remember of a registry.
#include "webhook/watch/recovery/registry_memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/memory_cluster_api.h"
#include "tests/support/store_samples.h"
#include "tests/support/temporary_folder.h"

namespace truce {
namespace registry_memory_test {

using testing::Soon;

const AuditWitness kWitness{"4vzq3r7k2m5n6", 17, Timestamp(std::chrono::seconds(3)), ResourceId{}};

TEST(RegistryMemory, TheLeaseKeepsMarkAndWitnessApart) {
  MemoryClusterApi api;
  LeaseMemory lease(api, "kube-system", "prod");
  EXPECT_FALSE(lease.Read(Soon()).value().mark.has_value()) << "there is no Lease";
  const StoreMark mark{"4vzq3r7k2m5n6", 3};
  EXPECT_FALSE(lease.WriteWitness(kWitness, Soon()).has_value());
  EXPECT_EQ(lease.Read(Soon()).value().witness, kWitness);
  EXPECT_FALSE(lease.Write(mark, Soon()).has_value());
  const LeaseNotes notes = lease.Read(Soon()).value();
  EXPECT_EQ(notes.mark, mark);
  EXPECT_EQ(notes.witness, kWitness);
}

TEST(RegistryMemory, ALeaseOfThatNameElsewhereIsAnotherOne) {
  MemoryClusterApi api;
  const StoreMark mark{"4vzq3r7k2m5n6", 3};
  const StoreMark second{"2m5n64vzq3r7k", 1};
  LeaseMemory own(api, "truce-system", "prod");
  LeaseMemory elsewhere(api, "team-a", "prod");
  LeaseMemory of_another_cluster(api, "team-b", "test");
  EXPECT_FALSE(elsewhere.Write(second, Soon()).has_value());
  EXPECT_FALSE(of_another_cluster.Write(second, Soon()).has_value());
  for (const bool has_own : {false, true}) {
    if (has_own) {
      EXPECT_FALSE(own.Write(mark, Soon()).has_value());
    }
    const LeaseNotes notes = own.Read(Soon()).value();
    EXPECT_EQ(notes.mark.has_value(), has_own);
    ASSERT_EQ(notes.others.size(), 1U);
    EXPECT_EQ(notes.others[0].ns, "team-a");
    EXPECT_EQ(notes.others[0].mark, second);
  }
  // A server whose rights are older than this: as before.
  api.SetFault([](std::string_view verb, std::string_view) -> std::optional<ApiError> {
    if (verb == "list") return ApiError{ApiErrorKind::kForbidden, 403, "no", std::nullopt};
    return std::nullopt;
  });
  EXPECT_EQ(own.Read(Soon()).value().mark, mark);
  EXPECT_TRUE(own.Read(Soon()).value().others.empty());
}

TEST(RegistryMemory, AFileThatCannotBeReadIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  EXPECT_FALSE(ReadWitnessFile(path).has_value());
  ASSERT_TRUE(WriteWitnessFile(path, kWitness).ok());
  EXPECT_EQ(ReadWitnessFile(path), kWitness);
  std::ofstream(folder.path() / "registry.witness") << "torn";
  EXPECT_FALSE(ReadWitnessFile(path).has_value());
}

}  // namespace registry_memory_test
}  // namespace truce
