#include "webhook/serve/registry/catalogue_change.h"

#include <chrono>
#include <string>

#include "registry/ownership/ledger.h"
#include "registry/ownership/rekey.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr const char* kSetting = "catalogue";
// A million ownerships take seconds; nobody waits for an answer yet.
constexpr std::chrono::minutes kRekeyTime{10};

}  // namespace

Result<std::size_t> RekeyForCatalogue(Store& store, const CatalogueChange& change) {
  std::size_t changed = 0;
  const auto decide = [&](const AllFacts& facts) {
    Ledger ledger(facts, change.now, change.ids, change.parties);
    const std::string& version = change.catalogue.version();
    if (ledger.Setting(kSetting) == version) return Changes{};
    changed = RekeyAll(KeysOf(change.catalogue), facts, "catalogue " + version, ledger);
    ledger.PutSetting(kSetting, version);
    return ledger.Take();
  };
  const auto deadline = std::chrono::steady_clock::now() + kRekeyTime;
  const Result<void> applied = store.Apply({}, decide, deadline);
  if (!applied.ok()) return Error(applied.error()).Within("re-key the store for this catalogue");
  return changed;
}

}  // namespace truce
