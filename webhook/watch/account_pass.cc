#include "webhook/watch/account_pass.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "registry/ownership/ledger.h"
#include "registry/ownership/names.h"
#include "registry/ownership/rekey.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::size_t kKeysPage = 256;

std::size_t RowsOf(const Changes& changes) {
  return changes.put_rows.size() + changes.drop_rows.size() + changes.put_owners.size() +
         changes.drop_owners.size() + changes.put_objects.size() + changes.drop_objects.size() +
         changes.put_agreements.size() + changes.drop_agreements.size() + changes.put_names.size() +
         changes.drop_names.size() + changes.audit.size();
}

using AccountsByStandIn = std::map<std::string, std::string>;

// Applies to the resource at `key` what concerns it.
void LocateKey(const KeyText& key, const AccountsByStandIn& accounts, Ledger& ledger) {
  std::set<std::string> own{AccountIn(key)};
  for (const Row& row : ledger.RowsOfKey(key)) own.insert(row.identity.account);
  for (const std::string& stand_in : own) {
    const auto account = accounts.find(stand_in);
    if (account == accounts.end()) continue;
    (void)LocateResources({&key, 1}, {account->first, account->second}, ledger);
  }
}

}  // namespace

Result<void> AccountPass::Keep(Accounts accounts) {
  TRUCE_RETURN_IF_ERROR(store_.Keep(kBroughtSetting, ToText(accounts.brought())));
  accounts_ = std::move(accounts);
  return {};
}

// One portion. Returns the last key that was looked at; empty: there are no more.
Result<KeyText> AccountPass::Locate() {
  const auto accounts = std::make_shared<AccountsByStandIn>();
  for (const auto& [config, account] : moving_) {
    accounts->emplace(StandInFor(config, store_.cluster()), account);
  }
  const auto locate = [accounts](const KeyText& key, Ledger& ledger) {
    LocateKey(key, *accounts, ledger);
  };
  std::vector<KeyText> concerned;
  KeyText last;
  TRUCE_RETURN_IF_ERROR(store_.Read([&](const AllFacts& facts) {
    concerned.clear();
    last = {};
    std::size_t rows = 0;
    const std::vector<KeyText> page = facts.KeysAfter(until_, kKeysPage);
    for (const KeyText& key : page) {
      const Changes made = store_.Outcome(facts, [&](Ledger& ledger) { locate(key, ledger); });
      if (!made.empty()) {
        const std::size_t own = RowsOf(made);
        if (!concerned.empty() && rows + own > kPortion) return;
        rows += own;
        concerned.push_back(key);
      }
      last = key;
    }
    if (page.size() < kKeysPage) last = {};
  }));
  const std::size_t all = concerned.size();
  TRUCE_RETURN_IF_ERROR(store_.WriteEach(std::move(concerned), all, locate));
  return last;
}

Result<bool> AccountPass::Step() {
  if (AccountMap moving = accounts_.Moving(); moving != moving_) {
    Accounts next = accounts_;
    next.Begin(moving);
    TRUCE_RETURN_IF_ERROR(Keep(std::move(next)));
    moving_ = std::move(moving);
    until_ = {};
  }
  TRUCE_ASSIGN_OR_RETURN(until_, Locate());
  if (!until_.empty()) return false;
  Accounts next = accounts_;
  next.Brought(moving_);
  TRUCE_RETURN_IF_ERROR(Keep(std::move(next)));
  moving_.clear();
  return true;
}

}  // namespace truce
