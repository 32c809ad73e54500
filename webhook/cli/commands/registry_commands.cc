// who-owns, list, describe, services, audit, denials: questions to the registry.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/one_line.h"
#include "webhook/api/described.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/manifest_file.h"
#include "webhook/cli/duration.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/cli/server/server_finder.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLimitMax = 1'000'000;
constexpr std::size_t kManifestsMax = 500;  // of one question to the server

bool IsTrue(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

Listed ResourcesListed() { return {HeadingsOf<Owner>(), "type/name"}; }

// The resources that are meant.
Asked Find(const ApiFlags& flags, const NamedResource& named, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(Json answer, FindAll(flags, {ParametersOf(named), named.resource}, io));
  Json resources = std::move(answer["resources"]);
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
  return resources;
}

// The body of a check of all manifests of the file, 500 at most.
Result<std::string> CheckOfManifests(const std::string& file) {
  std::size_t bytes = 0;
  ManifestFile manifests(file, bytes);
  std::string body = "{\"items\":[";
  std::size_t count = 0;
  const auto add = [&](const YamlNode& object) {
    if (count++ > 0) body += ',';
    AppendObject(object, body);
  };
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(const std::optional<Manifest> next, manifests.Next());
    if (!next) return body + "]}";
    const YamlNode* items = next->root.Find("items");
    const bool is_list = items != nullptr && items->kind == YamlNode::Kind::kSequence &&
                         next->root.Find("spec") == nullptr;
    if (is_list) std::for_each(items->children.begin(), items->children.end(), add);
    if (!is_list) add(next->root);
    if (count > kManifestsMax) {
      return Error{ErrorCode::kInvalidArgument, file + ": more than 500 manifests"};
    }
  }
}

// The names of the resources that the manifests of a file declare, by the server's own rules, each
// once. kUsage after a complaint: also when they declare nothing that is known.
Result<std::vector<std::string>, ExitCode> KeysDeclaredIn(const ApiFlags& flags,
                                                          const std::string& file, CommandIo& io) {
  const Result<std::string> body = CheckOfManifests(file);
  if (!body.ok()) return Complain(io, body.error().message, ExitCode::kUsage);
  TRUCE_ASSIGN_OR_RETURN(const Json answer,
                         AskForList(flags, {.path = "/api/v1/checks", .body = body.value()}, io));
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    const bool is_new = std::find(keys.begin(), keys.end(), key) == keys.end();
    if (!key.empty() && is_new) keys.push_back(key);
  };
  for (const Json& item : answer["items"]) {
    if (!item.is_object() || !item.contains("declares")) continue;
    for (const Json& declared : item["declares"]) {
      add(TextIn(declared, "key"));
      for (const Json& name : declared.value("names", Json::array())) {
        if (name.is_string()) add(name.get<std::string>());
      }
    }
  }
  if (!keys.empty()) return keys;
  return Complain(io, file + ": the manifests declare no resource whose name is known",
                  ExitCode::kUsage);
}

// Resources that the manifests of a file declare and somebody owns.
Asked FindDeclared(const ApiFlags& flags, const std::string& file, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<std::string> keys, KeysDeclaredIn(flags, file, io));
  Json resources = Json::array();
  for (const std::string& key : keys) {
    ApiQuestion question{.path = "/api/v1/resources:lookup", .parameters = {{"key", key}}};
    question.list = "resources";
    TRUCE_ASSIGN_OR_RETURN(const Json answer, AskForList(flags, question, io));
    for (const Json& resource : answer["resources"]) {
      // By several of its names it is one.
      const bool is_new =
          std::find(resources.begin(), resources.end(), resource) == resources.end();
      if (is_new) resources.push_back(resource);
    }
  }
  if (!resources.empty()) return resources;
  return Complain(io, "nobody owns what " + OneLine(file) + " declares", ExitCode::kNo);
}

// Since when it may not be deleted, by whom and why; empty: it is not protected.
std::string ProtectionOf(const Json& resource) {
  const auto found = resource.find("protection");
  if (found == resource.end() || !found->is_object()) return {};
  return "since " + TextIn(*found, "at") + " by " + TextIn(*found, "by") + ": " +
         TextIn(*found, "reason");
}

Json HindrancesOf(const Json& resource) {
  const auto found = resource.find("protection");
  if (found == resource.end() || !found->is_object()) return Json::array();
  return found->value("hindrances", Json::array());
}

void DescribeResource(const Json& resource, std::ostream& out) {
  const auto line = [&](const char* label, const std::string& text) {
    if (text.empty()) return;
    std::string head(label);
    head.append(14 - std::min<std::size_t>(head.size(), 13), ' ');
    out << head << OneLine(text) << "\n";
  };
  line("Resource:", TextIn(resource, "type") + "/" + TextIn(resource, "name"));
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
  line("Not free:", TextIn(resource, "whyNotFree"));
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
  line("Protection:", ProtectionOf(resource));
  for (const Json& each : HindrancesOf(resource)) {
    line("", "its deletion would pass: " + TextIn(each, "what"));
  }
  const auto section = [&](const char* title, const char* member, const Headings& headings) {
    const auto found = resource.find(member);
    if (found == resource.end() || !found->is_array() || found->empty()) return;
    out << "\n" << title << "\n";
    PrintTable(headings, *found, out);
  };
  section("Names", "names", HeadingsOf<ResourceName>());
  section("Declarations", "declarations", HeadingsOf<Row>());
  section("Consumers", "consumers", HeadingsOf<Row>());
  section("Shares", "shares", HeadingsOf<Share>("to level state until reason id"));
  section("History", "history", HeadingsOf<AuditLine>("at action actor cause"));
  section("Denied", "denials", HeadingsOf<Denial>("last count object user"));
}

// As kubectl: where the kubeconfig leads to the server, its context says which namespace is meant.
void AddContextNamespace(const ApiFlags& flags, ApiList& list, CommandIo& io) {
  auto& parameters = list.question.parameters;
  for (const auto& [name, value] : parameters) {
    if (name == "namespace") return;
  }
  const Result<ServerPlace> place = FindServer(flags, io);
  if (!place.ok() || place.value().network.ns.empty()) return;
  const std::string& ns = place.value().network.ns;
  parameters.emplace_back("namespace", ns);
  if (io.err_is_terminal) {
    io.err << "truce: of namespace " << OneLine(ns) << ", as the context says; -A lists all\n";
  }
}

// A command that prints a list of the server; its flags are parameters of the question.
class ListCommand final {
 public:
  explicit ListCommand(CommandLine& app)
      : app_(app), flags_(AddApiFlags(app)), form_(AddForm(app)) {}

  // A flag for a namespace, and one that says that all are meant, as nothing does.
  void Namespace(const std::string& help) {
    Filter("-n,--namespace", "namespace", help);
    takes_context_ = std::make_shared<bool>(true);
    app_.AddFlag(
            "-A,--all-namespaces", [takes = takes_context_](bool) { *takes = false; },
            "Of all namespaces; the default where the kubeconfig's context names none")
        .Excludes("--namespace");
  }
  // A time, or how far back it lies.
  void Time(const std::string& flag, const char* parameter, const std::string& help) {
    app_.AddOption(
        flag,
        [list = list_, parameter](const std::string& text) {
          const auto back = DurationFrom(text);
          const std::string time = back ? FormatTimestamp(SystemClock().Now() - *back) : text;
          list->question.parameters.emplace_back(parameter, time);
        },
        help);
  }
  Argument Filter(const std::string& flag, const char* parameter, const std::string& help) {
    return app_.AddOption(
        flag,
        [list = list_, parameter](const std::string& text) {
          list->question.parameters.emplace_back(parameter, text);
        },
        help);
  }
  void Switch(const std::string& flag, std::pair<const char*, const char*> parameter,
              const std::string& help) {
    app_.AddFlag(
        flag,
        [list = list_, parameter](bool) {
          list->question.parameters.emplace_back(parameter.first, parameter.second);
        },
        help);
  }
  void Limit() {
    app_.AddOption("--limit", list_->items_max, "Most lines; default 1000").Between(1, kLimitMax);
  }

  // `sorts`: the server sorts, too.
  CommandAction Printing(const char* path, const Listed& listed, bool sorts = false) {
    list_->question.path = path;
    return [=, flags = flags_, form = form_, list = list_,
            takes_context = takes_context_](CommandIo& io) {
      ApiList asked = *list;
      Form shown = *form;
      if (sorts) asked.question.parameters.emplace_back("sort", std::exchange(shown.sort_by, {}));
      if (takes_context && *takes_context) AddContextNamespace(*flags, asked, io);
      TRUCE_ASSIGN_OR_RETURN(const Json items, AskForItems(*flags, asked, io));
      return PrintList(shown, listed, items, io);
    };
  }

 private:
  CommandLine& app_;
  const std::shared_ptr<ApiFlags> flags_;
  const std::shared_ptr<Form> form_;
  // That a list without namespace is of the context's; null: it is of no namespace.
  std::shared_ptr<bool> takes_context_;
  const std::shared_ptr<ApiList> list_ = std::make_shared<ApiList>(ApiList{.items_max = 1000});
};

}  // namespace

CommandAction DeclareWhoOwns(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
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
    TRUCE_ASSIGN_OR_RETURN(const Json resources, manifest->empty()
                                                     ? Find(*flags, *named, io)
                                                     : FindDeclared(*flags, *manifest, io));
    // Of several found the id too, by which each can be named.
    Listed listed = ResourcesListed();
    for (Heading& each : listed.headings) each.wide &= resources.size() < 2 || each.name != "id";
    return PrintList(*form, listed, resources, io);
  };
}

CommandAction DeclareDescribe(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto named = AddNamedResource(app);
  const auto form = AddForm(app);
  app.Footer(
      "Examples:\n"
      "  truce describe s3/Bucket/prod-artifacts\n"
      "  truce describe bucket/artifacts\n\n"
      "A resource is named as in truce who-owns.");
  return [=](CommandIo& io) {
    if (named->resource.empty()) return Complain(io, "name a resource", ExitCode::kUsage);
    TRUCE_ASSIGN_OR_RETURN(const Json resources, Find(*flags, *named, io));
    Json whole = Json::array();
    for (const Json& resource : resources) {
      const std::string id = TextIn(resource, "id");
      if (id.empty()) {
        whole.push_back(resource);
        continue;
      }
      TRUCE_ASSIGN_OR_RETURN(Json each, AskForObject(*flags, {"/api/v1/resources/" + id}, io));
      whole.push_back(std::move(each));
    }
    if (form->for_people()) {
      for (std::size_t i = 0; i < whole.size(); ++i) {
        if (i > 0) io.out << "\n";
        DescribeResource(whole[i], io.out);
      }
      return ExitCode::kOk;
    }
    return PrintList(*form, ResourcesListed(), whole, io);
  };
}

CommandAction DeclareList(CommandLine& app) {
  ListCommand list(app);
  list.Filter("--name", "name",
              "Only resources of that name; * is any run of characters, as in 'acme-*'");
  list.Filter("--arn", "arn", "Only the one of that ARN");
  list.Filter("--type", "type", "Only that type, as s3/Bucket");
  list.Filter("--service", "service", "Only what that service owns");
  list.Filter("--account", "account", "Only that account");
  list.Filter("--region", "region", "Only that region");
  list.Filter("--cluster", "cluster", "Only roots of that cluster");
  list.Namespace("Only roots of that namespace");
  list.Filter("--state", "state", "Only that state")
      .OneOf({"reserved", "held", "orphaned", "imported"});
  list.Switch("--contested", {"contested", "true"}, "Only what a second chain manages too");
  list.Switch("--shared", {"shared", "true"}, "Only what is shared with another party");
  list.Limit();
  app.Footer(
      "Examples:\n"
      "  truce list --service my-srv-one\n"
      "  truce list -n team-a --service-account team-a/reader\n"
      "  truce list --state orphaned --sort-by since -o wide\n");
  return list.Printing("/api/v1/resources", ResourcesListed(), true);
}

CommandAction DeclareServices(CommandLine& app) {
  ListCommand list(app);
  list.Limit();
  app.Footer("Example:\n  truce services\n");
  return list.Printing("/api/v1/services", {HeadingsOf<ServiceCount>(), "service"});
}

CommandAction DeclareAudit(CommandLine& app) {
  ListCommand list(app);
  list.Filter("--action", "action", "Only that action, as granted, released, administered");
  list.Filter("--actor", "actor", "Only what that actor did");
  list.Filter("--id", "id", "Only of the resource of that id");
  list.Time("--since", "since", "Not before, as 2026-11-21T18:00:00Z, or how far back, as 1h");
  list.Time("--until", "until", "Before, as 2026-11-21T18:00:00Z, or how far back, as 1h");
  list.Switch("--oldest-first", {"order", "oldest"}, "Oldest first");
  list.Limit();
  app.Footer(
      "Examples:\n"
      "  truce audit --since 1h\n"
      "  truce audit --action administered\n"
      "  truce audit --oldest-first --limit 1000000 -o json > audit.json\n");
  return list.Printing("/api/v1/audit", {HeadingsOf<AuditLine>(), "number"});
}

CommandAction DeclareDenials(CommandLine& app) {
  ListCommand list(app);
  list.Namespace("Only of objects in that namespace");
  app.Footer("Example:\n  truce denials -n team-b\n");
  return list.Printing("/api/v1/denials", {HeadingsOf<Denial>(), "resource"});
}

}  // namespace truce
