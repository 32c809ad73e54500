// Names: the resource of a name, and the meaning of a set of names (N1 to N8 in DESIGN.md).
//
// A resource is identified by its id alone. Each of its names is a row that points to it, and only
// rows are put, moved or dropped here. A declaration brings names in this order: located as
// configured, else declared; located as its status tells; assigned by AWS. The located name tells
// the account of a resource; it has at most one (I17). Two resources are *apart* when both are
// located, differently, or both have ids or both have fields, and none of these in common.
#ifndef TRUCE_REGISTRY_OWNERSHIP_NAMES_H_
#define TRUCE_REGISTRY_OWNERSHIP_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/identity/key_accounts.h"
#include "registry/ownership/terms.h"

namespace truce {

class Facts;
class Ledger;
struct Object;
struct Owner;
struct ResourceName;
struct Row;
enum class NameSort : std::uint8_t;

// Which sort of name it is, by its account.
NameSort SortOf(const KeyText& name);
// The name that people are shown: the located one, else the first declared one, else the first id.
// Empty where there is none.
KeyText BestOf(const std::vector<ResourceName>& names);

// How the id of a resource that merged into another one is kept among the names of that one, so
// that it still finds it. No name of AWS's is spelt so.
KeyText FormerIdName(const ResourceId& id);
// The id whose former-id name is `name`; nothing when it is a name of another sort.
std::optional<ResourceId> FormerIdOf(const ResourceName& name);
// The resource `now` is found by the id `former`, which was another one's, until it ends; of more
// than kFormerIdsMax the newest stay.
inline constexpr std::size_t kFormerIdsMax = 8;
void KeepFormerId(const ResourceId& former, const ResourceId& now, Ledger& ledger);

// The owner of the resource to which the name belongs.
std::optional<Owner> OwnerByName(const KeyText& name, const Facts& facts);
// The owner of the declared resource, by the first of its names that has one.
std::optional<Owner> OwnerByNames(const DeclaredResource& resource, const Facts& facts);

// The located name of a resource; nothing while its account is not known, or has none.
std::optional<KeyText> LocatedName(const ResourceId& id, const Ledger& ledger);
// Whether a name of the resource tells an account, or a provisional one.
bool LiesInAccount(const ResourceId& id, const Ledger& ledger);
// The account is known of both, and differs: the declaration is of another resource, whatever names
// they share.
bool InAnotherAccount(const DeclaredResource& resource, const ResourceId& id, const Ledger& ledger);
// Whether the declaration's fields are those of the resource, not of another one that has the id
// which it names too. Only then its name, identity and ARN are the resource's.
bool Describes(const DeclaredResource& resource, const ResourceId& id, const Ledger& ledger);
// The resource with the name in `account`, of one that names it by its fields: the same fields
// there. Nothing: it is known by ids alone.
std::optional<KeyText> NameIn(std::string_view account, const ResourceId& id, const Ledger& ledger);

// Fills DeclaredResource::pending_names of the resources that `object` declares with a located
// name: the same parts under each provisional account that `moving` has for that account (N6). For
// reviews; seen objects find their place when those portions are through.
void FillPendingNames(const MovingAccounts& moving, ObjectFacts& object);

// A resource that has at least one of a declaration's names.
struct ResourceMatch {
  ResourceId id;
  bool observed = false;  // only by names known from a status, its own or that of the resource
  // Another resource that living objects declare by a pending name: they are about to declare this
  // one. To be decided against, never granted.
  bool pending = false;

  bool operator==(const ResourceMatch&) const = default;
};

// The resources that the declaration's names find, each once, in the order of the names. The
// provisional account alone does not find a record where configuration gives the declaration
// another account than the record has (N5): then two resources had this name one after the other.
std::vector<ResourceMatch> MatchesOf(const DeclaredResource& resource, const Ledger& ledger);

// The same, and after them those that pending names find in other accounts.
std::vector<ResourceMatch> MatchesAndPending(const DeclaredResource& resource,
                                             const Ledger& ledger);

// The meaning of a set of names for their declarant, case by case in the order of the code:
//
//   taken  a located name or id that another party has from an unguarded status alone, and
//          configuration gives here, leaves that one. A resource without names ends: its
//          declarations are seen anew, an audit line says why.
//   target the first match that lies in no other account; by an id alone only the declarant's, of
//          the same fields. Else a new one, for which the caller makes an owner; else, when no
//          name is free, the first match.
//   then each name:
//     free                          joins the target; an id only the declarant's, at most 8
//     the target's                  is no longer observed when configuration gives it
//     elsewhere, in another account a located name or id stays. A provisional one moves to the
//                                   target, with declarations that were admitted by it and are not
//                                   seen yet, unless another root, or a younger object seen in this
//                                   slot, declares by it
//     elsewhere, apart              stays
//     elsewhere, of one owner       the two are one: they merge. The elder id and time stay, the
//                                   younger id finds it still; a living row ends a record
//     elsewhere, another owner's    stays: its declarant has a row there, a conflict (N4)
//
// Returns the target.
ResourceId JoinNames(const DeclaredResource& resource, const Object& object, Ledger& ledger);

// Makes a resource that nobody owns, for its observer: under the first name alone, since an
// observer's other names join nothing. Returns its id.
ResourceId ObserveNew(const DeclaredResource& resource, Ledger& ledger);

// An account that became known: resources declared by the provisional account `from` ("?…") are in
// `to`.
struct AccountChange {
  std::string from;
  std::string to;

  bool operator==(const AccountChange&) const = default;
};
// Gives each of the resources that has a name under the provisional account, or is declared by it,
// its located name: joined with the resource that has that already where both are one owner's, else
// its rows are there, too, as conflicts. Declarations by it of a resource in another account
// declare one in `to` from now on, and leave the former orphaned, for the reason MovedReason.
// Idempotent. Returns how many changed. For passes of bounded transactions.
std::size_t LocateResources(std::span<const ResourceId> ids, const AccountChange& change,
                            Ledger& ledger);

// Owner::record_reason of a resource that was left orphaned because the ProviderConfig behind the
// provisional account `from` leads to account `to` now; and back.
std::string MovedReason(const AccountChange& change);
std::optional<AccountChange> ReadMovedReason(std::string_view reason);
// The reason why `object` does not declare the resource of `row` any more: MovedReason where its
// ProviderConfig leads elsewhere.
std::string WhyNotDeclared(const ObjectFacts& object, const Row& row);

// How a catalogue spells an identity; nothing when it does not know the type (its names stay).
using Spelling = std::function<std::optional<KeyText>(const ResourceIdentity&)>;
Spelling SpellingOf(const Catalogue& catalogue);

// A pass of another catalogue over all resources, in whatever portions. `number`: higher than that
// of every pass before. It tells the names that this pass writes from those that wait for it, so a
// text may change its meaning.
struct SpellingPass {
  Spelling spelling;
  std::uint32_t number = 0;
  std::string cause;  // for the audit log
};
// Each of the resources gets the names that its declarations and its record say now. One may be two
// then: the id and the record stay with the owner's part, each other part gets a new id, the
// owner's agreements, and its root or the oldest row as owner. Two may be one: of one owner they
// merge; else the elder one's owner stays, and the other's declarations are conflicts. Idempotent.
// Returns how many resources changed.
std::size_t Respell(std::span<const ResourceId> ids, const SpellingPass& pass, Ledger& ledger);
// Whether Respell would change the resource.
bool IsSpeltOtherwise(const ResourceId& id, const Spelling& spelling, const Ledger& ledger);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_NAMES_H_
