// Rules claim-binding and claim-takeover: the recorded claims that share a composite (Crossplane
// 1.20), and what looks like them and is none.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/admission_fixture.h"

namespace truce {
namespace claim_rules_test {

using Texts = std::vector<std::string>;
const GroupKind kClaimKind{"platform.example.org", "ObjectStorage"};
const GroupKind kCompositeKind{"platform.example.org", "XObjectStorage"};

class ClaimRulesTest : public AdmissionFixture {
 protected:
  ClaimRulesTest() {
    ChangePolicy([](AdmissionPolicy& policy) {
      policy.identity.composites = {kCompositeKind};
      policy.identity.mappings = {};  // claims are known from their XRD
      policy.claims = {{kClaimKind, kCompositeKind}};
      policy.definitions_known = true;
      policy.watched = true;
    });
  }
  void Enforce() {
    ChangePolicy([](AdmissionPolicy& policy) {
      for (const Rule rule : {Rule::kClaimBinding, Rule::kClaimTakeover}) {
        policy.modes.rules[static_cast<std::size_t>(rule)] = {
            {Mode::kEnforce, {}, {}, {}, "truce.yaml:1"}};
      }
    });
  }

  static Slot CompositeSlot(const std::string& name) {
    return {"local", kCompositeKind.group, kCompositeKind.kind, "", name};
  }
  // `composite` exists, bound to `claim` of `ns`; empty: to none.
  void Live(const std::string& composite, const std::string& ns, const std::string& claim) {
    LiveObject object;
    if (!claim.empty()) object.claim = ObjectRef{kClaimKind.group, kClaimKind.kind, ns, claim, {}};
    live_.objects[CompositeSlot(composite)] = object;
  }

  // The claim is in the cluster, as the registry knows it.
  void Known(const std::string& ns, const std::string& name) {
    Live(name, ns, name);
    ASSERT_TRUE(Send(Binding(ns, name, name)).allowed);
  }

  static Sent Binding(const std::string& ns, const std::string& name,
                      const std::string& composite) {
    Sent sent = Claim(ns, name, "files", "orders");
    sent.uid = "uid-" + ns + "-" + name;
    sent.review = "bind-" + name;
    sent.spec = R"({"resourceRef":{"apiVersion":"platform.example.org/v1alpha1",)"
                R"("kind":"XObjectStorage","name":")" +
                composite + R"("}})";
    return sent;
  }
  static std::string ClaimRef(const std::string& ns, const std::string& name) {
    return R"({"claimRef":{"apiVersion":"platform.example.org/v1alpha1","kind":"ObjectStorage",)"
           R"("namespace":")" +
           ns + R"(","name":")" + name +
           R"("},"resourceRefs":[{"apiVersion":)"
           R"("s3.aws.upbound.io/v1beta1","kind":"Bucket","name":"made"}]})";
  }
  // Somebody's update of composite `shared`.
  static Sent Rebinding(std::string old_spec, std::string spec) {
    Sent sent;
    sent.operation = "UPDATE";
    sent.group = kCompositeKind.group;
    sent.version = "v1alpha1";
    sent.kind = kCompositeKind.kind;
    sent.name = "shared";
    sent.uid = "uid-shared";
    sent.review = "rebind";
    sent.spec = std::move(spec);
    sent.old_spec = std::move(old_spec);
    return sent;
  }

  Texts Findings() const { return sink_.last().findings; }
};

TEST_F(ClaimRulesTest, WithoutConfigurationAClaimOfABoundCompositeIsWarnedOf) {
  Live("shared", "team-a", "shared");
  const Answered answer = Send(Binding("team-b", "second", "shared"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(Findings(), Texts{"claim-binding warn"});
  EXPECT_EQ(answer.warnings,
            Texts{"truce: another claim has composite XObjectStorage shared: Crossplane will "
                  "refuse this one for ever"});
}

TEST_F(ClaimRulesTest, EnforcedItIsRefusedWithTheWaysToShare) {
  Enforce();
  Known("team-a", "shared");
  const Answered answer = Send(Binding("team-b", "second", "shared"));
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_EQ(Findings(), Texts{"claim-binding enforce"});
  EXPECT_EQ(
      OnlyFinding().cause,
      "Composite XObjectStorage shared is bound to claim ObjectStorage team-a/shared (service "
      "orders): Crossplane binds one claim only and would refuse this one for ever.");
  EXPECT_EQ(OnlyFinding().remedy,
            "Leave out spec.resourceRef. To use what it made: declare it with managementPolicies: "
            "[\"Observe\"] after its owner ran `truce share`, or ask the owner to publish it "
            "(EnvironmentConfig, or a Secret copied by provider-kubernetes). To take it over, the "
            "owner hands it over: `kubectl -n team-a annotate --overwrite "
            "objectstorage.platform.example.org "
            "shared truce.dev/transfer-to=ObjectStorage/team-b/second`.");
  Sent update = Binding("team-b", "later", "shared");
  update.operation = "UPDATE";
  update.old_spec = "{}";
  EXPECT_FALSE(Send(update).allowed) << "set by an update";
  update.old_spec = Binding("team-b", "later", "other").spec;
  EXPECT_FALSE(Send(update).allowed) << "changed by an update";
}

// Crossplane reads the name alone, whatever else stands there.
TEST_F(ClaimRulesTest, TheKindThatAClaimWritesIsNoWayAround) {
  Enforce();
  Live("shared", "team-a", "shared");
  Sent sent = Binding("team-b", "second", "shared");
  for (const char* spec :
       {R"({"resourceRef":{"name":"shared"}})",
        R"({"resourceRef":{"apiVersion":"v1","kind":"ConfigMap","name":"shared"}})",
        R"({"resourceRef":{"apiVersion":"v1","kind":"X","namespace":"n","name":"shared"}})"}) {
    sent.spec = spec;
    EXPECT_FALSE(Send(sent).allowed) << spec;
  }
}

TEST_F(ClaimRulesTest, OthersAreToldAsMuchAsDisclosureSays) {
  Enforce();
  Live("shared", "team-a", "secret");
  for (const Disclosure level : {Disclosure::kService, Disclosure::kTaken}) {
    ChangePolicy([&](AdmissionPolicy& policy) { policy.disclosure = level; });
    const Answered foreign = Send(Binding("team-b", "second", "shared"));
    EXPECT_FALSE(foreign.allowed);
    EXPECT_EQ(foreign.message.find("secret"), std::string::npos) << foreign.message;
    EXPECT_EQ(foreign.message.find("team-a"), std::string::npos) << foreign.message;
    Send(Binding("team-a", "second", "shared"));
    EXPECT_EQ(OnlyFinding().cause,
              "Composite XObjectStorage shared is bound to claim ObjectStorage team-a/secret: "
              "Crossplane binds one claim only and would refuse this one for ever.")
        << "the party's own";
  }
}

TEST_F(ClaimRulesTest, AnUnboundCompositeMayBeBound) {
  Enforce();
  Live("free", "", "");
  EXPECT_TRUE(Send(Binding("team-a", "one", "free")).allowed);
  EXPECT_EQ(Findings(), Texts{});
}

TEST_F(ClaimRulesTest, ItsOwnCompositeMayBeNamedAgain) {
  Enforce();
  Live("shared", "team-a", "shared");
  Sent sent = Binding("team-a", "shared", "shared");
  EXPECT_TRUE(Send(sent).allowed) << "restored";
  EXPECT_EQ(Findings(), Texts{});
  sent.uid = "uid-another-life";
  sent.review = "again";
  EXPECT_TRUE(Send(sent).allowed) << "made again under its old name";
  EXPECT_EQ(Findings(), Texts{});
}

TEST_F(ClaimRulesTest, CrossplaneNamesWhatItMakesNext) {
  Enforce();
  Sent sent = Binding("team-a", "new", "new-x7k2q");
  sent.operation = "UPDATE";
  sent.old_spec = "{}";
  sent.user = kCrossplane;
  EXPECT_TRUE(Send(sent).allowed);
  EXPECT_EQ(Findings(), Texts{});
  EXPECT_TRUE(live_.asked.empty());
}

TEST_F(ClaimRulesTest, AReferenceThatWasThereIsNoNews) {
  Enforce();
  Live("shared", "team-a", "shared");
  Sent sent = Binding("team-b", "second", "shared");
  sent.operation = "UPDATE";
  sent.old_spec = sent.spec;
  sent.metadata = R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Send(sent).allowed);
  EXPECT_TRUE(live_.asked.empty());
}

// A restore brings claims before their composites.
TEST_F(ClaimRulesTest, AMissingCompositeOnlyWarns) {
  Enforce();
  const Answered answer = Send(Binding("team-a", "restored", "lost"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(live_.asker, "team-a") << "whose share of the looks it takes";
  EXPECT_EQ(Findings(), Texts{"claim-binding warn"});
  EXPECT_EQ(answer.warnings,
            Texts{"truce: composite XObjectStorage lost does not exist: Crossplane "
                  "will make a new one"});
}

TEST_F(ClaimRulesTest, WhatTheRegistryRemembersRefusesNothing) {
  Enforce();
  Sent composite = Rebinding("{}", ClaimRef("team-a", "shared"));
  composite.user = kCrossplane;
  composite.operation = "CREATE";
  ASSERT_TRUE(Send(composite).allowed);
  live_.silent = true;
  EXPECT_TRUE(Send(Binding("team-b", "second", "shared")).allowed) << "nobody can look";
  EXPECT_EQ(Findings(), Texts{"claim-binding warn"});
  live_.silent = false;
  Live("shared", "", "");
  EXPECT_TRUE(Send(Binding("team-b", "third", "shared")).allowed) << "unbound a moment ago";
  EXPECT_EQ(Findings(), Texts{});
}

TEST_F(ClaimRulesTest, ADryRunIsJudgedAlikeAndOtherKindsAreNot) {
  Enforce();
  Live("shared", "team-a", "shared");
  Sent sent = Binding("team-b", "second", "shared");
  sent.dry_run = true;
  EXPECT_FALSE(Send(sent).allowed);
  sent = Binding("team-b", "second", "shared");
  sent.kind = "Stranger";
  EXPECT_TRUE(Send(sent).allowed) << "no XRD names it";
  ChangePolicy([](AdmissionPolicy& policy) {
    policy.modes.rules[static_cast<std::size_t>(Rule::kClaimBinding)] = {
        {Mode::kOff, {}, {}, {}, "truce.yaml:1"}};
  });
  live_.asked.clear();
  EXPECT_TRUE(Send(Binding("team-b", "second", "shared")).allowed);
  EXPECT_TRUE(live_.asked.empty()) << "off costs nothing";
}

// A claim that is gone can hand nothing over.
TEST_F(ClaimRulesTest, OfAClaimThatIsGoneAnOperatorHandsOver) {
  Enforce();
  Live("shared", "team-a", "shared");
  EXPECT_FALSE(Send(Binding("team-b", "second", "shared")).allowed);
  const std::string command =
      "`truce transfer RESOURCE --to team-b --successor ObjectStorage/team-b/second --force "
      "--reason '…'`.";
  const std::string remedy = OnlyFinding().remedy;
  EXPECT_EQ(remedy.substr(remedy.find("To take it over")),
            "To take it over, as that claim is gone, an operator hands it over: " + command);
  EXPECT_FALSE(Send(Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-b", "second"))).allowed);
  EXPECT_EQ(OnlyFinding().remedy,
            "Leave spec.claimRef as it is until an operator has handed over what it made, as claim "
            "ObjectStorage team-a/shared is gone: " +
                command);
  ChangePolicy([](AdmissionPolicy& policy) { policy.unwatched = {kClaimKind}; });
  EXPECT_FALSE(Send(Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-b", "second"))).allowed);
  EXPECT_EQ(OnlyFinding().remedy.substr(0, 26), "Let the owner hand it over") << "nobody knows";
}

TEST_F(ClaimRulesTest, OnlyCrossplaneMovesACompositeToAnotherClaim) {
  Known("team-a", "shared");
  const Sent move = Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-b", "second"));
  EXPECT_TRUE(Send(move).allowed);
  EXPECT_EQ(Findings(), Texts{"claim-takeover warn"});
  Enforce();
  const Answered refused = Send(move);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(Findings(), Texts{"claim-takeover enforce"});
  EXPECT_EQ(OnlyFinding().cause,
            "User \"ann\" may not take composite XObjectStorage shared from claim ObjectStorage "
            "team-a/shared and give it to claim ObjectStorage team-b/second: that one would change "
            "and delete everything it made, and its owner did not say so.");
  EXPECT_EQ(OnlyFinding().remedy,
            "Let the owner hand it over first: `kubectl -n team-a annotate --overwrite "
            "objectstorage.platform.example.org shared "
            "truce.dev/transfer-to=ObjectStorage/team-b/second`; then change spec.claimRef again.");
  Sent crossplane = move;
  crossplane.user = kCrossplane;
  EXPECT_TRUE(Send(crossplane).allowed);
  EXPECT_EQ(Findings(), Texts{});
}

TEST_F(ClaimRulesTest, ACompositeIsNotTakenFromItsClaim) {
  Enforce();
  const std::string unbound =
      R"({"resourceRefs":[{"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket","name":"made"}]})";
  EXPECT_FALSE(Send(Rebinding(ClaimRef("team-a", "shared"), unbound)).allowed);
  EXPECT_TRUE(Send(Rebinding(unbound, ClaimRef("team-a", "shared"))).allowed)
      << "the first claim: bound by hand";
  EXPECT_EQ(Findings(), Texts{});
  Sent same = Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-a", "shared"));
  same.metadata = R"(,"labels":{"a":"b"})";
  EXPECT_TRUE(Send(same).allowed);
  EXPECT_EQ(Findings(), Texts{});
  Sent going = Rebinding(ClaimRef("team-a", "shared"), unbound);
  going.metadata = R"(,"deletionTimestamp":"2026-11-21T07:59:30Z")";
  going.old_metadata = going.metadata;
  EXPECT_TRUE(Send(going).allowed) << "I10";
  Sent restored = Rebinding("{}", ClaimRef("team-b", "second"));
  restored.operation = "CREATE";
  EXPECT_TRUE(Send(restored).allowed) << "a restore is a CREATE";
}

TEST_F(ClaimRulesTest, WhatItsOwnerHandsOverMayMove) {
  Enforce();
  Sent claim = Binding("team-a", "shared", "shared");
  Live("shared", "team-a", "shared");
  ASSERT_TRUE(Send(claim).allowed);
  const Sent move = Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-b", "second"));
  // On the composite anybody who changes its claimRef could write it.
  Sent forged = move;
  forged.metadata = R"(,"annotations":{"truce.dev/transfer-to":"ObjectStorage/team-b/second"})";
  EXPECT_FALSE(Send(forged).allowed);
  Changes changes;
  changes.put_objects = {*[&] {
    std::optional<Object> object;
    const auto look = [&](const Facts& facts) {
      object = facts.ObjectBySlot({"local", kClaimKind.group, kClaimKind.kind, "team-a", "shared"});
    };
    EXPECT_TRUE(memory_.Read(look, Deadline::max()).ok());
    object->transfer_to = "ObjectStorage/team-b/second";
    return object;
  }()};
  ASSERT_TRUE(memory_
                  .Apply(
                      {}, [&](const Facts&) { return changes; }, Deadline::max())
                  .ok());
  EXPECT_TRUE(Send(move).allowed) << sink_.last().detail;
  EXPECT_EQ(Findings(), Texts{});
  EXPECT_FALSE(Send(Rebinding(ClaimRef("team-a", "shared"), ClaimRef("team-c", "third"))).allowed);
}

TEST_F(ClaimRulesTest, ACompositeOfThousandsOfResources) {
  Enforce();
  std::string refs;
  for (int i = 0; i < 5000; ++i) {
    refs += std::string(i == 0 ? "" : ",") +
            R"({"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket","name":"b)" +
            std::to_string(i) + "\"}";
  }
  const auto spec = [&](const std::string& ns) {
    return R"({"claimRef":{"apiVersion":"platform.example.org/v1alpha1","kind":"ObjectStorage",)"
           R"("namespace":")" +
           ns + R"(","name":"c"},"resourceRefs":[)" + refs + "]}";
  };
  EXPECT_FALSE(Send(Rebinding(spec("team-a"), spec("team-b"))).allowed);
  EXPECT_TRUE(Send(Rebinding(spec("team-a"), spec("team-a"))).allowed);
}

// Plays the recording as an API server would, whose composites are those of the reviews so far.
TEST_F(ClaimRulesTest, TheRecordingGivesTheseFindingsAndNoOther) {
  std::ifstream file(std::string(TRUCE_SOURCE_DIR) +
                     "/tests/support/recordings/lifecycle/claim-reviews-1.20.jsonl");
  Texts found;
  std::size_t reviews = 0;
  for (std::string line; std::getline(file, line);) {
    const auto recorded = nlohmann::json::parse(line);
    const auto& request = recorded.at("review").at("request");
    const std::string body = recorded.at("review").dump();
    const bool deletes = request.at("operation") == "DELETE";
    // A new life of flux is refused its bucket: no watch shows here that the first one went.
    EXPECT_EQ((deletes ? Deletion(body) : Post(body)).status, 200) << recorded.at("name");
    ++reviews;
    for (const std::string& finding : Findings()) {
      if (!finding.starts_with("claim-")) continue;
      found.push_back(recorded.at("name").get<std::string>() + ": " + finding);
    }
    if (request.at("kind").at("kind") != kCompositeKind.kind || deletes) continue;
    const auto claim = request.at("object").at("spec").value("claimRef", nlohmann::json::object());
    Live(request.at("name"), claim.value("namespace", ""), claim.value("name", ""));
  }
  EXPECT_GT(reviews, 40U);
  EXPECT_EQ(found, (Texts{"045635-017.create.objectstorage.second: claim-binding warn",
                          "045657-035.create.objectstorage.one: claim-binding warn"}));
}

}  // namespace claim_rules_test
}  // namespace truce
