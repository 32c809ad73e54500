// Re-keying: a catalogue that computes other keys, or a better known account (design section 3).
#ifndef TRUCE_REGISTRY_OWNERSHIP_REKEY_H_
#define TRUCE_REGISTRY_OWNERSHIP_REKEY_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/ledger.h"

namespace truce {

// The new key of an identity; nothing when its type is no longer known (the row keeps its key).
using NewKey = std::function<std::optional<KeyText>(const ResourceIdentity&)>;

// NewKey of a catalogue.
NewKey KeysOf(const Catalogue& catalogue);

// Recomputes every key from the identities kept in rows and records. Keys may merge (the oldest
// ownership stays, the others become conflicts) and split (each part goes to whoever manages it;
// the old owner first). Public ids stay with the ownership that keeps the first part. Returns how
// many keys changed.
std::size_t RekeyAll(const NewKey& new_key, const std::string& cause, Ledger& ledger);

// An account that became known, or another one: what is kept under account (or stand-in) `from`
// belongs to `to`.
struct AccountChange {
  std::string from;
  std::string to;
};
// Moves what is kept of `keys` under `change.from` to the keys with `change.to`, identities too,
// with the rules of RekeyAll. Idempotent. Returns how many keys changed. For passes of bounded
// transactions; ResourceIdentity::account says which keys are concerned.
std::size_t RekeyAccount(std::span<const KeyText> keys, const AccountChange& change,
                         const Catalogue& catalogue, Ledger& ledger);

// Moves the rows of one object from `from` to the key of `resource`, whose account is better known
// now. The ownership goes along when nobody else manages `from`; where the new key has another
// owner, the object becomes a conflict there.
void RekeyObject(const Uid& uid, const KeyText& from, const DeclaredResource& resource,
                 Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REKEY_H_
