// The rules: the judge of each, and the registry's decisions in words. Pure functions.
#ifndef TRUCE_POLICIES_RULES_H_
#define TRUCE_POLICIES_RULES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policies/finding.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

struct Clash;
struct RuleCase;

// Judges of the rules of RuleList that the registry does not decide; those about names:
// name_rules.h.
std::vector<Finding> JudgeAttachments(const RuleCase& c);
std::vector<Finding> JudgeObservers(const RuleCase& c);
std::vector<Finding> JudgeAccounts(const RuleCase& c);
std::vector<Finding> JudgeQuotas(const RuleCase& c);
std::vector<Finding> JudgeDeletions(const RuleCase& c);
std::vector<Finding> JudgeStatusNames(const RuleCase& c);
std::vector<Finding> JudgeRerolledNames(const RuleCase& c);
std::vector<Finding> JudgeUnseen(const RuleCase& c);

// How much of the holder a text names (I8).
enum class Disclosure : std::uint8_t {
  kFull,     // everything
  kService,  // service and contact
  kTaken,    // only that the resource is taken
};
std::string_view Name(Disclosure disclosure);  // "full", "service", "taken"

// The reader of the text, and how much it may say. The pointees must live during the call only.
struct Wording {
  Disclosure disclosure = Disclosure::kFull;
  std::string_view public_url;           // "https://truce.example.org"; empty: no links
  const Catalogue* catalogue = nullptr;  // never null
  const ObjectFacts* object = nullptr;   // the object under review; never null
  const Slot* root = nullptr;            // top of its lineage; never null
  // The service of `root` where that is another object, as far as its labels say one.
  std::string_view service = {};
  // A name that is free and passes every rule, for the resource that is taken; empty: none known.
  std::string_view other_name = {};
};

// How much may be said of the holder of `clash` where `configured` is the rule (I8): everything to
// its own party and to its chosen successor.
Disclosure DisclosureOf(const Clash& clash, Disclosure configured);

// Whether a composite controller made the object's name up, from that of its composite: another try
// has another name.
bool HasMadeUpName(const ObjectFacts& object);

// A name for `resource` where its own is refused: the taken one with the service of the root behind
// it, else with the root's namespace. It is for the caller to find out whether it is free. Empty:
// none that AWS surely allows, or none that would be the same at the next try.
std::string OtherName(const DeclaredResource& resource, const Wording& wording);

// Rule duplicate-ownership: `clash.resource` has an owner other than the object's root. The holder
// is named as far as the disclosure level allows; in full to its own party and to its chosen
// successor.
Finding DuplicateOwnership(const Clash& clash, const Wording& wording);

// Rule duplicate-ownership, always a warning: the same name is owned in an account that is not
// known to differ (N7).
Finding PerhapsElsewhere(const Clash& clash, const Wording& wording);

// Rule resource-name: a name that cannot be a cloud resource's, or looks like another one.
Finding BadResourceName(const BadName& bad, Mode mode, const Wording& wording);

// Rule reservation-cap: too many declarations of this namespace, or of this user where the object
// has none, were admitted and never seen.
struct ReachedLimit {
  ReservationLimit limit = ReservationLimit::kOld;  // not kNone
  ReservationLimits limits;
  std::string_view user;
};
Finding ReservationCapReached(const ReachedLimit& reached, const Wording& wording);

// Rule unclear-declaration, always a warning: a mapping rule does not give every part of the
// resource's name, so nothing is protected.
Finding UnclearDeclaration(const DeclaredResource& resource, const Wording& wording);

// Rule unclear-declaration, always a warning: ObjectFacts::name_finding, which is not empty.
Finding UnclearName(const ObjectFacts& object, const Wording& wording);

// Rule unclear-declaration, always a warning: nobody owns the name as far as the registry knows,
// but a kind that can declare it cannot be listed.
Finding PerhapsTaken(const DeclaredResource& resource, const Wording& wording);

// Rule account-party. Nothing for an account that is not known, is known from a status alone (only
// its provider writes that), or is bound to nobody; for what only observes, which takes no name;
// and for a root without namespace, which no tenant makes. Otherwise, when the account is bound to
// other namespaces than that of the root: a finding in mode enforce.
std::optional<Finding> AccountOfOthers(const DeclaredResource& resource,
                                       const AccountParties& parties, const Wording& wording);

// Rule status-names: somebody who is no provider changes a field that names are read from.
struct StatusWrite {
  std::string_view field;  // "status.atProvider.arn"
  std::string_view user;
};
Finding StatusNameChanged(const StatusWrite& write, const Wording& wording);

// Rule rerolled-names: an update of a composite that only gives other names to a resource which is
// refused under any name. `again` as in RuleCase, not null.
struct RefusedAgain {
  const Finding* finding = nullptr;  // of the resource, in mode enforce
  std::string_view type;             // "s3/Bucket"
  std::string_view kind;             // of the refused object: "Bucket"
};
Finding RerolledNames(const RefusedAgain& again, const Wording& wording);

// Rule composite-not-seen, always a warning: Crossplane does not see new composites of this kind
// since then.
Finding CompositeNotSeen(Timestamp since, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_RULES_H_
