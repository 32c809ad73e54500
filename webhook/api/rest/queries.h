// Queries: all reads of the registry by the API; the one place that knows how it is found.
#ifndef TRUCE_WEBHOOK_API_REST_QUERIES_H_
#define TRUCE_WEBHOOK_API_REST_QUERIES_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/catalogue.h"
#include "registry/identity/identity.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"

namespace truce {

// One agreement with what it is about.
struct AgreementView {
  Agreement agreement;
  Owner owner;
  std::vector<Row> rows;  // of the key; for the steps of a transfer
};

// One resource with everything that is declared of it.
struct ResourceView {
  Owner owner;
  std::vector<Row> rows;
  std::vector<Agreement> agreements;
  std::vector<ResourceName> names = {};  // beside the key
};

// Why a deletion of what is marked as protected would pass all the same.
struct Hindrance {
  std::string what;    // a sentence without stop
  std::string remedy;  // the same

  bool operator==(const Hindrance&) const = default;
};

// The resources that roots of one service observe and others own.
struct ObservedView {
  Owner owner;
  Slot observer;
};
struct ObservedViews {
  std::vector<ObservedView> items;
  bool complete = true;  // false: there are more
};

// Which resources a list shows; empty fields say nothing.
struct ResourceFilter {
  std::string name;       // "*": any run of characters
  bool any_case = false;  // of a name with "*": for who looks, never for who grants or releases
  std::string arn;
  std::string type;
  std::string service;
  std::string account;
  std::string region;
  std::string cluster;            // of the root
  std::optional<std::string> ns;  // of the root; "" = cluster-scoped ones
  std::string state;              // "reserved", "held", "orphaned", "imported"
  std::optional<bool> contested;
  std::optional<bool> shared;  // with another party, at this moment
};
// By the owner alone: all conditions but `shared`.
bool Fits(const Owner& owner, const ResourceFilter& filter);

// Owners that one page looks at, and a list in another order than that of keys at all.
inline constexpr std::size_t kScanMax = 10'000;
inline constexpr std::size_t kSortMax = 100'000;

struct ResourceQuery {
  ResourceFilter filter;
  std::string sort;  // a column of the resource, behind "-" the last first; empty: its key
  std::size_t limit = 0;
  // Where the page before ended: the column's text and the key.
  std::string after;
  KeyText after_key;
  Timestamp now{};  // for `shared`
};
struct ResourcePage {
  std::vector<Owner> owners;
  bool more = false;  // the list goes on, though this page may be short
  std::string next;   // then: where
  KeyText next_key;
};

// The services of the owner and of everybody else who manages its resource.
std::set<std::string> ServicesManaging(const Owner& owner, const Facts& facts);

// The owner of that id, also by an id that its resource had before it merged (N3).
std::optional<Owner> OwnerWithId(const ResourceId& id, const Facts& facts);

// A service, of one state. Of each list at most the first kScanMax that may belong to it.
struct ServiceView {
  std::vector<Owner> owned;  // by key
  bool complete = true;      // false: it owns more
  // Shares with a party that has resources of the service, and the transfers that nobody accepted
  // yet from the service or to such a party.
  std::vector<AgreementView> dealings;
  ObservedViews observed;        // resources that its roots observe and others own, by key
  std::vector<Owner> contested;  // what it owns or manages too, by key
};

// The answer of `ask` from one committed state. Errors: those of the store.
template <typename Ask>
Result<std::invoke_result_t<const Ask&, const AllFacts&>> ReadFrom(const Store& store,
                                                                   Deadline deadline,
                                                                   const Ask& ask) {
  std::optional<std::invoke_result_t<const Ask&, const AllFacts&>> said;
  const auto look = [&](const AllFacts& facts) { said.emplace(ask(facts)); };
  TRUCE_RETURN_IF_ERROR(store.Read(look, deadline));
  return *std::move(said);
}

// Thread-safe. Errors of all: those of the store.
class RegistryQueries final {
 public:
  // `store` must outlive it.
  explicit RegistryQueries(const Store& store) : store_(store) {}

  // Stable under writes: an entry that exists from the first page to the last is on exactly one of
  // them. Errors: kInvalidArgument: no such column; an order other than by key over more than
  // kSortMax owners; of more than kScanMax owners a part of a name alone.
  Result<ResourcePage> List(const ResourceQuery& query, const Catalogue& catalogue,
                            Deadline deadline) const;
  // The resource of OwnerWithId. Errors: kNotFound.
  Result<ResourceView> ById(const ResourceId& id, Deadline deadline) const;

  // The registry's view of the service; of `parties` by which it is bound, as configuration has
  // them (Bound), and at most `observed_max` of the resources that it observes.
  Result<ServiceView> OfService(const std::string& service, const PartyRules& rules,
                                std::size_t observed_max, Deadline deadline) const;

  Result<std::vector<ServiceCount>> Services(const std::string& after, std::size_t limit,
                                             Deadline deadline) const;
  Result<std::vector<AuditLine>> Audit(const AuditRange& range, std::size_t limit,
                                       Deadline deadline) const;

 private:
  // Calls `visit` with owners in key order from behind `after`, and whether each fits the filter,
  // until it says false, or as many were visited as the query's order allows. False: the end was
  // reached.
  template <typename Visit>
  Result<bool> Walk(const ResourceQuery& query, const Catalogue& catalogue, Deadline deadline,
                    Visit visit) const;
  Result<ResourcePage> ListSorted(const ResourceQuery& query, const Catalogue& catalogue,
                                  Deadline deadline) const;

  const Store& store_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_QUERIES_H_
