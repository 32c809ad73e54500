#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ExportArguments {
  std::string output = "ndjson";
  std::string type;
  std::string service;
  std::string ns;
  std::string state;
};

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// In quotes where RFC 4180 wants them.
std::string Cell(const std::string& text) {
  const bool is_plain = text.find_first_of(",\"\r\n") == std::string::npos;
  if (is_plain) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? "\"\"" : std::string(1, c));
  return out + "\"";
}

std::string RootOf(const Json& item) {
  const auto root = item.find("root");
  if (root == item.end() || !root->is_object()) return {};
  const std::string ns = TextOf(*root, "namespace");
  return TextOf(*root, "kind") + "." + TextOf(*root, "group") + " " + (ns.empty() ? "" : ns + "/") +
         TextOf(*root, "name");
}

constexpr const char* kColumns[] = {"type",    "name",  "account", "region", "arn", "service",
                                    "contact", "state", "since",   "id",     "key"};

// Writes items in the form asked for, as they come.
class Writer {
 public:
  Writer(std::string output, std::ostream& out) : output_(std::move(output)), out_(out) {
    if (output_ == "json") out_ << "{\"items\":[";
    if (output_ != "csv") return;
    for (const char* column : kColumns) out_ << column << ",";
    out_ << "root\n";
  }

  void Write(const Json& item) {
    if (output_ == "csv") {
      for (const char* column : kColumns) out_ << Cell(TextOf(item, column)) << ",";
      out_ << Cell(RootOf(item)) << "\n";
      return;
    }
    if (output_ == "json") out_ << (is_first_ ? "\n" : ",\n");
    out_ << Dump(item);
    if (output_ == "ndjson") out_ << "\n";
    is_first_ = false;
  }

  void End() {
    if (output_ == "json") out_ << "\n]}\n";
  }

 private:
  const std::string output_;
  std::ostream& out_;
  bool is_first_ = true;
};

ExitCode Run(const ApiFlags& flags, const ExportArguments& given, CommandIo& io) {
  Writer writer(given.output, io.out);
  std::string cursor;
  do {
    const ApiReply reply = AskApi(flags,
                                  {"/api/v1/resources",
                                   {{"type", given.type},
                                    {"service", given.service},
                                    {"namespace", given.ns},
                                    {"state", given.state},
                                    {"limit", "1000"},
                                    {"cursor", cursor}}},
                                  io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const Json page = Json::parse(reply.answer, nullptr, false);
    if (!page.is_object() || !page.contains("items") || !page["items"].is_array()) {
      return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
    }
    for (const Json& item : page["items"]) writer.Write(item);
    cursor = TextOf(page, "nextCursor");
    if (!io.out) return ExitCode::kOk;  // nobody reads on
  } while (!cursor.empty());
  writer.End();
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareExport(CLI::App& app) {
  const auto flags = AddApiFlags(app);
  const auto given = std::make_shared<ExportArguments>();
  app.add_option("-o,--output", given->output, "Form; default ndjson")
      ->type_name("json|ndjson|csv")
      ->check(CLI::IsMember({"json", "ndjson", "csv"}));
  app.add_option("--type", given->type, "Only that type, as s3/Bucket");
  app.add_option("--service", given->service, "Only what that service owns");
  app.add_option("-n,--namespace", given->ns, "Only roots of that namespace");
  app.add_option("--state", given->state, "Only that state")
      ->type_name("reserved|held|orphaned|imported")
      ->check(CLI::IsMember({"reserved", "held", "orphaned", "imported"}));
  app.footer(
      "All ownerships, in the order of their keys. `truce import` reads the CSV form again, as a\n"
      "source of its own; a copy of the whole registry is made with `truce backup`.\n\n"
      "Examples:\n"
      "  truce export > ownerships.ndjson\n"
      "  truce export -o csv --state imported > imported.csv\n");
  return [=](CommandIo& io) { return Run(*flags, *given, io); };
}

}  // namespace truce
