// How commands print lists: a table for people, the server's JSON, YAML or names for programs.
#ifndef TRUCE_WEBHOOK_CLI_OUTPUT_H_
#define TRUCE_WEBHOOK_CLI_OUTPUT_H_

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that the library has
class App;
}  // namespace CLI

namespace truce {

// Adds -o, --output with its five forms; the default is a table.
std::shared_ptr<std::string> AddOutputFlag(CLI::App& app);

// Columns three spaces apart, the first row in capitals; control characters of cells as '?'. The
// last column is not padded.
void PrintTable(const std::vector<std::vector<std::string>>& rows, std::ostream& out);

// The JSON text indented, or as YAML.
void PrintJson(const std::string& json, std::ostream& out);
void PrintYaml(const std::string& json, std::ostream& out);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_OUTPUT_H_
