// How commands print: a table for people; JSON, YAML, CSV, names, columns or a template of one's
// own for programs. All from the server's JSON and the description of a thing
// (webhook/wire/columns.h).
#ifndef TRUCE_WEBHOOK_CLI_OUTPUT_H_
#define TRUCE_WEBHOOK_CLI_OUTPUT_H_

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "webhook/cli/exit_code.h"
#include "webhook/wire/columns.h"
#include "webhook/wire/text_table.h"

namespace truce {

class CommandLine;

struct CommandIo;

// The values of -o, --no-headers and --sort-by.
struct Form {
  std::string output = "table";
  bool has_head = true;
  std::string
      sort_by;  // the path of a member, with "-" the last first; empty: as the server has it

  bool is(std::string_view word) const { return output == word; }
  bool for_people() const { return is("table") || is("wide") || is("text"); }
  bool is_object() const { return is("json") || is("yaml"); }
};
// Adds these flags. `own`: the command's own form, which is the default; "table": none.
std::shared_ptr<Form> AddForm(CommandLine& app, const char* own = "table");

// The things of a list: their columns, and the member that names one, or several joined by "/".
struct Listed {
  Headings headings;
  std::string_view name = "id";
};

// The JSON text indented, or as YAML.
void PrintJson(const std::string& json, std::ostream& out);
void PrintYaml(const std::string& json, std::ostream& out);
// Prints `json` when `form` is json or yaml. False: another form is meant.
bool PrintData(const Form& form, const nlohmann::json& json, std::ostream& out);
// Prints the list `items` as `form` says; data is under "items". An empty table says so among the
// messages. kUsage after a complaint: columns or a template that cannot be read.
ExitCode PrintList(const Form& form, const Listed& listed, nlohmann::json items, CommandIo& io);

// Columns three spaces apart, the first row in capitals; each cell as OneLine. The last column
// is not padded.
void PrintTable(TableRows rows, std::ostream& out);
void PrintTable(const Headings& headings, const nlohmann::json& items, std::ostream& out);

// A line of CSV (RFC 4180): the names of the columns, or the cells of an item.
std::string CsvHead(const Headings& headings);
std::string CsvLine(const Headings& headings, const nlohmann::json& item);

// The member "id".
std::string IdOf(const nlohmann::json& item);
// The account of a resource in words: "unknown (ProviderConfig prod)" while it is not known.
std::string AccountText(const nlohmann::json& resource);
// "ObjectStorage team-a/artifacts": the object that is the member `name`; "-" when it has none.
std::string ObjectText(const nlohmann::json& parent, const char* name);
// The text, or "-" in a table where it is empty.
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
