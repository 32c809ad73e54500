#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command_line.h"
#include "webhook/cli/named_resource.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kSharesPath[] = "/api/v1/shares";

struct ShareArguments {
  std::string output;  // form of the answer
  std::string ns;
  std::string object;
  std::string level = "observe";
  std::string until;
  std::string duration;
  std::string reason;
  std::string end;
};

void Print(const std::string& output, const Json& items, CommandIo& io) {
  std::vector<std::vector<std::string>> rows = {
      {"ID", "RESOURCE", "WITH", "LEVEL", "STATE", "UNTIL", "REASON"}};
  for (const Json& item : items) {
    const Json resource = item.value("resource", Json::object());
    const std::string until = TextIn(item, "until");
    rows.push_back({TextIn(item, "id"), TypeAndName(resource), TextIn(item, "to"),
                    TextIn(item, "level"), TextIn(item, "state"), until.empty() ? "-" : until,
                    TextIn(item, "reason")});
  }
  PrintForm(output, items, rows, io);
}

ExitCode ListShares(const ApiFlags& flags, const NamedResource& named, const std::string& output,
                    CommandIo& io) {
  std::string id;
  if (!named.resource.empty()) {
    Json resource;
    const ExitCode found = FindOne(flags, named, io, resource);
    if (found != ExitCode::kOk) return found;
    id = TextIn(resource, "id");
  }
  Json items;
  const ExitCode code = AskForItems(flags, {kSharesPath, {{"resource", id}}}, io, items);
  if (code == ExitCode::kOk) Print(output, items, io);
  return code;
}

ExitCode End(const ApiFlags& flags, const ShareArguments& given, CommandIo& io) {
  ApiQuestion question{std::string(kSharesPath) + "/" + given.end, {{"reason", given.reason}}};
  question.method = "DELETE";
  question.if_match = "*";
  Json share;
  const ExitCode code = AskForObject(flags, question, io, share);
  if (code == ExitCode::kOk) {
    io.out << "ended the share of " << TypeAndName(share.value("resource", Json::object()))
           << " with " << OnOneLine(TextIn(share, "to")) << "\n";
  }
  return code;
}

ExitCode Give(const ApiFlags& flags, const NamedResource& named, const ShareArguments& given,
              CommandIo& io) {
  std::string until = given.until;
  if (!given.duration.empty()) {
    until = TimeAfter(given.duration);
    if (until.empty()) {
      return Complain(io, "--for '" + given.duration + "' is not a time; write it as 2h or 90d",
                      ExitCode::kUsage);
    }
  }
  if (given.reason.empty()) return Complain(io, "say why with --reason", ExitCode::kUsage);
  Json resource;
  const ExitCode found = FindOne(flags, named, io, resource);
  if (found != ExitCode::kOk) return found;
  ApiQuestion question{kSharesPath, {}};
  question.body = BodyOf({{"resource", TextIn(resource, "id")},
                          {"namespace", given.ns},
                          {"object", given.object},
                          {"level", given.level},
                          {"until", until},
                          {"reason", given.reason}});
  Json share;
  const ExitCode code = AskForObject(flags, question, io, share);
  if (code == ExitCode::kOk) Print(given.output, Json::array({share}), io);
  return code;
}

}  // namespace

CommandAction DeclareShare(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto output = AddOutputFlag(app);
  const auto given = std::make_shared<ShareArguments>();
  app.AddOption("--with", given->ns, "Namespace to share it with");
  app.AddOption("--with-object", given->object,
                "Cluster-scoped root to share it with, as Bucket.s3.aws.upbound.io/artifacts")
      .Excludes("--with");
  app.AddOption("--level", given->level, "What it may do; default observe")
      .Type("observe|attach")
      .OneOf({"observe", "attach"});
  app.AddOption("--for", given->duration, "How long, as 2h or 90d; without it for ever");
  app.AddOption("--until", given->until, "Until when, as 2026-11-21T18:00:00Z").Excludes("--for");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddOption("--end", given->end, "End the share of that id");
  app.Footer(
      "Lets another team observe a resource, or attach to it (bucket policies, queue policies, "
      "…).\n"
      "Without --with it lists shares: all, or those of RESOURCE.\n\n"
      "Examples:\n"
      "  truce share prod-artifacts --with team-b --level attach --for 90d --reason 'ticket 4711'\n"
      "  truce share prod-artifacts\n"
      "  truce share --end c4wx2kq7dnh5a --reason 'no longer used'\n");
  return [=](CommandIo& io) {
    const bool gives = !given->ns.empty() || !given->object.empty();
    if (gives && (named->resource.empty() || !given->end.empty())) {
      return Complain(io, "name the resource to share, as s3/Bucket/prod-artifacts",
                      ExitCode::kUsage);
    }
    if (!given->end.empty()) return End(*flags, *given, io);
    given->output = *output;
    if (gives) return Give(*flags, *named, *given, io);
    return ListShares(*flags, *named, *output, io);
  };
}

}  // namespace truce
