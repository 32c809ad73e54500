// Files of the sources that `truce reference` and `truce config --schema` print from, as built in.
#ifndef TRUCE_WEBHOOK_CLI_COMMANDS_REFERENCE_TEXTS_H_
#define TRUCE_WEBHOOK_CLI_COMMANDS_REFERENCE_TEXTS_H_

#include <string_view>

namespace truce {

// charts/truce/files/alerts.yaml
std::string_view AlertsText();

// schema/config.defs.json: settings that only the file can give
std::string_view ConfigDefinitionsText();

// schema/crds
std::string_view DeclarationMappingText();
std::string_view NamingPolicyText();
std::string_view OwnershipCheckText();
std::string_view OwnershipGrantText();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMANDS_REFERENCE_TEXTS_H_
