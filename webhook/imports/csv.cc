// CSV as RFC 4180 has it, with a header row.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "registry/base/counted.h"
#include "registry/identity/values.h"
#include "webhook/imports/readers.h"

namespace truce {
namespace {

constexpr std::size_t kColumnsMax = 64;

Error BadLine(std::size_t line, const std::string& message) {
  return {ErrorCode::kInvalidArgument, "line " + std::to_string(line) + ": " + message};
}

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {
    constexpr std::string_view kMark = "\xEF\xBB\xBF";  // spreadsheets begin with it
    if (rest_.starts_with(kMark)) rest_.remove_prefix(kMark.size());
  }

  bool at_end() const { return rest_.empty(); }
  std::size_t line() const { return line_; }  // of the record read last

  // The cells of the next record. Errors: kInvalidArgument: why its first line is none; reading
  // goes on behind that line, so that no other one is lost with it.
  Result<std::vector<std::string>> Next() {
    line_ = next_line_;
    const std::string_view record = rest_;
    Result<std::vector<std::string>> cells = Record();
    if (cells.ok()) return cells;
    rest_ = record.substr(std::min(record.find('\n'), record.size() - 1) + 1);
    next_line_ = line_ + 1;
    return cells;
  }

 private:
  Result<std::vector<std::string>> Record() {
    std::vector<std::string> cells;
    while (cells.size() <= kColumnsMax) {
      std::string cell;
      TRUCE_RETURN_IF_ERROR(ReadCell(cell));
      cells.push_back(std::move(cell));
      if (rest_.starts_with(',')) {
        rest_.remove_prefix(1);
        continue;
      }
      if (rest_.starts_with('\r')) rest_.remove_prefix(1);
      if (rest_.starts_with('\n')) {
        rest_.remove_prefix(1);
        ++next_line_;
      }
      return cells;
    }
    return InvalidArgument("more than 64 columns");
  }

  Result<void> ReadCell(std::string& cell) {
    if (!rest_.starts_with('"')) {
      const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
      cell = rest_.substr(0, end);
      rest_.remove_prefix(end);
      if (cell.find('"') != std::string::npos) return InvalidArgument("a quote inside a cell");
      return {};
    }
    rest_.remove_prefix(1);
    while (true) {
      const std::size_t quote = rest_.find('"');
      if (quote == std::string_view::npos) return InvalidArgument("a quote is not closed");
      cell.append(rest_.substr(0, quote));
      next_line_ += static_cast<std::size_t>(
          std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(quote), '\n'));
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) break;
      cell += '"';
      rest_.remove_prefix(1);
    }
    const bool ends = rest_.empty() || rest_.find_first_of(",\r\n") == 0;
    if (!ends) return InvalidArgument("text behind a closing quote");
    return {};
  }

  std::string_view rest_;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

struct Row {
  ListedResource named;
  std::map<std::string, std::string> parts;
  std::string service;
  std::string contact;
  std::string key;    // as `truce export` writes it
  std::string until;  // the same: not empty: it was only reserved
};

constexpr std::string_view kPart = "part:";

std::string* CellFor(const std::string& column, Row& row) {
  const std::array<std::pair<std::string_view, std::string*>, 10> places = {{
      {"type", &row.named.type},
      {"name", &row.named.name},
      {"region", &row.named.region},
      {"account", &row.named.account},
      {"arn", &row.named.arn},
      {"service", &row.service},
      {"contact", &row.contact},
      {"address", &row.named.address},
      {"key", &row.key},
      {"until", &row.until},
  }};
  for (const auto& [name, place] : places) {
    if (name == column) return place;
  }
  if (!column.starts_with(kPart)) return nullptr;
  return &row.parts[column.substr(kPart.size())];
}

// Parts, account and region as a key says them: space|partition|account|region|part=value|…
void ReadKey(Row& row) {
  std::string_view rest = row.key;
  for (int field = 0; !rest.empty(); ++field) {
    const std::string_view text = rest.substr(0, rest.find('|'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    const std::string value = PercentDecode(text).value_or(std::string());
    if (field == 2 && !value.starts_with('?')) row.named.account = value;
    if (field == 3 && !value.empty()) row.named.region = value;
    const std::size_t equals = text.find('=');
    if (field < 4 || equals == std::string_view::npos) continue;
    row.parts[std::string(text.substr(0, equals))] =
        PercentDecode(text.substr(equals + 1)).value_or(std::string());
  }
}

ImportEntry EntryOf(Row row, const ReadContext& context) {
  if (row.parts.empty() && !row.named.type.empty()) ReadKey(row);
  std::erase_if(row.parts, [](const auto& part) { return part.second.empty(); });
  if (row.named.address.empty()) {
    row.named.address =
        row.named.arn.empty() ? row.named.type + "/" + row.named.name : row.named.arn;
  }
  ImportEntry entry;
  if (row.parts.empty()) {
    entry = EntryOfNamed(row.named, context);
  } else {
    const auto& defaults = context.defaults;
    entry = {.address = row.named.address,
             .type = row.named.type,
             .parts = std::move(row.parts),
             .region = row.named.region.empty() ? defaults.region : row.named.region,
             .account = row.named.account.empty() ? defaults.account : row.named.account,
             .arn = row.named.arn};
  }
  entry.service = std::move(row.service);
  entry.contact = std::move(row.contact);
  Describe({}, context, entry);
  if (!row.until.empty()) entry.problem = "it was only reserved";
  return entry;
}

}  // namespace

Result<void> ReadCsv(std::string_view text, const ReadContext& context, ImportFile& file) {
  CsvReader reader(text);
  Result<std::vector<std::string>> first = reader.Next();
  if (!first.ok()) return BadLine(1, first.error().message);
  const std::vector<std::string> header = std::move(first).value();
  const auto has = [&](std::string_view column) {
    return std::find(header.begin(), header.end(), column) != header.end();
  };
  if (!has("type") && !has("arn")) {
    return BadLine(1, "the header has neither \"type\" nor \"arn\"");
  }
  for (auto it = header.begin(); it != header.end(); ++it) {
    Row probe;
    // Columns that export adds for people are passed over.
    const bool passes = *it == "state" || *it == "since" || *it == "id" || *it == "root";
    if (CellFor(*it, probe) == nullptr && !passes) {
      return BadLine(
          1,
          "unknown column; there are type, name, region, account, arn, service, contact, "
          "address, part:NAME");
    }
    if (std::find(header.begin(), it, *it) != it) return BadLine(1, "a column appears twice");
  }
  while (!reader.at_end()) {
    Result<std::vector<std::string>> record = reader.Next();
    std::vector<std::string> cells;
    std::string problem = record.ok() ? "" : record.error().message;
    if (record.ok()) cells = std::move(record).value();
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (problem.empty() && cells.size() != header.size()) {
      problem = Counted(cells.size(), "cell") + " instead of " + std::to_string(header.size());
    }
    if (!problem.empty()) {
      file.entries.push_back(
          {.address = "line " + std::to_string(reader.line()), .problem = std::move(problem)});
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (std::string* cell = CellFor(header[i], row)) *cell = std::move(cells[i]);
    }
    file.entries.push_back(EntryOf(std::move(row), context));
  }
  return {};
}

}  // namespace truce
