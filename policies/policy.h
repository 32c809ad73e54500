// AdmissionPolicy: everything configuration says about reviews, as one immutable snapshot.
#ifndef TRUCE_POLICIES_POLICY_H_
#define TRUCE_POLICIES_POLICY_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "policies/mode.h"
#include "policies/name_rules.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

class Quotas;

// A value, shared as shared_ptr<const AdmissionPolicy> and replaced as a whole when configuration
// changes; each review uses one snapshot from begin to end.
struct AdmissionPolicy {
  std::shared_ptr<const Catalogue> catalogue;  // never null; identity.catalogue points to it
  IdentityRules identity;
  std::map<GroupKind, GroupKind> claims;      // claims that XRDs define, and their composites
  bool definitions_known = false;             // no other XRD exists
  std::map<std::string, MappingRule> values;  // rules about charts' values, by name
  PartyRules parties;
  AccountParties account_parties;        // empty: rule account-party is off
  std::shared_ptr<const Quotas> quotas;  // null: rule quota is off
  ModeRules modes;
  std::shared_ptr<const NamePolicy> names;  // null: names are not judged
  std::vector<std::string> providers;       // user name patterns: '*' is any run of characters
  std::vector<std::string> restorers;       // user name patterns
  std::vector<std::string> composite_controllers;  // user name patterns
  bool status_entry = false;        // changes of statuses come to Truce (setting `statusGuard`)
  int composite_denial_code = 422;  // 422 or 403: for composite controllers only
  Disclosure disclosure = Disclosure::kFull;
  ReservationLimits limits;
  bool watched = false;  // a watcher of the cluster is there to prove reservations
  // Why recovery mode is on, in which nothing is denied, only warned of, because the registry may
  // be behind; empty: it is not.
  std::string recovery;
  // Types with a served kind that is not listed yet: a key without owner may be taken. False: the
  // verdict is unknown; true: listing takes too long, so it is allowed with a warning.
  std::map<std::string, bool, std::less<>> unlisted;
  std::set<GroupKind> unwatched;  // kinds that cannot be read now: they count for no cap
  // Kinds of claims and composites whose new objects Crossplane does not see, and since when.
  std::map<GroupKind, Timestamp> unseen;
  // The knowledge of the cluster's watch at the moment of a review. Thread-safe; never block.
  // Whether the server that watches the cluster was not heard of for too long: whether a key
  // without owner is free is unknown then, of any type.
  std::function<bool()> is_blind = [] { return false; };
  // One sentence: why the holder may be gone; empty: nothing says so.
  std::function<std::string(const Slot& holder)> unresolved_reason = [](const Slot&) {
    return std::string();
  };
  std::string public_url;  // without trailing slash; empty: texts hold no link
};

}  // namespace truce

#endif  // TRUCE_POLICIES_POLICY_H_
