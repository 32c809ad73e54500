// The account in the names of resources (values.h: KeyText).
#ifndef TRUCE_REGISTRY_IDENTITY_KEY_ACCOUNTS_H_
#define TRUCE_REGISTRY_IDENTITY_KEY_ACCOUNTS_H_

#include <optional>
#include <string>
#include <string_view>

#include "registry/identity/values.h"

namespace truce {

// The account in a name, as it is written there; empty: none.
std::string_view AccountFieldIn(const KeyText& name);

// The account in a name: 12 digits, "?<provisional account>", or empty where its type's key has
// none.
std::string AccountIn(const KeyText& name);
// The same name under another account ("111111111111", "?<provisional account>").
KeyText WithAccount(const KeyText& name, std::string_view account);

// The same name without its account; nothing where it has none. So is kept what a catalogue
// recorded to which the type's names had no accounts, until its own is known: it stands for each of
// them.
std::optional<KeyText> WithoutAccount(const KeyText& name);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_KEY_ACCOUNTS_H_
