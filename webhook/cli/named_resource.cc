#include "webhook/cli/named_resource.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "registry/base/clock.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kItemsMax = 100'000;

ExitCode NoServer(CommandIo& io) {
  return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
}

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

std::vector<std::pair<std::string, std::string>> ParametersOf(const NamedResource& named) {
  return {{"resource", named.resource},
          {"namespace", named.ns},
          {"account", named.account},
          {"region", named.region}};
}

std::string AccountText(const nlohmann::json& resource) {
  std::string account = TextIn(resource, "account");
  if (!account.starts_with('?')) return OnOneLine(std::move(account));
  // ?cluster/group/kind/namespace/name
  const std::size_t name = account.rfind('/');
  return OnOneLine(name == std::string::npos
                       ? std::string("unknown")
                       : "unknown (ProviderConfig " + account.substr(name + 1) + ")");
}

std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

std::string TimeAfter(const std::string& duration) {
  const std::optional<std::chrono::minutes> minutes = DurationFrom(duration);
  return minutes ? FormatTimestamp(SystemClock().Now() + *minutes) : std::string();
}

std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts) {
  Json body = Json::object();
  for (const auto& [name, value] : texts) {
    if (!value.empty()) body[name] = value;
  }
  return Dump(body);
}

ExitCode AskForObject(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                      nlohmann::json& answer) {
  const ApiReply reply = AskApi(flags, question, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  Json object = ParseJson(reply.answer);
  if (!object.is_object()) return NoServer(io);
  answer = std::move(object);
  return ExitCode::kOk;
}

ExitCode AskForItems(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                     nlohmann::json& items) {
  Json all = Json::array();
  Progress progress(io, "found");
  ApiQuestion of_page = question;
  auto& parameters = of_page.parameters;
  parameters.emplace_back("limit", "1000");
  parameters.emplace_back("cursor", "");
  do {
    Json page;
    const ExitCode code = AskForObject(flags, of_page, io, page);
    if (code != ExitCode::kOk) return code;
    if (!page.contains("items") || !page["items"].is_array()) return NoServer(io);
    for (Json& item : page["items"]) all.push_back(std::move(item));
    parameters.back().second = TextIn(page, "nextCursor");
    if (!parameters.back().second.empty()) progress.Show(all.size());
  } while (!parameters.back().second.empty() && all.size() < kItemsMax);
  items = std::move(all);
  return ExitCode::kOk;
}

ExitCode FindOne(const ApiFlags& flags, const NamedResource& named, CommandIo& io,
                 nlohmann::json& resource) {
  Json answer;
  const ApiQuestion lookup{"/api/v1/resources:lookup", ParametersOf(named)};
  const ExitCode code = AskForObject(flags, lookup, io, answer);
  if (code != ExitCode::kOk) return code;
  if (!answer.contains("resources") || !answer["resources"].is_array()) return NoServer(io);
  const Json& found = answer["resources"];
  const std::string word = OnOneLine(named.resource);
  if (found.empty()) return Complain(io, "nobody owns " + word, ExitCode::kNo);
  if (found.size() > 1) {
    std::string which;
    for (const Json& each : found) {
      const std::string id = TextIn(each, "id");
      which.append("\n  ").append(id.empty() ? "(not shown)" : OnOneLine(id));
      which.append("  ").append(TypeAndName(each));
      const std::string account = AccountText(each);
      const std::string region = OnOneLine(TextIn(each, "region"));
      if (!account.empty()) which.append(", account ").append(account);
      if (!region.empty()) which.append(", ").append(region);
    }
    return Complain(
        io,
        word + " fits " + std::to_string(found.size()) + " resources; name one by its id:" + which,
        ExitCode::kNo);
  }
  const std::string id = TextIn(found[0], "id");
  if (id.empty()) {
    return Complain(io, "you may not read the ownership of " + word, ExitCode::kNo);
  }
  return AskForObject(flags, {"/api/v1/resources/" + id, {}}, io, resource);
}

void PrintForm(const std::string& output, const nlohmann::json& items,
               const std::vector<std::vector<std::string>>& rows, CommandIo& io) {
  if (output == "json") {
    PrintJson(Dump(Json{{"items", items}}), io.out);
  } else if (output == "yaml") {
    PrintYaml(Dump(Json{{"items", items}}), io.out);
  } else if (output == "name") {
    for (const Json& item : items) {
      io.out << OnOneLine(TextIn(item, "id")) << "\n";
    }
  } else {
    PrintTable(rows, io.out);
  }
}

std::string TypeAndName(const nlohmann::json& resource) {
  return OnOneLine(TextIn(resource, "type") + " " + TextIn(resource, "name"));
}

}  // namespace truce
