#include "webhook/cli/named_resource.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>

#include "registry/base/clock.h"
#include "webhook/cli/output.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kItemsMax = 100'000;

ExitCode NoServer(CommandIo& io) {
  return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
}

// What the word says: an ARN, TYPE/NAME, or a name alone.
std::vector<std::pair<std::string, std::string>> ParametersOf(const NamedResource& named) {
  std::vector<std::pair<std::string, std::string>> parameters = {{"account", named.account},
                                                                 {"region", named.region}};
  const std::string& word = named.resource;
  const std::size_t first = word.find('/');
  const std::size_t second = first == std::string::npos ? first : word.find('/', first + 1);
  if (word.starts_with("arn:")) {
    parameters.emplace_back("arn", word);
  } else if (second == std::string::npos) {
    parameters.emplace_back("name", word);
  } else {
    parameters.emplace_back("type", word.substr(0, second));
    parameters.emplace_back("name", word.substr(second + 1));
  }
  return parameters;
}

}  // namespace

std::shared_ptr<NamedResource> AddNamedResource(CLI::App& app) {
  auto named = std::make_shared<NamedResource>();
  app.add_option("RESOURCE", named->resource,
                 "A name, TYPE/NAME as s3/Bucket/prod-artifacts, or an ARN");
  app.add_option("--account", named->account, "Its account, when the name is not enough");
  app.add_option("--region", named->region, "Its region, when the name is not enough");
  return named;
}

std::string OnOneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

std::string TimeAfter(const std::string& duration) {
  std::int64_t count = 0;
  const char* end = duration.data() + duration.size();
  const auto [rest, code] = std::from_chars(duration.data(), end, count);
  constexpr std::int64_t kCountMax = 100'000;
  if (code != std::errc() || rest + 1 != end || count < 1 || count > kCountMax) return {};
  std::chrono::minutes unit{0};
  if (*rest == 'm') unit = std::chrono::minutes{1};
  if (*rest == 'h') unit = std::chrono::hours{1};
  if (*rest == 'd') unit = std::chrono::hours{24};
  if (unit.count() == 0) return {};
  return FormatTimestamp(SystemClock().Now() + unit * count);
}

std::string BodyOf(const std::vector<std::pair<const char*, std::string>>& texts) {
  Json body = Json::object();
  for (const auto& [name, value] : texts) {
    if (!value.empty()) body[name] = value;
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ExitCode AskForText(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                    std::string& answer) {
  ApiReply reply = AskApi(flags, question, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  if (!Json::parse(reply.answer, nullptr, false).is_object()) return NoServer(io);
  answer = std::move(reply.answer);
  return ExitCode::kOk;
}

ExitCode AskForList(const ApiFlags& flags, const ApiQuestion& question, CommandIo& io,
                    std::string& items) {
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
    for (const Json& item : page["items"]) all.push_back(item);
    parameters.back().second = TextIn(page, "nextCursor");
    if (!parameters.back().second.empty()) progress.Show(all.size());
  } while (!parameters.back().second.empty() && all.size() < kItemsMax);
  items = all.dump(-1, ' ', false, Json::error_handler_t::replace);
  return ExitCode::kOk;
}

ExitCode FindText(const ApiFlags& flags, const NamedResource& named, CommandIo& io,
                  std::string& resource) {
  Json answer;
  const ApiQuestion lookup{"/api/v1/resources:lookup", ParametersOf(named)};
  const ExitCode code = AskForObject(flags, lookup, io, answer);
  if (code != ExitCode::kOk) return code;
  if (!answer.contains("resources") || !answer["resources"].is_array()) return NoServer(io);
  const Json& found = answer["resources"];
  const std::string word = OnOneLine(named.resource);
  if (found.empty()) return Complain(io, "nobody owns " + word, ExitCode::kNo);
  if (found.size() > 1) {
    return Complain(io,
                    word + " fits " + std::to_string(found.size()) +
                        " resources; name it as TYPE/NAME, with --account and --region, or by ARN",
                    ExitCode::kNo);
  }
  const std::string id = TextIn(found[0], "id");
  if (id.empty()) {
    return Complain(io, "you may not read the ownership of " + word, ExitCode::kNo);
  }
  return AskForText(flags, {"/api/v1/resources/" + id, {}}, io, resource);
}

void PrintForm(const std::string& output, const std::string& items,
               const std::vector<std::vector<std::string>>& rows, CommandIo& io) {
  const std::string list = "{\"items\":" + items + "}";
  if (output == "json") {
    PrintJson(list, io.out);
  } else if (output == "yaml") {
    PrintYaml(list, io.out);
  } else if (output == "name") {
    for (const Json& item : Json::parse(items, nullptr, false)) {
      io.out << OnOneLine(TextIn(item, "id")) << "\n";
    }
  } else {
    PrintTable(rows, io.out);
  }
}

}  // namespace truce
