#include "webhook/publish/ownership_grants.h"

#include <utility>

#include "registry/base/text.h"
#include "registry/ownership/ledger.h"
#include "webhook/api/rest/agreement_desk.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kAgain{10};
constexpr std::chrono::milliseconds kSoon{500};
constexpr std::chrono::seconds kGrantCallTime{5};
constexpr std::size_t kPage = 500;
constexpr std::string_view kMark = "grant.said.";

Deadline Soon() { return In(kGrantCallTime); }

std::string ActorOf(const std::string& cluster, const OwnObject& object) {
  return std::string(kDeclaredActor) + cluster + "/" + object.ns + "/" + object.name;
}

// How the grants of one cluster are read.
struct GrantReader {
  NodeReader nodes;
  const std::string& cluster;
};

// The party that the keys namespace or object (and cluster) of `node` name.
Result<PartyId> ReadParty(const GrantReader& grant, const YamlNode& node, const std::string& path) {
  const NodeReader& reader = grant.nodes;
  PartyName name;
  TRUCE_ASSIGN_OR_RETURN(name.ns, reader.Optional(node, "namespace", path));
  TRUCE_ASSIGN_OR_RETURN(name.object, reader.Optional(node, "object", path));
  TRUCE_ASSIGN_OR_RETURN(name.cluster, reader.Optional(node, "cluster", path));
  if (name.cluster.empty()) name.cluster = grant.cluster;
  Result<PartyId> party = PartyNamed(name);
  if (!party.ok()) return reader.Fail(node, path, party.error().message);
  return party;
}

Result<ResourceFilter> ReadResource(const NodeReader& reader, const YamlNode& spec,
                                    const Catalogue& catalogue) {
  const std::string path = "spec.resource";
  const YamlNode* node = spec.Find("resource");
  if (node == nullptr) return reader.Fail(spec, path, "is missing; give type and name, or arn");
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(*node, path, {"arn", "type", "name", "account", "region"}));
  ResourceFilter filter;
  TRUCE_ASSIGN_OR_RETURN(filter.arn, reader.Optional(*node, "arn", path));
  TRUCE_ASSIGN_OR_RETURN(filter.type, reader.Optional(*node, "type", path));
  TRUCE_ASSIGN_OR_RETURN(filter.name, reader.Optional(*node, "name", path));
  TRUCE_ASSIGN_OR_RETURN(filter.account, reader.Optional(*node, "account", path));
  TRUCE_ASSIGN_OR_RETURN(filter.region, reader.Optional(*node, "region", path));
  if (filter.arn.empty() && (filter.type.empty() || filter.name.empty())) {
    return reader.Fail(*node, path, "names nothing; give type and name, or arn");
  }
  if (!filter.type.empty() && catalogue.FindType(filter.type) == nullptr) {
    return reader.Fail(*node, path + ".type",
                       "is not a type; `truce types` lists them, as s3/Bucket");
  }
  return filter;
}

Result<DeclaredShare> ReadShare(const GrantReader& grant, const YamlNode& node,
                                const std::string& path, const ReadGrant& read) {
  const NodeReader& reader = grant.nodes;
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      node, path, {"namespace", "object", "cluster", "level", "until", "reason"}));
  DeclaredShare share;
  TRUCE_ASSIGN_OR_RETURN(share.terms.party, ReadParty(grant, node, path));
  TRUCE_ASSIGN_OR_RETURN(const std::string level, reader.Required(node, "level", path));
  const auto known = ShareLevelFromName(level);
  if (!known) return reader.Fail(node, path + ".level", "is neither observe nor attach");
  share.terms.level = *known;
  TRUCE_ASSIGN_OR_RETURN(const std::string until, reader.Optional(node, "until", path));
  if (!until.empty()) {
    share.terms.until = ParseTimestamp(until);
    if (!share.terms.until) {
      return reader.Fail(node, path + ".until", "is not a time; write it as 2027-01-15T00:00:00Z");
    }
  }
  TRUCE_ASSIGN_OR_RETURN(share.reason, reader.Optional(node, "reason", path));
  if (share.reason.empty()) share.reason = read.grant.reason;
  return share;
}

Result<void> ReadTransfer(const GrantReader& grant, const YamlNode& node, ReadGrant& read) {
  const NodeReader& reader = grant.nodes;
  const std::string path = "spec.transferTo";
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(node, path, {"namespace", "object", "cluster", "successor"}));
  TransferTerms terms;
  TRUCE_ASSIGN_OR_RETURN(terms.party, ReadParty(grant, node, path));
  TRUCE_ASSIGN_OR_RETURN(terms.successor, reader.Optional(node, "successor", path));
  // A transfer is recorded once, also when the object is made anew or restored.
  const std::string said = read.grant.actor + "\n" + read.resource.arn + "\n" + read.resource.type +
                           "\n" + read.resource.name + "\n" + read.resource.account + "\n" +
                           read.resource.region + "\n" + terms.party.text + "\n" + terms.successor +
                           "\n" + read.grant.reason;
  read.grant.transfer_mark = std::string(kMark) + HexOf(Sha256(said)).substr(0, 32);
  read.grant.transfer = std::move(terms);
  return {};
}

}  // namespace

Result<ReadGrant> ReadOwnershipGrant(const OwnObject& object, const std::string& cluster,
                                     const AdmissionPolicy& policy) {
  const std::string location = object.Label();
  const GrantReader grant{NodeReader(location), cluster};
  const NodeReader& reader = grant.nodes;
  const YamlNode& spec = object.spec;
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      spec, "spec", {"resource", "shares", "protection", "transferTo", "reason"}));
  ReadGrant read;
  TRUCE_ASSIGN_OR_RETURN(read.resource, ReadResource(reader, spec, *policy.catalogue));
  read.grant.actor = ActorOf(cluster, object);
  read.grant.party = PartyOf(Slot{cluster, "", "", object.ns, ""});
  TRUCE_ASSIGN_OR_RETURN(read.grant.reason, reader.Optional(spec, "reason", "spec"));
  if (read.grant.reason.empty()) read.grant.reason = "declared";
  if (const YamlNode* shares = spec.Find("shares"); shares != nullptr) {
    TRUCE_RETURN_IF_ERROR(reader.RequireList(*shares, "spec.shares"));
    for (std::size_t i = 0; i < shares->children.size(); ++i) {
      TRUCE_ASSIGN_OR_RETURN(DeclaredShare share, ReadShare(grant, shares->children[i],
                                                            ItemPath("spec.shares", i), read));
      read.grant.shares.push_back(std::move(share));
    }
  }
  if (const YamlNode* protection = spec.Find("protection"); protection != nullptr) {
    const std::string path = "spec.protection";
    TRUCE_RETURN_IF_ERROR(reader.RequireMapping(*protection, path, {"reason"}));
    TRUCE_ASSIGN_OR_RETURN(read.grant.protection, reader.Required(*protection, "reason", path));
  }
  if (const YamlNode* transfer = spec.Find("transferTo"); transfer != nullptr) {
    TRUCE_RETURN_IF_ERROR(ReadTransfer(grant, *transfer, read));
  }
  if (read.grant.shares.empty() && !read.grant.protection && !read.grant.transfer) {
    return reader.Fail(spec, "spec", "says nothing; write shares, protection or transferTo");
  }
  return read;
}

std::vector<ServedKind> OwnershipGrants::kinds() const {
  return {{"truce.dev", "v1alpha1", "OwnershipGrant", "ownershipgrants", true}};
}

std::optional<std::chrono::milliseconds> OwnershipGrants::again() const {
  return works_ ? std::chrono::milliseconds(kAgain) : kSoon;
}

std::vector<OwnVerdict> OwnershipGrants::Take(std::span<const OwnObject> objects) {
  const auto policy = ports_.policy.Current();
  works_ = false;
  ended_ = false;
  Living living;
  auto verdicts = TakeEach(objects, *policy, living);
  if (!verdicts.ok()) return {};
  // Before all were listed once, one that is missing may only not have come yet.
  if (complete_ && settled_ != living) {
    if (!TakeBackAll(living, *policy).ok()) return {};
    settled_ = living;
  }
  // Another object may grant what one let go of: a renamed one leaves nothing unprotected.
  if (ended_) verdicts = TakeEach(objects, *policy, living);
  if (!verdicts.ok()) return {};
  works_ = true;
  return std::move(verdicts).value();
}

Result<std::vector<OwnVerdict>> OwnershipGrants::TakeEach(std::span<const OwnObject> objects,
                                                          const AdmissionPolicy& policy,
                                                          Living& living) {
  std::vector<OwnVerdict> verdicts;
  for (const OwnObject& object : objects) {
    TRUCE_ASSIGN_OR_RETURN(OwnVerdict verdict, TakeOne(object, policy, living));
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Result<OwnVerdict> OwnershipGrants::TakeOne(const OwnObject& object, const AdmissionPolicy& policy,
                                            Living& living) {
  // Also one that cannot be read: its former grant stays (a bad edit takes nothing back).
  std::optional<ResourceId>& lives = living[ActorOf(ports_.cluster, object)];
  const Result<ReadGrant> read = ReadOwnershipGrant(object, ports_.cluster, policy);
  if (!read.ok()) return OwnVerdict{false, read.error().message};
  TRUCE_ASSIGN_OR_RETURN(const std::optional<ResourceId> id, ResourceFor(read.value(), policy));
  if (!id) {
    return OwnVerdict{false, "nobody owns the resource, or several fit: give account and region"};
  }
  lives = *id;
  GrantOutcome outcome;
  const auto act = [&](Ledger& ledger) { outcome = CarryOut(*id, read.value().grant, ledger); };
  TRUCE_RETURN_IF_ERROR(Write(*id, policy, act));
  return OwnVerdict{outcome.accepted, outcome.message};
}

// The resource that fits, rather one of the grant's own party, and of these rather one in AWS.
Result<std::optional<ResourceId>> OwnershipGrants::ResourceFor(
    const ReadGrant& read, const AdmissionPolicy& policy) const {
  const ResourceQuery query{.filter = read.resource, .limit = kScanMax};
  TRUCE_ASSIGN_OR_RETURN(const ResourcePage page, queries_.List(query, *policy.catalogue, Soon()));
  const std::vector<Owner>& found = page.owners;
  std::vector<ResourceId> own;
  std::vector<ResourceId> outside;
  for (const Owner& owner : found) {
    if (!OneParty(owner.party, read.grant.party, policy.parties)) continue;
    (IsNameSpace(owner.identity.partition) ? outside : own).push_back(owner.id);
  }
  if (own.empty()) own = std::move(outside);
  if (own.size() == 1) return std::optional(own.front());
  if (own.empty() && found.size() == 1) return std::optional(found.front().id);
  return std::optional<ResourceId>();
}

// Ends what grants gave that are no more, or are about another resource now.
Result<void> OwnershipGrants::TakeBackAll(const Living& living, const AdmissionPolicy& policy) {
  const std::string prefix = std::string(kDeclaredActor) + ports_.cluster + "/";
  std::vector<std::pair<ResourceId, std::string>> stale;
  const auto look = [&](const Facts& facts) {
    stale.clear();
    for (const AgreementKind kind :
         {AgreementKind::kShare, AgreementKind::kProtection, AgreementKind::kTransfer}) {
      PublicId after;
      for (bool more = true; more;) {
        const std::vector<Agreement> page = facts.AgreementsAfter(kind, after, kPage);
        more = page.size() == kPage;
        if (more) after = page.back().id;
        for (const Agreement& each : page) {
          if (!each.actor.starts_with(prefix)) continue;
          const auto lives = living.find(each.actor);
          const bool is_said =
              lives != living.end() && (!lives->second || *lives->second == each.resource);
          if (!is_said) stale.emplace_back(each.resource, each.actor);
        }
      }
    }
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, Soon()));
  for (const auto& each : stale) {
    const ResourceId& id = each.first;
    const std::string& actor = each.second;
    const std::string ns =
        actor.substr(prefix.size(), actor.find('/', prefix.size()) - prefix.size());
    const PartyId party = PartyOf(Slot{ports_.cluster, "", "", ns, ""});
    TRUCE_RETURN_IF_ERROR(
        Write(id, policy, [&](Ledger& ledger) { TakeBack(id, actor, party, ledger); }));
  }
  return {};
}

// In one transaction; most of the time there is nothing to write.
Result<void> OwnershipGrants::Write(const ResourceId& id, const AdmissionPolicy& policy,
                                    const std::function<void(Ledger&)>& act) {
  DecisionIds decision_ids;
  const auto decide = [&](const Facts& facts) {
    const IdSource ids = decision_ids.Run(ids_);
    Ledger ledger(facts, ports_.clock.Now(), ids, policy.parties);
    act(ledger);
    return ledger.Take();
  };
  bool changes = false;
  bool ends = false;
  const auto look = [&](const Facts& facts) {
    const Changes wanted = decide(facts);
    changes = !wanted.empty();
    ends = !wanted.drop_agreements.empty();
  };
  TRUCE_RETURN_IF_ERROR(ports_.store.Read(look, Soon()));
  if (!changes) return {};
  // Told before it is done: a round more costs less than a resource without protection.
  ended_ = ended_ || ends;
  Locks locks;
  locks.resources.push_back(id);
  return ports_.store.Apply(locks, decide, Soon());
}

}  // namespace truce
