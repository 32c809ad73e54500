#include <ostream>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"

namespace truce {

CommandAction DeclareConfig(CommandLine& app) {
  const auto flags = AddConfigFlags(app);
  const auto lists_keys = std::make_shared<bool>(false);
  app.AddFlag("--keys", *lists_keys, "List every setting instead, with flag, variable and default");
  app.Footer(
      "Examples:\n"
      "  truce config --config truce.yaml\n"
      "  truce config --keys\n");
  return [flags, lists_keys](CommandIo& io) {
    if (*lists_keys) {
      io.out << PrintKeys();
      return ExitCode::kOk;
    }
    const Result<LoadedConfig> loaded = LoadFor(*flags, io);
    // Whatever is wrong with a configuration file is for the user to mend.
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    io.out << PrintConfig(loaded.value());
    return ExitCode::kOk;
  };
}

}  // namespace truce
