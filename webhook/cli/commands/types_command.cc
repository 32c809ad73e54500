#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

// The types whose name, or the name of one of whose kinds, contains `word` in whatever case.
std::vector<const TypeSpec*> TypesWith(const Catalogue& catalogue, std::string_view word) {
  const std::string wanted = LowerOf(word);
  const auto fits = [&](std::string_view text) { return LowerOf(text).find(wanted) != text.npos; };
  std::vector<const TypeSpec*> found;
  for (const TypeSpec& spec : catalogue.types()) {
    const bool by_kind = std::any_of(spec.kinds.begin(), spec.kinds.end(), [&](const auto& kind) {
      return fits(KindForPeople(kind.kind, kind.group));
    });
    if (by_kind || fits(spec.name)) found.push_back(&spec);
  }
  return found;
}

TableRows TypeRows(const std::vector<const TypeSpec*>& types) {
  TableRows rows = {{"TYPE", "SCOPE", "CERTAINTY", "CONFLICT", "KEY", "ATTACHMENT"}};
  for (const TypeSpec* spec : types) {
    const TypeSummary line = Summarise(*spec);
    rows.push_back(
        {line.type, line.scope, line.certainty, line.conflict, line.key, line.attachment});
  }
  return rows;
}

void PrintTypesJson(std::string_view version, const std::vector<const TypeSpec*>& types,
                    std::ostream& out) {
  nlohmann::ordered_json list;
  list["apiVersion"] = "truce.dev/v1alpha1";
  list["kind"] = "TypeList";
  list["version"] = version;
  list["items"] = nlohmann::ordered_json::array();
  for (const TypeSpec* spec : types) {
    const TypeSummary line = Summarise(*spec);
    nlohmann::ordered_json item = {
        {"type", line.type},         {"scope", line.scope},      {"certainty", line.certainty},
        {"conflict", line.conflict}, {"key", line.key},          {"attachment", line.attachment},
        {"space", line.space},       {"arn", spec->arn_template}};
    item["kinds"] = nlohmann::ordered_json::array();
    for (const KindSpec& kind : spec->kinds) {
      item["kinds"].push_back({{"group", kind.group}, {"kind", kind.kind}});
    }
    list["items"].push_back(std::move(item));
  }
  out << DumpIndented(list) << "\n";
}

}  // namespace

CommandAction DeclareTypes(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"types"});
  const auto word = std::make_shared<std::string>();
  const auto output = std::make_shared<std::string>("table");
  app.AddOption("WORD", *word, "Only types and kinds whose name contains it, as s3");
  app.AddOption("-o,--output", *output, "Form of the list; default table")
      .Type("table|json")
      .OneOf({"table", "json"});
  app.Footer(
      "Examples:\n"
      "  truce types\n"
      "  truce types s3\n"
      "  truce types -o json\n\n"
      "Exit code 1: no type has that word in its name.");
  return [flags, word, output](CommandIo& io) {
    const Result<Settings> loaded = LoadWithCatalogue(*flags, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    const Catalogue& catalogue = *loaded.value().catalogue;
    const std::vector<const TypeSpec*> types = TypesWith(catalogue, *word);
    if (types.empty() && !word->empty()) {
      return Complain(io,
                      "no type or kind has '" + *word + "' in its name; `truce types` lists all",
                      ExitCode::kNo);
    }
    if (*output == "json") {
      PrintTypesJson(catalogue.version(), types, io.out);
    } else {
      PrintTable(TypeRows(types), io.out);
    }
    return ExitCode::kOk;
  };
}

}  // namespace truce
