// share, transfer, protect: agreements of owners.
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/api/described.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/grant_manifest.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kSharesPath[] = "/api/v1/shares";
constexpr char kTransfersPath[] = "/api/v1/transfers";

ExitCode UnnamedResource(CommandIo& io, const std::string& purpose = "") {
  return Complain(io, "name the resource" + purpose + ", as s3/Bucket/prod-artifacts",
                  ExitCode::kUsage);
}

ExitCode NoReason(CommandIo& io) { return Complain(io, "say why with --reason", ExitCode::kUsage); }

// The receiver as an OwnershipGrant names it.
Json ReceiverOf(const std::string& ns, const std::string& object) {
  return object.empty() ? Json{{"namespace", ns}} : Json{{"object", object}};
}

struct ShareArguments {
  Form form;  // of the answer
  std::string ns;
  std::string object;
  std::string level = "observe";
  std::string until;
  std::string duration;
  std::string reason;
  std::string end;
};

ExitCode PrintShares(const Form& form, const Json& items, CommandIo& io) {
  return PrintList(form, {HeadingsOf<Share>()}, items, io);
}

ExitCode ListShares(const ApiFlags& flags, const NamedResource& named, const Form& form,
                    CommandIo& io) {
  std::string id;
  if (!named.resource.empty()) {
    TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(flags, named, io));
    id = IdOf(resource);
  }
  TRUCE_ASSIGN_OR_RETURN(const Json items,
                         AskForItems(flags, {{kSharesPath, {{"resource", id}}}}, io));
  return PrintShares(form, items, io);
}

ExitCode EndShare(const ApiFlags& flags, const ShareArguments& given, CommandIo& io) {
  ApiQuestion question{std::string(kSharesPath) + "/" + UriEncoded(given.end),
                       {{"reason", given.reason}}};
  question.method = "DELETE";
  question.if_match = "*";
  TRUCE_ASSIGN_OR_RETURN(const Json share, AskForObject(flags, question, io));
  io.out << "ended the share of " << ResourceOf(share) << " with " << OneLine(TextIn(share, "to"))
         << "\n";
  return ExitCode::kOk;
}

ExitCode GiveShare(const ApiFlags& flags, const NamedResource& named, const ShareArguments& given,
                   CommandIo& io) {
  const auto until = EndOf(given.until, given.duration, "2h or 90d", io);
  if (!until) return ExitCode::kUsage;
  if (given.reason.empty()) return NoReason(io);
  TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(flags, named, io));
  if (given.form.is("yaml")) {
    Json share = ReceiverOf(given.ns, given.object);
    share["level"] = given.level;
    if (!until->empty()) share["until"] = *until;
    share["reason"] = given.reason;
    return PrintGrant(resource, "shares", {{"shares", Json::array({share})}}, io);
  }
  ApiQuestion question{kSharesPath};
  question.body = BodyOf({{"resource", IdOf(resource)},
                          {"namespace", given.ns},
                          {"object", given.object},
                          {"level", given.level},
                          {"until", *until},
                          {"reason", given.reason}});
  TRUCE_ASSIGN_OR_RETURN(const Json share, AskForObject(flags, question, io));
  return PrintShares(given.form, Json::array({share}), io);
}

struct TransferArguments {
  Form form;  // of the answer
  std::string ns;
  std::string object;
  std::string cluster;
  std::string successor;
  std::string reason;
  std::string accept;
  std::string decline;
  std::string withdraw;
  bool force = false;
};

// The steps of a transfer, or of a hand-over by annotation. True: nothing is missing but the
// successor's turn.
bool PrintSteps(const Json& transfer, CommandIo& io) {
  const Json steps = transfer.value("steps", Json::array());
  bool ready = true;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool done = steps[i].value("done", false);
    if (!done && i + 1 < steps.size()) ready = false;
    io.out << "  " << (done ? "[done]" : "[todo]") << " " << i + 1 << ". "
           << OneLine(TextIn(steps[i], "text")) << "\n";
  }
  return ready;
}

ExitCode PrintTransfer(const Json& transfer, const Form& form, CommandIo& io) {
  if (form.for_people()) {
    io.out << ResourceOf(transfer) << " to " << OneLine(TextIn(transfer, "to")) << ": "
           << TextIn(transfer, "state") << ", id " << TextIn(transfer, "id") << "\n";
    return PrintSteps(transfer, io) ? ExitCode::kOk : ExitCode::kNo;
  }
  return PrintList(form, {HeadingsOf<Transfer>()}, Json::array({transfer}), io);
}

ExitCode ListTransfers(const ApiFlags& flags, const Form& form, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json items, AskForItems(flags, {{kTransfersPath}}, io));
  return PrintList(form, {HeadingsOf<Transfer>()}, items, io);
}

// Prints the steps of the transfer of RESOURCE.
ExitCode ShowReadiness(const ApiFlags& flags, const NamedResource& named, const Form& form,
                       CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(flags, named, io));
  if (resource.contains("transfer") && resource["transfer"].is_object()) {
    return PrintTransfer(resource["transfer"], form, io);
  }
  io.out << "no transfer of " << TypeAndName(resource) << " is under way; it is owned by "
         << OneLine(ObjectText(resource, "root")) << " since "
         << OneLine(TextIn(resource, "since"));
  const auto hand_over = resource.find("handOver");
  if (hand_over == resource.end() || !hand_over->is_object()) {
    io.out << "\n";
    return ExitCode::kOk;
  }
  io.out << ", whose annotation truce.dev/transfer-to names "
         << OneLine(TextIn(*hand_over, "successor")) << ":\n";
  return PrintSteps(*hand_over, io) ? ExitCode::kOk : ExitCode::kNo;
}

ExitCode OfferTransfer(const ApiFlags& flags, const NamedResource& named,
                       const TransferArguments& given, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(flags, named, io));
  if (given.form.is("yaml")) {
    if (given.force) {
      return Complain(io, "an OwnershipGrant speaks for its namespace alone: leave out --force",
                      ExitCode::kUsage);
    }
    Json to = ReceiverOf(given.ns, given.object);
    if (!given.cluster.empty()) to["cluster"] = given.cluster;
    if (!given.successor.empty()) to["successor"] = given.successor;
    return PrintGrant(resource, "transfer", {{"transferTo", to}, {"reason", given.reason}}, io);
  }
  ApiQuestion question{kTransfersPath};
  question.body = BodyOf({{"resource", IdOf(resource)},
                          {"namespace", given.ns},
                          {"object", given.object},
                          {"cluster", given.cluster},
                          {"successor", given.successor},
                          {"force", given.force ? "true" : ""},
                          {"reason", given.reason}});
  TRUCE_ASSIGN_OR_RETURN(const Json transfer, AskForObject(flags, question, io));
  static_cast<void>(PrintTransfer(transfer, given.form, io));
  return ExitCode::kOk;
}

ExitCode ActOnTransfer(const ApiFlags& flags, const TransferArguments& given, CommandIo& io) {
  const bool accepts = !given.accept.empty();
  const std::string& id = accepts                 ? given.accept
                          : given.decline.empty() ? given.withdraw
                                                  : given.decline;
  const char* verb = accepts ? ":accept" : given.decline.empty() ? ":withdraw" : ":decline";
  ApiQuestion question{std::string(kTransfersPath) + "/" + UriEncoded(id) + verb, {}};
  question.body = BodyOf({{"successor", accepts ? given.successor : ""}, {"reason", given.reason}});
  question.if_match = "*";
  TRUCE_ASSIGN_OR_RETURN(const Json transfer, AskForObject(flags, question, io));
  if (accepts) {
    static_cast<void>(PrintTransfer(transfer, given.form, io));
  } else {
    io.out << (given.decline.empty() ? "withdrawn" : "declined") << ": " << ResourceOf(transfer)
           << " stays with its owner\n";
  }
  return ExitCode::kOk;
}

struct ProtectArguments {
  Form form;  // of the answer
  std::string reason;
  bool off = false;
};

// The member "protection" of a resource that has one; else null.
Json ProtectionOf(const Json& resource) {
  const auto found = resource.find("protection");
  return found == resource.end() || !found->is_object() ? Json() : *found;
}

void PrintProtection(const Json& resource, const Json& protection, CommandIo& io) {
  if (protection.is_null()) {
    io.out << TypeAndName(resource) << " is not protected\n";
    return;
  }
  io.out << TypeAndName(resource) << " is protected against deletion since "
         << OneLine(TextIn(protection, "at")) << " by " << OneLine(TextIn(protection, "by")) << ": "
         << OneLine(TextIn(protection, "reason")) << "\n";
  const Json hindrances = protection.value("hindrances", Json::array());
  if (hindrances.empty()) return;
  io.out << "but its deletion would not be refused:\n";
  for (const Json& each : hindrances) {
    io.out << "  " << OneLine(TextIn(each, "what")) << "\n    " << OneLine(TextIn(each, "remedy"))
           << "\n";
  }
}

ExitCode TellProtection(const Form& form, const Json& resource, CommandIo& io) {
  const Json protection = ProtectionOf(resource);
  if (form.for_people()) {
    PrintProtection(resource, protection, io);
  } else if (!PrintData(form, resource, io.out)) {
    const ExitCode code = PrintList(form, {HeadingsOf<Owner>()}, Json::array({resource}), io);
    if (code != ExitCode::kOk) return code;
  }
  if (protection.is_null()) return ExitCode::kNo;
  return protection.value("hindrances", Json::array()).empty() ? ExitCode::kOk
                                                               : ExitCode::kWarnings;
}

ExitCode SetProtection(const ApiFlags& flags, const Json& resource, const ProtectArguments& given,
                       CommandIo& io) {
  ApiQuestion question{"/api/v1/resources/" + IdOf(resource) +
                       (given.off ? ":unprotect" : ":protect")};
  question.body = BodyOf({{"reason", given.reason}});
  question.if_match = "*";
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(flags, question, io));
  const ExitCode told = TellProtection(given.form, answer, io);
  if (!given.off) return told;
  const Json protection = ProtectionOf(resource);
  const std::string declaring =
      protection.is_null() ? std::string() : TextIn(protection, "declaredBy");
  if (!declaring.empty()) {
    io.err << OneLine(declaring) << " declares it and protects it again within seconds; remove "
           << "spec.protection there\n";
  }
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareShare(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<ShareArguments>();
  app.AddOption("--with", given->ns, "Namespace to share it with").Type("NAMESPACE");
  app.AddOption("--with-object", given->object,
                "Cluster-scoped root to share it with, as Bucket.s3.aws.upbound.io/artifacts")
      .Excludes("--with");
  app.AddOption("--level", given->level, "What it may do; default observe")
      .OneOf({"observe", "attach"});
  app.AddOption("--for", given->duration, "How long, as 2h or 90d; without it for ever")
      .Type("DURATION");
  app.AddOption("--until", given->until, "Until when, as 2026-11-21T18:00:00Z")
      .Type("TIME")
      .Excludes("--for");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddOption("--end", given->end, "End the share of that id");
  app.Footer(
      "Lets another team observe a resource, or attach to it (bucket policies, queue policies, "
      "…).\n"
      "Without --with it lists shares: all, or those of RESOURCE. With --with, -o yaml shares\n"
      "nothing and prints the OwnershipGrant that says the same in Git.\n\n"
      "Examples:\n"
      "  truce share prod-artifacts --with team-b --level attach --for 90d --reason 'ticket 4711'\n"
      "  truce share prod-artifacts --with team-b --reason 'reads it' -o yaml > grant.yaml\n"
      "  truce share prod-artifacts\n"
      "  truce share --end c4wx2kq7dnh5a --reason 'no longer used'\n");
  return [=](CommandIo& io) {
    const bool gives = !given->ns.empty() || !given->object.empty();
    if (gives && (named->resource.empty() || !given->end.empty())) {
      return UnnamedResource(io, " to share");
    }
    if (!given->end.empty()) return EndShare(*flags, *given, io);
    given->form = *form;
    if (gives) return GiveShare(*flags, *named, *given, io);
    return ListShares(*flags, *named, *form, io);
  };
}

CommandAction DeclareTransfer(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<TransferArguments>();
  app.AddOption("--to", given->ns, "Namespace that shall own it").Type("NAMESPACE");
  app.AddOption("--to-cluster", given->cluster,
                "Cluster of that namespace or object; without it the owner's");
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
      "which are done. Without --to it checks the steps of RESOURCE, or lists all transfers. With\n"
      "--to, -o yaml offers nothing and prints the OwnershipGrant that says the same in Git.\n\n"
      "Examples:\n"
      "  truce transfer prod-artifacts --to team-b --reason 'team-b runs it now'\n"
      "  truce transfer --accept c4wx2kq7dnh5a --successor Bucket/team-b/artifacts\n"
      "  truce transfer prod-artifacts\n\n"
      "Exit code 1: steps are missing before the successor may be deployed.");
  return [=](CommandIo& io) {
    const bool offers = !given->ns.empty() || !given->object.empty();
    const bool acts = !given->accept.empty() || !given->decline.empty() || !given->withdraw.empty();
    if (offers && (acts || named->resource.empty())) {
      return UnnamedResource(io, " to hand over");
    }
    const bool is_told = given->force && !form->is("yaml");
    if (is_told && !given->ns.empty() && given->successor.empty()) {
      return Complain(io,
                      "--force needs --successor: which object of " + given->ns +
                          " takes over, as KIND/" + given->ns + "/NAME",
                      ExitCode::kUsage);
    }
    if ((offers || acts) && given->reason.empty() && given->accept.empty()) {
      return NoReason(io);
    }
    given->form = *form;
    if (offers) return OfferTransfer(*flags, *named, *given, io);
    if (acts) return ActOnTransfer(*flags, *given, io);
    if (named->resource.empty()) return ListTransfers(*flags, *form, io);
    return ShowReadiness(*flags, *named, *form, io);
  };
}

CommandAction DeclareProtect(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<ProtectArguments>();
  app.AddOption("--reason", given->reason, "Why; stands in the audit log and in refusals");
  app.AddFlag("--off", given->off, "Take the protection away");
  app.Footer(
      "Marks a resource as not to be deleted: Truce refuses what would delete it, whatever the "
      "mode\n"
      "of the rule deletion-protection. Without --reason it tells whether RESOURCE is protected\n"
      "(exit code 1: it is not; 4: it is marked, but an override, an exemption or the webhook\n"
      "configuration lets its deletion pass: each is named with what helps). With --reason, -o "
      "yaml\n"
      "protects nothing and prints the OwnershipGrant that says the same in Git.\n\n"
      "Examples:\n"
      "  truce protect prod-artifacts --reason 'customer data'\n"
      "  truce protect prod-artifacts --reason 'customer data' -o yaml > grant.yaml\n"
      "  truce protect prod-artifacts --off --reason 'moved, ticket 4711'\n");
  return [=](CommandIo& io) {
    if (named->resource.empty()) return UnnamedResource(io);
    given->form = *form;
    const std::string& reason = given->reason;
    const bool is_manifest = given->form.is("yaml") && !reason.empty();
    if (given->off && reason.empty()) return NoReason(io);
    if (given->off && is_manifest) {
      return Complain(
          io,
          "an OwnershipGrant protects while it says so: remove spec.protection from it, "
          "or leave out -o yaml",
          ExitCode::kUsage);
    }
    TRUCE_ASSIGN_OR_RETURN(const Json resource, FindOne(*flags, *named, io));
    if (reason.empty()) return TellProtection(given->form, resource, io);
    if (!is_manifest) return SetProtection(*flags, resource, *given, io);
    return PrintGrant(resource, "protection", {{"protection", {{"reason", reason}}}}, io);
  };
}

}  // namespace truce
