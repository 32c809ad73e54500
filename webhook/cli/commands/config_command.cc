#include <memory>
#include <ostream>
#include <utility>

#include "webhook/api/auth/access_rules.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/config/policy.h"

namespace truce {

namespace {

// Everything that a server refuses but what is of its machine: certificates, tokens, the cluster.
Result<void> CheckFit(const Config& config) {
  TRUCE_ASSIGN_OR_RETURN(Catalogue catalogue, CatalogueWith(config.types));
  const auto shared = std::make_shared<const Catalogue>(std::move(catalogue));
  const auto policy = PolicyFrom(config, shared);
  if (!policy.ok()) return policy.error();
  Config here = config;
  here.api_token_file.clear();
  const Result<AccessRules> access = AccessRulesOf(here);
  return access.ok() ? Result<void>() : access.error();
}

}  // namespace

CommandAction DeclareConfig(CommandLine& app) {
  const auto flags = AddConfigFlags(app);
  const auto lists_keys = std::make_shared<bool>(false);
  app.AddFlag("--keys", *lists_keys, "List every setting instead, with flag, variable and default");
  app.Footer(
      "Refuses what `truce serve` would refuse: unknown types and parts of mapping rules, rules\n"
      "without their settings. It looks at no certificate, token or cluster.\n\n"
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
    const Result<void> fit = CheckFit(loaded.value().config);
    if (!fit.ok()) return Complain(io, fit.error().message, ExitCode::kUsage);
    io.out << PrintConfig(loaded.value());
    return ExitCode::kOk;
  };
}

}  // namespace truce
