// Commands that act on one owned resource, named on the command line.
#ifndef TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_
#define TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"

namespace truce {

class CommandLine;

// A resource by any of its names (the server says which forms there are), and what tells equal
// names apart; all empty when none was given.
struct NamedResource {
  std::string resource;
  std::string account;
  std::string region;
  std::string ns;  // of the object, where the resource is named as KIND/NAME
};
std::shared_ptr<NamedResource> AddNamedResource(CommandLine& app);
// The parameters of a lookup.
std::vector<std::pair<std::string, std::string>> ParametersOf(const NamedResource& named);
// The account of a resource in words: "unknown (ProviderConfig prod)" while it is not known.
std::string AccountText(const nlohmann::json& resource);

// Asks the server for a JSON object, or complains. An answer that is no object is kUnreachable.
ExitCode AskForObject(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                      nlohmann::json& answer);
// All items of the list that `question` asks for, page by page.
ExitCode AskForItems(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                     nlohmann::json& items);
// The one resource that is named, with everything known of it (GET /resources/{id}). kNo after a
// complaint: nobody owns it, several fit, or the caller may not read it.
ExitCode FindOne(const ApiFlags& flags, const NamedResource& named, CommandIo& io,
                 nlohmann::json& resource);

// "90m", "2h", "30d" from now as a time, or empty when it is none of them.
std::string TimeAfter(const std::string& duration);
// The texts as the body of a request; empty ones are left out.
std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts);
// Prints the list `items` as the output form says; rows are those of a table, with its head.
void PrintForm(const std::string& output, const nlohmann::json& items,
               const std::vector<std::vector<std::string>>& rows, CommandIo& io);
// A text of the server on one line of a terminal.
std::string OnOneLine(std::string text);
// "s3/Bucket prod-artifacts".
std::string TypeAndName(const nlohmann::json& resource);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_NAMED_RESOURCE_H_
