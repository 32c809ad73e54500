// Re-keying: a catalogue that computes other keys; an account that became known.
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

// An account that became known: what is kept under the stand-in `from` ("?…") is in `to`.
struct AccountChange {
  std::string from;
  std::string to;
};
// Gives each resource of `keys` that is kept under the stand-in, or declared by it, its located
// name (LocateResource). Idempotent. Returns how many changed. For passes of bounded transactions.
std::size_t LocateResources(std::span<const KeyText> keys, const AccountChange& change,
                            Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_REKEY_H_
