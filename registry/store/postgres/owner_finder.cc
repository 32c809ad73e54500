#include "registry/store/postgres/owner_finder.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "registry/store/columns.h"
#include "registry/store/postgres/connection.h"
#include "registry/store/postgres/records.h"

namespace truce {
namespace {

std::string KeysWhere(const std::string& condition) {
  return "SELECT n.name FROM truce.owners o JOIN truce.names n ON n.resource = o.resource AND "
         "n.sort = 'key' WHERE " +
         condition + " ORDER BY n.name LIMIT $2";
}

// From one namespace to the next one behind it: as many steps in index objects_by_slot as there
// are. '0' is the character behind '/'.
constexpr const char* kNamespaces =
    "WITH RECURSIVE found (namespace) AS ("
    "(SELECT b.namespace FROM truce.objects b "
    "WHERE (b.kind || '/' || b.namespace || '/' || b.name) >= ($1 || '/') COLLATE \"C\" "
    "AND (b.kind || '/' || b.namespace || '/' || b.name) < ($1 || '0') COLLATE \"C\" "
    "ORDER BY (b.kind || '/' || b.namespace || '/' || b.name) LIMIT 1) "
    "UNION ALL SELECT (SELECT b.namespace FROM truce.objects b "
    "WHERE (b.kind || '/' || b.namespace || '/' || b.name) >= "
    "($1 || '/' || f.namespace || '0') COLLATE \"C\" "
    "AND (b.kind || '/' || b.namespace || '/' || b.name) < ($1 || '0') COLLATE \"C\" "
    "ORDER BY (b.kind || '/' || b.namespace || '/' || b.name) LIMIT 1) "
    "FROM found f WHERE f.namespace IS NOT NULL) "
    "SELECT f.namespace FROM found f WHERE f.namespace IS NOT NULL LIMIT $2";

std::string Limited(std::size_t limit) { return std::to_string(limit); }

// One statement for each question, on what is committed.
class PgOwnerFinder final : public OwnerFinder {
 public:
  explicit PgOwnerFinder(PgPool& pool) : pool_(pool) {}

  Result<KeysById> WithIds(const std::vector<PublicId>& ids, std::size_t limit,
                           Deadline deadline) const override {
    KeysById keys;
    TextArray asked;
    for (const PublicId& id : ids) {
      if (!id.empty() && CanBeRead(id.text) && keys.try_emplace(id).second) asked.Text(id.text);
    }
    if (keys.empty()) return keys;
    TRUCE_ASSIGN_OR_RETURN(
        const PgAnswer rows,
        pool_.ReadOne(
            {"SELECT o.public_id, n.name FROM truce.owners o JOIN truce.names n ON n.resource = "
             "o.resource AND n.sort = 'key' WHERE o.public_id = ANY ($1::text[]) ORDER BY n.name",
             {std::move(asked).Take()}},
            deadline));
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      std::vector<KeyText>& of_id = keys[PublicId{std::string(columns.Text(0))}];
      if (of_id.size() < limit) of_id.push_back({std::string(columns.Text(1))});
    }
    return keys;
  }

  Result<std::vector<KeyText>> WithName(std::string_view name, std::size_t limit,
                                        Deadline deadline) const override {
    if (name.empty()) return std::vector<KeyText>();
    return Keys({KeysWhere("lower(o.name COLLATE \"C\") = lower($1 COLLATE \"C\")"),
                 {std::string(name), Limited(limit)}},
                deadline);
  }

  Result<std::vector<KeyText>> WithArn(std::string_view arn, std::size_t limit,
                                       Deadline deadline) const override {
    if (arn.empty()) return std::vector<KeyText>();
    return Keys({KeysWhere("o.arn = $1 AND o.arn <> ''"), {std::string(arn), Limited(limit)}},
                deadline);
  }

  Result<std::vector<KeyText>> OfService(const std::string& service, const KeyText& after,
                                         std::size_t limit, Deadline deadline) const override {
    // An index takes no longer values; the whole one is compared behind it.
    return Keys({KeysWhere("left(o.service, 500) COLLATE \"C\" = left($1, 500) AND o.service = $1 "
                           "AND n.name > $3"),
                 {service, Limited(limit), after.text}},
                deadline);
  }

  Result<std::vector<ServiceCount>> Services(const std::string& after, std::size_t limit,
                                             Deadline deadline) const override {
    if (!CanBeRead(after)) return std::vector<ServiceCount>();
    TRUCE_ASSIGN_OR_RETURN(
        const PgAnswer rows,
        pool_.ReadOne({"SELECT o.service COLLATE \"C\", count(*) FROM truce.owners o "
                       "WHERE o.service <> '' AND "
                       "o.service COLLATE \"C\" > $1 GROUP BY 1 ORDER BY 1 LIMIT $2",
                       {after, Limited(limit)}},
                      deadline));
    std::vector<ServiceCount> services;
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      services.push_back(
          {std::string(columns.Text(0)), static_cast<std::size_t>(columns.Integer(1))});
    }
    return services;
  }

  Result<std::set<std::string>> NamespacesOf(const std::string& cluster,
                                             const std::set<GroupKind>& kinds,
                                             Deadline deadline) const override {
    std::set<std::string> namespaces;
    for (const GroupKind& kind : kinds) {
      const std::string kept = KindOf({cluster, kind.group, kind.kind, "", ""});
      if (!CanBeRead(kept)) continue;
      TRUCE_ASSIGN_OR_RETURN(
          const PgAnswer rows,
          pool_.ReadOne({kNamespaces, {kept, Limited(kNamespacesMax)}}, deadline));
      for (int row = 0; row < rows.row_count(); ++row) {
        namespaces.emplace(rows.Row(row).Text(0));
      }
    }
    return namespaces;
  }

  Result<void> CountAll(const CountFn& count, Deadline deadline) const override {
    TRUCE_ASSIGN_OR_RETURN(
        const PgAnswer rows,
        pool_.ReadOne(
            {"SELECT split_part(n.name, '|', 1) || '||' || split_part(n.name, '|', 3), o.service, "
             "count(*) FROM truce.owners o JOIN truce.names n ON n.resource = o.resource AND "
             "n.sort "
             "= 'key' GROUP BY 1, 2",
             {}},
            deadline));
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      count(columns.Text(0), columns.Text(1), static_cast<std::uint64_t>(columns.Integer(2)));
    }
    return {};
  }

 private:
  Result<std::vector<KeyText>> Keys(const PgStatement& statement, Deadline deadline) const {
    for (const auto& parameter : statement.parameters) {
      if (!CanBeRead(*parameter)) return std::vector<KeyText>();
    }
    TRUCE_ASSIGN_OR_RETURN(const PgAnswer rows, pool_.ReadOne(statement, deadline));
    std::vector<KeyText> keys;
    for (int row = 0; row < rows.row_count(); ++row) {
      keys.push_back({std::string(rows.Row(row).Text(0))});
    }
    return keys;
  }

  PgPool& pool_;
};

}  // namespace

std::unique_ptr<const OwnerFinder> MakePgOwnerFinder(PgPool& pool) {
  return std::make_unique<const PgOwnerFinder>(pool);
}

}  // namespace truce
