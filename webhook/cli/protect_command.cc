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
  return ExitCode::kOk;
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
      "Marks a resource as not to be deleted; the rule deletion-protection, where it is on, "
      "refuses\n"
      "what would delete it. Without --reason it tells whether RESOURCE is protected (exit code "
      "1:\n"
      "it is not).\n\n"
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
    static_cast<void>(Tell(answer, io));
    return ExitCode::kOk;
  };
}

}  // namespace truce
