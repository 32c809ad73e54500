#include "webhook/cli/server/named_resource.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/one_line.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

}  // namespace

std::shared_ptr<NamedResource> AddNamedResource(CommandLine& app) {
  auto named = std::make_shared<NamedResource>();
  app.AddOption(
      "RESOURCE", named->resource,
      "A name, TYPE/NAME as s3/Bucket/prod-artifacts, an ARN, a URL, an id, or the object "
      "that declares it as KIND/NAME");
  app.AddOption("--account", named->account, "Its account, when the name is not enough");
  app.AddOption("--region", named->region, "Its region, when the name is not enough");
  app.AddOption("-n,--namespace", named->ns,
                "Namespace of the object, with KIND/NAME; default any");
  return named;
}

Parameters ParametersOf(const NamedResource& named) {
  return {{"resource", named.resource},
          {"namespace", named.ns},
          {"account", named.account},
          {"region", named.region}};
}

std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts) {
  Json body = Json::object();
  for (const auto& [name, value] : texts) {
    if (!value.empty()) body[name] = value;
  }
  return Dump(body);
}

Asked FindAll(const ApiFlags& flags, const Sought& sought, CommandIo& io) {
  ApiQuestion question{.path = "/api/v1/resources:lookup", .parameters = sought.parameters};
  question.list = "resources";
  TRUCE_ASSIGN_OR_RETURN(Json answer, AskForList(flags, question, io));
  if (!answer["resources"].empty()) return answer;
  return Complain(io, "nobody owns " + OneLine(sought.word), ExitCode::kNo);
}

Asked FindOne(const ApiFlags& flags, const NamedResource& named, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json answer,
                         FindAll(flags, {ParametersOf(named), named.resource}, io));
  const Json& found = answer["resources"];
  const std::string word = OneLine(named.resource);
  if (found.size() > 1) return ComplainOfSeveral(io, word, found);
  const std::string id = TextIn(found[0], "id");
  if (id.empty()) {
    return Complain(io, "you may not read the ownership of " + word, ExitCode::kNo);
  }
  return AskForObject(flags, {"/api/v1/resources/" + id, {}}, io);
}

ExitCode ComplainOfSeveral(CommandIo& io, const std::string& word, const nlohmann::json& found) {
  std::string which;
  for (const Json& each : found) {
    const std::string id = TextIn(each, "id");
    which.append("  ").append(id.empty() ? "(not shown)" : OneLine(id));
    which.append("  ").append(TypeAndName(each));
    const std::string account = AccountText(each);
    const std::string region = OneLine(TextIn(each, "region"));
    if (!account.empty()) which.append(", account ").append(account);
    if (!region.empty()) which.append(", ").append(region);
    which += "\n";
  }
  Complain(io, word + " fits " + std::to_string(found.size()) + " resources; name one by its id:",
           ExitCode::kNo);
  io.err << which;
  return ExitCode::kNo;
}

std::string TypeAndName(const nlohmann::json& resource) {
  return OneLine(TextIn(resource, "type") + " " + TextIn(resource, "name"));
}

std::string ResourceOf(const nlohmann::json& item) {
  return TypeAndName(item.value("resource", Json::object()));
}

}  // namespace truce
