// Breaches of what is true of resources and their names are found (I1, I13, I14, I17).
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

const std::string kA = SampleId("a").text;
const std::string kB = SampleId("b").text;
const std::string kAssigned = "ec2/VPC|aws|||@id=vpc-1";

// "a" owned, "b" observed only; "a" is declared, has a located name and one that AWS gave.
StoreContents Sound() {
  const Changes create = SampleNamedCreate("a", "u1");
  const Changes observe = SampleObserve("b", "u2");
  StoreContents contents;
  contents.owners = create.put_owners;
  contents.owners[0].key = SampleName("a").name;
  contents.owners[0].shape = ShapeOf(contents.owners[0].key);
  contents.observed = observe.put_observed;
  contents.rows = {create.put_rows[0], observe.put_rows[0]};
  contents.objects = {create.put_objects[0], observe.put_objects[0]};
  contents.audit = create.audit;
  ResourceName assigned = SampleName("a");
  assigned.name.text = kAssigned;
  assigned.sort = NameSort::kAssigned;
  contents.names = {assigned, SampleName("a"), SampleKeyName("a"), SampleKeyName("b")};
  return contents;
}

struct Case {
  std::string reason;
  std::function<void(StoreContents&)> spoil;
  std::vector<std::string> breaches;
};

std::vector<Case> Cases() {
  const std::string shown = "shown by another name than its best one: ";
  const std::string nameless = "I14: resource without a name: " + kB;
  return {
      {"sound", [](StoreContents&) {}, {}},
      {"two owners",
       [](StoreContents& contents) { contents.owners.push_back(contents.owners[0]); },
       {"I1: a resource has two owners"}},
      {"rows alone are enough",
       [](StoreContents& contents) { contents.names[0].resource = SampleId("b"); },
       {}},
      {"its resource is gone",
       [](StoreContents& contents) { contents.names[0].resource = SampleId("c"); },
       {"I13: name without resource: " + kAssigned}},
      {"two resources have it",
       [](StoreContents& contents) {
         contents.names.push_back(contents.names[0]);
         contents.names.back().resource = SampleId("b");
       },
       {"I13: name twice: " + kAssigned}},
      {"two resources have it, each in a spelling",
       [](StoreContents& contents) {
         contents.names.push_back(contents.names[0]);
         contents.names.back().resource = SampleId("b");
         contents.names.back().spelling = 1;
       },
       {}},
      {"no name",
       [](StoreContents& contents) { contents.names.pop_back(); },
       {nameless, shown + kB + " (" + SampleKey("b").text + ")"}},
      {"a former id is no name",
       [](StoreContents& contents) { contents.names.back().sort = NameSort::kFormerId; },
       {nameless, shown + kB + " (" + SampleKey("b").text + ")"}},
      {"managed without owner",
       [](StoreContents& contents) { contents.rows[1].intent = Intent::kManages; },
       {"I14: managed resource without owner: " + kB + " of u2"}},
      {"two located names",
       [](StoreContents& contents) {
         contents.names.push_back(SampleName("x"));
         contents.names.back().resource = SampleId("a");
       },
       {"I17: two located names: " + kA}},
      {"one located name in two spellings",
       [](StoreContents& contents) {
         contents.names.push_back(SampleName("a"));
         contents.names.back().spelling = 1;
       },
       {}},
      {"shown as declared",
       [](StoreContents& contents) {
         contents.owners[0].key = SampleKey("a");
         contents.owners[0].shape = ShapeOf(SampleKey("a"));
       },
       {shown + kA + " (" + SampleKey("a").text + ")"}},
      {"owned and observed",
       [](StoreContents& contents) {
         contents.observed.push_back({SampleId("a"), contents.owners[0].key});
       },
       {"owned and only observed: " + kA + " (" + SampleName("a").name.text + ")"}},
      {"rows of nothing",
       [](StoreContents& contents) { contents.observed.clear(); },
       {"rows of neither an owner's nor an observed resource: " + kB}},
      {"an agreement without owner",
       [](StoreContents& contents) { contents.agreements.emplace_back().resource = SampleId("b"); },
       {"agreement without owner: " + kB}},
  };
}

TEST(Invariants, BreachesAreFound) {
  for (const Case& each : Cases()) {
    SCOPED_TRACE(each.reason);
    StoreContents contents = Sound();
    each.spoil(contents);
    EXPECT_EQ(CheckInvariants(contents), each.breaches);
  }
}

}  // namespace invariants_test
}  // namespace truce::testing
