// Whose uid it is.
#include "registry/identity/uids.h"

#include <gtest/gtest.h>

namespace truce {
namespace uids_test {

TEST(Uids, AreTheClustersAndKubernetesOwn) {
  const Uid uid = UidIn("prod", "4f1d");
  EXPECT_EQ(uid.text, "prod/4f1d");
  EXPECT_EQ(MetadataUid(uid), "4f1d");
  EXPECT_TRUE(UidIn("prod", "").empty());
  EXPECT_EQ(UidIn("", "4f1d").text, "4f1d");
  EXPECT_EQ(MetadataUid(UidIn("", "4f1d")), "4f1d");
  EXPECT_EQ(MetadataUid({}), "");
}

}  // namespace uids_test
}  // namespace truce
