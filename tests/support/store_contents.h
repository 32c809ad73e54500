// Everything that a store holds, read by its port.
#ifndef TRUCE_TESTS_SUPPORT_STORE_CONTENTS_H_
#define TRUCE_TESTS_SUPPORT_STORE_CONTENTS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/names.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {

// Everything at one moment, each list in the order of what identifies its entries.
struct StoreContents {
  std::vector<Owner> owners;
  std::vector<ObservedResource> observed;  // those with rows and without owner, by their best name
  std::vector<Row> rows;
  std::vector<Object> objects;
  std::vector<Agreement> agreements;
  std::vector<ResourceName> names;
  std::vector<AuditEntry> audit;  // by number
  std::vector<std::pair<std::string, std::string>> settings;

  bool operator==(const StoreContents&) const = default;
};

// Errors: those of Store::Read.
inline Result<StoreContents> ContentsOf(const Store& store) {
  constexpr std::size_t kAll = 1'000'000;
  constexpr std::chrono::seconds kWithin{60};
  StoreContents all;
  const auto append = [](auto more, auto& to) {
    std::move(more.begin(), more.end(), std::back_inserter(to));
  };
  const auto look = [&](const AllFacts& facts) {
    all = {};
    for (const ResourceId& id : facts.ResourcesAfter({}, kAll)) {
      auto owner = facts.OwnerOf(id);
      if (!owner) all.observed.push_back({id, BestOf(facts.NamesOf(id))});
      if (owner) all.owners.push_back(*std::move(owner));
      append(facts.RowsOf(id), all.rows);
      append(facts.NamesOf(id), all.names);
    }
    all.objects = facts.ObjectsAfter({}, kAll);
    for (const AgreementKind kind :
         {AgreementKind::kShare, AgreementKind::kTransfer, AgreementKind::kProtection}) {
      append(facts.AgreementsAfter(kind, {}, kAll), all.agreements);
    }
    for (AuditLine& line : facts.AuditLines({.from = 1}, kAll)) {
      all.audit.push_back(std::move(line.entry));
    }
    all.settings = facts.SettingsAfter("", kAll);
  };
  TRUCE_RETURN_IF_ERROR(store.Read(look, std::chrono::steady_clock::now() + kWithin));
  std::ranges::sort(all.names, {}, IdOf);
  std::ranges::sort(all.agreements, {}, &Agreement::id);
  return all;
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_STORE_CONTENTS_H_
