// who-owns and list for people who have the rights of kubectl alone: the denial of a check names
// the owner, or is the list.
#ifndef TRUCE_WEBHOOK_CLI_COMMANDS_ADMISSION_OWNER_H_
#define TRUCE_WEBHOOK_CLI_COMMANDS_ADMISSION_OWNER_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "webhook/cli/command.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/named_resource.h"

namespace truce {

// An OwnershipCheck of what is named as TYPE/NAME. Errors: kInvalidArgument: it is named otherwise.
Result<nlohmann::json> CheckAbout(const NamedResource& named, const std::string& ns);

// Lets the cluster judge `items` in namespace `ns`, by creations in dry-run, and prints what is
// said of each: the owner, as far as the disclosure allows. kNo after a message: nothing is
// refused, so nobody else owns them.
struct OwnerWish {
  const nlohmann::json& items;
  std::string ns;
  std::string output;
};
ExitCode TellOwnersByAdmission(const ApiFlags& flags, const OwnerWish& wish, CommandIo& io);

// Prints what a namespace owns, a table that Truce writes: the first hundred, and whether there are
// more. `parameters` are those of GET /api/v1/resources. kUsage after a message: others than type
// and service. Without `has_head` no line of headings.
struct ListWish {
  const Parameters& parameters;
  std::string ns;
  bool has_head = true;
};
ExitCode TellListByAdmission(const ApiFlags& flags, const ListWish& wish, CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMANDS_ADMISSION_OWNER_H_
