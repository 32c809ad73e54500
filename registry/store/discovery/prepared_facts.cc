#include "registry/store/discovery/prepared_facts.h"

#include <utility>

#include "registry/store/adapter.h"

namespace truce {
namespace {

// The entry of `thing`, or an empty one and a note in `missed`.
template <typename Map, typename Set, typename Thing>
const typename Map::mapped_type& Find(const Map& stock, Set& missed, const Thing& thing) {
  static const typename Map::mapped_type kNothing{};
  const auto found = stock.find(thing);
  if (found != stock.end()) return found->second;
  missed.emplace(thing);
  return kNothing;
}

}  // namespace

const ResourceAnswer& PreparedFacts::Of(const ResourceId& id) const {
  return Find(stock_.resources, missed_.resources, id);
}

const UidAnswer& PreparedFacts::Of(const Uid& uid) const {
  return Find(stock_.uids, missed_.uids, uid);
}

const SlotAnswer& PreparedFacts::In(const Slot& slot) const {
  return Find(stock_.slots, missed_.slots, slot);
}

const QueryAnswer& PreparedFacts::Answer(const Query& query) const {
  return Find(stock_.queries, missed_.queries, query);
}

std::vector<ResourceName> PreparedFacts::Spelt(const KeyText& name) const {
  return Find(stock_.names, missed_.names, name).spelt;
}

std::vector<ResourceName> PreparedFacts::NamesOf(const ResourceId& id) const {
  return Of(id).names;
}

std::optional<Owner> PreparedFacts::OwnerOf(const ResourceId& id) const { return Of(id).owner; }

std::vector<Row> PreparedFacts::RowsOf(const ResourceId& id) const { return Of(id).rows; }

std::vector<Row> PreparedFacts::RowsOfUid(const Uid& uid) const { return Of(uid).rows; }

std::optional<Object> PreparedFacts::ObjectByUid(const Uid& uid) const { return Of(uid).object; }

std::optional<Object> PreparedFacts::ObjectBySlot(const Slot& slot) const {
  return In(slot).youngest;
}

std::vector<Object> PreparedFacts::ChildrenOf(const Slot& slot) const { return In(slot).children; }

std::size_t PreparedFacts::CountReserved(const ReservedRange& range,
                                         const std::set<GroupKind>& left_out,
                                         std::size_t limit) const {
  return Answer(CountReservedQuery{std::string(range.ns), std::string(range.user), range.from,
                                   range.before, left_out, limit})
      .count;
}

std::vector<Owner> PreparedFacts::OwnersOfShape(std::string_view shape, std::size_t limit) const {
  if (shape.empty()) return {};
  return Answer(OwnersOfShapeQuery{std::string(shape), limit}).owners;
}

std::vector<Agreement> PreparedFacts::AgreementsOf(const ResourceId& id) const {
  return Of(id).agreements;
}

std::optional<Agreement> PreparedFacts::AgreementById(const PublicId& id) const {
  return Find(stock_.agreements, missed_.agreements, id);
}

std::vector<Agreement> PreparedFacts::AgreementsAfter(AgreementKind kind, const PublicId& after,
                                                      std::size_t limit) const {
  return Answer(AgreementsQuery{kind, after, limit}).agreements;
}

bool PreparedFacts::IsTaken(const KeyText& name) const {
  return Answer(IsTakenQuery{name}).count != 0;
}

std::optional<std::string> PreparedFacts::Setting(std::string_view name) const {
  return Find(stock_.settings, missed_.settings, name);
}

std::vector<TableRow> PreparedFacts::TableRows(const Table& table, const TableRow& prefix) const {
  return Answer(TableQuery{table, prefix}).table_rows;
}

std::vector<ResourceId> PreparedFacts::ResourcesAfter(const ResourceId& after,
                                                      std::size_t limit) const {
  return Answer(ResourcesQuery{after, limit}).resources;
}

ObjectPage PreparedFacts::ObjectsOfKind(const Slot& slot, std::string_view after,
                                        std::size_t limit) const {
  const Slot of_kind = {slot.cluster, slot.group, slot.kind, {}, {}};
  return Answer(ObjectsOfKindQuery{of_kind, std::string(after), limit}).objects;
}

std::vector<Object> PreparedFacts::ObjectsAfter(const Uid& after, std::size_t limit) const {
  return Answer(ObjectsQuery{after, limit}).objects.objects;
}

std::vector<std::pair<std::string, std::string>> PreparedFacts::SettingsAfter(
    std::string_view after, std::size_t limit) const {
  return Answer(SettingsQuery{std::string(after), limit}).settings;
}

std::vector<Row> PreparedFacts::ReservedBefore(Timestamp before, const RowId& after,
                                               std::size_t limit) const {
  return Answer(ReservedBeforeQuery{before, after, limit}).rows;
}

std::uint64_t PreparedFacts::CountSeen(std::string_view cluster) const {
  return Answer(CountSeenQuery{std::string(cluster)}).count;
}

std::uint64_t PreparedFacts::CountOwned(const OwnedRange& range) const {
  return Answer(CountOwnedQuery{range}).count;
}

std::vector<PlaceCount> PreparedFacts::PlacesOf(std::string_view type, std::size_t limit) const {
  return Answer(PlacesQuery{std::string(type), limit}).places;
}

std::vector<Owner> PreparedFacts::OwnersIn(OwnerList list, const KeyText& after,
                                           std::size_t limit) const {
  return Answer(OwnersInQuery{list, after, limit}).owners;
}

std::vector<Row> PreparedFacts::ObserversAfter(const RowId& after, std::size_t limit) const {
  return Answer(ObserversQuery{after, limit}).rows;
}

std::vector<KeyText> PreparedFacts::KeysAfter(const KeyText& after, std::size_t limit) const {
  return Answer(KeysQuery{after, limit}).keys;
}

std::vector<KeyText> PreparedFacts::KeysWithName(std::string_view name, std::size_t limit) const {
  if (name.empty()) return {};
  return Answer(KeysWithQuery{OwnerWord::kName, std::string(name), limit}).keys;
}

std::vector<KeyText> PreparedFacts::KeysWithArn(std::string_view arn, std::size_t limit) const {
  if (arn.empty()) return {};
  return Answer(KeysWithQuery{OwnerWord::kArn, std::string(arn), limit}).keys;
}

std::optional<std::vector<KeyText>> PreparedFacts::KeysNamed(const NameSearch& search,
                                                             std::size_t limit) const {
  if (IsAmongNobody(search)) return std::vector<KeyText>();
  const QueryAnswer& answer = Answer(KeysNamedQuery{search, limit});
  return answer.looked_at_all ? std::optional(answer.keys) : std::nullopt;
}

std::vector<KeyText> PreparedFacts::KeysOfService(std::string_view service, const KeyText& after,
                                                  std::size_t limit) const {
  if (service.empty()) return {};
  return Answer(KeysOfServiceQuery{std::string(service), after, limit}).keys;
}

std::vector<ServiceCount> PreparedFacts::Services(std::string_view after, std::size_t limit) const {
  return Answer(ServicesQuery{std::string(after), limit}).services;
}

std::vector<ServiceTally> PreparedFacts::TallyServices() const {
  return Answer(TallyServicesQuery{}).tallies;
}

std::vector<std::string> PreparedFacts::NamespacesOf(std::string_view cluster,
                                                     const GroupKind& kind,
                                                     std::size_t limit) const {
  return Answer(NamespacesQuery{{std::string(cluster), kind.group, kind.kind, {}, {}}, limit})
      .namespaces;
}

std::vector<AuditLine> PreparedFacts::AuditLines(const AuditRange& range, std::size_t limit) const {
  return Answer(AuditLinesQuery{range, limit}).lines;
}

}  // namespace truce
