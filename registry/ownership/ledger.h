// Ledger: facts plus the changes made so far by the decision that runs on them.
#ifndef TRUCE_REGISTRY_OWNERSHIP_LEDGER_H_
#define TRUCE_REGISTRY_OWNERSHIP_LEDGER_H_

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "registry/ownership/terms.h"

namespace truce {

// Records among which those of one root are looked for, at most.
inline constexpr std::size_t kOrphansMax = 1000;

// Reads see the changes made through this ledger. External synchronization; lives for one decision.
class Ledger final {
 public:
  // `facts`, `ids` (of this run: DecisionIds) and `parties` must outlive the ledger. `now` is the
  // time of every change.
  Ledger(const Facts& facts, Timestamp now, const IdSource& ids, const PartyRules& parties)
      : facts_(facts), now_(now), ids_(ids), parties_(parties) {}

  Timestamp now() const { return now_; }
  const Facts& facts() const { return facts_; }

  std::vector<ResourceName> Spelt(const KeyText& name) const;  // the newest first
  std::optional<ResourceName> Named(const KeyText& name) const;
  std::vector<ResourceName> NamesOf(const ResourceId& id) const;  // ordered by NameId
  std::optional<Owner> OwnerOf(const ResourceId& id) const;
  std::vector<Row> RowsOf(const ResourceId& id) const;  // ordered by RowId
  std::vector<Row> RowsOfUid(const Uid& uid) const;     // ordered by RowId
  std::optional<Row> FindRow(const RowId& id) const;
  std::optional<Object> ObjectByUid(const Uid& uid) const;
  std::optional<Object> ObjectBySlot(const Slot& slot) const;
  std::vector<Object> ChildrenOf(const Slot& slot) const;
  std::vector<Agreement> AgreementsOf(const ResourceId& id) const;  // ordered by id
  std::optional<Agreement> AgreementById(const PublicId& id) const;
  // The resources that `root` owns by a record alone, orphaned; of at most kOrphansMax records.
  std::vector<ResourceId> OrphansOf(const Slot& root) const;
  std::optional<std::string> Setting(const std::string& name) const;
  std::vector<TableRow> TableRows(const Table& table, const TableRow& prefix = {}) const;

  void PutRow(Row row);
  void DropRow(const RowId& id);
  void PutOwner(Owner owner);
  void DropOwner(const ResourceId& id);
  void PutObject(Object object);
  void DropObject(const Uid& uid);
  void PutAgreement(Agreement agreement);
  void DropAgreement(const PublicId& id);
  void PutName(ResourceName name);  // known in the same words it keeps its `at`
  void DropName(const NameId& name);
  void PutSetting(const std::string& name, std::string value);
  void PutTableRow(const Table& table, TableRow row);
  void DropTableRow(const Table& table, TableRow key);
  // From now on the table has these rows, and no others that begin with `prefix`. Writes only those
  // that differ.
  void SetTableRows(const Table& table, const TableRow& prefix, std::vector<TableRow> rows);
  void Audit(AuditEntry entry);  // sets `at`

  // Take holds the decision to these (I2, I7, I16): the rows of its answer "allowed", with no other
  // owner beside them; the lives it speaks of; and the real resources it may let go of, because
  // their end was witnessed, an operator says so, or another one keeps their names.
  void Promises(const RowId& id) { promised_.push_back(id); }
  void MayEnd(const Uid& uid) { ending_.insert(uid); }
  void MayFree(const ResourceId& id) { freeing_.insert(id); }
  // The name may go although its resource lives: it names another one from now on, or none.
  void MayLose(const KeyText& name) { losing_.insert(name); }
  // Pass `pass` of another catalogue spells names anew: one resource may be two then, or two one.
  void Respells(std::uint32_t pass) { spelling_ = pass; }
  std::uint32_t spelling() const { return spelling_; }  // of the names that this decision writes

  PublicId NewId() { return ids_(); }
  ResourceId NewResource();
  const PartyRules& parties() const { return parties_; }
  // Whether both are one party by configuration.
  bool OneParty(const PartyId& a, const PartyId& b) const {
    return truce::OneParty(a, b, parties_);
  }
  // A claim may take any composite that no claim has (R5).
  bool unbound_claimable() const { return parties_.unbound_claimable; }

  // The changes, with what owners derive from names (key, shape) and rows (state, leaf) recomputed.
  // Agreements end with their ownership, and a transfer when it is done or the owner names somebody
  // else. The names of a resource that is left with neither owner nor row go with it, all at once
  // (N3). Values equal to the stored ones are left out. A decision that would break I1, I2, I7 or
  // I12 to I17 comes back as Changes::breach instead, in every build. The ledger must not be used
  // afterwards.
  Changes Take();

 private:
  // The store's. It is not asked about what this decision made: nobody else has that id.
  std::optional<Owner> StoredOwner(const ResourceId& id) const;
  std::vector<Row> StoredRows(const ResourceId& id) const;
  std::vector<ResourceName> StoredNames(const ResourceId& id) const;
  std::optional<Row> FindStored(const RowId& id) const;
  std::optional<ResourceName> FindStored(const NameId& id) const;
  // The rows of the resource, ordered by RowId: those of `stored` that this ledger left alone, and
  // its own.
  std::vector<const Row*> ChangedRows(const ResourceId& id, const std::vector<Row>& stored) const;
  bool Stands(const ResourceId& id) const;
  std::set<ResourceId> Touched() const;
  // Observers that an ended ownership leaves declare a resource with another id from now on: people
  // know the ended ownership by the old one.
  void RenewObserved();
  void DeriveOwners();
  void OwnByRecord(Owner& owner);
  // Checks (ledger_checks.cc); the first one that fails stays.
  void Breach(std::string_view invariant, const std::string& what);
  void CheckResource(const ResourceId& id, const std::vector<const Row*>& rows, const Owner* owner);
  void CheckRows();
  void CheckOwner(const ResourceId& id, const std::optional<Owner>& owner);
  void CheckNames();
  bool IsAudited(const ResourceId& id, std::initializer_list<AuditAction> actions) const;
  void EndAgreements();
  void EndWhatIsDone(const Owner& stored, const Owner& owner);
  void DropNamesOfTheGone();
  void TakeAgreements(Changes& changes);
  void TakeNames(Changes& changes);

  const Facts& facts_;
  Timestamp now_;
  const IdSource& ids_;
  const PartyRules& parties_;
  std::set<ResourceId> made_;
  std::map<RowId, std::optional<Row>> rows_;  // nothing: dropped
  std::map<ResourceId, std::optional<Owner>> owners_;
  std::map<Uid, std::optional<Object>> objects_;
  std::map<PublicId, std::optional<Agreement>> agreements_;
  std::map<NameId, std::optional<ResourceName>> names_;
  std::map<std::string, std::string> settings_;
  std::map<Table, std::map<TableRow, std::optional<TableRow>>> table_rows_;  // by their keys
  std::vector<AuditEntry> audit_;
  std::vector<RowId> promised_;
  std::set<Uid> ending_;
  std::set<ResourceId> freeing_;
  std::set<KeyText> losing_;
  std::uint32_t spelling_ = 0;  // not 0: a pass
  std::vector<ObservedResource> observed_;
  std::string breach_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_LEDGER_H_
