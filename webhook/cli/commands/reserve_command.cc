#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/imports/import_list.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ReserveArguments {
  std::string resource;
  std::string source;
  std::string duration;
  ImportDefaults says;  // account, region, service, contact
  std::string address;
  std::string types;
  bool release = false;
};

// "lambda/Alias/functionName/name": how a resource of several parts is named.
std::string FormOf(const TypeSpec& type) {
  std::string form = type.name;
  for (const KeyPart& part : type.parts) form.append("/").append(part.name);
  return form;
}

// A value for each part of the type, between slashes. Errors: kInvalidArgument.
Result<Json> PartsIn(std::string_view names, const TypeSpec& type) {
  Json parts = Json::object();
  for (const KeyPart& part : type.parts) {
    const bool is_last = &part == &type.parts.back();
    const std::size_t end = is_last ? names.size() : names.find('/');
    const std::string_view name = names.substr(0, end);
    if (end == std::string_view::npos || name.empty() || (is_last && name.find('/') != name.npos)) {
      return InvalidArgument("name a resource of this type as " + FormOf(type) +
                             ", or by its ARN: a name holds a slash there only");
    }
    parts[part.name] = name;
    names.remove_prefix(is_last ? end : end + 1);
  }
  return parts;
}

// The members of the request that say which resource: of an ARN what it names, else type and name,
// or parts. Errors: kInvalidArgument, and those of CatalogueWith.
Result<Json> ResourceIn(const ReserveArguments& given) {
  Json body;
  TRUCE_ASSIGN_OR_RETURN(const Catalogue catalogue, CatalogueWith(given.types));
  if (given.resource.starts_with("arn:")) {
    const auto entry = EntryFromArn(given.resource, "", catalogue);
    if (!entry) return InvalidArgument("the ARN names no type that Truce knows, or not all of it");
    body = {{"type", entry->type}, {"parts", entry->parts}, {"arn", given.resource}};
    if (!entry->account.empty()) body["account"] = entry->account;
    if (!entry->region.empty()) body["region"] = entry->region;
    return body;
  }
  const std::size_t slash = given.resource.find('/');
  const std::size_t end = slash == std::string::npos ? slash : given.resource.find('/', slash + 1);
  if (end == std::string::npos || end + 1 == given.resource.size()) {
    return InvalidArgument("name the resource as s3/Bucket/prod-artifacts, or by its ARN");
  }
  body["type"] = given.resource.substr(0, end);
  const std::string name = given.resource.substr(end + 1);
  const TypeSpec* type = catalogue.FindType(body["type"].get<std::string>());
  if (type == nullptr || type->parts.size() < 2) {
    body["name"] = name;
    return body;
  }
  TRUCE_ASSIGN_OR_RETURN(body["parts"], PartsIn(name, *type));
  return body;
}

Result<std::string> ReserveBody(const ReserveArguments& given) {
  TRUCE_ASSIGN_OR_RETURN(Json body, ResourceIn(given));
  body["source"] = given.source;
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty()) body[name] = value;
  };
  set("account", given.says.account);
  set("region", given.says.region);
  set("service", given.says.service);
  set("contact", given.says.contact);
  set("address", given.address);
  if (given.release == !given.duration.empty()) {
    return InvalidArgument("say how long with --for, as 30m or 2h, or --release");
  }
  if (given.release) {
    body["release"] = true;
    return Dump(body);
  }
  const auto minutes = DurationFrom(given.duration);
  if (!minutes) {
    return InvalidArgument("--for '" + given.duration + "' is not a time; write it as 30m or 2h");
  }
  body["minutes"] = minutes->count();
  return Dump(body);
}

void PrintReserved(const Json& answer, CommandIo& io) {
  const std::string action = TextIn(answer, "action");
  const std::string resource = TextIn(answer, "type") + "/" + TextIn(answer, "name");
  const std::string source = TextIn(answer, "source");
  if (action == "owned") {
    io.out << resource << " is imported by " << source << " already: it needs no reservation\n";
  } else if (action == "free") {
    io.out << "nobody has " << resource << "\n";
  } else if (action == "released") {
    io.out << "released " << resource << "\n";
  } else {
    io.out << action << " " << resource << " for " << source << " until " << TextIn(answer, "until")
           << "\n";
  }
}

ExitCode RunReserve(const ApiFlags& flags, const ReserveArguments& given, const Form& form,
                    CommandIo& io) {
  const Result<std::string> body = ReserveBody(given);
  if (!body.ok()) return Complain(io, body.error().message, ExitCode::kUsage);
  ApiQuestion question{"/api/v1/reservations"};
  question.body = body.value();
  TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForObject(flags, question, io));
  for (const Json& each : answer.value("warnings", Json::array())) {
    if (each.is_string()) Warn(io, each.get<std::string>());
  }
  if (!PrintData(form, answer, io.out)) PrintReserved(answer, io);
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareReserve(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto form = AddForm(app);
  const auto given = std::make_shared<ReserveArguments>();
  app.AddOption(
         "RESOURCE", given->resource,
         "The resource, as s3/Bucket/prod-artifacts or lambda/Alias/FUNCTION/ALIAS, or its ARN")
      .Required();
  app.AddOption("--source", given->source,
                "Who will own it: the name of the list that is imported later, as "
                "terraform:network")
      .Required();
  app.AddOption("--for", given->duration, "How long, as 30m or 2h: 10 minutes to 24 hours")
      .Type("DURATION");
  app.AddFlag("--release", given->release, "Let go of it before its time");
  app.AddOption("--account", given->says.account, "Its account, when the name is not enough");
  app.AddOption("--region", given->says.region, "Its region, when the name is not enough");
  app.AddOption("--service", given->says.service, "Service that owns it");
  app.AddOption("--contact", given->says.contact, "Whom to ask about it");
  app.AddOption("--address", given->address,
                "Where it stands at its source, as aws_s3_bucket.artifacts");
  app.AddOption("--types", given->types, "File with further types, as the server's setting types");
  app.Footer(
      "Takes a name before another tool creates the resource: until its time is over, or the\n"
      "source is imported with it, it counts as imported. Reserved again by its source it is\n"
      "renewed. Quotas count it.\n\n"
      "Examples:\n"
      "  truce reserve s3/Bucket/prod-artifacts --source terraform:network --for 1h\n"
      "  truce reserve sqs/Queue/jobs --account 123456789012 --region eu-west-1 --source cdk:jobs "
      "--for 30m\n"
      "  truce reserve s3/Bucket/prod-artifacts --source terraform:network --release\n\n"
      "Exit code 1: somebody else has it, a quota is full, or you may not.");
  return [=](CommandIo& io) { return RunReserve(*flags, *given, *form, io); };
}

}  // namespace truce
