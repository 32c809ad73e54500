// A watcher over a cluster with claims, their composites and what is composed of them: for its
// tests.
#ifndef TRUCE_TESTS_SUPPORT_WATCHER_CHAIN_H_
#define TRUCE_TESTS_SUPPORT_WATCHER_CHAIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "registry/identity/mapping.h"
#include "tests/support/watcher_fixture.h"

namespace truce::testing {

class ChainTest : public WatcherTest {
 protected:
  static constexpr const char* kRef = R"({"apiVersion":"acme.example.org/v1","kind":)";

  // The field at `path` of objects of `kinds` is a bucket's name.
  ReconcileRules Mapped(const std::string& path,
                        const std::vector<GroupKind>& kinds = {kClaim}) const {
    std::vector<MappingRule> all;
    for (const GroupKind& kind : kinds) {
      MappingRule rule;
      rule.kind = kind;
      MappedResource bucket;
      bucket.type = "s3/Bucket";
      PartSource name;
      name.path = FieldPath::Parse(path, FieldPath::Root::kObject).value();
      bucket.parts[rules_.catalogue->FindType("s3/Bucket")->parts.front().name] = std::move(name);
      rule.declares.push_back(std::move(bucket));
      all.push_back(std::move(rule));
    }
    ReconcileRules rules = rules_;
    rules.identity.mappings = MappingRules::Create(std::move(all), *rules_.catalogue).value();
    return rules;
  }

  // A claim, its composite and its bucket as Crossplane leaves them; their uids begin with c, x, b.
  void PutChain(const std::string& name) {
    cluster_.Put(Claimed(name));
    cluster_.Put(Composite(name));
    cluster_.Put(Real(Composed(name)));
  }
  static SmallObject Claimed(const std::string& name) {
    SmallObject claim{kClaim, "team-a", name, "c-" + name, {}, {}};
    claim.rest = R"("spec":{"parameters":{"name":")" + name + R"(-prod"},"resourceRef":)" + kRef +
                 R"("XStorage","name":")" + name + R"("}})";
    return claim;
  }
  static SmallObject Composite(const std::string& name) {
    SmallObject composite{kComposite, "", name, "x-" + name, {}, {}};
    composite.rest = R"("spec":{"parameters":{"name":")" + name + R"(-prod"},"claimRef":)" + kRef +
                     R"("Storage","namespace":"team-a","name":")" + name +
                     R"("},"resourceRefs":[{"apiVersion":"s3.aws.upbound.io/v1beta2",
                     "kind":"Bucket","name":")" +
                     name + R"("}]})";
    return composite;
  }
  static SmallObject Composed(const std::string& name) {
    SmallObject bucket = Bucket(name, "b-" + name, name + "-prod");
    bucket.metadata += R"(,"ownerReferences":[{"apiVersion":"acme.example.org/v1","kind":"XStorage",
        "name":")" + name +
                       R"(","uid":"x-)" + name + R"(","controller":true}])";
    return bucket;
  }
  void PutDefinition() {
    cluster_.Serve({kClaim.group, "v1", kClaim.kind, "storages", true});
    cluster_.Serve({kComposite.group, "v1", kComposite.kind, "xstorages", false});
    cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
    SmallObject xrd{kXrd, "", "xstorages.acme.example.org", "xrd", {}, {}};
    xrd.rest = R"("spec":{"group":"acme.example.org","names":{"kind":"XStorage"},
        "claimNames":{"kind":"Storage"}})";
    cluster_.Put(xrd);
  }
};

}  // namespace truce::testing

#endif  // TRUCE_TESTS_SUPPORT_WATCHER_CHAIN_H_
