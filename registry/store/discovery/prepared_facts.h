// PreparedFacts: facts that were brought beforehand, and a note of others that were asked for.
#ifndef TRUCE_REGISTRY_STORE_DISCOVERY_PREPARED_FACTS_H_
#define TRUCE_REGISTRY_STORE_DISCOVERY_PREPARED_FACTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/facts.h"
#include "registry/store/discovery/needs.h"

namespace truce {

// Lives for one run. A fact that is not in stock is answered with nothing and noted; the run's
// result is then of no use. External synchronization.
class PreparedFacts final : public AllFacts {
 public:
  // `stock` must outlive it.
  explicit PreparedFacts(const FactStock& stock) : stock_(stock) {}

  std::vector<ResourceName> Spelt(const KeyText& name) const override;
  std::vector<ResourceName> NamesOf(const ResourceId& id) const override;
  std::optional<Owner> OwnerOf(const ResourceId& id) const override;
  std::vector<Row> RowsOf(const ResourceId& id) const override;
  std::vector<Row> RowsOfUid(const Uid& uid) const override;
  std::optional<Object> ObjectByUid(const Uid& uid) const override;
  std::optional<Object> ObjectBySlot(const Slot& slot) const override;
  std::vector<Object> ChildrenOf(const Slot& slot) const override;
  std::size_t CountReserved(const ReservedRange& range, const std::set<GroupKind>& left_out,
                            std::size_t limit) const override;
  std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const override;
  std::vector<Agreement> AgreementsOf(const ResourceId& id) const override;
  std::optional<Agreement> AgreementById(const PublicId& id) const override;
  std::vector<Agreement> AgreementsAfter(AgreementKind kind, const PublicId& after,
                                         std::size_t limit) const override;
  bool IsTaken(const KeyText& name) const override;
  std::optional<std::string> Setting(std::string_view name) const override;
  std::vector<TableRow> TableRows(const Table& table, const TableRow& prefix) const override;
  std::vector<ResourceId> ResourcesAfter(const ResourceId& after, std::size_t limit) const override;
  ObjectPage ObjectsOfKind(const Slot& slot, std::string_view after,
                           std::size_t limit) const override;
  std::vector<Object> ObjectsAfter(const Uid& after, std::size_t limit) const override;
  std::vector<std::pair<std::string, std::string>> SettingsAfter(std::string_view after,
                                                                 std::size_t limit) const override;
  std::vector<Row> ReservedBefore(Timestamp before, const RowId& after,
                                  std::size_t limit) const override;
  std::uint64_t CountOwned(const OwnedRange& range) const override;
  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const override;
  std::uint64_t CountSeen(std::string_view cluster) const override;
  std::vector<Owner> OwnersIn(OwnerList list, const KeyText& after,
                              std::size_t limit) const override;
  std::vector<Row> ObserversAfter(const RowId& after, std::size_t limit) const override;
  std::vector<KeyText> KeysAfter(const KeyText& after, std::size_t limit) const override;
  std::vector<KeyText> KeysWithName(std::string_view name, std::size_t limit) const override;
  std::vector<KeyText> KeysWithArn(std::string_view arn, std::size_t limit) const override;
  std::optional<std::vector<KeyText>> KeysNamed(const NameSearch& search,
                                                std::size_t limit) const override;
  std::vector<KeyText> KeysOfService(std::string_view service, const KeyText& after,
                                     std::size_t limit) const override;
  std::vector<ServiceCount> Services(std::string_view after, std::size_t limit) const override;
  std::vector<ServiceTally> TallyServices() const override;
  std::vector<std::string> NamespacesOf(std::string_view cluster, const GroupKind& kind,
                                        std::size_t limit) const override;
  std::vector<AuditLine> AuditLines(const AuditRange& range, std::size_t limit) const override;

  // The facts that were asked for and are not in stock; empty: the run's result counts.
  const FactNeeds& missed() const { return missed_; }

 private:
  const ResourceAnswer& Of(const ResourceId& id) const;
  const UidAnswer& Of(const Uid& uid) const;
  const SlotAnswer& In(const Slot& slot) const;
  const QueryAnswer& Answer(const Query& query) const;

  const FactStock& stock_;
  mutable FactNeeds missed_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_DISCOVERY_PREPARED_FACTS_H_
