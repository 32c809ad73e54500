#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>

#include "webhook/api/auth/access_rules.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/reference_texts.h"
#include "webhook/cli/config_flags.h"
#include "webhook/config/keys.h"
#include "webhook/config/policy.h"

namespace truce {

namespace {

using OrderedJson = nlohmann::ordered_json;

// Everything that a server refuses but faults of its machine: certificates, tokens, the cluster.
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

OrderedJson PartsOf(std::string_view text, char separator) {
  OrderedJson out = OrderedJson::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The values of a setting, as JSON Schema says it.
OrderedJson PropertyOf(const Key& key) {
  OrderedJson out = {{"description", key.help}};
  if (key.IsStructured()) {
    out["$ref"] = "#/$defs/" + std::string(key.name);
    return out;
  }
  const ScalarField& field = std::get<ScalarField>(key.field);
  const bool has_choice = key.check == Check::kNone && key.type.find('|') != key.type.npos;
  OrderedJson fallback = key.fallback;
  if (std::holds_alternative<bool Config::*>(field)) {
    out["type"] = "boolean";
    fallback = key.fallback == "true";
  } else if (std::holds_alternative<std::vector<std::string> Config::*>(field)) {
    out.update({{"type", "array"}, {"items", {{"type", "string"}}}});
    fallback = PartsOf(key.fallback, ',');
  } else if (std::holds_alternative<std::int64_t Config::*>(field)) {
    out["type"] = "integer";
    fallback = OrderedJson::parse(key.fallback);
    for (const OrderedJson& choice : PartsOf(has_choice ? key.type : "", '|')) {
      out["enum"].push_back(OrderedJson::parse(choice.get<std::string>()));
    }
    if (!has_choice) out.update({{"minimum", key.minimum}, {"maximum", key.maximum}});
  } else {
    out["type"] = "string";
    if (has_choice) out["enum"] = PartsOf(key.type, '|');
    if (key.type == "duration") out["pattern"] = "^[0-9]+(ms|s|m|h)$";
    if (key.check == Check::kStore) {
      out["pattern"] = "^(sqlite|postgres(ql)?://[^:@/]+@[^@/]*/.+)$";
    }
  }
  out["default"] = std::move(fallback);
  return out;
}

std::string SchemaText() {
  OrderedJson properties = OrderedJson::object();
  for (const Key& key : Keys()) properties[std::string(key.name)] = PropertyOf(key);
  const OrderedJson schema = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"$id", "https://truce.dev/schema/config.schema.json"},
      {"title", "Truce configuration"},
      {"description",
       "Every key of the configuration file. A flag wins over a variable, a "
       "variable over the file, the file over the default; `truce config --keys` "
       "lists flags and variables."},
      {"type", "object"},
      {"additionalProperties", false},
      {"properties", std::move(properties)},
      {"$defs", OrderedJson::parse(ConfigDefinitionsText())}};
  return schema.dump(2) + "\n";
}

}  // namespace

CommandAction DeclareConfig(CommandLine& app) {
  const auto flags = AddConfigFlags(app);
  const auto lists_keys = std::make_shared<bool>(false);
  const auto prints_schema = std::make_shared<bool>(false);
  app.AddFlag("--keys", *lists_keys, "List every setting instead, with flag, variable and default");
  app.AddFlag("--schema", *prints_schema, "Print the JSON Schema of the file instead, for editors")
      .Excludes("--keys");
  app.Footer(
      "Refuses what `truce serve` would refuse: unknown types and parts of mapping rules, rules\n"
      "without their settings. It looks at no certificate, token or cluster.\n\n"
      "Examples:\n"
      "  truce config --config truce.yaml\n"
      "  truce config --keys\n"
      "  truce config --schema > truce.schema.json\n");
  return [flags, lists_keys, prints_schema](CommandIo& io) {
    if (*lists_keys || *prints_schema) {
      io.out << (*lists_keys ? PrintKeys() : SchemaText());
      return ExitCode::kOk;
    }
    const Result<LoadedConfig> loaded = LoadFor(*flags, io);
    // The user mends any fault of a configuration file.
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    const Result<void> fit = CheckFit(loaded.value().config);
    if (!fit.ok()) return Complain(io, fit.error().message, ExitCode::kUsage);
    io.out << PrintConfig(loaded.value());
    return ExitCode::kOk;
  };
}

}  // namespace truce
