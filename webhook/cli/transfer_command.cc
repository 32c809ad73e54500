#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/command_line.h"
#include "webhook/cli/named_resource.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kTransfersPath[] = "/api/v1/transfers";

struct TransferArguments {
  std::string output;  // form of the answer
  std::string ns;
  std::string object;
  std::string successor;
  std::string reason;
  std::string accept;
  std::string decline;
  std::string withdraw;
  bool force = false;
};

// What a transfer has come to, step by step. True: nothing is missing but the successor's turn.
bool PrintSteps(const Json& transfer, CommandIo& io) {
  io.out << TypeAndName(transfer.value("resource", Json::object())) << " to "
         << OnOneLine(TextIn(transfer, "to")) << ": " << TextIn(transfer, "state") << ", id "
         << TextIn(transfer, "id") << "\n";
  const Json steps = transfer.value("steps", Json::array());
  bool ready = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool done = steps[i].value("done", false);
    if (!done && i + 1 < steps.size()) ready = false;
    io.out << "  " << (done ? "[done]" : "[todo]") << " " << i + 1 << ". "
           << OnOneLine(TextIn(steps[i], "text")) << "\n";
  }
  return ready;
}

ExitCode Show(const Json& transfer, const std::string& output, CommandIo& io) {
  if (output == "table" || output == "wide") {
    return PrintSteps(transfer, io) ? ExitCode::kOk : ExitCode::kNo;
  }
  PrintForm(output, Json::array({transfer}), {}, io);
  return ExitCode::kOk;
}

ExitCode ListTransfers(const ApiFlags& flags, const std::string& output, CommandIo& io) {
  Json items;
  const ExitCode code = AskForItems(flags, {kTransfersPath, {}}, io, items);
  if (code != ExitCode::kOk) return code;
  std::vector<std::vector<std::string>> rows = {
      {"ID", "RESOURCE", "TO", "STATE", "SUCCESSOR", "REASON"}};
  for (const Json& item : items) {
    const std::string successor = TextIn(item, "successor");
    rows.push_back({TextIn(item, "id"), TypeAndName(item.value("resource", Json::object())),
                    TextIn(item, "to"), TextIn(item, "state"), successor.empty() ? "-" : successor,
                    TextIn(item, "reason")});
  }
  PrintForm(output, items, rows, io);
  return ExitCode::kOk;
}

// Prints the steps of what is under way for RESOURCE.
ExitCode ShowReadiness(const ApiFlags& flags, const NamedResource& named, const std::string& output,
                       CommandIo& io) {
  Json resource;
  const ExitCode found = FindOne(flags, named, io, resource);
  if (found != ExitCode::kOk) return found;
  if (resource.contains("transfer") && resource["transfer"].is_object()) {
    return Show(resource["transfer"], output, io);
  }
  const Json root = resource.value("root", Json::object());
  const std::string ns = TextIn(root, "namespace");
  io.out << "no transfer of " << TypeAndName(resource) << " is under way; it is owned by "
         << OnOneLine(TextIn(root, "kind") + " " + (ns.empty() ? "" : ns + "/") +
                      TextIn(root, "name"))
         << " since " << OnOneLine(TextIn(resource, "since"));
  const std::string successor = TextIn(resource, "successor");
  if (!successor.empty()) {
    io.out << ", whose annotation truce.dev/transfer-to names " << OnOneLine(successor);
  }
  io.out << "\n";
  return ExitCode::kOk;
}

ExitCode Offer(const ApiFlags& flags, const NamedResource& named, const TransferArguments& given,
               CommandIo& io) {
  Json resource;
  const ExitCode found = FindOne(flags, named, io, resource);
  if (found != ExitCode::kOk) return found;
  ApiQuestion question{kTransfersPath, {}};
  question.body = BodyOf({{"resource", TextIn(resource, "id")},
                          {"namespace", given.ns},
                          {"object", given.object},
                          {"successor", given.successor},
                          {"force", given.force ? "true" : ""},
                          {"reason", given.reason}});
  Json transfer;
  const ExitCode code = AskForObject(flags, question, io, transfer);
  if (code != ExitCode::kOk) return code;
  static_cast<void>(Show(transfer, given.output, io));
  return ExitCode::kOk;
}

ExitCode ActOn(const ApiFlags& flags, const TransferArguments& given, CommandIo& io) {
  const bool accepts = !given.accept.empty();
  const std::string& id = accepts                 ? given.accept
                          : given.decline.empty() ? given.withdraw
                                                  : given.decline;
  const char* verb = accepts ? ":accept" : given.decline.empty() ? ":withdraw" : ":decline";
  ApiQuestion question{std::string(kTransfersPath) + "/" + id + verb, {}};
  question.body = BodyOf({{"successor", accepts ? given.successor : ""}, {"reason", given.reason}});
  question.if_match = "*";
  Json transfer;
  const ExitCode code = AskForObject(flags, question, io, transfer);
  if (code != ExitCode::kOk) return code;
  if (accepts) {
    static_cast<void>(Show(transfer, given.output, io));
  } else {
    io.out << (given.decline.empty() ? "withdrawn" : "declined") << ": "
           << TypeAndName(transfer.value("resource", Json::object())) << " stays with its owner\n";
  }
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareTransfer(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto output = AddOutputFlag(app);
  const auto given = std::make_shared<TransferArguments>();
  app.AddOption("--to", given->ns, "Namespace that shall own it");
  app.AddOption("--to-object", given->object,
                "Cluster-scoped root that shall own it, as Bucket.s3.aws.upbound.io/artifacts")
      .Excludes("--to");
  app.AddOption("--successor", given->successor,
                "Object that takes over, as KIND/NAMESPACE/NAME or KIND/NAME");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddFlag("--force", given->force, "As administrator: speak for both sides");
  app.AddOption("--accept", given->accept, "Accept the offer of that id");
  app.AddOption("--decline", given->decline, "Decline the offer of that id").Excludes("--accept");
  app.AddOption("--withdraw", given->withdraw, "Withdraw the offer of that id")
      .Excludes("--accept")
      .Excludes("--decline");
  app.Footer(
      "Hands an ownership over, never to two managers and never without one: prints the steps and\n"
      "which are done. Without --to it checks the steps of RESOURCE, or lists all transfers.\n\n"
      "Examples:\n"
      "  truce transfer prod-artifacts --to team-b --reason 'team-b runs it now'\n"
      "  truce transfer --accept c4wx2kq7dnh5a --successor Bucket/team-b/artifacts\n"
      "  truce transfer prod-artifacts\n\n"
      "Exit code 1: steps are missing before the successor may be deployed.");
  return [=](CommandIo& io) {
    const bool offers = !given->ns.empty() || !given->object.empty();
    const bool acts = !given->accept.empty() || !given->decline.empty() || !given->withdraw.empty();
    if (offers && (acts || named->resource.empty())) {
      return Complain(io, "name the resource to hand over, as s3/Bucket/prod-artifacts",
                      ExitCode::kUsage);
    }
    if ((offers || acts) && given->reason.empty() && given->accept.empty()) {
      return Complain(io, "say why with --reason", ExitCode::kUsage);
    }
    given->output = *output;
    if (offers) return Offer(*flags, *named, *given, io);
    if (acts) return ActOn(*flags, *given, io);
    if (named->resource.empty()) return ListTransfers(*flags, *output, io);
    return ShowReadiness(*flags, *named, *output, io);
  };
}

}  // namespace truce
