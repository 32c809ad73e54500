#include <CLI/CLI.hpp>

#include "webhook/cli/command.h"
#include "webhook/cli/config_flags.h"
#include "webhook/serve/serve.h"

namespace truce {

CommandAction DeclareServe(CLI::App& app) {
  const auto flags = AddConfigFlags(app);
  return [flags](CommandIo& io) {
    Result<LoadedConfig> loaded = LoadFor(*flags, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    if (!loaded.value().config.no_cluster) {
      return Complain(
          io, "this version serves without a cluster connection only; start it with --no-cluster",
          ExitCode::kUsage);
    }
    const Result<void> served =
        Serve({SourcesOf(*flags, io), std::move(loaded).value(), TruceVersion()});
    if (served.ok()) return ExitCode::kOk;
    const ErrorCode code = served.error().code;
    const bool is_input = code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
    const ExitCode answer = code == ErrorCode::kInternal ? ExitCode::kBug : ExitCode::kCannotRun;
    return Complain(io, served.error().message, is_input ? ExitCode::kUsage : answer);
  };
}

}  // namespace truce
