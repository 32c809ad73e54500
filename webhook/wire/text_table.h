// Tables and paragraphs for terminals, as kubectl prints them.
#ifndef TRUCE_WEBHOOK_WIRE_TEXT_TABLE_H_
#define TRUCE_WEBHOOK_WIRE_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace truce {

using TableRows = std::vector<std::vector<std::string>>;

// A line for each row: columns as wide as their widest cell, three spaces apart; no trailing
// spaces. Cells are of one line.
std::string AlignColumns(const TableRows& rows);

// `headers` and each row, of as many cells. Cells are shown on one line, control characters
// escaped; an empty one as "-".
std::string TextTable(const std::vector<std::string>& headers, const TableRows& rows);

// Appends `text` and a line end, broken at spaces before column 100: each line but the first begins
// with `indent` spaces, which the first one has already. A longer word has a line of its own.
void AppendWrapped(std::string_view text, std::size_t indent, std::string& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_TEXT_TABLE_H_
