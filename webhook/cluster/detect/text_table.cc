#include "webhook/cluster/detect/text_table.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "policies/finding.h"

namespace truce {
namespace {

constexpr std::size_t kCellBytesMax = 512;
constexpr std::size_t kGap = 3;

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t Width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

void AppendLine(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                std::string& out) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += cells[i];
    if (i + 1 < cells.size()) out.append(widths[i] - Width(cells[i]) + kGap, ' ');
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
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) AppendLine(line, widths, out);
  return out;
}

}  // namespace truce
