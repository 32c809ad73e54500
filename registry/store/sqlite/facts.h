// Facts of the state that a connection shows.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_
#define TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/rows.h"
#include "registry/store/sqlite/connection.h"

namespace truce {

struct StoreCounts;

// Of one state where the connection is in a transaction. After the first error, which is kept,
// nothing more is found. External synchronization.
class SqliteFacts final : public AllFacts {
 public:
  // `connection` must outlive it.
  explicit SqliteFacts(Connection& connection) : connection_(connection) {}

  const std::optional<Error>& error() const { return error_; }

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
  std::uint64_t CountOwned(const OwnedRange& range) const override;
  std::vector<Owner> OwnersOfShape(std::string_view shape, std::size_t limit) const override;
  std::vector<Agreement> AgreementsOf(const ResourceId& id) const override;
  std::optional<Agreement> AgreementById(const PublicId& id) const override;
  std::vector<Agreement> AgreementsAfter(AgreementKind kind, const PublicId& after,
                                         std::size_t limit) const override;
  std::vector<Owner> OwnersIn(OwnerList list, const KeyText& after,
                              std::size_t limit) const override;
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
  std::uint64_t CountSeen(std::string_view cluster) const override;

  std::vector<Row> ObserversAfter(const RowId& after, std::size_t limit) const override;
  std::vector<PlaceCount> PlacesOf(std::string_view type, std::size_t limit) const override;
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

 private:
  // Calls `each` with every row of `sql` (Result<bool>: false ends it).
  template <typename Each, typename... Values>
  void Visit(const char* sql, const Each& each, const Values&... values) const;
  // Fills a value from each row.
  template <typename T, typename... Values>
  std::vector<T> Collect(const char* sql, const Values&... values) const;
  template <typename T, typename... Values>
  std::optional<T> First(const char* sql, const Values&... values) const;

  // Of the last few that were asked for: the rules of a decision ask for the same again.
  struct OfResource {
    std::optional<std::optional<Owner>> owner;
    std::optional<std::vector<Row>> rows;
    std::optional<std::vector<ResourceName>> names;
  };

  Connection& connection_;
  mutable std::map<ResourceId, OfResource> resources_;
  mutable std::map<KeyText, std::optional<std::vector<ResourceName>>> spelt_;
  mutable std::optional<Error> error_;
};

// How many ownerships there are by state, counted by indexes.
Result<StoreCounts> CountsOf(Connection& connection);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_FACTS_H_
