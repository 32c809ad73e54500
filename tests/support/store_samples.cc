#include "tests/support/store_samples.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "registry/base/assert.h"
#include "registry/ownership/rows.h"

namespace truce::testing {
namespace {

constexpr std::int64_t kEpoch = 1795248000000;

std::size_t Below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

bool OneIn(std::mt19937_64& random, std::size_t n) { return Below(random, n) == 0; }

// Texts with bytes that an encoding may trip over.
std::string OddText(std::mt19937_64& random) {
  static constexpr std::array<std::string_view, 6> kTexts = {
      "",           "plain",           "sp ace|pipe=equals%25", "\xC3\xBC\xE2\x82\xAC",
      "quote'\"\\", "\x01\x7F\xC2\x85"};
  return std::string(kTexts[Below(random, kTexts.size())]);
}

std::string NameOf(std::mt19937_64& random) {
  return std::string(1, static_cast<char>('a' + Below(random, 5)));
}

constexpr std::size_t kUids = 7;

std::string UidOf(std::mt19937_64& random) { return "u" + std::to_string(Below(random, kUids)); }

Row RandomRow(std::mt19937_64& random) {
  Row row = SampleRow(NameOf(random), UidOf(random));
  if (OneIn(random, 2)) row.id.state = RowState::kSeen;
  row.intent = static_cast<Intent>(Below(random, 3));
  row.terminating = OneIn(random, 3);
  row.managed = OneIn(random, 2);
  if (OneIn(random, 2)) row.root = SampleSlot(NameOf(random));
  if (OneIn(random, 2)) row.base = random();
  if (OneIn(random, 2)) row.created = At(kEpoch + static_cast<std::int64_t>(Below(random, 9)));
  row.digest = OddText(random);
  row.user = OddText(random);
  row.at = At(kEpoch + static_cast<std::int64_t>(Below(random, 9)));
  row.account_fields = OddText(random);
  return row;
}

Owner RandomOwner(std::mt19937_64& random) {
  Owner owner = SampleOwner(NameOf(random), UidOf(random));
  owner.service = OddText(random);
  owner.contact = OddText(random);
  owner.arn = OddText(random);
  owner.shape = OneIn(random, 2) ? "" : "shape" + std::to_string(Below(random, 2));
  owner.real = OneIn(random, 2);
  owner.record = static_cast<Record>(Below(random, 4));
  owner.record_reason = OddText(random);
  owner.successor = OddText(random);
  owner.contested = OneIn(random, 4);
  owner.state = static_cast<HolderState>(Below(random, 3));
  if (OneIn(random, 2)) owner.leaf = OneIn(random, 2) ? owner.root : SampleSlot(NameOf(random));
  owner.managed_once = OneIn(random, 2);
  for (std::size_t n = Below(random, 3); n > 0; --n) {
    owner.left.push_back(SampleSlot(NameOf(random)));
  }
  if (OneIn(random, 2)) owner.identity.account = OneIn(random, 2) ? "123456789012" : "?p|c";
  if (OneIn(random, 3)) owner.identity.region = "odd | region";
  if (OneIn(random, 3)) owner.until = At(kEpoch + static_cast<std::int64_t>(Below(random, 9)));
  if (OneIn(random, 3)) owner.root.ns = "team-" + std::to_string(Below(random, 2));
  if (OneIn(random, 4)) owner.identity = ResourceIdentity{};
  return owner;
}

Object RandomObject(std::mt19937_64& random) {
  Object object = SampleObject(UidOf(random));
  object.slot = SampleSlot(NameOf(random));
  if (OneIn(random, 2)) object.parent = SampleSlot(NameOf(random));
  if (OneIn(random, 3)) object.parent_uid = Uid{UidOf(random)};
  object.link = OddText(random);
  if (OneIn(random, 3)) object.names = {"g/K//" + NameOf(random), "g/K/ns/" + NameOf(random)};
  object.service = OddText(random);
  object.contact = OddText(random);
  object.composes = OneIn(random, 4);
  object.own_party = OneIn(random, 4);
  object.transfer_to = OddText(random);
  object.unproven_marks = OddText(random);
  if (OneIn(random, 4)) object.stripped = random();
  object.at = At(kEpoch + static_cast<std::int64_t>(Below(random, 3)));
  return object;
}

}  // namespace

Slot SampleSlot(std::string_view name) {
  return {"local", "s3.aws.upbound.io", "Bucket", "team-artifacts", std::string(name)};
}

ResourceId SampleId(std::string_view name) { return ResourceId{"k7m2xq-" + std::string(name)}; }

KeyText SampleKey(std::string_view name) {
  return KeyText{"s3/Bucket|aws|||name=" + std::string(name)};
}

Row SampleRow(std::string_view name, std::string_view uid) {
  Row row;
  row.id = {SampleId(name), Uid{std::string(uid)}, RowState::kReserved};
  row.slot = SampleSlot(std::string(name) + "-" + std::string(uid));
  row.root = row.slot;
  row.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", std::string(name)}}};
  row.review = ReviewUid{"7f0c2f0e-4be9-4f7b-9a83-" + std::string(uid)};
  row.digest = "3b1f6c0d";
  row.user = "system:serviceaccount:argocd:argocd-application-controller";
  row.at = At(kEpoch);
  return row;
}

Owner SampleOwner(std::string_view name, std::string_view uid) {
  Owner owner;
  owner.id = SampleId(name);
  owner.key = SampleKey(name);
  owner.root = SampleSlot(std::string(name) + "-" + std::string(uid));
  owner.party = PartyId{"local/" + owner.root.ns};
  owner.service = "artifact-service";
  owner.contact = "artifacts@example.org";
  owner.arn = "arn:aws:s3:::" + std::string(name);
  owner.name = std::string(name);
  owner.identity = {"s3/Bucket", "aws", "", "us-west-2", {{"name", std::string(name)}}};
  owner.since = At(kEpoch);
  return owner;
}

Object SampleObject(std::string_view uid) {
  Object object;
  object.uid = Uid{std::string(uid)};
  object.slot = SampleSlot(uid);
  object.root = object.slot;
  object.at = At(kEpoch);
  return object;
}

AuditEntry SampleGrant(const Owner& owner) {
  AuditEntry entry;
  entry.at = owner.since;
  entry.key = owner.key;
  entry.id = owner.id;
  entry.root = owner.root;
  entry.slot = owner.root;
  entry.uid = Uid{owner.root.name};
  entry.cause = "review CREATE";
  entry.actor = "system:serviceaccount:argocd:argocd-application-controller";
  entry.review = ReviewUid{"7f0c2f0e-4be9-4f7b-9a83-5d0b4e1c2a11"};
  return entry;
}

Changes SampleCreate(std::string_view name, std::string_view uid) {
  Changes changes;
  changes.put_rows.push_back(SampleRow(name, uid));
  changes.put_owners.push_back(SampleOwner(name, uid));
  Object object = SampleObject(uid);
  object.slot = changes.put_rows.front().slot;
  object.root = object.slot;
  changes.put_objects.push_back(std::move(object));
  changes.put_names = {SampleKeyName(name)};
  changes.audit.push_back(SampleGrant(changes.put_owners.front()));
  return changes;
}

ResourceName SampleKeyName(std::string_view name) {
  ResourceName declared;
  declared.name = SampleKey(name);
  declared.resource = SampleId(name);
  declared.at = At(kEpoch);
  return declared;
}

ResourceName SampleName(std::string_view name) {
  ResourceName located;
  located.name = KeyText{"s3/Bucket|aws|123456789012||name=" + std::string(name)};
  located.resource = SampleId(name);
  located.sort = NameSort::kLocated;
  located.observed = true;
  located.at = At(kEpoch);
  return located;
}

Changes SampleNamedCreate(std::string_view name, std::string_view uid) {
  Changes changes = SampleCreate(name, uid);
  changes.put_names.push_back(SampleName(name));
  return changes;
}

Changes SampleObserve(std::string_view name, std::string_view uid) {
  Changes changes = SampleCreate(name, uid);
  changes.put_observed = {{SampleId(name), SampleKey(name)}};
  changes.put_owners.clear();
  changes.audit.clear();
  changes.put_rows[0].intent = Intent::kObserves;
  return changes;
}

Changes SampleEnd(std::string_view name, std::string_view uid) {
  Changes end;
  end.drop_rows = {SampleRow(name, uid).id};
  end.drop_owners = {SampleId(name)};
  end.drop_objects = {Uid{std::string(uid)}};
  end.drop_names = {IdOf(SampleKeyName(name)), IdOf(SampleName(name))};
  return end;
}

Changes WithObjects(Changes changes, const Facts& facts) {
  std::set<Uid> declaring;
  for (const Row& row : changes.put_rows) {
    declaring.insert(row.id.uid);
    const bool is_put = std::ranges::count(changes.put_objects, row.id.uid, &Object::uid) != 0;
    if (is_put || facts.ObjectByUid(row.id.uid)) continue;
    changes.put_objects.push_back(SampleObject(row.id.uid.text));
    changes.put_objects.back().slot = row.slot;
    changes.put_objects.back().root = row.root;
  }
  std::erase_if(changes.drop_objects, [&](const Uid& uid) {
    return declaring.contains(uid) ||
           std::ranges::any_of(facts.RowsOfUid(uid), [&](const Row& row) {
             return std::ranges::count(changes.drop_rows, row.id) == 0;
           });
  });
  return changes;
}

Result<void> Write(Store& store, const Changes& changes) {
  return store.Apply(
      {}, [&changes](const Facts& facts) { return WithObjects(changes, facts); }, Soon());
}

std::optional<Owner> OwnerIn(const Store& store, const ResourceId& id) {
  std::optional<Owner> owner;
  const Result<void> read =
      store.Read([&](const Facts& facts) { owner = facts.OwnerOf(id); }, Soon());
  TRUCE_ASSERT(read.ok());
  return owner;
}

namespace {

constexpr std::size_t kAgreements = 9;
constexpr std::uint32_t kSpellings = 2;

PublicId AgreementId(std::size_t number) { return {"g" + std::to_string(number)}; }

Agreement RandomAgreement(std::mt19937_64& random) {
  Agreement agreement;
  agreement.id = AgreementId(Below(random, kAgreements));
  agreement.kind = static_cast<AgreementKind>(Below(random, 3));
  agreement.resource = SampleId(NameOf(random));
  agreement.party = {OddText(random)};
  agreement.level = static_cast<ShareLevel>(Below(random, 2));
  agreement.accepted = OneIn(random, 2);
  agreement.successor = OddText(random);
  agreement.reason = OddText(random);
  agreement.actor = OddText(random);
  agreement.at = At(static_cast<std::int64_t>(Below(random, 1000)));
  if (OneIn(random, 2)) agreement.until = At(static_cast<std::int64_t>(Below(random, 1000)));
  return agreement;
}

ResourceName RandomName(std::mt19937_64& random) {
  ResourceName name = SampleName(NameOf(random));
  name.resource = SampleId(NameOf(random));
  name.sort = static_cast<NameSort>(Below(random, 4));
  name.observed = OneIn(random, 2);
  name.spelling = static_cast<std::uint32_t>(Below(random, kSpellings));
  name.at = At(static_cast<std::int64_t>(Below(random, 1000)));
  return name;
}

// Most names and agreements come with their resource, as the ledger makes them, and go with it.
void AddWhatRefers(std::mt19937_64& random, Changes& changes) {
  for (const Owner& owner : changes.put_owners) {
    if (OneIn(random, 3)) {
      changes.put_names.push_back(RandomName(random));
      if (!OneIn(random, 4)) changes.put_names.back().resource = owner.id;
    }
    if (OneIn(random, 3)) {
      changes.put_agreements.push_back(RandomAgreement(random));
      if (!OneIn(random, 4)) changes.put_agreements.back().resource = owner.id;
    }
  }
  if (OneIn(random, 3)) changes.drop_names.push_back(IdOf(RandomName(random)));
  if (OneIn(random, 5)) changes.drop_agreements.push_back(RandomAgreement(random).id);
  if (changes.drop_owners.empty() || OneIn(random, 4)) return;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    for (std::uint32_t spelling = 0; spelling < kSpellings; ++spelling) {
      changes.drop_names.push_back({SampleName(name).name, spelling});
    }
  }
  for (std::size_t i = 0; i < kAgreements; ++i) changes.drop_agreements.push_back(AgreementId(i));
}

}  // namespace

Changes RandomChanges(std::mt19937_64& random) {
  Changes changes;
  for (std::size_t i = Below(random, 3); i > 0; --i) changes.put_rows.push_back(RandomRow(random));
  for (std::size_t i = Below(random, 3); i > 0; --i) {
    const Row row = RandomRow(random);
    changes.drop_rows.push_back(row.id);
  }
  for (std::size_t i = Below(random, 2); i > 0; --i) {
    changes.put_owners.push_back(RandomOwner(random));
  }
  // Most rows come with their resource, as the ledger makes them.
  for (const Row& row : changes.put_rows) {
    if (OneIn(random, 4)) continue;
    if (!Manages(row) && OneIn(random, 2)) {
      changes.put_observed.push_back({row.id.resource, SampleKey(NameOf(random))});
      continue;
    }
    Owner owner = RandomOwner(random);
    owner.id = row.id.resource;
    changes.put_owners.push_back(std::move(owner));
  }
  if (OneIn(random, 9)) {
    changes.put_observed.push_back({SampleId(NameOf(random)), SampleKey(NameOf(random))});
  }
  if (OneIn(random, 2)) {
    const ResourceId id = SampleId(NameOf(random));
    changes.drop_owners.push_back(id);
    for (std::size_t uid = 0; uid < kUids && !OneIn(random, 9); ++uid) {
      changes.drop_rows.push_back({id, Uid{"u" + std::to_string(uid)}, RowState::kReserved});
      changes.drop_rows.push_back({id, Uid{"u" + std::to_string(uid)}, RowState::kSeen});
    }
  }
  for (std::size_t i = Below(random, 3); i > 0; --i) {
    changes.put_objects.push_back(RandomObject(random));
  }
  if (OneIn(random, 3)) changes.drop_objects.push_back(Uid{UidOf(random)});
  for (const Owner& owner : changes.put_owners) {
    AuditEntry entry = SampleGrant(owner);
    entry.action = static_cast<AuditAction>(Below(random, 8));
    entry.cause = OddText(random);
    changes.audit.push_back(std::move(entry));
  }
  if (OneIn(random, 4)) changes.put_settings.emplace_back("s" + NameOf(random), OddText(random));
  AddWhatRefers(random, changes);
  return changes;
}

}  // namespace truce::testing
