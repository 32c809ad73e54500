#include "webhook/findings/texts/text_table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "policies/finding.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kCellBytesMax = 512;
constexpr std::size_t kGap = 3;

void AppendLine(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                std::string& out) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += cells[i];
    if (i + 1 < cells.size()) out.append(widths[i] - CharacterCount(cells[i]) + kGap, ' ');
  }
  out += '\n';
}

}  // namespace

std::string TextTable(const std::vector<std::string>& headers,
                      const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines{headers};
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row) {
      line.push_back(cell.empty() ? "-" : OneLine(cell, kCellBytesMax));
    }
  }
  std::vector<std::size_t> widths(headers.size(), 0);
  for (const std::vector<std::string>& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], CharacterCount(line[i]));
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) AppendLine(line, widths, out);
  return out;
}

}  // namespace truce
