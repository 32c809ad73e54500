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

void AppendWrapped(std::string_view text, std::size_t indent, std::string& out) {
  constexpr std::size_t kColumnsMax = 100;
  std::size_t column = indent;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    const std::size_t width = CharacterCount(word);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_first && column + 1 + width > kColumnsMax) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    is_first = false;
  }
  out += '\n';
}

}  // namespace truce
