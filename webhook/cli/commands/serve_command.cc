
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/serve/serve.h"

namespace truce {

CommandAction DeclareServe(CommandLine& app) {
  const auto flags = AddConfigFlags(app);
  app.Footer(
      "Examples:\n"
      "  truce serve --no-cluster --data-dir data\n"
      "  truce serve --kubeconfig ~/.kube/config --cluster-id prod-1 --mode audit --data-dir "
      "/var/lib/truce\n");
  return [flags](CommandIo& io) {
    Result<LoadedConfig> loaded = LoadFor(*flags, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    const Config& config = loaded.value().config;
    if (!config.no_cluster && !config.in_cluster && config.kubeconfig.empty()) {
      return Complain(
          io,
          "no cluster is named: start it with --kubeconfig FILE, with --in-cluster in a "
          "Pod, or with --no-cluster to keep a registry without watching one",
          ExitCode::kUsage);
    }
    const Result<ServeEnd> served =
        Serve({SourcesOf(*flags, io), std::move(loaded).value(), TruceVersion()});
    if (served.ok()) {
      return served.value() == ServeEnd::kDiskFailed ? ExitCode::kDiskFailed : ExitCode::kOk;
    }
    const ErrorCode code = served.error().code;
    const bool is_input = code == ErrorCode::kInvalidArgument || code == ErrorCode::kNotFound;
    const ExitCode answer = code == ErrorCode::kInternal ? ExitCode::kBug : ExitCode::kCannotRun;
    return Complain(io, served.error().message, is_input ? ExitCode::kUsage : answer);
  };
}

}  // namespace truce
