// The built-in types: what must hold for all, and samples read against AWS's documentation.
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "registry/catalogue/catalogue.h"

namespace truce {
namespace catalogue_data_test {

const TypeSpec& Type(std::string_view name) {
  const TypeSpec* const spec = Catalogue::BuiltIn().FindType(name);
  EXPECT_NE(spec, nullptr) << name;
  return spec == nullptr ? Catalogue::BuiltIn().types().front() : *spec;
}

std::vector<std::string> PartNames(const TypeSpec& spec) {
  std::vector<std::string> names;
  for (const KeyPart& part : spec.parts) names.push_back(part.name);
  return names;
}

bool IsOfUpjet(const TypeSpec& spec) {
  return std::ranges::any_of(
      spec.kinds, [](const KindSpec& kind) { return kind.flavour == Flavour::kUpjetCluster; });
}

TEST(CatalogueData, HoldsEveryKindOfTheProvider) {
  const auto types = Catalogue::BuiltIn().types();
  EXPECT_EQ(std::ranges::count_if(types, IsOfUpjet), 1030);
  EXPECT_EQ(types.size(), 1075U) << "the others are of ACK alone";
  std::map<Certainty, int> certainties;
  std::map<Scope, int> scopes;
  std::map<std::string_view, int> attachments;
  for (const TypeSpec& spec : types) {
    ++certainties[spec.certainty];
    ++scopes[spec.scope];
    if (!spec.attachment) continue;
    ++attachments[spec.attachment->mode == Attachment::Mode::kExclusive ? "exclusive" : "additive"];
  }
  EXPECT_EQ(certainties[Certainty::kResearched], 131);
  EXPECT_EQ(scopes[Scope::kPartition], 3);
  EXPECT_EQ(attachments["exclusive"], 184);
  EXPECT_EQ(attachments["additive"], 165);
}

TEST(CatalogueData, MapsBothUpjetGroupsOfEveryType) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    if (!IsOfUpjet(spec)) continue;
    SCOPED_TRACE(spec.name);
    const std::string kind = spec.name.substr(spec.Service().size() + 1);
    for (const auto& [suffix, flavour] :
         {std::pair(".aws.upbound.io", Flavour::kUpjetCluster),
          std::pair(".aws.m.upbound.io", Flavour::kUpjetNamespaced)}) {
      const KindEntry* const entry =
          Catalogue::BuiltIn().FindKind(std::string(spec.Service()) + suffix, kind);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->type, &spec);
      EXPECT_EQ(entry->flavour, flavour);
    }
  }
}

// An object of ACK names the same resource as one of Crossplane: the types are the same.
TEST(CatalogueData, HoldsTheKindsOfAck) {
  std::size_t kinds = 0;
  std::size_t unsure = 0;
  std::size_t late = 0;
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    SCOPED_TRACE(spec.name);
    std::size_t own = 0;
    for (const KindSpec& kind : spec.kinds) {
      if (kind.flavour != Flavour::kAck) continue;
      ++own;
      if (!kind.sure) ++unsure;
    }
    EXPECT_LE(own, 1U) << "a reference could not tell which kind is meant";
    kinds += own;
    if (own != 0 && spec.Late(Flavour::kAck)) ++late;
  }
  EXPECT_EQ(kinds, 271U);
  EXPECT_EQ(unsure, 51U);
  EXPECT_EQ(late, 63U);
}

// Every place that must know how a flavour is written asks this table.
TEST(CatalogueData, AGroupTellsItsFlavour) {
  for (const FlavourSpec& flavour : Flavours()) {
    SCOPED_TRACE(flavour.name);
    EXPECT_EQ(&SpecOf(flavour.flavour), &flavour);
    EXPECT_EQ(FindFlavour("s3" + std::string(flavour.groups)), &flavour);
    EXPECT_EQ(FindFlavour(flavour.ConfigGroup()), nullptr)
        << "what names accounts declares nothing";
  }
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    for (const KindSpec& kind : spec.kinds) {
      ASSERT_NE(FindFlavour(kind.group), nullptr) << kind.group;
      EXPECT_EQ(FindFlavour(kind.group)->flavour, kind.flavour) << kind.group;
    }
  }
  EXPECT_EQ(FindFlavour("platform.example.org"), nullptr);
  EXPECT_EQ(FlavourFor("platform.example.org").flavour, Flavour::kUpjetCluster);
}

TEST(CatalogueData, KindsAreFoundByGroupAndKindTogether) {
  const Catalogue& catalogue = Catalogue::BuiltIn();
  EXPECT_EQ(catalogue.FindKind("rds.aws.upbound.io", "Cluster")->type->name, "rds/Cluster");
  EXPECT_EQ(catalogue.FindKind("eks.aws.upbound.io", "Cluster")->type->name, "eks/Cluster");
  EXPECT_EQ(catalogue.FindKind("database.aws.crossplane.io", "RDSInstance")->type->name,
            "rds/Instance");
  EXPECT_EQ(catalogue.FindKind("s3.aws.upbound.io", "bucket"), nullptr);
  EXPECT_EQ(catalogue.FindKind("s3.aws.upbound.io.", "Bucket"), nullptr);
  EXPECT_EQ(catalogue.FindKind("", ""), nullptr);
  EXPECT_EQ(catalogue.FindType("s3/Buckets"), nullptr);
}

TEST(CatalogueData, AssignedIdsAndSingletonsHaveTheirForm) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    SCOPED_TRACE(spec.name);
    if (spec.scope == Scope::kAssignedId) {
      EXPECT_EQ(PartNames(spec), std::vector<std::string>{"id"});
    }
    if (spec.parts.empty()) {
      EXPECT_EQ(spec.attachment->parent, "account");
    }
    EXPECT_FALSE(spec.family.empty());
    const bool id_alone = spec.scope == Scope::kAssignedId && spec.id_in_partition;
    EXPECT_EQ(spec.KeyHasAccount(),
              spec.scope != Scope::kPartition && !spec.parent_in_partition && !id_alone);
  }
}

TEST(CatalogueData, DefaultsAreNormalisedAlready) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    for (const KeyPart& part : spec.parts) {
      if (!part.default_value) continue;
      EXPECT_EQ(Normalise(part.normalisers, *part.default_value), *part.default_value)
          << spec.name << " " << part.name;
    }
  }
}

// Types of one space: the members that reach one AWS resource by one name.
TEST(CatalogueData, SharedSpacesHoldTheKindsThatReachOneResource) {
  std::map<std::string, std::set<std::string>> spaces;
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) spaces[spec.space].insert(spec.name);
  const std::map<std::string, std::set<std::string>> expected = {
      {"rds/cluster", {"rds/Cluster", "docdb/Cluster", "neptune/Cluster"}},
      {"rds/db",
       {"rds/Instance", "rds/ClusterInstance", "docdb/ClusterInstance", "neptune/ClusterInstance"}},
      {"es/domain", {"opensearch/Domain", "elasticsearch/Domain"}},
      {"glue/database", {"glue/CatalogDatabase", "athena/Database"}},
      {"kms/key", {"kms/Key", "kms/ExternalKey", "kms/ReplicaKey", "kms/ReplicaExternalKey"}},
      {"ec2/vpc", {"ec2/VPC", "ec2/DefaultVPC"}},
      {"ec2/snapshot", {"ec2/EBSSnapshot", "ec2/EBSSnapshotCopy", "ec2/EBSSnapshotImport"}},
      {"s3/object", {"s3/Object", "s3/BucketObject", "s3/ObjectCopy"}},
      {"ses/identity", {"ses/EmailIdentity", "ses/DomainIdentity", "sesv2/EmailIdentity"}},
      {"apigateway/domain", {"apigateway/DomainName", "apigatewayv2/DomainName"}},
  };
  for (const auto& [space, members] : expected) EXPECT_EQ(spaces[space], members) << space;
  const auto shared = std::count_if(spaces.begin(), spaces.end(),
                                    [](const auto& entry) { return entry.second.size() > 1; });
  EXPECT_EQ(shared, 35);
  // Options, accepters and registrations are types of their own.
  EXPECT_EQ(spaces["ec2/VPCPeeringConnectionOptions"].size(), 1U);
  EXPECT_EQ(spaces["ram/ResourceShareAccepter"].size(), 1U);
  EXPECT_EQ(spaces["workspaces/Directory"].size(), 1U);
}

struct KeySample {
  std::string type;
  bool account;
  bool region;
  std::vector<std::string> parts;
};

TEST(CatalogueData, KeysHaveTheDocumentedParts) {
  const std::vector<KeySample> samples = {
      {"s3/Bucket", false, false, {"name"}},
      {"s3/BucketPolicy", false, false, {"bucket"}},
      {"s3/BucketMetric", false, false, {"bucket", "name"}},
      {"dynamodb/Table", true, true, {"name"}},
      {"dynamodb/GlobalTable", true, false, {"name"}},
      {"sqs/Queue", true, true, {"name"}},
      {"sqs/QueuePolicy", true, true, {"queueUrl"}},
      {"sns/TopicSubscription", false, false, {"topicArn", "protocol", "endpoint"}},
      {"iam/Role", true, false, {"name"}},
      {"iam/RolePolicyAttachment", true, false, {"role", "policyArn"}},
      {"iam/AccountAlias", true, false, {}},
      {"rds/GlobalCluster", true, false, {"name"}},
      {"docdb/GlobalCluster", true, false, {"name"}},
      {"lambda/Permission", true, true, {"functionName", "qualifier", "statementId"}},
      {"cloudwatchevents/Rule", true, true, {"eventBusName", "name"}},
      {"cloudwatchevents/Target", true, true, {"eventBusName", "rule", "targetId"}},
      {"route53/Record", false, false, {"zoneId", "name", "type", "setIdentifier"}},
      {"eks/NodeGroup", true, true, {"clusterName", "name"}},
      {"eks/PodIdentityAssociation", true, true, {"clusterName", "namespace", "serviceAccount"}},
      {"ec2/SecurityGroup", true, true, {"vpcId", "name"}},
      {"ec2/SecurityGroupRule",
       false,
       false,
       {"securityGroupId", "direction", "protocol", "fromPort", "toPort", "source"}},
      {"ec2/VPC", false, false, {"id"}},
      {"ec2/Route", true, true, {"routeTableId", "destination"}},
      {"ec2/DefaultVPC", false, false, {"id"}},
      {"ec2/EIPAssociation", true, true, {"allocationId"}},
      {"ec2/EBSEncryptionByDefault", true, true, {}},
      {"glue/CatalogTable", true, true, {"databaseName", "name"}},
      {"wafv2/WebACL", true, true, {"scope", "name"}},
      {"wafv2/WebACLAssociation", true, true, {"resourceArn"}},
      {"ecs/Service", true, true, {"cluster", "name"}},
      {"kms/Alias", true, true, {"name"}},
      {"organizations/Account", false, false, {"email"}},
  };
  for (const KeySample& sample : samples) {
    SCOPED_TRACE(sample.type);
    const TypeSpec& spec = Type(sample.type);
    EXPECT_EQ(spec.KeyHasAccount(), sample.account);
    EXPECT_EQ(spec.KeyHasRegion(), sample.region);
    EXPECT_EQ(PartNames(spec), sample.parts);
  }
}

TEST(CatalogueData, DefaultsAndSetsAreThere) {
  EXPECT_EQ(Type("cloudwatchevents/Rule").parts[0].default_value, "default");
  EXPECT_EQ(Type("lambda/FunctionURL").parts[1].default_value, "$LATEST");
  EXPECT_EQ(Type("route53/Record").parts[3].default_value, "");
  EXPECT_EQ(Type("secretsmanager/SecretVersion").parts[1].default_value, "AWSCURRENT");
  EXPECT_TRUE(Type("secretsmanager/SecretVersion").parts[1].list);
  EXPECT_EQ(Type("glue/CatalogDatabase").account_path, std::vector<std::string>{"catalogId"});
  EXPECT_TRUE(Type("ec2/SecurityGroupRule").parts[5].list);
  EXPECT_TRUE(Type("iam/UserGroupMembership").parts[1].list);
  EXPECT_TRUE(Type("autoscaling/Notification").parts[0].list);
}

struct Spelling {
  std::string type;
  std::string value;
  std::string expected;  // of the first part
};

TEST(CatalogueData, SpellingsOfOneParentMeet) {
  const std::vector<Spelling> spellings = {
      {"iam/Role", "Deployer", "deployer"},
      {"rds/Cluster", "Orders", "orders"},
      {"sqs/QueuePolicy", "https://sqs.eu-west-1.amazonaws.com/123456789012/orders", "orders"},
      {"sqs/QueuePolicy", "https://eu-west-1.queue.amazonaws.com/123456789012/orders", "orders"},
      {"secretsmanager/SecretVersion",
       "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-a1B2c3", "db"},
      {"cloudwatchevents/Target", "arn:aws:events:eu-west-1:123456789012:event-bus/orders",
       "orders"},
      {"iam/OpenIDConnectProvider", "https://oidc.eks.example/id/ABC", "oidc.eks.example/id/ABC"},
      {"kms/Alias", "alias/app", "app"},
      {"apigateway/DomainName", "API.Example.org.", "api.example.org"},
      {"ecs/Service", "arn:aws:ecs:eu-west-1:123456789012:cluster/main", "main"},
      {"route53/Record", "/hostedzone/Z123", "Z123"},
      {"serverlessrepo/CloudFormationStack", "app", "serverlessrepo-app"},
  };
  for (const Spelling& spelling : spellings) {
    SCOPED_TRACE(spelling.type);
    EXPECT_EQ(Normalise(Type(spelling.type).parts[0].normalisers, spelling.value),
              spelling.expected);
  }
}

struct LinkSample {
  std::string type;
  std::string value;
  std::string parent;
  std::string parent_value;
};

TEST(CatalogueData, AttachmentsFindTheirParent) {
  const std::vector<LinkSample> samples = {
      {"s3/BucketPolicy", "prod-artifacts", "s3/Bucket", "prod-artifacts"},
      {"sns/TopicSubscription", "arn:aws:sns:eu-west-1:123456789012:alerts", "sns/Topic", "alerts"},
      {"sns/TopicPolicy", "arn:aws:sns:eu-west-1:123456789012:alerts", "sns/Topic", "alerts"},
      {"kafka/ClusterPolicy", "arn:aws:kafka:eu-west-1:123456789012:cluster/events/0a1b-2",
       "kafka/Cluster", "events"},
      {"elbv2/LBTargetGroupAttachment",
       "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/web/73e2d6",
       "elbv2/LBTargetGroup", "web"},
      {"dynamodb/ResourcePolicy", "arn:aws:dynamodb:eu-west-1:123456789012:table/t/index/i",
       "dynamodb/Table", "t"},
  };
  for (const LinkSample& sample : samples) {
    SCOPED_TRACE(sample.type);
    const TypeSpec& spec = Type(sample.type);
    ASSERT_TRUE(spec.attachment.has_value());
    EXPECT_EQ(spec.attachment->parent, sample.parent);
    ASSERT_EQ(spec.attachment->links.size(), 1U);
    const Attachment::Link& link = spec.attachment->links[0];
    const auto own = std::find_if(spec.parts.begin(), spec.parts.end(),
                                  [&](const KeyPart& part) { return part.name == link.own_part; });
    ASSERT_NE(own, spec.parts.end());
    EXPECT_EQ(Normalise(link.normalisers, Normalise(own->normalisers, sample.value)),
              sample.parent_value);
  }
}

struct NameSample {
  std::string type;
  std::string good;
  std::string bad;
};

TEST(CatalogueData, NameRulesCompileAndJudgeSamples) {
  for (const TypeSpec& spec : Catalogue::BuiltIn().types()) {
    if (spec.name_rule.regex.empty()) continue;
    const re2::RE2 pattern(spec.name_rule.regex, re2::RE2::Quiet);
    EXPECT_TRUE(pattern.ok()) << spec.name << ": " << pattern.error();
  }
  const std::vector<NameSample> samples = {
      {"s3/Bucket", "prod-artifacts", "Prod_Artifacts"},
      {"sqs/Queue", "orders.fifo", "orders.fifo.x"},
      {"dynamodb/Table", "orders_v2", "a b"},
      {"iam/Role", "deploy@prod", "deploy/prod"},
      {"ecr/Repository", "team/app", "Team/App"},
      {"rds/Cluster", "orders-db", "1orders"},
      {"lambda/Function", "resize", "re.size"},
      {"kms/Alias", "app/prod", "app prod"},
      {"elbv2/LB", "web-1", "web-"},
      {"eks/Cluster", "main", "-main"},
      {"cloudwatchevents/Target", "to-queue", "to queue"},
      {"cloudtrail/Trail", "org-trail", "org-trail-"},
  };
  for (const NameSample& sample : samples) {
    SCOPED_TRACE(sample.type);
    const NameRule& rule = Type(sample.type).name_rule;
    EXPECT_TRUE(re2::RE2::FullMatch(sample.good, rule.regex));
    EXPECT_FALSE(re2::RE2::FullMatch(sample.bad, rule.regex));
    EXPECT_LE(rule.min_length, sample.good.size());
    EXPECT_GE(rule.max_length, sample.good.size());
  }
}

TEST(CatalogueData, CommunityKindsNameTheirOwnFields) {
  EXPECT_EQ(Type("s3/BucketPolicy").PartsFor(Flavour::kCommunity)[0].paths[0],
            std::vector<std::string>{"bucketName"});
  EXPECT_EQ(Type("sqs/Queue").PartsFor(Flavour::kCommunity)[0].source,
            KeyPart::Source::kExternalName);
  EXPECT_EQ(Type("sqs/Queue").PartsFor(Flavour::kUpjetNamespaced)[0].source,
            KeyPart::Source::kField);
  EXPECT_EQ(Type("cognitoidp/UserPool").ExtraFor(Flavour::kCommunity)[0].paths[0],
            std::vector<std::string>{"poolName"});
}

TEST(CatalogueData, LateIdsAreTold) {
  EXPECT_TRUE(Type("ec2/VPC").Late(Flavour::kUpjetCluster));
  EXPECT_FALSE(Type("s3/Bucket").Late(Flavour::kUpjetCluster));
  EXPECT_FALSE(Type("sqs/Queue").Late(Flavour::kUpjetCluster));
}

}  // namespace catalogue_data_test
}  // namespace truce
