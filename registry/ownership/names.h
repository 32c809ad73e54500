// Names: which resource a name belongs to, and how further names join it (N1 to N5 in DESIGN.md).
//
// A resource is kept under its key, which is the first of its names; Ledger::FurtherName knows the
// others. Where the account is known by the ProviderConfig or by configuration, the key is the
// located name, else the declared one.
#ifndef TRUCE_REGISTRY_OWNERSHIP_NAMES_H_
#define TRUCE_REGISTRY_OWNERSHIP_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/identity/identity.h"
#include "registry/identity/key_accounts.h"
#include "registry/ownership/terms.h"

namespace truce {

class Facts;
class Ledger;
struct Object;
struct Owner;
struct ResourceName;
enum class NameSort : std::uint8_t;

// Which sort of name it is, by its account.
NameSort SortOf(const KeyText& name);

// How the public id of a resource that merged into another one is kept among the further names of
// that one, so that it still finds it. No name of AWS's is spelt so.
KeyText FormerIdName(const PublicId& id);
// The id of which `name` is the former-id name; nothing when it is a name of another sort.
std::optional<PublicId> FormerIdOf(const ResourceName& name);
// The resource at `key` is found by `id`, which was another one's until now, from now on and until
// it ends; of more than kFormerIdsMax the newest stay.
inline constexpr std::size_t kFormerIdsMax = 8;
void KeepFormerId(const PublicId& id, const KeyText& key, Ledger& ledger);

// The key of the resource to which the name belongs: one with an owner, or with rows. Nothing: the
// name is free.
std::optional<KeyText> ResourceOf(const KeyText& name, const Ledger& ledger);

// The owner of the resource to which the name belongs.
std::optional<Owner> OwnerByName(const KeyText& name, const Facts& facts);

// The owner of what the declaration means, by the first of its names that has one.
std::optional<Owner> OwnerByNames(const DeclaredResource& resource, const Facts& facts);

// The located name of a resource; nothing while its account is not known, or has none.
std::optional<KeyText> LocatedName(const Owner& owner);

// The account is known of both, and differs: the declaration means another resource, whatever names
// they share.
bool InAnotherAccount(const DeclaredResource& resource, const Owner& owner);

// Fills DeclaredResource::awaited of what `object` declares with a located name: the same parts
// under each provisional account that `moving` has for that account (N6). For reviews; what is seen
// finds its place when those portions are through.
void AwaitNames(const MovingAccounts& moving, ObjectFacts& object);

// A resource that a declaration means by at least one of its names.
struct MeantResource {
  KeyText key;
  bool observed = false;  // only by names known from a status, its own or that of the resource
  // Another resource that living objects declare by an awaited name: they are about to declare this
  // one. To be decided against, never granted.
  bool awaited = false;

  bool operator==(const MeantResource&) const = default;
};

// The resources that the declaration means, each once; by the key first. A record is not meant by
// the provisional account alone where another account is known for the declaration than for the
// record, and not from a status (N5): then two resources had this provisional account one after the
// other.
std::vector<MeantResource> ResourcesMeant(const DeclaredResource& resource, const Ledger& ledger);

// The same, and after them those that are awaited in other accounts.
std::vector<MeantResource> ResourcesConcerned(const DeclaredResource& resource,
                                              const Ledger& ledger);

// Gives the declaration's free names to the resource that it declares, and returns that one's key:
// of those it means the first without another located name, else a new one, for which the caller
// makes an owner. A provisional account of a resource in another account moves along, unless
// another root, or what was seen in the object's place since, declares that one by it (N3).
// Resources that turn out to be one, of one owner, merge: the elder's id and time stay, the younger
// id finds it still, a living row ends a record, the audit line names both. What belongs to another
// owner stays there, but a located name that it has from a status alone and that configuration
// gives this one.
KeyText JoinNames(const DeclaredResource& resource, const Object& object, Ledger& ledger);

// The account of the resource at `key` became known by configuration or its ProviderConfig: it gets
// the located name too, merged with what has that already where both are one owner's; else its rows
// stand there as well, as conflicts. Idempotent. Returns false when nothing changed.
bool LocateResource(const KeyText& key, std::string_view account, Ledger& ledger);

// Nothing declares the resource at `key` by the provisional account `name` any more: it is known by
// its located name alone from now on. Returns the key under which it is kept. Does nothing where
// another resource has that.
KeyText TakeProvisionalAccount(const KeyText& name, const KeyText& key, Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_NAMES_H_
