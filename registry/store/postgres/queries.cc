#include "registry/store/postgres/queries.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "registry/identity/values.h"
#include "registry/ownership/places.h"
#include "registry/store/adapter.h"
#include "registry/store/columns.h"
#include "registry/store/postgres/records.h"

namespace truce {
namespace {

using std::string;
using std::string_view;

string Number(std::int64_t number) { return std::to_string(number); }

string Limit(std::size_t limit) {
  constexpr std::size_t kMax = std::numeric_limits<std::int64_t>::max();
  return std::to_string(std::min(limit, kMax));
}

string Line(std::uint64_t number) { return Limit(number); }

// A text that PostgreSQL cannot read finds nothing.
string Asked(const string& text) { return CanBeRead(text) ? text : "\xEF\xBF\xBD"; }

// Where an owner counts (Place), in the words of index owners_by_place.
constexpr const char* kTypeOf = "split_part(o.identity, '|', 1) COLLATE \"C\"";
constexpr const char* kAccountOf = "split_part(o.identity, '|', 3) COLLATE \"C\"";
constexpr const char* kRegionOf = "split_part(o.identity, '|', 4) COLLATE \"C\"";
constexpr const char* kNamespaceOf =
    "(split_part(o.root, '/', 1) || '/' || split_part(o.root, '/', 4)) COLLATE \"C\"";

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

// An index takes no longer values; the whole one is compared behind it.
constexpr const char* kServiceIs =
    "left(o.service, 500) COLLATE \"C\" = left($1, 500) AND o.service = $1";

// Owners with what they are called.
constexpr const char* kOwners = "truce.owners o JOIN truce.resources r ON r.id = o.resource";

string KeysWhere(const string& condition) {
  return "SELECT r.key FROM " + string(kOwners) + " WHERE " + condition +
         " ORDER BY r.key LIMIT $2";
}

// As index owners_by_name has it: an index takes no longer values.
constexpr const char* kNameOf = "left(lower(o.name COLLATE \"C\"), 500)";
constexpr const char* kNameAsked = "left(lower($1 COLLATE \"C\"), 500)";

// In the words of the indexes of owners.
string ConditionOf(OwnerWord word) {
  switch (word) {
    case OwnerWord::kName:
      return string(kNameOf) + " = " + kNameAsked +
             " AND lower(o.name COLLATE \"C\") = lower($1 COLLATE \"C\")";
    case OwnerWord::kArn: return "o.arn = $1 AND o.arn <> ''";
  }
  return "false";
}

// The same for a search. No character follows U+10FFFF.
string ConditionOf(NameSearch::Among among) {
  switch (among) {
    case NameSearch::Among::kBeginning:
      return string(kNameOf) + " >= " + kNameAsked + " AND " + kNameOf + " <= " + kNameAsked +
             " || repeat(U&'\\+10FFFF', 500) AND "
             "starts_with(lower(o.name COLLATE \"C\"), lower($1 COLLATE \"C\"))";
    case NameSearch::Among::kService: return kServiceIs;
    case NameSearch::Among::kNamespace: return "split_part(o.root, '/', 4) COLLATE \"C\" = $1";
    case NameSearch::Among::kType: return string(kTypeOf) + " = $1";
  }
  return "false";
}

string OwnersWhere(const string& condition) {
  return "SELECT " + string(kOwnerColumns) + " FROM " + kOwners + " WHERE " + condition +
         " ORDER BY r.key LIMIT $2";
}

string RowsWhere(const string& condition) {
  return "SELECT " + string(kRowColumns) +
         " FROM truce.declarations d JOIN truce.resources r ON r.id = d.resource WHERE " +
         condition +
         " AND (r.public_id, d.uid, d.state) > ($1, $2, $3) ORDER BY r.public_id, d.uid, d.state "
         "LIMIT $4";
}

string ConditionOf(OwnerList list) {
  switch (list) {
    case OwnerList::kAll: return "r.key > $1";
    case OwnerList::kContested: return "o.contested AND r.key > $1";
    case OwnerList::kOrphaned: return "o.record IN ('orphaned', 'transferring') AND r.key > $1";
    case OwnerList::kImported: return "o.record = 'imported' AND r.key > $1";
    case OwnerList::kEnding: return "o.until IS NOT NULL AND r.key > $1";
  }
  return "false";
}

struct Ask {
  PgStatement operator()(const CountReservedQuery& query) const {
    TextArray left_out;
    for (const GroupKind& kind : query.left_out) left_out.Text(kind.group + "/" + kind.kind);
    return {
        "SELECT count(*) FROM (SELECT FROM truce.declarations d WHERE d.state = 'reserved' AND "
        "d.\"user\" <> '' AND d.namespace = $1 AND (CASE WHEN d.namespace = '' THEN d.\"user\" "
        "ELSE '' END) = $2 AND d.at >= $3 AND d.at < $4 AND split_part(d.slot, '/', 2) || '/' "
        "|| split_part(d.slot, '/', 3) <> ALL ($5::text[]) LIMIT $6) counted",
        {Asked(query.ns), query.ns.empty() ? Asked(query.user) : "",
         Number(Milliseconds(query.from)), Number(Milliseconds(query.before)),
         std::move(left_out).Take(), Limit(query.limit)}};
  }
  PgStatement operator()(const OwnersOfShapeQuery& query) const {
    return {OwnersWhere("o.shape = $1 AND o.shape <> ''"),
            {Asked(query.shape), Limit(query.limit)}};
  }
  PgStatement operator()(const IsTakenQuery& query) const {
    return {
        "SELECT count(*) FROM truce.owners o WHERE o.resource = (SELECT n.resource FROM "
        "truce.names n WHERE n.name = $1 ORDER BY n.spelling DESC LIMIT 1)",
        {Asked(query.name.text)}};
  }
  PgStatement operator()(const AgreementsQuery& query) const {
    return {"SELECT " + string(kAgreementColumns) +
                " FROM truce.agreements g JOIN truce.resources r ON r.id = g.resource WHERE g.kind "
                "= $1 AND g.id > $2 ORDER BY g.id LIMIT $3",
            {string(kAgreementKinds.Of(query.kind)), Asked(query.after.text), Limit(query.limit)}};
  }
  PgStatement operator()(const ResourcesQuery& query) const {
    return {
        "SELECT r.public_id FROM truce.resources r WHERE r.public_id > $1 ORDER BY r.public_id "
        "LIMIT $2",
        {Asked(query.after.text), Limit(query.limit)}};
  }
  PgStatement operator()(const KeysQuery& query) const {
    return {"SELECT DISTINCT r.key FROM truce.resources r WHERE r.key > $1 ORDER BY r.key LIMIT $2",
            {Asked(query.after.text), Limit(query.limit)}};
  }
  PgStatement operator()(const ObjectsOfKindQuery& query) const {
    return {"SELECT " + string(kObjectColumns) +
                " FROM truce.objects b WHERE b.kind = $1 AND b.uid > $2 ORDER BY b.uid LIMIT $3",
            {Asked(KindOf(query.of_kind)), Asked(query.after), Limit(query.limit)}};
  }
  PgStatement operator()(const ObjectsQuery& query) const {
    return {"SELECT " + string(kObjectColumns) +
                " FROM truce.objects b WHERE b.uid > $1 ORDER BY b.uid LIMIT $2",
            {Asked(query.after.text), Limit(query.limit)}};
  }
  PgStatement operator()(const SettingsQuery& query) const {
    return {
        "SELECT s.name, s.value FROM truce.settings s WHERE s.name > $1 ORDER BY s.name LIMIT $2",
        {Asked(query.after), Limit(query.limit)}};
  }
  PgStatement operator()(const ReservedBeforeQuery& query) const {
    return {RowsWhere("d.state = 'reserved' AND d.at < $5"),
            After(query.after, query.limit, Number(Milliseconds(query.before)))};
  }
  PgStatement operator()(const CountSeenQuery& query) const {
    return {
        "SELECT count(*) FROM truce.declarations d WHERE d.state = 'seen' AND split_part(d.slot, "
        "'/', 1) = $1",
        {Asked(query.cluster)}};
  }
  // As index owners_by_place has it.
  PgStatement operator()(const CountOwnedQuery& query) const {
    const OwnedRange& range = query.range;
    PgStatement count{"SELECT count(*) FROM truce.owners o WHERE " + string(kTypeOf) + " = $1",
                      {PercentEncode(range.type)}};
    const auto also = [&count](const char* where, const char* is, string parameter) {
      count.parameters.emplace_back(std::move(parameter));
      count.sql.append(" AND ").append(where).append(is).append(
          std::to_string(count.parameters.size()));
    };
    if (!range.account.empty()) also(kAccountOf, " = $", Asked(range.account));
    if (!range.region.empty()) also(kRegionOf, " = $", PercentEncode(range.region));
    if (range.namespaces.empty()) return count;
    TextArray namespaces;
    for (const auto& [cluster, ns] : range.namespaces) namespaces.Text(Asked(cluster + "/" + ns));
    also(kNamespaceOf, " = ANY ($", std::move(namespaces).Take());
    count.sql += "::text[])";
    return count;
  }
  // By the stored accounts: unknown ones are put together when the answer is read.
  PgStatement operator()(const PlacesQuery& query) const {
    return {
        "SELECT split_part(o.root, '/', 1) || '///' || split_part(o.root, '/', 4) || '/', $1 || "
        "'||' || split_part(o.identity, '|', 3) || '|' || split_part(o.identity, '|', 4), count(*) "
        "FROM truce.owners o WHERE " +
            string(kTypeOf) + " = $1 GROUP BY 1, 2",
        {PercentEncode(query.type)}};
  }
  PgStatement operator()(const OwnersInQuery& query) const {
    return {OwnersWhere(ConditionOf(query.list)), {Asked(query.after.text), Limit(query.limit)}};
  }
  PgStatement operator()(const ObserversQuery& query) const {
    return {RowsWhere("d.intent = 'observes'"), After(query.after, query.limit)};
  }
  PgStatement operator()(const KeysWithQuery& query) const {
    return {KeysWhere(ConditionOf(query.word)), {Asked(query.text), Limit(query.limit)}};
  }
  // Answers an empty key where there are more to look at. Each key is looked up: a join would
  // rather read all of them.
  PgStatement operator()(const KeysNamedQuery& query) const {
    const NameSearch& search = query.search;
    const bool is_type = search.among == NameSearch::Among::kType;
    return {"WITH looked AS MATERIALIZED (SELECT o.resource, o.name FROM truce.owners o WHERE " +
                ConditionOf(search.among) +
                " LIMIT $2), counted AS (SELECT count(*) AS number FROM looked) "
                "SELECT (SELECT r.key FROM truce.resources r WHERE r.id = l.resource) "
                "FROM looked l, counted c WHERE c.number < $2 AND "
                "strpos(lower(l.name COLLATE \"C\"), lower($3 COLLATE \"C\")) > 0 "
                "UNION ALL SELECT '' FROM counted c WHERE c.number >= $2",
            {is_type ? PercentEncode(search.text) : Asked(search.text), Limit(query.limit + 1),
             Asked(search.part)}};
  }
  PgStatement operator()(const KeysOfServiceQuery& query) const {
    return {KeysWhere(kServiceIs + string(" AND r.key > $3")),
            {Asked(query.service), Limit(query.limit), Asked(query.after.text)}};
  }
  PgStatement operator()(const ServicesQuery& query) const {
    return {
        "SELECT o.service COLLATE \"C\", count(*) FROM truce.owners o WHERE o.service <> '' AND "
        "o.service COLLATE \"C\" > $1 GROUP BY 1 ORDER BY 1 LIMIT $2",
        {Asked(query.after), Limit(query.limit)}};
  }
  PgStatement operator()(const TallyServicesQuery&) const {
    return {"SELECT " + string(kTypeOf) + " || '||' || " + string(kAccountOf) +
                " || '|', o.service, count(*) FROM truce.owners o GROUP BY 1, 2",
            {}};
  }
  PgStatement operator()(const NamespacesQuery& query) const {
    return {kNamespaces, {Asked(KindOf(query.of_kind)), Limit(query.limit)}};
  }
  PgStatement operator()(const AuditLinesQuery& query) const {
    const AuditRange& range = query.range;
    const bool by_number = range.from != 0 || range.until != 0;
    PgStatement lines{"SELECT l.incarnation, l.tx, l.number, " + string(kAuditColumns) +
                          " FROM truce.audit l WHERE true",
                      {}};
    const auto also = [&lines](const char* where, string parameter) {
      lines.parameters.emplace_back(std::move(parameter));
      lines.sql.append(where).append(std::to_string(lines.parameters.size()));
    };
    if (range.from != 0) also(" AND l.number >= $", Line(range.from));
    if (range.until != 0) also(" AND l.number < $", Line(range.until));
    if (!range.id.empty()) also(" AND l.id = $", Asked(range.id.text));
    if (range.behind) {
      also(range.newest_first ? " AND (l.incarnation, l.tx, l.number) < ($"
                              : " AND (l.incarnation, l.tx, l.number) > ($",
           Line(range.behind->incarnation));
      also("::bigint, $", Line(range.behind->transaction));
      also("::xid8, $", Line(range.behind->number));
      lines.sql += "::bigint)";
    }
    // Older transactions have all ended: none of them shows a line any more. Those of one resource
    // wait for each other.
    if (!by_number && !range.newest_first && range.id.empty()) {
      lines.sql +=
          " AND (l.tx < pg_snapshot_xmin(pg_current_snapshot()) OR l.incarnation < (SELECT "
          "r.incarnation FROM truce.registry r))";
    }
    const string_view direction = range.newest_first ? " DESC" : "";
    lines.sql += " ORDER BY ";
    if (!by_number) {
      lines.sql.append("l.incarnation").append(direction).append(", l.tx").append(direction);
      lines.sql += ", ";
    }
    lines.sql.append("l.number").append(direction);
    also(" LIMIT $", Limit(query.limit));
    return lines;
  }

  PgStatement operator()(const TableQuery& query) const {
    const Table& table = query.table;
    PgStatement rows{"SELECT " + ListOf(table.columns) + " FROM truce." + string(table.name) +
                         WhereOf(table, query.prefix.size(), '$') + " ORDER BY " +
                         ListOf(table.columns.subspan(0, table.key_size)),
                     {}};
    for (const TableValue& value : query.prefix) {
      if (const auto* const text = std::get_if<string>(&value)) {
        rows.parameters.emplace_back(Asked(*text));
      } else if (const auto* const number = std::get_if<std::int64_t>(&value)) {
        rows.parameters.emplace_back(Number(*number));
      } else {
        rows.parameters.emplace_back();
      }
    }
    return rows;
  }

  static std::vector<std::optional<string>> After(const RowId& id, std::size_t limit,
                                                  std::optional<string> more = {}) {
    std::vector<std::optional<string>> parameters = {Asked(id.resource.text), Asked(id.uid.text),
                                                     string(kRowStates.Of(id.state)), Limit(limit)};
    if (more) parameters.push_back(std::move(more));
    return parameters;
  }
};

struct ReadAnswer {
  const PgAnswer& rows;
  QueryAnswer answer = {};

  Result<void> operator()(const CountReservedQuery&) { return Count(); }
  Result<void> operator()(const CountSeenQuery&) { return Count(); }
  Result<void> operator()(const CountOwnedQuery&) { return Count(); }
  Result<void> operator()(const PlacesQuery& query) {
    std::map<std::tuple<ClusterNamespace, string, string>, PlaceCount> places;
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      auto place = PlaceFromTexts(columns.Text(0), columns.Text(1));
      if (!place) return Error{ErrorCode::kDataLoss, "the place of an owner cannot be read"};
      PlaceCount& kept = places[{place->ns, place->account, place->region}];
      kept.place = *std::move(place);
      kept.count += static_cast<std::uint64_t>(columns.Integer(2));
    }
    for (auto& [order, place] : places) {
      if (answer.places.size() < query.limit) answer.places.push_back(std::move(place));
    }
    return {};
  }
  Result<void> operator()(const OwnersOfShapeQuery&) { return FillAll(answer.owners); }
  Result<void> operator()(const IsTakenQuery&) { return Count(); }
  Result<void> operator()(const OwnersInQuery&) { return FillAll(answer.owners); }
  Result<void> operator()(const ReservedBeforeQuery&) { return FillAll(answer.rows); }
  Result<void> operator()(const ObserversQuery&) { return FillAll(answer.rows); }
  Result<void> operator()(const AgreementsQuery&) { return FillAll(answer.agreements); }
  Result<void> operator()(const ResourcesQuery&) {
    for (int row = 0; row < rows.row_count(); ++row) {
      answer.resources.push_back(ResourceId{string(rows.Row(row).Text(0))});
    }
    return {};
  }
  Result<void> operator()(const KeysQuery&) { return Keys(); }
  Result<void> operator()(const KeysWithQuery&) { return Keys(); }
  Result<void> operator()(const KeysNamedQuery&) {
    TRUCE_RETURN_IF_ERROR(Keys());
    std::sort(answer.keys.begin(), answer.keys.end());
    answer.looked_at_all = answer.keys.empty() || !answer.keys.front().empty();
    return {};
  }
  Result<void> operator()(const KeysOfServiceQuery&) { return Keys(); }
  Result<void> operator()(const ServicesQuery&) {
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      answer.services.push_back(
          {string(columns.Text(0)), static_cast<std::uint64_t>(columns.Integer(1))});
    }
    return {};
  }
  Result<void> operator()(const TallyServicesQuery&) {
    ServiceTallies tallies;
    for (int row = 0; row < rows.row_count(); ++row) {
      const PgColumns columns = rows.Row(row);
      const auto place = PlaceFromTexts("////", columns.Text(0));
      if (!place) return Error{ErrorCode::kDataLoss, "the place of an owner cannot be read"};
      tallies.Add(*place, columns.Text(1), static_cast<std::uint64_t>(columns.Integer(2)));
    }
    answer.tallies = std::move(tallies).Take();
    return {};
  }
  Result<void> operator()(const NamespacesQuery&) {
    for (int row = 0; row < rows.row_count(); ++row) {
      answer.namespaces.emplace_back(rows.Row(row).Text(0));
    }
    // In the index "team-a/" is before "team/".
    std::sort(answer.namespaces.begin(), answer.namespaces.end());
    return {};
  }
  Result<void> operator()(const ObjectsOfKindQuery& query) {
    TRUCE_RETURN_IF_ERROR(FillAll(answer.objects.objects));
    const std::vector<Object>& page = answer.objects.objects;
    if (page.size() == query.limit && !page.empty()) answer.objects.next = page.back().uid.text;
    return {};
  }
  Result<void> operator()(const ObjectsQuery&) { return FillAll(answer.objects.objects); }
  Result<void> operator()(const SettingsQuery&) {
    for (int row = 0; row < rows.row_count(); ++row) {
      answer.settings.emplace_back(rows.Row(row).Text(0), rows.Row(row).Text(1));
    }
    return {};
  }
  Result<void> operator()(const TableQuery& query) {
    for (int row = 0; row < rows.row_count(); ++row) {
      answer.table_rows.push_back(TableRowFrom(query.table, rows.Row(row)));
    }
    return {};
  }
  Result<void> operator()(const AuditLinesQuery&) {
    for (int row = 0; row < rows.row_count(); ++row) {
      const auto number = [&](int column) {
        return static_cast<std::uint64_t>(rows.Row(row).Integer(column));
      };
      AuditLine& line = answer.lines.emplace_back(AuditLine{{number(0), number(1), number(2)}, {}});
      TRUCE_RETURN_IF_ERROR(Fill(rows.Row(row, 3), line.entry));
    }
    return {};
  }

  Result<void> Keys() {
    for (int row = 0; row < rows.row_count(); ++row) {
      answer.keys.push_back(KeyText{string(rows.Row(row).Text(0))});
    }
    return {};
  }
  Result<void> Count() {
    if (rows.row_count() == 1) {
      answer.count = static_cast<std::uint64_t>(rows.Row(0).Integer(0));
    }
    return {};
  }
  template <typename T>
  Result<void> FillAll(std::vector<T>& all) {
    for (int row = 0; row < rows.row_count(); ++row) {
      TRUCE_RETURN_IF_ERROR(Fill(rows.Row(row), all.emplace_back()));
    }
    return {};
  }
};

}  // namespace

AskedAlong::AskedAlong(const std::set<Query>& queries) {
  for (const Query& query : queries) {
    if (const auto* reserved = std::get_if<CountReservedQuery>(&query)) {
      if (reserved->from != Timestamp::min() || reserved->before != Timestamp::max() ||
          !reserved->left_out.empty()) {
        others_.push_back(&query);
        continue;
      }
      reserved_.Text(reserved->ns);
      reserved_.Text(reserved->ns.empty() ? reserved->user : "");
      reserved_.Text(Limit(reserved->limit));
      of_[kReservedAlong].push_back(&query);
    } else if (const auto* shape = std::get_if<OwnersOfShapeQuery>(&query)) {
      shapes_.Text(shape->shape);
      shapes_.Text(Limit(shape->limit));
      of_[kShapeAlong].push_back(&query);
    } else if (const auto* taken = std::get_if<IsTakenQuery>(&query)) {
      proposed_.Text(taken->name.text);
      of_[kTakenAlong].push_back(&query);
    } else {
      others_.push_back(&query);
    }
  }
}

void AskedAlong::Expect(FactStock& stock) const {
  for (const auto& [what, queries] : of_) {
    for (const Query* query : queries) stock.queries[*query] = {};
  }
}

Result<void> AskedAlong::Read(std::int64_t what, std::int64_t place, const PgColumns& columns,
                              FactStock& stock) const {
  const auto found = of_.find(what);
  if (found == of_.end() || place < 0 || static_cast<std::size_t>(place) >= found->second.size()) {
    return Error{ErrorCode::kDataLoss, "truce.take answered what was not asked"};
  }
  QueryAnswer& answer = stock.queries[*found->second[static_cast<std::size_t>(place)]];
  if (what == kShapeAlong) {
    TRUCE_RETURN_IF_ERROR(Fill(columns, answer.owners.emplace_back()));
  } else {
    answer.count = static_cast<std::uint64_t>(columns.Integer(0));
  }
  return {};
}

PgStatement StatementOf(const Query& query) { return std::visit(Ask{}, query); }

string LockNameOf(const Query& query) {
  if (const auto* const rows = std::get_if<TableQuery>(&query)) {
    return "table " + string(rows->table.name);
  }
  const auto* count = std::get_if<CountOwnedQuery>(&query);
  if (count == nullptr) return {};
  const OwnedRange& range = count->range;
  string name = range.type + '|' + range.account + '|' + range.region;
  for (const auto& [cluster, ns] : range.namespaces) {
    name.append(1, '|').append(cluster).append(1, '/').append(ns);
  }
  return name;
}

Result<QueryAnswer> AnswerOf(const Query& query, const PgAnswer& answer) {
  ReadAnswer reading{answer};
  TRUCE_RETURN_IF_ERROR(std::visit(reading, query));
  return std::move(reading.answer);
}

}  // namespace truce
