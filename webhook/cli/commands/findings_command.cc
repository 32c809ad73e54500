#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/random_id.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kFindingsPath[] = "/api/v1/findings";
constexpr char kMutesPath[] = "/api/v1/mutes";

struct FindingsArguments {
  std::string rule;
  std::string ns;
  std::string service;
  std::string severity;
  std::string explain;
  std::string mute;
  std::string unmute;
  std::string until;
  std::string duration;
  std::string reason;
  bool muted = false;
  std::string output = "text";
};

// Prints a report that the server writes. The count of what it lists.
Result<std::uint64_t, ExitCode> PrintText(const ApiFlags& flags, const ApiQuestion& question,
                                          CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(flags, question, io));
  const auto counted = answer.find("count");
  if (counted == answer.end() || !counted->is_number_unsigned()) return NoServer(io);
  io.out << Lines(TextIn(answer, "text"));
  return counted->get<std::uint64_t>();
}

ExitCode ListFindings(const ApiFlags& flags, const FindingsArguments& given, CommandIo& io) {
  ApiQuestion question{kFindingsPath,
                       {{"rule", given.rule},
                        {"namespace", given.ns},
                        {"service", given.service},
                        {"severity", given.severity}}};
  std::uint64_t count = 0;
  if (given.output == "json") {
    TRUCE_ASSIGN_OR_RETURN(const Json items,
                           AskForItems(flags, {.question = question, .counted = nullptr}, io));
    io.out << DumpIndented(Json{{"items", items}}) << "\n";
    count = items.size();
  } else {
    question.parameters.emplace_back("output", given.output);
    TRUCE_ASSIGN_OR_RETURN(count, PrintText(flags, question, io));
  }
  return count > 0 ? ExitCode::kNo : ExitCode::kOk;
}

ExitCode PrintOne(const ApiFlags& flags, ApiQuestion question, const std::string& output,
                  CommandIo& io) {
  if (output != "json") {
    question.parameters.emplace_back("output", "text");
    TRUCE_RETURN_IF_ERROR(PrintText(flags, question, io));
    return ExitCode::kOk;
  }
  const ApiReply reply = AskApi(flags, question, io);
  if (reply.code == ExitCode::kOk) PrintJson(reply.answer, io.out);
  return reply.code;
}

bool IsFindingId(const std::string& word) {
  return !word.empty() && word.find_first_not_of(kIdCharacters) == std::string::npos;
}

ExitCode MuteFinding(const ApiFlags& flags, const FindingsArguments& given, CommandIo& io) {
  const auto until = EndOf(given.until, given.duration, "90m, 2h or 3d", io);
  if (!until) return ExitCode::kUsage;
  if (until->empty()) {
    return Complain(io, "say how long, with --for 7d or --until TIME", ExitCode::kUsage);
  }
  if (given.reason.empty()) return Complain(io, "say why with --reason", ExitCode::kUsage);
  ApiQuestion question{std::string(kFindingsPath) + "/" + given.mute + ":mute"};
  question.body = BodyOf({{"until", *until}, {"reason", given.reason}});
  TRUCE_ASSIGN_OR_RETURN(const Json made, AskForObject(flags, question, io));
  io.out << "muted " << OneLine(IdOf(made)) << " (" << OneLine(TextIn(made, "rule")) << ", "
         << OneLine(TextIn(made, "resource")) << ") until " << OneLine(TextIn(made, "until"))
         << "\n";
  return ExitCode::kOk;
}

ExitCode UnmuteFinding(const ApiFlags& flags, const std::string& id, CommandIo& io) {
  ApiQuestion question{std::string(kFindingsPath) + "/" + id + ":unmute"};
  question.body = "{}";
  TRUCE_ASSIGN_OR_RETURN(const Json ended, AskForObject(flags, question, io));
  io.out << "ended the mute of " << OneLine(IdOf(ended)) << "\n";
  return ExitCode::kOk;
}

ExitCode RunFindings(const ApiFlags& flags, const FindingsArguments& given, CommandIo& io) {
  const bool is_mute = !given.mute.empty();
  const bool says_how = !given.until.empty() || !given.duration.empty() || !given.reason.empty();
  const bool filters =
      !given.rule.empty() || !given.ns.empty() || !given.service.empty() || !given.severity.empty();
  const int acts = (is_mute ? 1 : 0) + (given.unmute.empty() ? 0 : 1) +
                   (given.explain.empty() ? 0 : 1) + (given.muted ? 1 : 0);
  if (acts > 1) {
    return Complain(io, "use one of --explain, --mute, --unmute and --muted", ExitCode::kUsage);
  }
  if (says_how && !is_mute) {
    return Complain(io, "--for, --until and --reason belong to --mute ID", ExitCode::kUsage);
  }
  if (filters && acts > 0 && !given.muted) {
    return Complain(io, "an id names one finding; leave the filters out", ExitCode::kUsage);
  }
  if (given.muted && !(given.service.empty() && given.severity.empty())) {
    return Complain(io, "--muted takes the filters --rule and --namespace", ExitCode::kUsage);
  }
  for (const std::string& id : {given.explain, given.mute, given.unmute}) {
    if (!id.empty() && !IsFindingId(id)) {
      return Complain(io, "an id is what `truce findings` shows, as k4wx2kq7dn", ExitCode::kUsage);
    }
  }
  if (is_mute) return MuteFinding(flags, given, io);
  if (!given.unmute.empty()) return UnmuteFinding(flags, given.unmute, io);
  if (!given.explain.empty()) {
    return PrintOne(flags, {std::string(kFindingsPath) + "/" + given.explain}, given.output, io);
  }
  if (given.muted) {
    return PrintOne(flags, {kMutesPath, {{"rule", given.rule}, {"namespace", given.ns}}},
                    given.output, io);
  }
  return ListFindings(flags, given, io);
}

}  // namespace

CommandAction DeclareFindings(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto given = std::make_shared<FindingsArguments>();
  app.AddOption("--rule", given->rule, "Only what that detector finds, as tag-war");
  app.AddOption("-n,--namespace", given->ns, "Only what concerns that namespace");
  app.AddOption("--service", given->service, "Only what concerns that service");
  app.AddOption("--severity", given->severity, "Only what is that bad, or worse")
      .OneOf({"info", "warning", "critical"});
  app.AddOption("--explain", given->explain, "Everything about the finding of that id: its proof");
  app.AddOption("--mute", given->mute, "Hide the finding of that id from lists, alerts and Events");
  app.AddOption("--for", given->duration, "How long to mute it, as 90m, 2h or 3d; at most 90d");
  app.AddOption("--until", given->until, "Until when, as 2026-11-21T18:00:00Z").Excludes("--for");
  app.AddOption("--reason", given->reason, "Why it is muted; stands in the audit log");
  app.AddOption("--unmute", given->unmute, "End the mute of the finding of that id");
  app.AddFlag("--muted", given->muted, "List what is muted: until when, by whom and why");
  app.AddOption("-o,--output", given->output,
                "Form of the list; wide: also what to do; default text")
      .OneOf({"text", "wide", "json"});
  app.Footer(
      "What the detectors find in the cluster now: a line each, the worst first. Of an id its "
      "first\n"
      "characters are enough. A mute ends by itself, and at once when the finding gets worse or\n"
      "concerns another namespace. Exit code 1: something is found that is not muted.\n\n"
      "Examples:\n"
      "  truce findings\n"
      "  truce findings --severity warning -n team-a -o wide\n"
      "  truce findings --explain k4wx2kq7dn\n"
      "  truce findings --mute k4wx2kq7dn --for 7d --reason 'both sides know, cut over on Friday'\n"
      "  truce findings --muted\n");
  return [=](CommandIo& io) { return RunFindings(*flags, *given, io); };
}

}  // namespace truce
