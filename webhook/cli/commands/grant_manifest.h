// An agreement of owners, as the object that says the same in Git.
#ifndef TRUCE_WEBHOOK_CLI_COMMANDS_GRANT_MANIFEST_H_
#define TRUCE_WEBHOOK_CLI_COMMANDS_GRANT_MANIFEST_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "webhook/cli/command.h"

namespace truce {

// An OwnershipGrant about `resource` (by ARN, else type and name) in namespace `ns`, that says
// nothing yet.
nlohmann::json GrantAbout(const nlohmann::json& resource, const std::string& ns,
                          const std::string& name);

// Prints the grant with `spec` added, in the namespace of the owner of `resource`, and among the
// messages that nothing was done. kNo after a complaint: no OwnershipGrant can speak for an owner
// without namespace.
ExitCode PrintGrant(const nlohmann::json& resource, const char* name, const nlohmann::json& spec,
                    CommandIo& io);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMANDS_GRANT_MANIFEST_H_
