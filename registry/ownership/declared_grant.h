// DeclaredGrant: the declaration of an owner's party about one resource, to be brought about and
// kept: its shares, that nobody deletes it, and its next owner (an OwnershipGrant in Git).
//
// A declaration is intent: whether its party is the present owner's is asked each time it is
// carried out. A hand-over is said once, and never again, whatever its outcome.
#ifndef TRUCE_REGISTRY_OWNERSHIP_DECLARED_GRANT_H_
#define TRUCE_REGISTRY_OWNERSHIP_DECLARED_GRANT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/agreements.h"

namespace truce {

class Ledger;
struct Owner;

// The beginning of the actors of all declared grants; no caller of the API has such a name.
inline constexpr std::string_view kDeclaredActor = "OwnershipGrant ";

struct DeclaredShare {
  ShareTerms terms;
  std::string reason;
};
struct DeclaredGrant {
  std::string actor;  // kDeclaredActor and the object's name; marks its agreements
  PartyId party;      // in whose name it speaks
  std::vector<DeclaredShare> shares;
  std::optional<std::string> protection;  // why nobody deletes it
  std::optional<TransferTerms> transfer;
  std::string transfer_mark;  // name of the setting that says that the hand-over was said
  std::string reason;
};

// The outcome, for people.
struct GrantOutcome {
  bool accepted = true;
  std::string message;  // one line

  bool operator==(const GrantOutcome&) const = default;
};

// Gives the shares and the mark against deletion that are not there yet, ends those it gave and
// does not say any more, and says the hand-over. A mark of somebody else stays theirs. A refused
// part changes nothing; the rest takes effect. Repeating it changes nothing.
GrantOutcome CarryOut(const ResourceId& resource, const DeclaredGrant& grant, Ledger& ledger);

// Ends the agreements of `actor` about the resource, while the owner's party is `party`: shares,
// the mark against deletion, and an offer that was not carried out yet.
void TakeBack(const ResourceId& resource, const std::string& actor, const PartyId& party,
              Ledger& ledger);

// "OwnershipGrant team-a/files": the object in the owner's namespace that declares the agreement
// and would give it again; empty when there is none.
std::string DeclaringObject(const Agreement& agreement, const Owner& owner);

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_DECLARED_GRANT_H_
