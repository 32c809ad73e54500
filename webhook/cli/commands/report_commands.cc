// findings, conflicts, baseline, coverage, quotas: reports that the server writes.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/random_id.h"
#include "webhook/api/described.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ServerReport {
  ApiQuestion question;
  Listed listed = {};             // its items
  const char* counted = "items";  // in JSON: a list or a number of counted things
  bool has_pages = false;
};

// Prints the report as the server writes it (wide: some), or its items in another form. Returns its
// count: of conflicts, of gaps.
Result<std::uint64_t, ExitCode> PrintReport(const ApiFlags& flags, ServerReport report,
                                            const Form& form, CommandIo& io) {
  const bool has_wide = report.has_pages || report.listed.headings.empty();
  const bool is_written =
      form.is("text") || form.is("junit") || form.is("markdown") || (form.is("wide") && has_wide);
  if (report.has_pages && !is_written) {
    TRUCE_ASSIGN_OR_RETURN(
        const Json items,
        AskForItems(flags, {.question = report.question, .counted = nullptr}, io));
    const ExitCode code = PrintList(form, report.listed, items, io);
    if (code != ExitCode::kOk) return code;
    return items.size();
  }
  if (is_written) report.question.parameters.emplace_back("output", form.output);
  const ApiReply reply = AskApi(flags, report.question, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json json = ParseJson(reply.answer);
  const char* counted = is_written ? "count" : report.counted;
  if (!json.is_object() || !json.contains(counted)) return NoServer(io);
  if (is_written) {
    io.out << Lines(TextIn(json, "text"));
  } else if (form.is_object()) {
    (form.is("json") ? PrintJson : PrintYaml)(reply.answer, io.out);
  } else {
    const ExitCode code =
        PrintList(form, report.listed, json.value("items", Json::array({json})), io);
    if (code != ExitCode::kOk) return code;
  }
  const Json& found = json[counted];
  return found.is_number_unsigned() ? found.get<std::uint64_t>() : found.size();
}

// Any count is a success; only an error is none.
ExitCode ShownOn(const Result<std::uint64_t, ExitCode>& count) {
  return count.ok() ? ExitCode::kOk : count.error();
}
ExitCode VerdictOn(const Result<std::uint64_t, ExitCode>& count) {
  return count.ok() && count.value() > 0 ? ExitCode::kNo : ShownOn(count);
}

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
  Form form;
};

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
  Form form = given.form;
  if (!given.explain.empty() || given.muted) {
    if (form.is("wide")) form.output = "text";
    const Listed listed{given.muted ? HeadingsOf<Mute>() : HeadingsOf<LiveFinding>()};
    const std::string one = std::string(kFindingsPath) + "/" + given.explain;
    const Parameters parameters = {{"rule", given.rule}, {"namespace", given.ns}};
    const ServerReport report = given.muted ? ServerReport{{kMutesPath, parameters}, listed}
                                            : ServerReport{{one}, listed, "id"};
    return ShownOn(PrintReport(flags, report, form, io));
  }
  const Parameters parameters = {{"rule", given.rule},
                                 {"namespace", given.ns},
                                 {"service", given.service},
                                 {"severity", given.severity}};
  return VerdictOn(PrintReport(
      flags, {{kFindingsPath, parameters}, {HeadingsOf<LiveFinding>()}, "items", true}, form, io));
}

}  // namespace

CommandAction DeclareFindings(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app, "text");
  const auto given = std::make_shared<FindingsArguments>();
  app.AddOption("--rule", given->rule, "Only what that detector finds, as tag-war");
  app.AddOption("-n,--namespace", given->ns, "Only what concerns that namespace");
  app.AddOption("--service", given->service, "Only what concerns that service");
  app.AddOption("--severity", given->severity, "Only what is that bad, or worse")
      .OneOf({"info", "warning", "critical"});
  app.AddOption("--explain", given->explain, "Everything about the finding of that id: its proof");
  app.AddOption("--mute", given->mute, "Hide the finding of that id from lists, alerts and Events");
  app.AddOption("--for", given->duration, "How long to mute it, as 90m, 2h or 3d; at most 90d")
      .Type("DURATION");
  app.AddOption("--until", given->until, "Until when, as 2026-11-21T18:00:00Z")
      .Type("TIME")
      .Excludes("--for");
  app.AddOption("--reason", given->reason, "Why it is muted; stands in the audit log");
  app.AddOption("--unmute", given->unmute, "End the mute of the finding of that id");
  app.AddFlag("--muted", given->muted, "List what is muted: until when, by whom and why");
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
  return [=](CommandIo& io) {
    given->form = *form;
    return RunFindings(*flags, *given, io);
  };
}

CommandAction DeclareConflicts(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app, "text");
  app.Footer(
      "wide: with the steps that end each.\n\n"
      "Examples:\n"
      "  truce conflicts\n"
      "  truce conflicts -o wide\n");
  return [=](CommandIo& io) {
    const Listed listed{HeadingsOf<ConflictView>(), "resource.id"};
    return VerdictOn(
        PrintReport(*flags, {{"/api/v1/conflicts"}, listed, "items", true}, *form, io));
  };
}

CommandAction DeclareBaseline(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = std::make_shared<Form>(Form{.output = "text"});
  app.AddOption("-o,--output", form->output, "Form of the report; default text")
      .OneOf({"text", "json", "junit", "markdown"});
  const auto names = std::make_shared<bool>(false);
  app.AddFlag("--names", *names,
              "Only the naming report, text or json: per service and type how many names conform, "
              "are exempt, violate; a better name for each that violates");
  app.Footer(
      "Lists what the cluster declares and applies the rules to it; nothing is refused or "
      "changed.\n"
      "Exit code 1: there are conflicts; with --names: names violate a rule.\n\n"
      "Examples:\n  truce baseline\n  truce baseline -o junit > baseline.xml\n"
      "  truce baseline --names\n");
  return [=](CommandIo& io) {
    if (!*names) {
      return VerdictOn(PrintReport(*flags, {{"/api/v1/baseline"}, {}, "conflicts"}, *form, io));
    }
    if (form->is("text") || form->is("json")) {
      return VerdictOn(PrintReport(*flags, {{"/api/v1/names"}, {}, "violating"}, *form, io));
    }
    return Complain(io, "--names is written as text or json", ExitCode::kUsage);
  };
}

CommandAction DeclareCoverage(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = std::make_shared<Form>(Form{.output = "text"});
  const auto all = std::make_shared<bool>(false);
  const auto fail_on_gaps = std::make_shared<bool>(false);
  app.AddOption("-o,--output", form->output, "Form of the report; default text")
      .OneOf({"text", "json"});
  app.AddFlag("--all", *all, "Also gaps that concern no object at present");
  app.AddFlag("--fail-on-warn", *fail_on_gaps, "Exit 4 when something is not protected");
  app.Footer(
      "Examples:\n"
      "  truce coverage\n"
      "  truce coverage --all --fail-on-warn\n");
  return [=](CommandIo& io) {
    Form shown = *form;
    if (*all && shown.is("text")) shown.output = "wide";
    const auto gaps = PrintReport(*flags, {{"/api/v1/coverage"}, {}, "gaps"}, shown, io);
    const bool warns = gaps.ok() && *fail_on_gaps && gaps.value() > 0;
    return warns ? ExitCode::kWarnings : ShownOn(gaps);
  };
}

CommandAction DeclareQuotas(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app, "text");
  const auto ns = std::make_shared<std::string>();
  app.AddOption("-n,--namespace", *ns, "Only quotas of that namespace");
  app.Footer(
      "Counts what is reserved, held, orphaned and imported. AWS DEFAULT is what AWS documents\n"
      "for an account that asked for no more: a hint, no limit of Truce's.\n\n"
      "Examples:\n"
      "  truce quotas\n"
      "  truce quotas -n team-a -o json\n");
  return [=](CommandIo& io) {
    const Headings headings = {{"type", "TYPE"},
                               {"in.account", "ACCOUNT"},
                               {"in.region", "REGION"},
                               {"in.namespace", "NAMESPACE"},
                               {"in.service", "SERVICE"},
                               {"used", "USED"},
                               {"max", "MAX"},
                               {"state", "STATE"}};
    return ShownOn(PrintReport(
        *flags, {{"/api/v1/quotas", {{"namespace", *ns}}}, {headings, "type"}}, *form, io));
  };
}

}  // namespace truce
