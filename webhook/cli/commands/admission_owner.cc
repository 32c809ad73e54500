#include "webhook/cli/commands/admission_owner.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <utility>

#include "webhook/cli/output.h"
#include "webhook/cli/server/check_cluster.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds kJudgedWithin{30};

// A line that counts, headings, lines: Truce's list. Anything else is why there is none.
ExitCode PrintListed(std::string_view text, bool has_head, CommandIo& io) {
  const auto line = [&text] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string out = OnOneLine(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    return out;
  };
  if (text.starts_with("spec.")) return Complain(io, line(), ExitCode::kNo);
  io.err << line() << "\n";
  if (!has_head) line();
  while (!text.empty()) io.out << line() << "\n";
  return ExitCode::kOk;
}

}  // namespace

Result<Json> CheckAbout(const NamedResource& named, const std::string& ns) {
  const std::size_t first = named.resource.find('/');
  const std::size_t second =
      first == std::string::npos ? first : named.resource.find('/', first + 1);
  const bool is_typed = second != std::string::npos && second + 1 < named.resource.size() &&
                        named.resource.find(':') == std::string::npos;
  if (!is_typed) {
    return InvalidArgument(
        "with --admission name the resource as TYPE/NAME, as s3/Bucket/prod-artifacts, or give "
        "manifests with -f");
  }
  Json declared = {{"type", named.resource.substr(0, second)},
                   {"name", named.resource.substr(second + 1)}};
  if (!named.account.empty()) declared["account"] = named.account;
  if (!named.region.empty()) declared["region"] = named.region;
  return Json{{"apiVersion", "truce.dev/v1alpha1"},
              {"kind", "OwnershipCheck"},
              {"metadata", {{"namespace", ns}}},
              {"spec", {{"declarations", Json::array({std::move(declared)})}}}};
}

ExitCode TellListByAdmission(const ApiFlags& flags, const ListWish& wish, CommandIo& io) {
  Json list = Json::object();
  for (const auto& [name, value] : wish.parameters) {
    if (name == "namespace") continue;
    if (name != "type" && name != "service") {
      return Complain(io, "with --admission only -n, --type and --service narrow the list",
                      ExitCode::kUsage);
    }
    list[name] = value;
  }
  const auto server = OpenApiServer(flags, io);
  if (!server.ok()) {
    return Complain(io, server.error().message, ExitCodeOfOpening(server.error().code));
  }
  const Json spec = {{"list", std::move(list)}};
  const auto reply =
      RefusalOf(*server.value(), {wish.ns, spec, std::chrono::steady_clock::now() + kJudgedWithin});
  if (!reply.ok()) return Complain(io, reply.error().message, ExitCode::kUnreachable);
  if (reply.value().status != 200) {
    return Complain(io, ProblemText(reply.value().body, reply.value().status),
                    ExitCodeOfStatus(reply.value().status));
  }
  return PrintListed(reply.value().body, wish.has_head, io);
}

ExitCode TellOwnersByAdmission(const ApiFlags& flags, const OwnerWish& wish, CommandIo& io) {
  auto cluster = ClusterChecks::Open(flags, io, wish.ns);
  if (!cluster.ok()) {
    return Complain(io, cluster.error().message, ExitCodeOfOpening(cluster.error().code));
  }
  ApiQuestion question{"/api/v1/checks"};
  question.body = Dump(Json{{"items", wish.items}});
  const auto reply =
      cluster.value()->Send(question, std::chrono::steady_clock::now() + kJudgedWithin);
  if (!reply.ok()) return Complain(io, reply.error().message, ExitCode::kUnreachable);
  if (reply.value().status != 200) {
    return Complain(io, ProblemText(reply.value().body, reply.value().status),
                    ExitCodeOfStatus(reply.value().status));
  }
  const Json answer = ParseJson(reply.value().body);
  Json said = Json::array();
  for (const Json& item : answer.value("items", Json::array())) {
    for (const Json& finding : item.value("findings", Json::array())) said.push_back(finding);
  }
  if (said.empty()) {
    return Complain(
        io, "nobody else owns it: it is free, or belongs to namespace " + wish.ns + " itself",
        ExitCode::kNo);
  }
  if (PrintData(wish.output, Json{{"items", said}}, io.out)) return ExitCode::kOk;
  for (const Json& finding : said) {
    io.out << OnOneLine(TextIn(finding, "cause")) << "\n";
    const std::string remedy = TextIn(finding, "remedy");
    if (!remedy.empty()) io.out << "  " << OnOneLine(remedy) << "\n";
  }
  return ExitCode::kOk;
}

}  // namespace truce
