// who-owns, list, describe, services, audit, denials: what the registry knows.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "webhook/cli/api_call.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/declared_keys.h"
#include "webhook/cli/named_resource.h"
#include "webhook/cli/output.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;
using Parameters = std::vector<std::pair<std::string, std::string>>;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kLimitMax = 1'000'000;

std::string NumberOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->dump() : std::string("0");
}

bool IsTrue(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : text; }

// "ObjectStorage team-a/artifacts".
std::string ObjectText(const Json& parent, const char* name) {
  const auto object = parent.find(name);
  if (object == parent.end() || !object->is_object()) return "-";
  const std::string ns = TextIn(*object, "namespace");
  return TextIn(*object, "kind") + " " + (ns.empty() ? "" : ns + "/") + TextIn(*object, "name");
}

std::string ResourceName(const Json& resource) {
  return TextIn(resource, "type") + "/" + TextIn(resource, "name");
}

std::string Plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

Rows ResourceRows(const Json& items, bool wide) {
  Rows rows = {{"TYPE", "NAME", "SERVICE", "OWNER", "STATE", "SINCE"}};
  if (wide) {
    rows[0] = {"TYPE",    "NAME",   "SERVICE", "OWNER",     "STATE", "SINCE",
               "ACCOUNT", "REGION", "CONTACT", "CONTESTED", "ID",    "ARN"};
  }
  for (const Json& item : items) {
    const bool redacted = IsTrue(item, "redacted");
    std::vector<std::string> row = {TextIn(item, "type"),
                                    TextIn(item, "name"),
                                    OrDash(TextIn(item, "service")),
                                    redacted ? "(not shown)" : ObjectText(item, "root"),
                                    OrDash(TextIn(item, "state")),
                                    OrDash(TextIn(item, "since"))};
    if (wide) {
      row.push_back(OrDash(AccountText(item)));
      row.push_back(OrDash(TextIn(item, "region")));
      row.push_back(OrDash(TextIn(item, "contact")));
      row.emplace_back(IsTrue(item, "contested") ? "yes" : "no");
      row.push_back(OrDash(TextIn(item, "id")));
      row.push_back(OrDash(TextIn(item, "arn")));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Of several found, what tells them apart is shown too.
Rows FoundRows(const Json& items, bool wide) {
  Rows rows = ResourceRows(items, wide);
  if (wide || items.size() < 2) return rows;
  rows[0].insert(rows[0].end(), {"ACCOUNT", "REGION", "ID"});
  for (std::size_t i = 0; i < items.size(); ++i) {
    rows[i + 1].push_back(OrDash(AccountText(items[i])));
    rows[i + 1].push_back(OrDash(TextIn(items[i], "region")));
    rows[i + 1].push_back(OrDash(TextIn(items[i], "id")));
  }
  return rows;
}

// Prints `items` in the form asked for; `forms`, rows and a name, are those for people.
template <typename RowsOf, typename NameOfItem>
void PrintItems(const std::string& output, const Json& items, std::ostream& out,
                const std::pair<RowsOf, NameOfItem>& forms) {
  const auto& [rows_of, name_of] = forms;
  if (output == "json" || output == "yaml") {
    const Json list = {{"items", items}};
    const std::string text = Dump(list);
    output == "json" ? PrintJson(text, out) : PrintYaml(text, out);
    return;
  }
  if (output == "name") {
    for (const Json& item : items) out << Plain(name_of(item)) << "\n";
    return;
  }
  PrintTable(rows_of(items, output == "wide"), out);
}

struct ListQuestion {
  std::string path;
  Parameters parameters;
  std::size_t limit;  // of all pages together
};

// All items of a list, page by page. Something that is not a list of the API is a complaint.
ExitCode Collect(const ApiFlags& flags, const ListQuestion& question, CommandIo& io, Json& items) {
  items = Json::array();
  Progress progress(io, "found");
  std::string cursor;
  do {
    Parameters page_parameters = question.parameters;
    const std::size_t page_size = std::min<std::size_t>(1000, question.limit - items.size());
    page_parameters.emplace_back("limit", std::to_string(page_size));
    page_parameters.emplace_back("cursor", cursor);
    const ApiReply reply = AskApi(flags, {question.path, std::move(page_parameters)}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const Json page = ParseJson(reply.answer);
    if (!page.is_object() || !page.contains("items") || !page["items"].is_array()) {
      return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
    }
    for (const Json& item : page["items"]) items.push_back(item);
    cursor = TextIn(page, "nextCursor");
    if (!cursor.empty()) progress.Show(items.size());
  } while (!cursor.empty() && items.size() < question.limit);
  return ExitCode::kOk;
}

// The resources that are meant.
ExitCode Find(const ApiFlags& flags, const NamedResource& named, CommandIo& io, Json& resources) {
  const ApiReply reply = AskApi(flags, {"/api/v1/resources:lookup", ParametersOf(named)}, io);
  if (reply.code != ExitCode::kOk) return reply.code;
  const Json answer = ParseJson(reply.answer);
  if (!answer.is_object() || !answer.contains("resources") || !answer["resources"].is_array()) {
    return Complain(io, "what answers is not a Truce server", ExitCode::kUnreachable);
  }
  resources = answer["resources"];
  if (resources.empty()) {
    return Complain(io, "nobody owns " + Plain(named.resource), ExitCode::kNo);
  }
  if (answer.contains("complete") && !IsTrue(answer, "complete")) {
    io.err << "truce: there may be more; add --account, --region or -n\n";
  }
  const auto is_unsure = [](const Json& each) {
    return each.contains("certain") && !IsTrue(each, "certain");
  };
  if (std::any_of(resources.begin(), resources.end(), is_unsure)) {
    io.err << "truce: where the account is unknown it may be another resource of that name; "
              "truce doctor says how Truce learns it\n";
  }
  return ExitCode::kOk;
}

// What the manifests of a file declare and somebody owns.
ExitCode FindDeclared(const ApiFlags& flags, const std::string& file, CommandIo& io,
                      Json& resources) {
  std::vector<std::string> keys;
  const ExitCode declared = KeysDeclaredIn(flags, file, io, keys);
  if (declared != ExitCode::kOk) return declared;
  resources = Json::array();
  for (const std::string& key : keys) {
    const ApiReply reply = AskApi(flags, {"/api/v1/resources:lookup", {{"key", key}}}, io);
    if (reply.code != ExitCode::kOk) return reply.code;
    const Json answer = ParseJson(reply.answer);
    if (!answer.is_object() || !answer.contains("resources")) continue;
    for (const Json& resource : answer["resources"]) {
      // By several of its names it is one.
      const bool is_new =
          std::find(resources.begin(), resources.end(), resource) == resources.end();
      if (is_new) resources.push_back(resource);
    }
  }
  if (!resources.empty()) return ExitCode::kOk;
  return Complain(io, "nobody owns what " + Plain(file) + " declares", ExitCode::kNo);
}

// How Truce knows a name.
std::string SourceOf(const Json& name) {
  if (IsTrue(name, "observed")) return "status";
  const std::string sort = TextIn(name, "sort");
  if (sort == "assigned") return "external name";
  return sort == "located" ? "fields and account" : "fields";
}

void DescribeResource(const Json& resource, std::ostream& out) {
  const auto line = [&](const char* label, const std::string& text) {
    if (text.empty()) return;
    std::string head(label);
    head.append(14 - std::min<std::size_t>(head.size(), 13), ' ');
    out << head << Plain(text) << "\n";
  };
  line("Resource:", ResourceName(resource));
  line("ARN:", TextIn(resource, "arn"));
  line("Account:", AccountText(resource));
  for (const auto& [label, name] :
       {std::pair{"Region:", "region"}, {"Service:", "service"}, {"Contact:", "contact"}}) {
    line(label, TextIn(resource, name));
  }
  if (IsTrue(resource, "redacted")) {
    line("Owner:", "(not shown: you may not read this ownership)");
    return;
  }
  line("Owner:", ObjectText(resource, "root"));
  line("State:", TextIn(resource, "state") + " since " + TextIn(resource, "since"));
  line("Reason:", TextIn(resource, "reason"));
  line("Successor:", TextIn(resource, "successor"));
  line("Contested:", IsTrue(resource, "contested") ? "yes, a second chain manages it" : "no");
  line("Id:", TextIn(resource, "id"));
  std::string former;
  const auto former_ids = resource.find("formerIds");
  if (former_ids != resource.end() && former_ids->is_array()) {
    for (const Json& id : *former_ids) {
      if (id.is_string()) former.append(former.empty() ? "" : ", ").append(id);
    }
  }
  line("Former ids:", former);
  line("Key:", TextIn(resource, "key"));
  const auto section = [&](const char* title, const char* member, Rows rows, const auto& row_of) {
    const auto found = resource.find(member);
    if (found == resource.end() || !found->is_array() || found->empty()) return;
    for (const Json& each : *found) rows.push_back(row_of(each));
    out << "\n" << title << "\n";
    PrintTable(rows, out);
  };
  section(
      "Names", "names", {{"NAME", "SORT", "FROM", "SINCE"}},
      [](const Json& each) -> std::vector<std::string> {
        return {TextIn(each, "name"), TextIn(each, "sort"), SourceOf(each), TextIn(each, "since")};
      });
  const auto declaration = [](const Json& each) -> std::vector<std::string> {
    const Json empty;
    const Json& object = each.contains("object") ? each["object"] : empty;
    return {object.is_object() ? TextIn(object, "cluster") : "", ObjectText(each, "object"),
            TextIn(each, "intent"), TextIn(each, "state"), TextIn(each, "since")};
  };
  const std::vector<std::string> columns = {"CLUSTER", "OBJECT", "INTENT", "STATE", "SINCE"};
  section("Declarations", "declarations", {columns}, declaration);
  section("Consumers", "consumers", {columns}, declaration);
  section("History", "history", {{"AT", "ACTION", "ACTOR", "CAUSE"}},
          [](const Json& each) -> std::vector<std::string> {
            return {TextIn(each, "at"), TextIn(each, "action"), TextIn(each, "actor"),
                    TextIn(each, "cause")};
          });
  section("Denied", "denials", {{"LAST", "COUNT", "OBJECT", "USER"}},
          [](const Json& each) -> std::vector<std::string> {
            return {TextIn(each, "last"), NumberOf(each, "count"), ObjectText(each, "object"),
                    TextIn(each, "user")};
          });
}

struct ListArguments {
  std::string name;
  std::string arn;
  std::string type;
  std::string service;
  std::string account;
  std::string region;
  std::string cluster;
  std::string ns;
  std::string state;
  std::string sort;
  bool contested = false;
  bool shared = false;
  std::size_t limit = 1000;
};

void AddLimit(CommandLine& app, std::size_t& limit) {
  app.AddOption("--limit", limit, "Most lines; default 1000").Type("number").Between(1, kLimitMax);
}

}  // namespace

CommandAction DeclareWhoOwns(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto output = AddOutputFlag(app);
  const auto manifest = std::make_shared<std::string>();
  app.AddOption("-f,--file", *manifest,
                "What the manifests of this file declare; - reads standard input");
  app.Footer(
      "Examples:\n"
      "  truce who-owns prod-artifacts\n"
      "  truce who-owns -f bucket.yaml\n"
      "  truce who-owns s3/Bucket/prod-artifacts -o yaml\n"
      "  truce who-owns arn:aws:s3:::prod-artifacts --server https://truce.example.org\n"
      "  truce who-owns https://sqs.eu-west-1.amazonaws.com/123456789012/jobs\n"
      "  truce who-owns sg-0a1b2c3d\n"
      "  truce who-owns bucket/artifacts\n"
      "  truce who-owns bucket.s3.aws.m.upbound.io/artifacts -n team-a\n\n"
      "Exit code 1: nobody owns it, the name is free. Exit code 2: that is not a name of a "
      "resource.");
  return [=](CommandIo& io) {
    if (named->resource.empty() == manifest->empty()) {
      return Complain(io, "name a resource, or manifests with -f", ExitCode::kUsage);
    }
    Json resources;
    const ExitCode code = manifest->empty() ? Find(*flags, *named, io, resources)
                                            : FindDeclared(*flags, *manifest, io, resources);
    if (code == ExitCode::kOk)
      PrintItems(*output, resources, io.out, std::make_pair(FoundRows, ResourceName));
    return code;
  };
}

CommandAction DeclareDescribe(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto output = AddOutputFlag(app);
  app.Footer(
      "Examples:\n"
      "  truce describe s3/Bucket/prod-artifacts\n"
      "  truce describe bucket/artifacts\n\n"
      "A resource is named as in truce who-owns.");
  return [=](CommandIo& io) {
    if (named->resource.empty()) return Complain(io, "name a resource", ExitCode::kUsage);
    Json resources;
    const ExitCode code = Find(*flags, *named, io, resources);
    if (code != ExitCode::kOk) return code;
    Json whole = Json::array();
    for (const Json& resource : resources) {
      const std::string id = TextIn(resource, "id");
      if (id.empty()) {
        whole.push_back(resource);
        continue;
      }
      const ApiReply reply = AskApi(*flags, {"/api/v1/resources/" + id, {}}, io);
      if (reply.code != ExitCode::kOk) return reply.code;
      whole.push_back(ParseJson(reply.answer));
    }
    if (*output == "table" || *output == "wide") {
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (i > 0) io.out << "\n";
        if (whole[i].is_object()) DescribeResource(whole[i], io.out);
      }
      return ExitCode::kOk;
    }
    PrintItems(*output, whole, io.out, std::make_pair(ResourceRows, ResourceName));
    return ExitCode::kOk;
  };
}

CommandAction DeclareList(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = AddOutputFlag(app);
  const auto given = std::make_shared<ListArguments>();
  app.AddOption("--name", given->name, "Only resources of that name");
  app.AddOption("--arn", given->arn, "Only the one of that ARN");
  app.AddOption("--type", given->type, "Only that type, as s3/Bucket");
  app.AddOption("--service", given->service, "Only what that service owns");
  app.AddOption("--account", given->account, "Only that account");
  app.AddOption("--region", given->region, "Only that region");
  app.AddOption("--cluster", given->cluster, "Only roots of that cluster");
  app.AddOption("-n,--namespace", given->ns, "Only roots of that namespace");
  app.AddOption("--state", given->state, "Only that state")
      .Type("reserved|held|orphaned|imported")
      .OneOf({"reserved", "held", "orphaned", "imported"});
  app.AddFlag("--contested", given->contested, "Only what a second chain manages too");
  app.AddFlag("--shared", given->shared, "Only what is shared with another party");
  app.AddOption("--sort-by", given->sort, "Order; default key")
      .Type("key|name|type|service|account|region|since|-since")
      .OneOf({"key", "name", "type", "service", "account", "region", "since", "-since"});
  AddLimit(app, given->limit);
  app.Footer(
      "Examples:\n"
      "  truce list --service my-srv-one\n"
      "  truce list --state orphaned --sort-by since -o wide\n");
  return [=](CommandIo& io) {
    Json items;
    const ExitCode code = Collect(*flags,
                                  {"/api/v1/resources",
                                   {{"name", given->name},
                                    {"arn", given->arn},
                                    {"type", given->type},
                                    {"service", given->service},
                                    {"account", given->account},
                                    {"region", given->region},
                                    {"cluster", given->cluster},
                                    {"namespace", given->ns},
                                    {"state", given->state},
                                    {"sort", given->sort},
                                    {"contested", given->contested ? "true" : ""},
                                    {"shared", given->shared ? "true" : ""}},
                                   given->limit},
                                  io, items);
    if (code == ExitCode::kOk)
      PrintItems(*output, items, io.out, std::make_pair(ResourceRows, ResourceName));
    return code;
  };
}

CommandAction DeclareServices(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = AddOutputFlag(app);
  const auto limit = std::make_shared<std::size_t>(1000);
  AddLimit(app, *limit);
  app.Footer("Example:\n  truce services\n");
  return [=](CommandIo& io) {
    Json items;
    const ExitCode code = Collect(*flags, {"/api/v1/services", {}, *limit}, io, items);
    if (code != ExitCode::kOk) return code;
    const auto rows_of = [](const Json& services, bool) {
      Rows rows = {{"SERVICE", "OWNERSHIPS"}};
      for (const Json& each : services) {
        rows.push_back({TextIn(each, "service"), NumberOf(each, "ownerships")});
      }
      return rows;
    };
    const auto name_of = [](const Json& each) { return TextIn(each, "service"); };
    PrintItems(*output, items, io.out, std::make_pair(rows_of, name_of));
    return ExitCode::kOk;
  };
}

CommandAction DeclareAudit(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = AddOutputFlag(app);
  struct Arguments {
    std::string action;
    std::string actor;
    std::string id;
    std::string since;
    std::string until;
    bool oldest = false;
    std::size_t limit = 1000;
  };
  const auto given = std::make_shared<Arguments>();
  app.AddOption("--action", given->action, "Only that action, as granted, released, administered");
  app.AddOption("--actor", given->actor, "Only what that actor did");
  app.AddOption("--id", given->id, "Only of the resource of that id");
  app.AddOption("--since", given->since, "Not before, as 2026-11-21T18:00:00Z");
  app.AddOption("--until", given->until, "Before, as 2026-11-21T18:00:00Z");
  app.AddFlag("--oldest-first", given->oldest, "Oldest first");
  AddLimit(app, given->limit);
  app.Footer(
      "Examples:\n"
      "  truce audit --action administered\n"
      "  truce audit --oldest-first --limit 1000000 -o json > audit.json\n");
  return [=](CommandIo& io) {
    Json items;
    const ExitCode code = Collect(*flags,
                                  {"/api/v1/audit",
                                   {{"action", given->action},
                                    {"actor", given->actor},
                                    {"id", given->id},
                                    {"since", given->since},
                                    {"until", given->until},
                                    {"order", given->oldest ? "oldest" : ""}},
                                   given->limit},
                                  io, items);
    if (code != ExitCode::kOk) return code;
    const auto rows_of = [](const Json& lines, bool wide) {
      Rows rows = {{"AT", "ACTION", "ACTOR", "ROOT", "CAUSE"}};
      if (wide) rows[0].emplace_back("KEY");
      for (const Json& each : lines) {
        rows.push_back({TextIn(each, "at"), TextIn(each, "action"), TextIn(each, "actor"),
                        ObjectText(each, "root"), TextIn(each, "cause")});
        if (wide) rows.back().push_back(TextIn(each, "key"));
      }
      return rows;
    };
    const auto name_of = [](const Json& each) { return NumberOf(each, "number"); };
    PrintItems(*output, items, io.out, std::make_pair(rows_of, name_of));
    return ExitCode::kOk;
  };
}

CommandAction DeclareDenials(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto output = AddOutputFlag(app);
  const auto ns = std::make_shared<std::string>();
  app.AddOption("-n,--namespace", *ns, "Only of objects in that namespace");
  app.Footer("Example:\n  truce denials -n team-b\n");
  return [=](CommandIo& io) {
    Json items;
    const ExitCode code =
        Collect(*flags, {"/api/v1/denials", {{"namespace", *ns}}, 1000}, io, items);
    if (code != ExitCode::kOk) return code;
    const auto rows_of = [](const Json& denials, bool wide) {
      Rows rows = {{"LAST", "COUNT", "OBJECT", "RESOURCE", "RULE"}};
      if (wide) rows[0].insert(rows[0].end(), {"USER", "CAUSE"});
      for (const Json& each : denials) {
        rows.push_back({TextIn(each, "last"), NumberOf(each, "count"), ObjectText(each, "object"),
                        TextIn(each, "resource"), TextIn(each, "rule")});
        if (wide) {
          rows.back().push_back(TextIn(each, "user"));
          rows.back().push_back(TextIn(each, "cause"));
        }
      }
      return rows;
    };
    const auto name_of = [](const Json& each) { return TextIn(each, "resource"); };
    PrintItems(*output, items, io.out, std::make_pair(rows_of, name_of));
    return ExitCode::kOk;
  };
}

}  // namespace truce
