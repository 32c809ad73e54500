// Tables for terminals, as kubectl prints them.
#ifndef TRUCE_WEBHOOK_FINDINGS_TEXTS_TEXT_TABLE_H_
#define TRUCE_WEBHOOK_FINDINGS_TEXTS_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace truce {

// `headers` and each row have the same number of cells. Columns are as wide as their widest cell,
// three spaces apart; no trailing spaces; each line ends with a line break. Cells are shown on one
// line, control characters escaped; an empty one as "-".
std::string TextTable(const std::vector<std::string>& headers,
                      const std::vector<std::vector<std::string>>& rows);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_TEXTS_TEXT_TABLE_H_
