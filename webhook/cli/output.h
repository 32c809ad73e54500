// How commands print: a table for people, the server's JSON, YAML or names for programs.
#ifndef TRUCE_WEBHOOK_CLI_OUTPUT_H_
#define TRUCE_WEBHOOK_CLI_OUTPUT_H_

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "webhook/wire/text_table.h"

namespace truce {

class CommandLine;

struct CommandIo;

// The member "id".
std::string IdOf(const nlohmann::json& item);

// Adds -o, --output with its five forms; the default is a table.
std::shared_ptr<std::string> AddOutputFlag(CommandLine& app);

// Adds --no-headers: false, when it is given.
std::shared_ptr<bool> AddNoHeadersFlag(CommandLine& app);

// The rows, without their head where it is not wanted.
TableRows WithHead(TableRows rows, bool has_head);
// Columns three spaces apart, the first row in capitals; each cell as OneLine. The last column
// is not padded.
void PrintTable(TableRows rows, std::ostream& out);

// The JSON text indented, or as YAML.
void PrintJson(const std::string& json, std::ostream& out);
void PrintYaml(const std::string& json, std::ostream& out);
// Prints `json` when `output` is json or yaml. False: another form is meant.
bool PrintData(const std::string& output, const nlohmann::json& json, std::ostream& out);
// Prints the names of `items`, those without one left out, when `output` is name. False: another
// form is meant.
bool PrintNames(const std::string& output, const nlohmann::json& items,
                std::string (*name_of)(const nlohmann::json&), std::ostream& out);
// Prints the list `items` as `output` says: as data under "items", their ids, or `rows`, whose
// first one is the head. An empty table says so among the messages.
void PrintList(const std::string& output, const nlohmann::json& items, const TableRows& rows,
               CommandIo& io);

// What the table shows of a text that is empty.
std::string OrDash(const std::string& text);

// How far long work has come, on one line of messages that is written over and gone at its end.
// Only where somebody watches. External synchronization.
class Progress final {
 public:
  // `what` is counted: "resources". Must outlive it.
  Progress(CommandIo& io, const char* what) : io_(io), what_(what) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::size_t count);

 private:
  CommandIo& io_;
  const char* const what_;
  bool shown_ = false;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_OUTPUT_H_
