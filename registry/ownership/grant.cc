#include "registry/ownership/grant.h"

#include <algorithm>
#include <utility>

#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/successors.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// The same where the grantee may be the root, which the ledger does not have as it is now.
void DescribeRoot(const Grantee& grantee, Owner& owner, const Ledger& ledger) {
  owner.service = grantee.object.service;
  owner.contact = grantee.object.contact;
  if (grantee.object.root != grantee.object.slot) DescribeRoot(grantee.object.root, owner, ledger);
}

void AuditGrant(const Owner& owner, const Grantee& grantee, AuditAction action, Ledger& ledger) {
  AuditEntry entry = EntryOf(action, owner, grantee.cause, grantee.actor);
  entry.root = grantee.object.root;
  entry.slot = grantee.object.slot;
  entry.uid = grantee.object.uid;
  entry.review = grantee.review;
  ledger.Audit(std::move(entry));
}

void Describe(const DeclaredResource& resource, const Ledger& ledger, Owner& owner) {
  if (!Describes(resource, owner.id, ledger)) return;
  owner.name = resource.name;
  // An account that was known stays known.
  std::string account = owner.identity.account;
  owner.identity = resource.identity;
  if (IsAccount(resource.further_account)) owner.identity.account = resource.further_account;
  if (IsAccount(account)) owner.identity.account = std::move(account);
  if (!resource.arn.empty()) owner.arn = resource.arn;
}

}  // namespace

void DescribeRoot(const Slot& root, Owner& owner, const Ledger& ledger) {
  if (const auto top = ledger.ObjectBySlot(root)) {
    owner.service = top->service;
    owner.contact = top->contact;
  }
}

AuditEntry EntryOf(AuditAction action, const Owner& owner, std::string cause, std::string actor) {
  return {.action = action,
          .key = owner.key,
          .id = owner.id,
          .root = owner.root,
          .cause = std::move(cause),
          .actor = std::move(actor)};
}

bool PutUnder(const Slot& root, Owner& owner, const Ledger& ledger) {
  PartyId party = PartyOf(root);
  const bool is_handed_over = !ledger.OneParty(party, owner.party);
  if (is_handed_over) {
    owner.party = std::move(party);
    owner.left.clear();
  }
  owner.root = root;
  owner.record = Record::kNone;
  owner.record_reason.clear();
  owner.until.reset();
  DescribeRoot(root, owner, ledger);
  return is_handed_over;
}

void GrantNew(const ResourceId& id, const DeclaredResource& resource, const Grantee& grantee,
              Ledger& ledger) {
  Owner owner;
  owner.id = id;
  owner.key = BestOf(ledger.NamesOf(id));  // for the audit log
  owner.root = grantee.object.root;
  owner.party = PartyOf(owner.root);
  owner.since = ledger.now();
  Describe(resource, ledger, owner);
  DescribeRoot(grantee, owner, ledger);
  if (!grantee.restored) owner.successor = SpeakerOf(grantee.object, ledger).transfer_to;
  AuditGrant(owner, grantee, AuditAction::kGranted, ledger);
  ledger.PutOwner(std::move(owner));
}

namespace {

// Whether the owner's word is still said: by the annotation of its chain, or agreed.
bool IsStillSaid(const Owner& owner, const Object& object, const Ledger& ledger) {
  if (owner.successor.empty()) return true;
  const auto transfer = TransferOf(owner.id, ledger);
  // An older life in the same place says it until its end is seen: this one may never come.
  const auto older = ledger.ObjectBySlot(object.slot);
  return (transfer && transfer->accepted && transfer->successor == owner.successor) ||
         (older && SpeakerOf(*older, ledger).transfer_to == owner.successor) ||
         SpeakerOf(object, ledger).transfer_to == owner.successor;
}

void TakeOver(Owner owner, const Grantee& grantee, AuditAction action, Ledger& ledger) {
  const Slot& root = grantee.object.root;
  if (owner.root != root || !IsStillSaid(owner, grantee.object, ledger)) owner.successor.clear();
  if (owner.root != root) PutUnder(root, owner, ledger);
  owner.record = Record::kNone;
  owner.record_reason.clear();
  owner.since = ledger.now();
  DescribeRoot(grantee, owner, ledger);
  AuditGrant(owner, grantee, action, ledger);
  ledger.PutOwner(std::move(owner));
}

}  // namespace

void GrantInPlace(Owner owner, const DeclaredResource& resource, const Grantee& grantee,
                  Ledger& ledger) {
  Describe(resource, ledger, owner);
  TakeOver(std::move(owner), grantee, AuditAction::kGranted, ledger);
}

void GrantToSuccessor(Owner owner, const DeclaredResource& resource, const Grantee& grantee,
                      Ledger& ledger) {
  Describe(resource, ledger, owner);
  TakeOver(std::move(owner), grantee, AuditAction::kTransferred, ledger);
}

void AuditConflict(const Owner& owner, const Grantee& grantee, Ledger& ledger) {
  AuditGrant(owner, grantee, AuditAction::kConflict, ledger);
}

bool RootManages(const std::vector<Row>& rows, const Slot& root) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return Manages(row) && row.root == root; });
}

bool RootHasManaged(const std::vector<Row>& rows, const Slot& root) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return Manages(row) && row.managed && row.root == root;
  });
}

bool HasSibling(const Owner& owner, const Object& object, bool managed, const Ledger& ledger) {
  if (!managed) return false;
  const bool record = owner.record != Record::kNone;
  const std::vector<Row> rows = ledger.RowsOf(owner.id);
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    if (!Manages(row) || !row.managed || Passive(row) || row.slot == object.slot) return false;
    // An orphan is decided against the living managed resources of its party (E4).
    return row.root == owner.root || row.root == object.root ||
           (record && ledger.OneParty(PartyOf(row.root), owner.party));
  });
}

void RememberSlot(const Slot& slot, Owner& owner) {
  std::erase(owner.left, slot);
  owner.left.push_back(slot);
  // The oldest goes: a restored object was there lately.
  if (owner.left.size() > kLeftMax) owner.left.erase(owner.left.begin());
}

bool IsForParty(const Owner& owner, const Object& object, const Ledger& ledger) {
  if (owner.record != Record::kOrphaned && owner.record != Record::kTransferring) return false;
  return owner.root == object.root || ledger.OneParty(owner.party, PartyOf(object.root));
}

bool NamesSuccessor(const Owner& owner, const Slot& root) {
  return NamesSuccessor(owner.successor, owner.root.cluster, root);
}

const DeclaredResource* Declares(const ObjectFacts& object, const KeyText& name) {
  for (const DeclaredResource& resource : object.resources) {
    if (std::ranges::count(resource.names, name, &DeclaredName::text) > 0) return &resource;
  }
  return nullptr;
}

}  // namespace truce
