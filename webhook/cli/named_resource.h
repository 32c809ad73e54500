// Commands that act on one owned resource, named on the command line.
#ifndef TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_
#define TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"

namespace truce {

// A name, TYPE/NAME or an ARN, and what tells equal names apart; all empty when none was given.
struct NamedResource {
  std::string resource;
  std::string account;
  std::string region;
};
std::shared_ptr<NamedResource> AddNamedResource(CLI::App& app);

// Asks the server and gives the text of the JSON object that it answers, or complains. An answer
// that is no object is kUnreachable.
ExitCode AskForText(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                    std::string& answer);
// All items of the list that `question` asks for, page by page, as the text of a JSON list.
ExitCode AskForList(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                    std::string& items);
// The one resource that is named, with everything known of it (GET /resources/{id}), as JSON text.
// kNo after a complaint: nobody owns it, several fit, or the caller may not read it.
ExitCode FindText(const ApiFlags& flags, const NamedResource& named, CommandIo& io,
                  std::string& resource);

// "90m", "2h", "30d" from now as a time, or empty when it is none of them.
std::string TimeAfter(const std::string& duration);
// The texts as the body of a request; empty ones are left out.
std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts);
// Prints the list `items` (JSON text) as the output form says; rows are those of a table, with its
// head.
void PrintForm(const std::string& output, const std::string& items,
               const std::vector<std::vector<std::string>>& rows, CommandIo& io);
// A text of the server on one line of a terminal.
std::string OnOneLine(std::string text);

// The same for callers that read the JSON; `Json` is the library's value.
template <typename Json>
ExitCode AskForObject(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                      Json& answer) {
  std::string text;
  const ExitCode code = AskForText(flags, question, io, text);
  if (code == ExitCode::kOk) answer = Json::parse(text, nullptr, false);
  return code;
}
template <typename Json>
ExitCode AskForItems(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                     Json& items) {
  std::string text;
  const ExitCode code = AskForList(flags, question, io, text);
  if (code == ExitCode::kOk) items = Json::parse(text, nullptr, false);
  return code;
}
template <typename Json>
ExitCode FindOne(const ApiFlags& flags, const NamedResource& named, CommandIo& io, Json& resource) {
  std::string text;
  const ExitCode code = FindText(flags, named, io, text);
  if (code == ExitCode::kOk) resource = Json::parse(text, nullptr, false);
  return code;
}
template <typename Json>
void PrintForm(const std::string& output, const Json& items,
               const std::vector<std::vector<std::string>>& rows, CommandIo& io) {
  PrintForm(output, items.dump(-1, ' ', false, Json::error_handler_t::replace), rows, io);
}
// A member that is a text; empty otherwise.
template <typename Json>
std::string TextIn(const Json& json, const char* name) {
  if (!json.is_object()) return {};
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->template get<std::string>()
                                                   : std::string();
}
// "s3/Bucket prod-artifacts".
template <typename Json>
std::string TypeAndName(const Json& resource) {
  return OnOneLine(TextIn(resource, "type") + " " + TextIn(resource, "name"));
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_
