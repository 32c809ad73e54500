#include "webhook/serve/ownership/ownership_list.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "policies/people.h"
#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/ownership/rows.h"
#include "webhook/api/resource_json.h"
#include "webhook/api/rest/queries.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

// Pages of kScanMax names, of others for the most part, that are looked through for one list.
constexpr int kPagesMax = 5;

Result<ResourcePage> OwnersOf(const OwnershipListPorts& ports, ResourceQuery query,
                              Deadline deadline) {
  const RegistryQueries queries(ports.store);
  ResourcePage all{.more = true};
  for (int page = 0; page < kPagesMax && all.more && all.owners.size() <= kListedMax; ++page) {
    query.limit = kListedMax + 1 - all.owners.size();
    TRUCE_ASSIGN_OR_RETURN(ResourcePage next,
                           queries.List(query, *ports.policy.catalogue, deadline));
    std::move(next.owners.begin(), next.owners.end(), std::back_inserter(all.owners));
    all.more = next.more;
    query.after = next.next;
    query.after_key = next.next_key;
  }
  if (all.owners.size() > kListedMax) {
    all.more = true;
    all.owners.pop_back();
  }
  return all;
}

std::vector<std::string> RowOf(const Owner& owner) {
  return {owner.identity.type + "/" + owner.name,
          owner.identity.account,
          owner.identity.region,
          owner.service,
          ObjectForPeople(owner.root),
          std::string(StateOf(owner)),
          FormatTimestamp(owner.since)};
}

// Of a table as many whole lines as fit.
std::size_t FittingBytes(const std::string& table, std::size_t bytes_max) {
  return table.size() <= bytes_max ? table.size() : table.rfind('\n', bytes_max - 1) + 1;
}

std::string Headline(std::size_t count, bool more, const std::string& ns) {
  const std::string of_namespace = " of namespace " + ns;
  if (count == 0) {
    return "no ownerships" + of_namespace + (more ? ", as far as was looked" : "");
  }
  std::string counted = Counted(count, "ownership") + of_namespace;
  if (!more) return counted;
  return "the first " + counted +
         "; there are more, or may be: name a type or a service, or ask Truce's API";
}

}  // namespace

Result<std::string> OwnershipsInWords(const OwnershipListPorts& ports,
                                      const AdmissionRequest& review, Deadline deadline) {
  const Value wish = review.object.Child("spec").Child("list");
  ResourceQuery query;
  query.filter.type = wish.Child("type").text();
  query.filter.service = wish.Child("service").text();
  query.filter.ns = std::string(review.ns);
  query.filter.cluster = ports.policy.identity.cluster;
  const std::string& type = query.filter.type;
  if (!type.empty() && ports.policy.catalogue->FindType(type) == nullptr) {
    return InvalidArgument("spec.list.type: no type " + Quoted(type) +
                           "; write SERVICE/KIND, `truce types` lists all");
  }
  TRUCE_ASSIGN_OR_RETURN(const ResourcePage found, OwnersOf(ports, std::move(query), deadline));
  std::vector<std::vector<std::string>> rows;
  for (const Owner& owner : found.owners) rows.push_back(RowOf(owner));
  std::string table =
      TextTable({"RESOURCE", "ACCOUNT", "REGION", "SERVICE", "OWNER", "STATE", "SINCE"}, rows);
  const std::size_t fitting = FittingBytes(table, kListBytesMax);
  const bool is_cut = fitting < table.size();
  table.resize(fitting);
  const auto lines = static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
  const std::size_t shown = is_cut ? lines - 1 : rows.size();
  std::string text = Headline(shown, found.more || is_cut, std::string(review.ns));
  if (shown == 0) return text;
  table.pop_back();
  return text + "\n" + table;
}

}  // namespace truce
