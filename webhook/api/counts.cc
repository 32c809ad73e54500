// The registry in numbers: GET /api/v1/overview and /api/v1/matrix. Both need list on ownerships in
// all namespaces. The overview is cheap: stores keep the counts. The matrix is counted in memory,
// over all ownerships, while commits go on.
//
// GET /overview and /matrix.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/ownership/rows.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/rest/queries.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::size_t kContestedMax = 10'000;

struct Cell {
  std::int64_t count = 0;
  std::int64_t contested = 0;
};
using Cells = std::map<std::string, Cell, std::less<>>;

// The ownerships to count: those of each service by type, or by account; of one account only.
struct MatrixQuestion {
  bool by_account = false;
  std::optional<std::string> account;
};

class Matrix final {
 public:
  explicit Matrix(MatrixQuestion question) : question_(std::move(question)) {}

  void Count(const ServiceTally& tally) {
    Cell* cell = CellOf(tally.type, tally.account, tally.service);
    if (cell != nullptr) cell->count += static_cast<std::int64_t>(tally.count);
  }
  void MarkContested(const Place& place, const std::string& service) {
    if (Cell* cell = CellOf(place.type, place.account, service)) ++cell->contested;
  }

  void Write(JsonWriter& json) const {
    std::map<std::string_view, std::int64_t> totals;
    std::vector<Line> rows;
    for (const auto& [service, cells] : rows_) {
      std::int64_t total = 0;
      for (const auto& [column, cell] : cells) {
        total += cell.count;
        totals[column] += cell.count;
      }
      rows.emplace_back(total, service);
    }
    std::vector<Line> columns;
    for (const auto& [column, total] : totals) columns.emplace_back(total, column);
    const bool rows_complete = Shorten(kMatrixRowsMax, rows);
    const bool columns_complete = Shorten(kMatrixColumnsMax, columns);
    json.Field("by", question_.by_account ? "account" : "type").Key("columns").BeginArray();
    for (const Line& column : columns) {
      json.Object("name", column.second, "count", column.first);
    }
    json.EndArray().Key("rows").BeginArray();
    for (const Line& row : rows) WriteRow(row, columns, json);
    json.EndArray().Field("complete", rows_complete && columns_complete);
  }

 private:
  using Line = std::pair<std::int64_t, std::string_view>;  // a total, and whose

  Cell* CellOf(const std::string& type, const std::string& account, const std::string& service) {
    if (question_.account && *question_.account != account) return nullptr;
    return &rows_[service][question_.by_account ? account : type];
  }

  // The largest ones, whether those are all.
  static bool Shorten(std::size_t count_max, std::vector<Line>& lines) {
    std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    if (lines.size() <= count_max) return true;
    lines.resize(count_max);
    return false;
  }

  void WriteRow(const Line& row, const std::vector<Line>& columns, JsonWriter& json) const {
    const Cells& cells = rows_.find(row.second)->second;
    json.BeginObject().Field("service", row.second).NumberField("count", row.first);
    json.Key("cells").BeginArray();
    for (const Line& column : columns) {
      const auto cell = cells.find(column.second);
      if (cell == cells.end()) continue;
      json.Object("column", column.second, "count", cell->second.count, "contested",
                  cell->second.contested);
    }
    json.EndArray().EndObject();
  }

  MatrixQuestion question_;
  std::map<std::string, Cells, std::less<>> rows_;
};

Matrix MatrixOf(const MatrixQuestion& question, const AllFacts& facts) {
  Matrix matrix(question);
  for (const ServiceTally& tally : facts.TallyServices()) matrix.Count(tally);
  for (const Owner& owner : facts.OwnersIn(OwnerList::kContested, {}, kContestedMax)) {
    for (const std::string& service : ServicesManaging(owner, facts)) {
      matrix.MarkContested(PlaceOf(owner), service);
    }
  }
  return matrix;
}

Result<HttpResponse> AnswerMatrix(const OperationPorts& ports, RestCall& call) {
  TRUCE_ASSIGN_OR_RETURN(const std::string by, call.OneOf("by", {"type", "account"}));
  MatrixQuestion question{.by_account = by == "account", .account = std::nullopt};
  if (const auto account = call.request.Query("account")) question.account = std::string(*account);
  TRUCE_ASSIGN_OR_RETURN(const Matrix matrix,
                         ReadFrom(ports.store, call.deadline, [&](const AllFacts& facts) {
                           return MatrixOf(question, facts);
                         }));
  JsonWriter json;
  json.BeginObject();
  matrix.Write(json);
  json.EndObject();
  return JsonResponse(json.Take());
}

Result<HttpResponse> AnswerOverview(const OperationPorts& ports, RestCall& /*call*/) {
  TRUCE_RETURN_IF_ERROR(ports.store.Health());
  const StoreCounts counts = ports.store.Counts();
  const auto by_state = [&](JsonWriter& json) {
    json.Object("reserved", counts.reserved, "held", counts.held, "orphaned", counts.orphaned,
                "imported", counts.imported);
  };
  JsonWriter json;
  json.Object("ownerships", counts.owners, "byState", by_state, "conflicts", counts.conflicts);
  return JsonResponse(json.Take());
}

}  // namespace

std::vector<HttpRoute> CountRoutes(const OperationPorts& ports) {
  const auto overview = [ports](RestCall& call) { return AnswerOverview(ports, call); };
  const auto matrix = [ports](RestCall& call) { return AnswerMatrix(ports, call); };
  const Permission lists = {"ownerships", "", "list", ""};
  return {ports.rest.Routed({"GET", "/api/v1/overview", {}, lists, overview}),
          ports.rest.Routed({"GET", "/api/v1/matrix", {"by", "account"}, lists, matrix})};
}

}  // namespace truce
