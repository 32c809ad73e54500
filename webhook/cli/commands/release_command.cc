#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "registry/base/one_line.h"
#include "registry/base/random_id.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ReleaseArguments {
  std::string type;
  std::string name;
  std::string account;
  std::string region;
  std::string key;
  std::string id;
  std::string reason;
  std::string service;
  std::string ns;
  bool orphaned = false;
  bool yes = false;
  bool each = false;
};

bool IsWord(const std::string& id) {
  return id.find_first_not_of(kIdCharacters) == std::string::npos;
}

// The id says which, and it must not change between the two questions.
ExitCode ReleaseOne(const ApiFlags& flags, const ReleaseArguments& given, CommandIo& io) {
  std::string id = given.id;
  if (id.empty()) {
    const Parameters which = {{"key", given.key},
                              {"type", given.type},
                              {"name", given.name},
                              {"account", given.account},
                              {"region", given.region}};
    const std::string word =
        given.name.empty() ? "key " + given.key : given.type + " " + given.name;
    TRUCE_ASSIGN_OR_RETURN(const Json found, FindAll(flags, {which, word}, io));
    if (found["resources"].size() > 1) {
      return ComplainOfSeveral(io, OneLine(word), found["resources"]);
    }
    id = IdOf(found["resources"][0]);
    if (id.empty()) return Complain(io, "you may not read the ownership", ExitCode::kNo);
  }
  ApiQuestion question{"/api/v1/resources/" + id + ":release"};
  question.body = BodyOf({{"reason", given.reason}});
  question.if_match = "*";
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(flags, question, io));
  const Json released = answer.value("released", Json::object());
  io.out << "released " << TypeAndName(released) << ", was "
         << OneLine(TextIn(released, "state") + " by " + TextIn(released, "service")) << "\n";
  return ExitCode::kOk;
}

ExitCode PrintPlan(const Json& plan, const Form& form, CommandIo& io) {
  if (PrintData(form, plan, io.out)) return ExitCode::kOk;
  Json items = plan["items"];
  for (Json& item : items) {
    const bool has_detail = !TextIn(item, "detail").empty();
    if (!has_detail) item["detail"] = TextIn(item.value("resource", Json::object()), "reason");
  }
  if (items.empty() && form.for_people()) return ExitCode::kOk;
  const Listed listed{{{"result", "RESULT"},
                       {"resource.type", "TYPE"},
                       {"resource.name", "NAME"},
                       {"resource.service", "SERVICE"},
                       {"resource.since", "SINCE"},
                       {"detail", "ORPHANED BECAUSE"}},
                      "resource.type/resource.name"};
  return PrintList(form, listed, items, io);
}

ExitCode ReleaseOrphaned(const ApiFlags& flags, const ReleaseArguments& given, const Form& form,
                         CommandIo& io) {
  ApiQuestion question{"/api/v1/releases"};
  question.body = BodyOf({{"service", given.service},
                          {"type", given.type},
                          {"name", given.name},
                          {"account", given.account},
                          {"region", given.region},
                          {"namespace", given.ns},
                          {"reason", given.reason},
                          {"apply", !given.yes   ? ""
                                    : given.each ? "each"
                                                 : "whole"}});
  if (given.yes) question.if_match = "*";
  TRUCE_ASSIGN_OR_RETURN(const Json plan, AskForList(flags, question, io));
  const ExitCode printed = PrintPlan(plan, form, io);
  if (printed != ExitCode::kOk) return printed;
  const std::size_t count = plan["items"].size();
  const auto released = plan.value("released", std::size_t{0});
  if (form.for_people()) {
    io.out << (given.yes ? std::to_string(released) + " of " : std::string()) << count
           << (given.yes ? " released\n" : " orphaned\n");
    if (!plan.value("complete", true)) io.out << "there are more: repeat it when these are gone\n";
    if (!given.yes && count > 0) {
      io.out << "nothing is released yet: whoever declares one of them next becomes its owner; "
                "repeat it with --yes and --reason\n";
    }
  }
  return given.yes && released < count ? ExitCode::kNo : ExitCode::kOk;
}

}  // namespace

CommandAction DeclareRelease(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<ReleaseArguments>();
  app.AddOption("TYPE,--type", given->type, "Type of the resource, as s3/Bucket");
  app.AddOption("NAME,--name", given->name, "Name of the resource");
  app.AddOption("--account", given->account, "Its account, when the name is not enough");
  app.AddOption("--region", given->region, "Its region, when the name is not enough");
  app.AddOption("--key", given->key, "Its key, instead of type and name");
  app.AddOption("--id", given->id, "Its id, instead of type and name");
  app.AddOption("--reason", given->reason, "Why; stands in the audit log");
  app.AddFlag("--orphaned", given->orphaned, "All orphaned ownerships that fit, by a plan");
  app.AddOption("--service", given->service, "With --orphaned: only what that service owned");
  app.AddOption("-n,--namespace", given->ns, "With --orphaned: only roots of that namespace");
  app.AddFlag("--yes", given->yes, "With --orphaned: do it, all or none; else the plan is shown");
  app.AddFlag("--each", given->each, "With --yes: each by itself, with a result each");
  app.Footer(
      "Ends an ownership: whoever declares the resource next becomes its owner.\n\n"
      "Examples:\n"
      "  truce release s3/Bucket prod-artifacts --reason 'service A gave it up'\n"
      "  truce release --orphaned --service my-srv-one\n"
      "  truce release --orphaned --service my-srv-one --yes --reason 'deleted by hand'\n\n"
      "Exit code 1: nobody owns it, you may not, or not all of the plan was released.");
  return [=](CommandIo& io) {
    if (given->reason.empty() && (!given->orphaned || given->yes)) {
      return Complain(io, "say why with --reason", ExitCode::kUsage);
    }
    if (given->orphaned) return ReleaseOrphaned(*flags, *given, *form, io);
    const bool has_name = !given->type.empty() && !given->name.empty();
    const int named =
        (has_name ? 1 : 0) + (given->key.empty() ? 0 : 1) + (given->id.empty() ? 0 : 1);
    if (named != 1 || !IsWord(given->id)) {
      return Complain(io,
                      "name either type and name, as s3/Bucket prod-artifacts, a --key, an --id, "
                      "or --orphaned",
                      ExitCode::kUsage);
    }
    return ReleaseOne(*flags, *given, io);
  };
}

}  // namespace truce
