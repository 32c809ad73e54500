#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/random_id.h"
#include "webhook/api/described.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kOverridesPath[] = "/api/v1/overrides";

struct OverrideArguments {
  std::string name;
  std::string object;
  std::string ns;
  std::string group;
  std::string until;
  std::string duration;
  std::string reason;
  std::string end;
};

ExitCode ListOverrides(const ApiFlags& flags, const Form& form, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForList(flags, {kOverridesPath}, io));
  return PrintList(form, {HeadingsOf<StoredOverride>()}, answer["items"], io);
}

ExitCode MakeOverride(const ApiFlags& flags, const OverrideArguments& given, const Form& form,
                      CommandIo& io) {
  const auto until = EndOf(given.until, given.duration, "90m, 2h or 3d", io);
  if (!until) return ExitCode::kUsage;
  if (until->empty())
    return Complain(io, "say how long, with --for 2h or --until TIME", ExitCode::kUsage);
  if (given.reason.empty()) return Complain(io, "say why with --reason", ExitCode::kUsage);
  ApiQuestion question{kOverridesPath};
  question.body = BodyOf({{"until", *until},
                          {"reason", given.reason},
                          {"name", given.name},
                          {"object", given.object},
                          {"namespace", given.ns},
                          {"group", given.group}});
  TRUCE_ASSIGN_OR_RETURN(const Json made, AskForObject(flags, question, io));
  return PrintList(form, {HeadingsOf<StoredOverride>()}, Json::array({made}), io);
}

ExitCode EndOverride(const ApiFlags& flags, const std::string& id, CommandIo& io) {
  if (id.find_first_not_of(kIdCharacters) != std::string::npos) {
    return Complain(io, "--end takes the id that `truce override` shows", ExitCode::kUsage);
  }
  ApiQuestion question{std::string(kOverridesPath) + "/" + id};
  question.method = "DELETE";
  const ApiReply reply = AskApi(flags, question, io);
  if (reply.code == ExitCode::kOk) io.out << "ended " << id << "\n";
  return reply.code;
}

}  // namespace

CommandAction DeclareOverride(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<OverrideArguments>();
  app.AddOption("--name", given->name, "Audit the resource of that name");
  app.AddOption("--object", given->object, "Audit objects of that name, and what is below them");
  app.AddOption("-n,--namespace", given->ns, "Audit that namespace");
  app.AddOption("--group", given->group, "Audit that API group, as s3.aws.upbound.io");
  app.AddOption("--for", given->duration, "How long, as 90m, 2h or 3d; at most 7d")
      .Type("DURATION");
  app.AddOption("--until", given->until, "Until when, as 2026-11-21T18:00:00Z")
      .Type("TIME")
      .Excludes("--for");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddOption("--end", given->end, "End the override of that id before its time");
  app.Footer(
      "Break-glass: what an override names is audited instead of denied, until its time is over.\n"
      "Without flags it lists those that hold.\n\n"
      "Examples:\n"
      "  truce override\n"
      "  truce override --namespace team-a --for 2h --reason 'incident 4711'\n"
      "  truce override --end c4wx2kq7dnh5a\n");
  return [=](CommandIo& io) {
    const auto count = [](const std::string& flag) { return flag.empty() ? 0 : 1; };
    const int named =
        count(given->name) + count(given->object) + count(given->ns) + count(given->group);
    if (!given->end.empty() && named == 0) return EndOverride(*flags, given->end, io);
    const bool lists = named == 0 && given->until.empty() && given->duration.empty() &&
                       given->reason.empty() && given->end.empty();
    if (lists) return ListOverrides(*flags, *form, io);
    if (named != 1 || !given->end.empty()) {
      return Complain(io, "name one of --name, --object, --namespace and --group, or --end alone",
                      ExitCode::kUsage);
    }
    return MakeOverride(*flags, *given, *form, io);
  };
}

}  // namespace truce
