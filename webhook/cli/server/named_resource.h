// Commands that act on one owned resource, named on the command line.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_NAMED_RESOURCE_H_
#define TRUCE_WEBHOOK_CLI_SERVER_NAMED_RESOURCE_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/cli/command.h"
#include "webhook/cli/server/api_call.h"

namespace truce {

class CommandLine;

// A resource by any of its names (the server says which forms there are), and the filters for equal
// names; all empty when none was given.
struct NamedResource {
  std::string resource;
  std::string account;
  std::string region;
  std::string ns;  // of the object, where the resource is named as KIND/NAME
};
std::shared_ptr<NamedResource> AddNamedResource(CommandLine& app);
// The parameters of a lookup.
Parameters ParametersOf(const NamedResource& named);

// The parameters of a lookup, and the word by which people call the resource.
struct Sought {
  Parameters parameters;
  std::string word;
};
// All that fit: the answer of the lookup, with at least one of "resources". kNo: nobody owns it.
Asked FindAll(const ApiFlags& flags, const Sought& sought, CommandIo& io);
// The one resource that is named, with everything known of it (GET /resources/{id}). kNo: nobody
// owns it, several fit, or the caller may not read it.
Asked FindOne(const ApiFlags& flags, const NamedResource& named, CommandIo& io);

// kNo, since `word` fits several: says which those of "resources" are, each with its id.
ExitCode ComplainOfSeveral(CommandIo& io, const std::string& word, const nlohmann::json& found);

// The texts as the body of a request; empty ones are left out.
std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts);
// "s3/Bucket prod-artifacts".
std::string TypeAndName(const nlohmann::json& resource);
// The same of the member "resource" of an item about one.
std::string ResourceOf(const nlohmann::json& item);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_NAMED_RESOURCE_H_
