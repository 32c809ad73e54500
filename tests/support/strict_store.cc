#include "tests/support/strict_store.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "registry/store/discovery/discovery.h"

namespace truce::testing {
namespace {

struct AskFacts {
  const AllFacts& facts;
  QueryAnswer answer = {};

  void operator()(const CountReservedQuery& query) {
    answer.count = facts.CountReserved({query.ns, query.user, query.from, query.before},
                                       query.left_out, query.limit);
  }
  void operator()(const OwnersOfShapeQuery& query) {
    answer.owners = facts.OwnersOfShape(query.shape, query.limit);
  }
  void operator()(const IsTakenQuery& query) { answer.count = facts.IsTaken(query.name) ? 1 : 0; }
  void operator()(const AgreementsQuery& query) {
    answer.agreements = facts.AgreementsAfter(query.kind, query.after, query.limit);
  }
  void operator()(const ResourcesQuery& query) {
    answer.resources = facts.ResourcesAfter(query.after, query.limit);
  }
  void operator()(const ObjectsOfKindQuery& query) {
    answer.objects = facts.ObjectsOfKind(query.of_kind, query.after, query.limit);
  }
  void operator()(const ObjectsQuery& query) {
    answer.objects.objects = facts.ObjectsAfter(query.after, query.limit);
  }
  void operator()(const SettingsQuery& query) {
    answer.settings = facts.SettingsAfter(query.after, query.limit);
  }
  void operator()(const ReservedBeforeQuery& query) {
    answer.rows = facts.ReservedBefore(query.before, query.after, query.limit);
  }
  void operator()(const CountSeenQuery& query) { answer.count = facts.CountSeen(query.cluster); }
  void operator()(const CountOwnedQuery& query) { answer.count = facts.CountOwned(query.range); }
  void operator()(const PlacesQuery& query) {
    answer.places = facts.PlacesOf(query.type, query.limit);
  }
  void operator()(const OwnersInQuery& query) {
    answer.owners = facts.OwnersIn(query.list, query.after, query.limit);
  }
  void operator()(const ObserversQuery& query) {
    answer.rows = facts.ObserversAfter(query.after, query.limit);
  }
  void operator()(const KeysQuery& query) {
    answer.keys = facts.KeysAfter(query.after, query.limit);
  }
  void operator()(const KeysWithQuery& query) {
    switch (query.word) {
      case OwnerWord::kName: answer.keys = facts.KeysWithName(query.text, query.limit); break;
      case OwnerWord::kArn: answer.keys = facts.KeysWithArn(query.text, query.limit); break;
    }
  }
  void operator()(const KeysNamedQuery& query) {
    auto keys = facts.KeysNamed(query.search, query.limit);
    answer.looked_at_all = keys.has_value();
    answer.keys = std::move(keys).value_or(std::vector<KeyText>());
  }
  void operator()(const KeysOfServiceQuery& query) {
    answer.keys = facts.KeysOfService(query.service, query.after, query.limit);
  }
  void operator()(const ServicesQuery& query) {
    answer.services = facts.Services(query.after, query.limit);
  }
  void operator()(const TallyServicesQuery&) { answer.tallies = facts.TallyServices(); }
  void operator()(const NamespacesQuery& query) {
    const Slot& kind = query.of_kind;
    answer.namespaces = facts.NamespacesOf(kind.cluster, {kind.group, kind.kind}, query.limit);
  }
  void operator()(const TableQuery& query) {
    answer.table_rows = facts.TableRows(query.table, query.prefix);
  }
  void operator()(const AuditLinesQuery& query) {
    answer.lines = facts.AuditLines(query.range, query.limit);
  }
};

class MemorySource final : public FactSource {
 public:
  MemorySource(const AllFacts& facts, bool locks) : facts_(facts), locks_(locks) {}

  Result<void> Begin(const FactNeeds& needs, bool whole, FactStock& stock) override {
    whole_ = whole;
    Bring(needs, stock);
    return {};
  }

  Result<bool> More(const FactNeeds& needs, FactStock& stock) override {
    missed_.Add(needs);
    constexpr std::size_t kOneIn = 3;
    if (locks_ && !whole_ && needs.LockCount() % kOneIn == 0) return false;
    Bring(needs, stock);
    return true;
  }

  void Undo() override {}
  void OnManyRuns() override { ran_often_ = true; }

  bool whole() const { return whole_; }
  bool ran_often() const { return ran_often_; }
  const FactNeeds& missed() const { return missed_; }

 private:
  void Bring(const FactNeeds& needs, FactStock& stock) const {
    stock.Expect(needs);
    for (const KeyText& name : needs.names) {
      auto spelt = facts_.Spelt(name);
      for (const ResourceName& each : spelt) BringResource(each.resource, stock);
      stock.names[name] = {std::move(spelt)};
    }
    for (const ResourceId& id : needs.resources) BringResource(id, stock);
    for (const Uid& uid : needs.uids) {
      stock.uids[uid] = {facts_.ObjectByUid(uid), facts_.RowsOfUid(uid)};
    }
    for (const Slot& slot : needs.slots) {
      stock.slots[slot] = {facts_.ObjectBySlot(slot), facts_.ChildrenOf(slot)};
    }
    for (const std::string& name : needs.settings) stock.settings[name] = facts_.Setting(name);
    for (const PublicId& id : needs.agreements) {
      stock.agreements[id] = facts_.AgreementById(id);
    }
    for (const Query& query : needs.queries) {
      AskFacts ask{facts_};
      std::visit(ask, query);
      stock.queries[query] = std::move(ask.answer);
    }
    stock.Sort();
  }

  void BringResource(const ResourceId& id, FactStock& stock) const {
    stock.resources[id] = {facts_.OwnerOf(id), facts_.RowsOf(id), facts_.NamesOf(id),
                           facts_.AgreementsOf(id)};
  }

  const AllFacts& facts_;
  const bool locks_;  // others may hold some
  bool whole_ = false;
  bool ran_often_ = false;
  FactNeeds missed_;
};

}  // namespace

Result<void> StrictStore::Apply(const Locks& locks, const DecideFn& decide, Deadline deadline) {
  std::optional<Error> failed;
  const DecideFn discover = [&](const AllFacts& facts) {
    MemorySource source(facts, true);
    std::size_t runs = 0;
    const DecideFn counted = [&](const AllFacts& known) {
      ++runs;
      return decide(known);
    };
    Result<Changes> decided = DecideOn(source, locks, counted, deadline);
    effort_.With([&](Effort& effort) {
      ++effort.decisions;
      effort.runs += runs;
      effort.longest = std::max(effort.longest, runs);
      if (source.whole()) ++effort.whole;
      if (source.ran_often()) ++effort.long_ones;
      effort.missed = source.missed();
    });
    if (decided.ok()) return std::move(decided).value();
    failed = decided.error();
    return Changes{};
  };
  Result<void> applied = memory_.Apply(locks, discover, deadline);
  if (failed) return *std::move(failed);
  return applied;
}

Result<void> StrictStore::Read(const Locks& hints, const ReadFn& read, Deadline deadline) const {
  Result<void> looked;
  const ReadFn discover = [&](const AllFacts& facts) {
    MemorySource source(facts, false);
    looked = ReadOn(source, hints, read, deadline);
  };
  TRUCE_RETURN_IF_ERROR(memory_.Read(discover, deadline));
  return looked;
}

StrictStore::Effort StrictStore::effort() const {
  return effort_.With([](const Effort& effort) { return effort; });
}

}  // namespace truce::testing
