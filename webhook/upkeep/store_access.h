// A server's credentials for the registry's database: its password, and its own name.
#ifndef TRUCE_WEBHOOK_UPKEEP_STORE_ACCESS_H_
#define TRUCE_WEBHOOK_UPKEEP_STORE_ACCESS_H_

#include <string>

#include "registry/base/result.h"
#include "registry/store/postgres/target.h"
#include "webhook/config/config.h"

namespace truce {

// Reads the file, or runs the program, that `config` names, each time anew; null: it names none.
// The password is one line without its end. Its errors name the setting: kUnavailable.
PasswordSource PasswordOf(const Config& config);

// The name by which other servers know this one: its host, and the text of DIR/server.id, which is
// made once: so it keeps its name over restarts. Errors: kUnavailable.
Result<std::string> ServerName(const std::string& data_dir);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_UPKEEP_STORE_ACCESS_H_
