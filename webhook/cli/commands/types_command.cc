#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "registry/base/text.h"
#include "registry/catalogue/explain.h"
#include "webhook/api/described.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/config_flags.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

// "ack" is the word of flavour "ack", "upjet" of both upjet ones; the empty one of all.
bool IsOf(const KindSpec& kind, std::string_view flavour) {
  std::string_view name = Name(kind.flavour);
  return flavour.empty() || TakeUntil(name, ' ') == flavour;
}

// The types with a kind of `flavour` whose name, or the name of one of whose kinds, contains `word`
// in whatever case.
std::vector<const TypeSpec*> TypesWith(const Catalogue& catalogue, std::string_view word,
                                       std::string_view flavour) {
  const std::string wanted = LowerOf(word);
  const auto fits = [&](std::string_view text) { return LowerOf(text).find(wanted) != text.npos; };
  std::vector<const TypeSpec*> found;
  for (const TypeSpec& spec : catalogue.types()) {
    const bool fits_name = fits(spec.name);
    const bool is_wanted = std::any_of(spec.kinds.begin(), spec.kinds.end(), [&](const auto& kind) {
      return IsOf(kind, flavour) && (fits_name || fits(KindForPeople(kind.kind, kind.group)));
    });
    if (is_wanted) found.push_back(&spec);
  }
  return found;
}

// The API's items, with what only programs read.
nlohmann::ordered_json ItemsOf(const std::vector<const TypeSpec*>& types,
                               std::string_view flavour) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const TypeSpec* spec : types) {
    const TypeSummary line = Summarise(*spec);
    auto item = ParseOrderedJson(JsonWriter().Put(line).Take());
    item["space"] = line.space;
    item["arn"] = spec->arn_template;
    item["kinds"] = nlohmann::ordered_json::array();
    for (const KindSpec& kind : spec->kinds) {
      if (!IsOf(kind, flavour)) continue;
      item["kinds"].push_back({{"group", kind.group}, {"kind", kind.kind}});
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

CommandAction DeclareTypes(CommandLine& app) {
  const auto flags = AddConfigFlags(app, {"types"});
  const auto word = std::make_shared<std::string>();
  app.AddOption("WORD", *word, "Only types and kinds whose name contains it, as s3");
  const auto flavour = std::make_shared<std::string>();
  app.AddOption("--flavour", *flavour,
                "Only kinds of Crossplane's upjet or community provider, or of ACK")
      .OneOf({"upjet", "community", "ack"});
  const auto form = AddForm(app);
  app.Footer(
      "Examples:\n"
      "  truce types\n"
      "  truce types s3\n"
      "  truce types --flavour ack\n"
      "  truce types -o json\n\n"
      "Exit code 1: no type has that word in its name, or a kind of that flavour.");
  return [flags, word, flavour, form](CommandIo& io) {
    const Result<Settings> loaded = LoadWithCatalogue(*flags, io);
    if (!loaded.ok()) return Complain(io, loaded.error().message, ExitCode::kUsage);
    const Catalogue& catalogue = *loaded.value().catalogue;
    const std::vector<const TypeSpec*> types = TypesWith(catalogue, *word, *flavour);
    if (types.empty() && !word->empty()) {
      return Complain(io,
                      "no type or kind" + (flavour->empty() ? "" : " of flavour " + *flavour) +
                          " has '" + *word + "' in its name; `truce types` lists all",
                      ExitCode::kNo);
    }
    auto items = ItemsOf(types, *flavour);
    if (!form->is_object()) {
      return PrintList(*form, {HeadingsOf<TypeSummary>(), "type"}, std::move(items), io);
    }
    const nlohmann::ordered_json list = {{"apiVersion", "truce.dev/v1alpha1"},
                                         {"kind", "TypeList"},
                                         {"version", catalogue.version()},
                                         {"items", std::move(items)}};
    (form->is("json") ? PrintJson : PrintYaml)(Dump(list), io.out);
    return ExitCode::kOk;
  };
}

}  // namespace truce
