#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <ostream>
#include <random>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/one_line.h"
#include "webhook/check/checker.h"
#include "webhook/check/report.h"
#include "webhook/check/repository.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/check_input.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/check_cluster.h"
#include "webhook/cli/server/check_registry.h"
#include "webhook/cli/server/server_finder.h"
#include "webhook/config/policy.h"

namespace truce {
namespace {

constexpr const char* kTerminationLog = "/dev/termination-log";

struct CheckArguments {
  std::vector<std::string> files;
  std::vector<std::string> skipped;
  std::string path_prefix;
  std::string values;
  std::string service;
  std::string mapping;
  std::string ns;
  std::string source;
  std::string account;
  std::string region;
  std::vector<std::string> parameters;  // K=V
  std::vector<std::string> outputs;
  std::string on_unreachable = "fail";
  std::string termination_log;
  std::size_t timeout = 60;
  bool is_plan = false;
  bool offline = false;
  bool admission = false;
  bool fail_on_warn = false;
  bool fail_on_unknown = false;
  bool verbose = false;
  std::shared_ptr<ApiFlags> api;
};

// As kubectl's: where the kubeconfig leads to the registry its context says the namespace, too.
std::string Namespace(const CheckArguments& arguments, const CommandIo& io) {
  std::string ns = FlagOr(arguments.ns, "TRUCE_NAMESPACE", io);
  if (ns.empty() && !arguments.offline) {
    const Result<ServerPlace> place =
        arguments.admission ? ApiServerOf(*arguments.api, io) : FindServer(*arguments.api, io);
    if (place.ok()) ns = place.value().network.ns;
  }
  return ns.empty() ? "default" : ns;
}

constexpr std::array<std::string_view, 6> kForms = {"text",  "json",   "junit",
                                                    "sarif", "github", "markdown"};

// One report: FORM, to standard output, or FORM=FILE.
struct CheckOutput {
  std::string form;
  std::string file;
};

CheckOutput OutputFrom(const std::string& word) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos) return {word, {}};
  return {word.substr(0, at), word.substr(at + 1)};
}

// The fault of the outputs; empty: none.
std::string TroubleWith(const std::vector<std::string>& words) {
  std::size_t printed = 0;
  for (const std::string& word : words) {
    const auto [form, file] = OutputFrom(word);
    if (std::find(kForms.begin(), kForms.end(), form) == kForms.end()) {
      return "--output " + Quoted(form) + " is no form; take text, json, junit, sarif, github or " +
             "markdown, or FORM=FILE";
    }
    const bool is_named = word.find('=') != std::string::npos;
    if (is_named && file.empty()) return "--output " + form + "= names no file";
    if (!is_named && ++printed > 1) {
      return "--output: one form goes to standard output; name a file for the other, " + form +
             "=FILE";
    }
  }
  return {};
}

std::string Printed(const CheckReport& report, const std::string& form,
                    const CheckArguments& arguments) {
  if (form == "json") return JsonReport(report);
  if (form == "junit") return JunitReport(report);
  if (form == "sarif") return SarifReport(report);
  if (form == "markdown") return MarkdownReport(report);
  if (form != "github") return TextReport(report);
  const bool fails = arguments.on_unreachable == "fail";
  return GithubReport(report, fails ? CheckSeverity::kError : CheckSeverity::kWarning);
}

// False, with a message, where a file cannot be written.
bool PrintAll(CheckReport report, const CheckArguments& arguments, CommandIo& io) {
  for (CheckFinding& each : report.findings) {
    each.in_repository = InRepository(each.location, arguments.path_prefix);
  }
  // To people the messages say it already.
  const bool says_more = !report.unread || !report.declarations.empty();
  bool is_written = true;
  bool is_printed = false;
  for (const std::string& word : arguments.outputs) {
    const auto [form, path] = OutputFrom(word);
    const std::string text = Printed(report, form, arguments);
    if (path.empty()) {
      is_printed = true;
      if (form != "text" || says_more) io.out << text;
      continue;
    }
    std::ofstream file(path, std::ios::trunc);
    file << text;
    file.flush();
    if (file) continue;
    Complain(io, path + " cannot be written", ExitCode::kCannotRun);
    is_written = false;
  }
  if (!is_printed && says_more) io.out << TextReport(report);
  return is_written;
}

// Kubernetes shows it as the reason why the container ended.
void WriteTermination(const CheckArguments& arguments, const std::string& message, CommandIo& io) {
  const bool given = !arguments.termination_log.empty();
  const std::string path = given ? arguments.termination_log : kTerminationLog;
  if (!given && ::access(path.c_str(), W_OK) != 0) return;
  std::ofstream file(path, std::ios::trunc);
  file << message;
  file.flush();
  if (!file && given) Warn(io, path + " cannot be written");
}

// Settings are wrong: the reports say so, too, as their readers have no other word of it.
ExitCode Refuse(const CheckArguments& arguments, const std::string& message, ExitCode code,
                CommandIo& io) {
  CheckReport report;
  report.unread = true;
  report.findings.push_back(UnreadFinding(message, {}));
  const bool is_written = PrintAll(report, arguments, io);
  WriteTermination(arguments, "truce check: " + message + "\n", io);
  Complain(io, message, code);
  return is_written ? code : ExitCode::kCannotRun;
}

ExitCode CodeOf(const CheckReport& report, const CheckArguments& arguments) {
  const bool warns = arguments.fail_on_warn;
  const bool misses = arguments.fail_on_unknown && report.unknown_objects > 0;
  const ExitCode clean = misses ? ExitCode::kWarnings : ExitCode::kOk;
  switch (VerdictOf(report)) {
    case CheckVerdict::kRefused: return ExitCode::kNo;
    case CheckVerdict::kUnknown:
      if (arguments.on_unreachable == "fail") {
        return report.turned_away ? ExitCode::kNo : ExitCode::kUnreachable;
      }
      return warns ? ExitCode::kWarnings : clean;
    case CheckVerdict::kWarned: return warns ? ExitCode::kWarnings : clean;
    case CheckVerdict::kClean: return clean;
    case CheckVerdict::kUnread: return ExitCode::kUsage;
  }
  return ExitCode::kBug;
}

// Unread parts come first, and replace a remark that the input declares nothing.
void TakeFaults(const std::vector<CheckInput::Fault>& faults, CheckReport& report) {
  if (faults.empty()) return;
  report.unread = true;
  if (report.declarations.empty()) report.findings.clear();
  std::vector<CheckFinding> unread;
  for (const CheckInput::Fault& fault : faults) {
    unread.push_back(UnreadFinding(fault.message, fault.file));
  }
  report.findings.insert(report.findings.begin(), unread.begin(), unread.end());
}

CheckInput::Reading ReadingOf(const CheckArguments& arguments) {
  CheckInput::Reading reading{
      arguments.skipped, {arguments.account, arguments.region, {}}, arguments.is_plan};
  for (const std::string& each : arguments.parameters) {
    const std::size_t at = each.find('=');
    reading.defaults.parameters[each.substr(0, at)] = each.substr(at + 1);
  }
  return reading;
}

// Reads everything, and asks.
ExitCode Run(const CheckArguments& arguments, const Catalogue& catalogue, Checker& checker,
             CommandIo& io) {
  CheckInput input(checker, ReadingOf(arguments), catalogue);
  if (!arguments.values.empty()) input.ReadValues(arguments.values);
  for (const std::string& file : arguments.files) input.Read(file);
  const bool nothing_given = arguments.values.empty() && arguments.files.empty();
  if (nothing_given) input.Read("-");
  Result<CheckReport> report = checker.Finish();
  if (!report.ok()) {
    return Refuse(arguments, "the registry refused the question: " + report.error().message,
                  ExitCode::kUsage, io);
  }
  std::vector<CheckInput::Fault> faults = input.faults();
  if (faults.empty() && input.documents() == 0 && !input.has_skipped()) {
    faults.push_back({{}, "the input holds no document; did the command that writes it fail?"});
  }
  TakeFaults(faults, report.value());
  const bool is_written = PrintAll(report.value(), arguments, io);
  for (const CheckInput::Fault& fault : faults) Complain(io, fault.message, ExitCode::kUsage);
  WriteTermination(arguments, TerminationMessage(report.value()), io);
  const ExitCode code = CodeOf(report.value(), arguments);
  if (VerdictOf(report.value()) == CheckVerdict::kUnknown) {
    const std::string silence = SilenceOf(report.value());
    if (arguments.on_unreachable != "fail") Warn(io, silence);
    if (arguments.on_unreachable == "fail") Complain(io, silence, code);
  }
  return is_written ? code : ExitCode::kCannotRun;
}

// Says that an attempt failed, so that a wait is not mistaken for a hang.
auto TellerOf(CommandIo& io) {
  return [&io](const std::string& trouble, std::chrono::milliseconds wait) {
    const auto tenths = wait.count() / 100;
    io.err << "truce: the registry did not answer: " << OneLine(trouble) << "; next attempt in "
           << tenths / 10 << "." << tenths % 10 << " s" << std::endl;
  };
}

ExitCode RunCheck(const CheckArguments& arguments, CommandIo& io) {
  const bool reads_terminal =
      arguments.files.empty() && arguments.values.empty() && ::isatty(STDIN_FILENO) == 1;
  if (reads_terminal) {
    return Complain(io, "check needs FILE, a folder, --values, or manifests on standard input",
                    ExitCode::kUsage);
  }
  if (const std::string trouble = TroubleWith(arguments.outputs); !trouble.empty()) {
    return Complain(io, trouble, ExitCode::kUsage);
  }
  for (const std::string& each : arguments.parameters) {
    if (each.find('=') != std::string::npos && each.front() != '=') continue;
    return Complain(io, "--parameter " + Quoted(each) + " is not of the form NAME=VALUE",
                    ExitCode::kUsage);
  }
  if (!arguments.mapping.empty() && (arguments.offline || arguments.values.empty())) {
    return Refuse(arguments,
                  "--mapping names a rule of the registry for --values; without the registry "
                  "name a file with --config",
                  ExitCode::kUsage, io);
  }
  const auto refuse = [&](const Error& error) {
    return Refuse(arguments, error.message, ExitCode::kUsage, io);
  };
  const Result<Settings> loaded = LoadWithCatalogue(*arguments.api->config, io);
  if (!loaded.ok()) return refuse(loaded.error());
  const auto policy = PolicyFrom(loaded.value().config, loaded.value().catalogue);
  if (!policy.ok()) return refuse(policy.error());
  std::unique_ptr<ApiConnection> api;
  std::optional<PatientRegistry> registry;
  if (!arguments.offline) {
    auto opened = arguments.admission
                      ? ClusterChecks::Open(*arguments.api, io, Namespace(arguments, io))
                      : ApiConnection::Open(*arguments.api, io);
    if (!opened.ok()) {
      const Error& error = opened.error();
      return Refuse(arguments, error.message, ExitCodeOfOpening(error.code), io);
    }
    api = std::move(opened).value();
    PatienceOptions patience;
    patience.end = std::chrono::steady_clock::now() + std::chrono::seconds(arguments.timeout);
    patience.seed = std::random_device()();
    if (arguments.verbose || io.err_is_terminal) patience.tell = TellerOf(io);
    registry.emplace(*api, std::move(patience));
  }
  Checker checker(
      {Namespace(arguments, io), arguments.service, arguments.mapping, arguments.source},
      *policy.value(), registry.has_value() ? &*registry : nullptr, SystemClock().Now());
  return Run(arguments, *policy.value()->catalogue, checker, io);
}

void AddPlanFlags(CommandLine& app, CheckArguments& given) {
  app.AddFlag("--plan", given.is_plan,
              "The files are plans, of `terraform show -json PLAN`; else their content tells");
  app.AddOption("--source", given.source,
                "Of plans and templates: what `truce import --source` recorded of it is its own")
      .Type("NAME");
  app.AddOption("--account", given.account,
                "Account of plans and templates that do not say their own")
      .Type("ACCOUNT");
  app.AddOption("--region", given.region, "Region of plans and templates that do not say theirs")
      .Type("REGION");
  app.AddOption("--parameter", given.parameters,
                "Parameter of templates, also AWS::StackName; may be given several times")
      .Type("NAME=VALUE");
}

}  // namespace

CommandAction DeclareCheck(CommandLine& app) {
  const auto given = std::make_shared<CheckArguments>();
  given->api =
      AddApiFlags(app, {"dataDir", "types", "clusterId", "mode", "unsureTypes", "serviceLabels"});
  app.AddOption(
         "-f,--file,FILE", given->files,
         "Manifests, plans of Terraform, templates of CloudFormation: a file, a folder, or - "
         "for standard input, which is the default; may be given several times")
      .Type("FILE");
  app.AddOption("--skip", given->skipped,
                "File or folder to leave out, such as a chart that is rendered and checked apart; "
                "may be given several times")
      .Type("PATH");
  app.AddOption("--values", given->values,
                "A chart's values, read by the mapping rule with chartValues of --config, else by "
                "the registry's, which is then sent all of them")
      .Type("FILE");
  app.AddOption("--mapping", given->mapping, "The registry's DeclarationMapping for --values")
      .Type("NAME");
  app.AddOption("--service", given->service, "Service that values, plans and templates belong to")
      .Type("NAME");
  AddPlanFlags(app, *given);
  app.AddOption("-n,--namespace", given->ns,
                "Namespace of objects that name none; the check acts for its party; also "
                "TRUCE_NAMESPACE; default that of the kubeconfig's context, else default")
      .Type("NAME");
  app.AddFlag("--admission", given->admission,
              "Ask the cluster of the kubeconfig by OwnershipChecks in dry-run, with the rights of "
              "kubectl and no way to Truce itself");
  app.AddFlag("--offline", given->offline,
              "Ask no registry: judge the names, and the input against itself");
  app.AddOption("-o,--output", given->outputs,
                "Form of the report: text (the default), json, junit, sarif, github (annotations) "
                "or markdown (a comment); FORM=FILE writes one more into a file; may be given "
                "several times")
      .Type("FORM");
  app.AddOption("--path-prefix", given->path_prefix,
                "For github and sarif: the folder of the repository that paths of the input begin "
                "below, as the one with the charts that Helm rendered; default: the current folder")
      .Type("FOLDER");
  app.AddOption("--timeout", given->timeout,
                "Seconds to try for, all attempts together; default 60")
      .Between(1, 3600);
  app.AddOption("--on-unreachable", given->on_unreachable,
                "When the registry does not answer: fail (exit code 3) or warn; default fail")
      .OneOf({"fail", "warn"});
  app.AddFlag("--fail-on-warn", given->fail_on_warn, "Exit code 4 when there are only warnings");
  app.AddFlag("--fail-on-unknown", given->fail_on_unknown,
              "Exit code 4 when objects are of kinds that Truce does not know");
  app.AddFlag("-v,--verbose", given->verbose,
              "Print attempts that failed; without it only on a terminal");
  app.AddOption("--termination-log", given->termination_log,
                "File for the message that Kubernetes shows; default /dev/termination-log where "
                "it exists")
      .Type("FILE");
  app.Footer(
      "Examples:\n"
      "  helm template . | truce check --server https://truce.example.org -n team-a\n"
      "  helm template . | truce check --admission -n team-a\n"
      "  truce check deploy/ --offline\n"
      "  terraform show -json PLAN | truce check --account 123456789012 --source "
      "terraform:network\n"
      "  truce check template.yaml --region eu-west-1 --parameter Stage=prod\n"
      "  truce check --values values.yaml --mapping charts -n team-a\n"
      "  truce check --values values.yaml --config truce.yaml --offline -o sarif\n"
      "  helm template . | truce check -n team-a -o github -o markdown=comment.md\n\n"
      "Exit code 0: nothing prevents it, 1: refused, or the registry refuses to answer\n"
      "(token, permission), 2: bad input, 3: the registry did not answer, 4: only warnings, with\n"
      "--fail-on-warn, or unknown kinds, with --fail-on-unknown.");
  return [given](CommandIo& io) { return RunCheck(*given, io); };
}

}  // namespace truce
