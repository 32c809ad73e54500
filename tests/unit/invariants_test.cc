// Breaches of what is true of names are found (I13, I17).
#include "tests/support/invariants.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/store_contents.h"
#include "tests/support/store_samples.h"

namespace truce::testing {
namespace invariants_test {

// "a" owned, "b" observed only; "a" has a located name and one that AWS gave.
StoreContents Sound() {
  const Changes create = SampleNamedCreate("a", "u1");
  const Changes other = SampleCreate("b", "u2");
  StoreContents contents;
  contents.owners = create.put_owners;
  contents.rows = {create.put_rows[0], other.put_rows[0]};
  contents.rows[1].intent = Intent::kObserves;
  contents.objects = {create.put_objects[0], other.put_objects[0]};
  contents.audit = create.audit;
  ResourceName assigned = SampleName("a");
  assigned.name.text = "ec2/VPC|aws|123456789012|us-west-2|id=vpc-1";
  assigned.sort = NameSort::kAssigned;
  contents.names = {assigned, create.put_names[0]};
  return contents;
}

struct Case {
  std::string reason;
  std::function<void(StoreContents&)> spoil;
  std::vector<std::string> breaches;
};

std::vector<Case> Cases() {
  const std::string located = SampleName("a").name.text;
  return {
      {"sound", [](StoreContents&) {}, {}},
      {"rows alone are enough",
       [](StoreContents& contents) { contents.names[0].key = SampleKey("b"); },
       {}},
      {"its resource is gone",
       [](StoreContents& contents) { contents.names[1].key = SampleKey("c"); },
       {"I13: name without resource: " + located}},
      {"it is an owned key",
       [](StoreContents& contents) { contents.names[1].name = SampleKey("a"); },
       {"I13: a name is a key too: " + SampleKey("a").text}},
      {"it is the key of rows",
       [](StoreContents& contents) { contents.names[1].name = SampleKey("b"); },
       {"I13: a name is a key too: " + SampleKey("b").text}},
      {"two resources have it",
       [](StoreContents& contents) {
         contents.names.push_back(contents.names[1]);
         contents.names.back().key = SampleKey("b");
       },
       {"I13: name twice: " + located}},
      {"two located names",
       [](StoreContents& contents) { contents.names[0].sort = NameSort::kLocated; },
       {"I17: two located names: " + SampleKey("a").text}},
      {"a located name beside a key that is one",
       [](StoreContents& contents) {
         const KeyText key = {"s3/Bucket|aws|210987654321||name=a"};
         contents.owners[0].key = contents.rows[0].id.key = key;
         for (ResourceName& name : contents.names) name.key = key;
       },
       {"I17: two located names: s3/Bucket|aws|210987654321||name=a"}},
      {"an account that is no number is not located",
       [](StoreContents& contents) {
         const KeyText key = {"s3/Bucket|aws|prod-account||name=a"};
         contents.owners[0].key = contents.rows[0].id.key = key;
         for (ResourceName& name : contents.names) name.key = key;
       },
       {}},
      {"a name without fields",
       [](StoreContents& contents) {
         contents.owners[0].key = contents.rows[0].id.key = {"123456789012"};
         for (ResourceName& name : contents.names) name.key = {"123456789012"};
       },
       {}},
  };
}

TEST(Invariants, I13AndI17BreachesOfNamesAreFound) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.reason);
    StoreContents contents = Sound();
    each.spoil(contents);
    EXPECT_EQ(CheckInvariants(contents), each.breaches);
  }
}

}  // namespace invariants_test
}  // namespace truce::testing
