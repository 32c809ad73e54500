#include "policies/aws_quotas.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

namespace truce {
namespace {

// Cuts `text` at the first `separator` and returns the text before it.
std::string_view TakeField(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view field = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return field;
}

std::optional<AwsQuota> RowOf(std::string_view line) {
  constexpr std::size_t kColumns = 5;
  std::array<std::string_view, kColumns> cells;
  for (std::string_view& cell : cells) cell = TakeField(line, '\t');
  const auto& [type, per, max, source, read] = cells;
  AwsQuota row{.type = type, .per_region = per == "account+region", .source = source, .read = read};
  const auto [end, error] = std::from_chars(max.data(), max.data() + max.size(), row.max);
  const bool is_good = error == std::errc() && end == max.data() + max.size() && !read.empty() &&
                       (row.per_region || per == "account");
  return is_good ? std::optional(row) : std::nullopt;
}

std::vector<AwsQuota> ReadAll() {
  std::vector<AwsQuota> rows;
  for (std::string_view text = AwsQuotasText(); !text.empty();) {
    if (const auto row = RowOf(TakeField(text, '\n'))) rows.push_back(*row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const AwsQuota& a, const AwsQuota& b) { return a.type < b.type; });
  return rows;
}

}  // namespace

const std::vector<AwsQuota>& AwsQuotas() {
  static const std::vector<AwsQuota> kRows = ReadAll();
  return kRows;
}

const AwsQuota* AwsQuotaOf(std::string_view type) {
  const std::vector<AwsQuota>& rows = AwsQuotas();
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), type,
      [](const AwsQuota& row, std::string_view wanted) { return row.type < wanted; });
  return found == rows.end() || found->type != type ? nullptr : &*found;
}

}  // namespace truce
