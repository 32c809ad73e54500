// What the recorded reviews of a real control plane declare (tests/golden/admission).
#include <gtest/gtest.h>

#include <string>

#include "registry/identity/identity.h"
#include "tests/support/recorded_review.h"

namespace truce {
namespace identity_fixtures_test {

constexpr ReviewPart kObject = ReviewPart::kObject;
constexpr ReviewPart kOldObject = ReviewPart::kOldObject;

struct Fixture {
  const char* reason;
  const char* review;
  ReviewPart part;
  GroupKind kind;
  const char* keys;  // joined by blanks; "?" = not known yet
  const char* service;
  Intent intent;
};

const GroupKind kBucket{"s3.aws.upbound.io", "Bucket"};
const GroupKind kPolicy{"s3.aws.upbound.io", "BucketPolicy"};
const GroupKind kQueue{"sqs.aws.upbound.io", "Queue"};
const GroupKind kClaim{"platform.example.org", "ObjectStorage"};

const Fixture kFixtures[] = {
    {"a claim through its mapping", "crossplane-claims-2.create.objectstorage", kObject, kClaim,
     "s3/Bucket|aws|||name=prod-artifacts", "service-a", Intent::kDeletes},
    {"the claim of the other service: the same key", "crossplane-claims-4.create.objectstorage",
     kObject, kClaim, "s3/Bucket|aws|||name=prod-artifacts", "service-b", Intent::kDeletes},
    {"a composed bucket: the same key", "crossplane-claims-12.create.bucket", kObject, kBucket,
     "s3/Bucket|aws|||name=prod-artifacts", "artifacts-r2ln7-pmkxl", Intent::kDeletes},
    {"a namespaced bucket names the bucket of the cluster-scoped one",
     "namespaced-create-1.create.bucket",
     kObject,
     {"s3.aws.m.upbound.io", "Bucket"},
     "s3/Bucket|aws|||name=orders-prod-bucket",
     "default/team-bucket",
     Intent::kDeletes},
    {"observe only", "observe-only-1.create.bucket", kObject, kBucket,
     "s3/Bucket|aws|||name=orders-prod-bucket", "observe-orders", Intent::kObserves},
    {"a policy by reference", "policy-ref-1.create.bucketpolicy", kObject, kPolicy, "?",
     "ref-policy", Intent::kDeletes},
    {"the reference resolved", "policy-ref-resolved-1.update.bucketpolicy", kObject, kPolicy,
     "s3/BucketPolicy|aws|||bucket=orders-prod-bucket", "ref-policy", Intent::kDeletes},
    {"a policy for a bucket by its name", "policy-foreign-1.create.bucketpolicy", kObject, kPolicy,
     "s3/BucketPolicy|aws|||bucket=orders-prod-bucket", "invoices-policy", Intent::kDeletes},
    {"a queue's name is a field", "queue-1.create.queue", kObject, kQueue,
     "sqs/Queue|aws|?local/aws.upbound.io/ProviderConfig//default|us-west-2|name=orders-events",
     "orders-q", Intent::kDeletes},
    {"a table",
     "table-1.create.table",
     kObject,
     {"dynamodb.aws.upbound.io", "Table"},
     "dynamodb/Table|aws|?local/aws.upbound.io/ProviderConfig//default|us-west-2|name=orders-table",
     "orders-table",
     Intent::kDeletes},
    {"a generated name is in the review", "generate-name-1.create.bucket", kObject, kBucket,
     "s3/Bucket|aws|||name=adhoc-4jmw5", "adhoc-4jmw5", Intent::kDeletes},
    {"before the rename", "rename-external-name-1.update.bucket", kOldObject, kBucket,
     "s3/Bucket|aws|||name=orders-prod-bucket", "invoices", Intent::kDeletes},
    {"after the rename", "rename-external-name-1.update.bucket", kObject, kBucket,
     "s3/Bucket|aws|||name=invoices-storage", "invoices", Intent::kDeletes},
    {"a deleted object is in oldObject", "delete-with-finalizer-1.delete.bucket", kOldObject,
     kBucket, "s3/Bucket|aws|||name=orders-prod-bucket", "orders", Intent::kDeletes},
};

IdentityRules Rules() {
  MappedResource bucket;
  bucket.type = "s3/Bucket";
  bucket.parts["name"].path =
      FieldPath::Parse("spec.parameters.name", FieldPath::Root::kObject).value();
  bucket.region.emplace().path =
      FieldPath::Parse("spec.parameters.region", FieldPath::Root::kObject).value();
  IdentityRules rules;
  rules.cluster = "local";
  rules.catalogue = &Catalogue::BuiltIn();
  rules.mappings = MappingRules::Create({{kClaim, {}, {bucket}}}, *rules.catalogue).value();
  return rules;
}

TEST(IdentityFixtures, RecordedObjectsDeclareTheirKeys) {
  const IdentityRules rules = Rules();
  for (const Fixture& fixture : kFixtures) {
    SCOPED_TRACE(fixture.reason);
    const Document document = DocumentFromReview(fixture.review, fixture.part);
    const ObjectFacts facts = Identify(document.root(), fixture.kind, rules);
    std::string keys;
    for (const DeclaredResource& resource : facts.resources) {
      if (!keys.empty()) keys += ' ';
      keys += resource.key().empty() ? "?" : resource.key().text;
      EXPECT_EQ(resource.intent, fixture.intent);
    }
    EXPECT_EQ(keys, fixture.keys);
    EXPECT_EQ(facts.service, fixture.service);
    EXPECT_FALSE(facts.uid.empty());
    EXPECT_TRUE(facts.bad_names.empty());
  }
}

TEST(IdentityFixtures, AComposedObjectAndItsCompositeStateTheirLinks) {
  const IdentityRules rules = Rules();
  const Document bucket = DocumentFromReview("crossplane-claims-12.create.bucket", kObject);
  const ObjectFacts composed = Identify(bucket.root(), kBucket, rules);
  ASSERT_TRUE(composed.lineage.controller.has_value());
  EXPECT_EQ(composed.lineage.controller->kind, "XObjectStorage");
  EXPECT_FALSE(composed.lineage.controller->uid.empty());
  EXPECT_TRUE(composed.lineage.composed);
  const Document update = DocumentFromReview("crossplane-claims-8.update.xobjectstorage", kObject);
  const ObjectFacts composite =
      Identify(update.root(), {"platform.example.org", "XObjectStorage"}, rules);
  ASSERT_TRUE(composite.lineage.claim.has_value());
  EXPECT_EQ(*composite.lineage.claim,
            (ObjectRef{"platform.example.org", "ObjectStorage", "team-a", "artifacts", {}}));
}

}  // namespace identity_fixtures_test
}  // namespace truce
