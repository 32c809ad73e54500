#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command_line.h"
#include "webhook/cli/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

ExitCode Tell(const Json& resource, CommandIo& io) {
  const auto protection = resource.find("protection");
  if (protection == resource.end() || !protection->is_object()) {
    io.out << TypeAndName(resource) << " is not protected\n";
    return ExitCode::kNo;
  }
  io.out << TypeAndName(resource) << " is protected against deletion since "
         << OnOneLine(TextIn(*protection, "at")) << " by " << OnOneLine(TextIn(*protection, "by"))
         << ": " << OnOneLine(TextIn(*protection, "reason")) << "\n";
  const auto hindrances = protection->find("hindrances");
  if (hindrances == protection->end() || hindrances->empty()) return ExitCode::kOk;
  io.out << "but its deletion would not be refused:\n";
  for (const Json& each : *hindrances) {
    io.out << "  " << OnOneLine(TextIn(each, "what")) << "\n    "
           << OnOneLine(TextIn(each, "remedy")) << "\n";
  }
  return ExitCode::kWarnings;
}

}  // namespace

CommandAction DeclareProtect(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto reason = std::make_shared<std::string>();
  const auto off = std::make_shared<bool>(false);
  app.AddOption("--reason", *reason, "Why; stands in the audit log and in refusals");
  app.AddFlag("--off", *off, "Take the protection away");
  app.Footer(
      "Marks a resource as not to be deleted: Truce refuses what would delete it, whatever the "
      "mode\n"
      "of the rule deletion-protection. Without --reason it tells whether RESOURCE is protected\n"
      "(exit code 1: it is not; 4: it is marked, but an override, an exemption or the webhook\n"
      "configuration lets its deletion pass: each is named with what helps).\n\n"
      "Examples:\n"
      "  truce protect prod-artifacts --reason 'customer data'\n"
      "  truce protect prod-artifacts --off --reason 'moved, ticket 4711'\n");
  return [=](CommandIo& io) {
    if (named->resource.empty()) {
      return Complain(io, "name the resource, as s3/Bucket/prod-artifacts", ExitCode::kUsage);
    }
    if (*off && reason->empty()) return Complain(io, "say why with --reason", ExitCode::kUsage);
    Json resource;
    const ExitCode found = FindOne(*flags, *named, io, resource);
    if (found != ExitCode::kOk) return found;
    if (reason->empty()) return Tell(resource, io);
    ApiQuestion question{
        "/api/v1/resources/" + TextIn(resource, "id") + (*off ? ":unprotect" : ":protect"), {}};
    question.body = BodyOf({{"reason", *reason}});
    question.if_match = "*";
    Json answer;
    const ExitCode code = AskForObject(*flags, question, io, answer);
    if (code != ExitCode::kOk) return code;
    const ExitCode told = Tell(answer, io);
    return *off ? ExitCode::kOk : told;
  };
}

}  // namespace truce
