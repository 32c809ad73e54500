#include "webhook/wire/text_table.h"

#include <algorithm>
#include <cstddef>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

namespace truce {

std::string AlignColumns(const TableRows& rows) {
  constexpr std::size_t kGap = 3;
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], CharacterCount(row[i]));
  }
  std::string out;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) out.append(widths[i] - CharacterCount(row[i]) + kGap, ' ');
    }
    out += '\n';
  }
  return out;
}

std::string TextTable(const std::vector<std::string>& headers, const TableRows& rows) {
  constexpr std::size_t kCellBytesMax = 512;
  TableRows lines{headers};
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& cell : row)
      line.push_back(cell.empty() ? "-" : OneLine(cell, kCellBytesMax));
  }
  return AlignColumns(lines);
}

}  // namespace truce
