#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/imports/import_list.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kImportsPath[] = "/api/v1/imports";
constexpr int kConflictStatus = 409;
// Lines of a plan that people are shown; -o json has all.
constexpr std::size_t kShownMax = 50;

struct ImportArguments {
  std::string file;
  std::string source;
  std::string format;
  ImportDefaults defaults;
  std::string types;
  std::vector<std::string> skip;
  bool retire = false;
  bool apply = false;
};

std::size_t CountIn(const Json& plan, const char* name) {
  const auto counts = plan.find("counts");
  if (counts == plan.end() || !counts->is_object()) return 0;
  const auto found = counts->find(name);
  return found != counts->end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) return Error{ErrorCode::kNotFound, path + ": the file cannot be read"};
  }
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::vector<char> chunk(std::size_t{1} << 20U);
  while (in && text.size() <= kImportBytesMax) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) return Error{ErrorCode::kUnavailable, path + ": the file cannot be read"};
  return text;
}

std::string ImportBody(const ImportFile& file, const ImportArguments& given) {
  Json resources = Json::array();
  for (const ImportEntry& entry : file.entries) {
    Json item = {{"type", entry.type}};
    const auto set = [&](const char* name, const std::string& value) {
      if (!value.empty()) item[name] = value;
    };
    set("region", entry.region);
    set("account", entry.account);
    set("arn", entry.arn);
    set("service", entry.service);
    set("contact", entry.contact);
    set("address", entry.address);
    set("problem", entry.problem);
    for (const auto& [part, value] : entry.parts) item["parts"][part] = value;
    resources.push_back(std::move(item));
  }
  Json body = {{"source", given.source}, {"resources", std::move(resources)}};
  if (given.retire) body["retire"] = true;
  if (!given.skip.empty()) body["skip"] = given.skip;
  if (given.apply) body["apply"] = true;
  return Dump(body);
}

Listed PlanListed() {
  return {{{"action", "ACTION"}, {"type", "RESOURCE"}, {"address", "ADDRESS"}, {"why", "NOTE"}},
          "type/name"};
}

// One line for each resource that is not owned already, then the sums.
void PrintImportPlan(const Json& plan, const ImportFile& file, std::ostream& out) {
  const bool is_applied = plan.value("applied", false);
  Json items = Json::array();
  std::size_t more = 0;
  for (Json item : plan["items"]) {
    const std::string action = TextIn(item, "action");
    if (action == "owned") continue;
    if (items.size() == kShownMax) {
      ++more;
      continue;
    }
    const std::string name = TextIn(item, "name");
    if (!name.empty()) item["type"] = TextIn(item, "type") + "/" + name;
    if (action == "conflicting" && TextIn(item, "why").empty()) {
      item["why"] =
          "owned by " + TextIn(item, "owner") + (is_applied ? ", kept as a conflict" : "");
    }
    items.push_back(std::move(item));
  }
  if (!items.empty()) PrintTable(PlanListed().headings, items, out);
  if (more > 0) out << "and " << more << " more; -o json shows all\n";
  out << CountIn(plan, "new") << " new, " << CountIn(plan, "changed") << " changed, "
      << CountIn(plan, "retired") << " retired, " << CountIn(plan, "owned") << " owned already, "
      << CountIn(plan, "conflicting") << " conflicting, " << CountIn(plan, "unknown") << " unknown";
  if (file.foreign > 0) out << "; " << file.foreign << " not of AWS left out";
  out << "\n";
}

bool Skips(const ImportArguments& given, const char* what) {
  return std::find(given.skip.begin(), given.skip.end(), what) != given.skip.end();
}

bool IsClean(const Json& plan, const ImportArguments& given) {
  return (CountIn(plan, "conflicting") == 0 || Skips(given, "conflicting")) &&
         (CountIn(plan, "unknown") == 0 || Skips(given, "unknown"));
}

// The outcome, or the next step.
void PrintOutcome(bool is_clean, const ImportArguments& given, std::ostream& out) {
  if (given.apply) {
    out << "imported\n";
  } else if (is_clean) {
    out << "nothing is done yet: repeat it with --apply\n";
  } else {
    out << "it would be refused: settle these, or leave them out with --skip\n";
  }
}

ExitCode RunImport(const ApiFlags& flags, const ImportArguments& given, const Form& form,
                   CommandIo& io) {
  const Result<Catalogue> catalogue = CatalogueWith(given.types);
  if (!catalogue.ok()) return Complain(io, catalogue.error().message, ExitCode::kUsage);
  const Result<std::string> text = ReadWhole(given.file);
  if (!text.ok()) return Complain(io, text.error().message, ExitCode::kUsage);
  const Result<ImportFile> file = ReadImportList(text.value(), ImportFormatFromName(given.format),
                                                 given.defaults, catalogue.value());
  if (!file.ok()) {
    return Complain(io, given.file + ": " + file.error().message, ExitCode::kUsage);
  }
  ApiQuestion question{kImportsPath};
  question.body = ImportBody(file.value(), given);
  // Applies the plan that the server made of this very list.
  if (given.apply) question.if_match = "*";
  ApiReply reply = AskApi(flags, question, io);
  ImportArguments shown = given;
  if (reply.status == kConflictStatus && given.apply) {
    // Refused as a whole: the plan says by what.
    shown.apply = false;
    question.if_match.clear();
    question.body = ImportBody(file.value(), shown);
    reply = AskApi(flags, question, io);
  }
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json plan = ParseJson(reply.answer);
  if (!plan.is_object() || !plan.contains("items") || !plan["items"].is_array()) {
    return NoServer(io);
  }
  const bool is_clean = IsClean(plan, given);
  if (form.for_people()) {
    PrintImportPlan(plan, file.value(), io.out);
    PrintOutcome(is_clean, shown, io.out);
  } else if (!PrintData(form, plan, io.out)) {
    const ExitCode printed = PrintList(form, PlanListed(), plan["items"], io);
    if (printed != ExitCode::kOk) return printed;
  }
  const bool is_done = is_clean && shown.apply == given.apply;
  return is_done ? ExitCode::kOk : ExitCode::kNo;
}

}  // namespace

CommandAction DeclareImport(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<ImportArguments>();
  app.AddOption("FILE", given->file, "The list; - reads standard input").Required();
  app.AddOption("--source", given->source,
                "Name of the list, which must never change, as terraform:network")
      .Required();
  app.AddOption("--format", given->format, "Form of the list; told by its content when left out")
      .OneOf({"terraform", "terraform-state", "cloudformation", "tagging", "config", "csv"});
  app.AddOption("--account", given->defaults.account, "Account of what does not say its own");
  app.AddOption("--region", given->defaults.region, "Region of what does not say its own");
  app.AddOption("--service", given->defaults.service, "Service that owns it");
  app.AddOption("--service-tag", given->defaults.service_tag, "Tag that holds the service");
  app.AddOption("--declarer-tag", given->defaults.declarer_tag,
                "Tag that tells who declares a resource of the tagging API, where Crossplane's, "
                "ACK's and CloudFormation's own tags do not")
      .Type("TAG");
  app.AddOption("--contact", given->defaults.contact, "Whom to ask about it");
  app.AddOption("--types", given->types, "File with further types, as the server's setting types");
  app.AddFlag("--retire", given->retire,
              "Release what this source named before and names no longer");
  app.AddOption("--skip", given->skip,
                "Do not refuse the list for these: unknown ones are left out, of conflicting ones "
                "the claim is kept as a conflict")
      .SplitAt(',')
      .OneOf({"conflicting", "unknown"});
  app.AddFlag("--apply", given->apply, "Do it, whole or not at all; without it the plan is shown");
  app.Footer(
      "Records resources that are owned outside the cluster, so that a declaration that would "
      "adopt\n"
      "one is refused. Only names, ARNs, accounts and regions are sent, never other attributes.\n\n"
      "Examples:\n"
      "  terraform show -json | truce import - --source terraform:network --service network\n"
      "  truce import state.json --source terraform:network --retire --skip unknown --apply\n"
      "  truce import stack.json --source cfn:base --format cloudformation --account 123456789012\n"
      "  truce import buckets.csv --source by-hand --apply\n\n"
      "Exit code 1: something conflicts or cannot be told, or the list was refused.");
  return [=](CommandIo& io) { return RunImport(*flags, *given, *form, io); };
}

}  // namespace truce
