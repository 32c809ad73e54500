// Re-keying: a catalogue that computes other keys; an account that became known.
#ifndef TRUCE_REGISTRY_OWNERSHIP_REKEY_H_
#define TRUCE_REGISTRY_OWNERSHIP_REKEY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/identity/values.h"

namespace truce {

class Facts;
class Ledger;
struct Row;

// The new key of an identity; nothing when its type is no longer known (the row keeps its key).
using NewKey = std::function<std::optional<KeyText>(const ResourceIdentity&)>;

// NewKey of a catalogue.
NewKey KeysOf(const Catalogue& catalogue);

// What re-keying the resource kept under `key` touches beside that: the keys it gets, and its
// further names, as they are spelt before and after.
struct KeyMove {
  KeyText key;
  std::vector<KeyText> touched;
};
// Of the resources kept under `keys` those that get another key.
std::vector<KeyMove> MovesOf(std::span<const KeyText> keys, const NewKey& new_key,
                             const Facts& facts);

// Which of many moves must be made in one decision, because they touch a name that another one
// touches, too: where keys merge, or one takes what another one leaves. Each of the others may be
// made alone. Remembers some 50 bytes of a move, and of a few moves too many that they must.
class EntangledMoves {
 public:
  void Add(const KeyMove& move);
  // After the last move.
  void Close();
  bool Has(const KeyText& key) const { return keys_.contains(HashOf(key)); }
  bool empty() const { return keys_.empty(); }

 private:
  static std::uint64_t HashOf(const KeyText& text);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> touched_;  // name, by which move
  std::unordered_set<std::uint64_t> keys_;
};

// Recomputes the keys of the resources kept under `keys`, with which all stand that are entangled
// with one of them, from the identities kept in rows and records. Keys may merge (the oldest
// ownership stays, the others become conflicts) and split (each part goes to whoever manages it;
// the old owner first). Public ids stay with the ownership that keeps the first part. Idempotent.
// Returns how many keys changed.
std::size_t Rekey(std::span<const KeyText> keys, const NewKey& new_key, const std::string& cause,
                  Ledger& ledger);

// An account that became known: what is kept under the provisional account `from` ("?…") is in
// `to`.
struct AccountChange {
  std::string from;
  std::string to;

  bool operator==(const AccountChange&) const = default;
};
// Gives each resource of `keys` that is kept under the provisional account, or declared by it, its
// located name (LocateResource). Declarations by it of a resource in another account move to `to`,
// and leave that one orphaned, for the reason MovedReason. Idempotent. Returns how many changed.
// For passes of bounded transactions.
std::size_t LocateResources(std::span<const KeyText> keys, const AccountChange& change,
                            Ledger& ledger);

// Owner::record_reason of what was left orphaned because the ProviderConfig behind the provisional
// account `from` leads to account `to` now; and back.
std::string MovedReason(const AccountChange& change);
std::optional<AccountChange> ReadMovedReason(std::string_view reason);
// The reason why `object` does not mean the resource of `row` any more: MovedReason where it is its
// ProviderConfig that leads elsewhere.
std::string WhyNotMeant(const ObjectFacts& object, const Row& row);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REKEY_H_
