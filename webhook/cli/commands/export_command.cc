#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "registry/base/one_line.h"
#include "registry/identity/values.h"
#include "webhook/api/described.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/commands/grant_manifest.h"
#include "webhook/cli/output.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

struct ExportArguments {
  std::string output = "ndjson";
  std::string type;
  std::string service;
  std::string ns;
  std::string state;
};

// Writes items in the form asked for, as they come.
class Writer {
 public:
  Writer(std::string output, std::ostream& out) : output_(std::move(output)), out_(out) {
    if (output_ == "json") out_ << "{\"items\":[";
    if (output_ == "csv") out_ << CsvHead(columns_);
  }

  void Write(const Json& item) {
    if (output_ == "csv") {
      out_ << CsvLine(columns_, item);
      return;
    }
    if (output_ == "json") out_ << (is_first_ ? "\n" : ",\n");
    out_ << Dump(item);
    if (output_ == "ndjson") out_ << "\n";
    is_first_ = false;
  }

  void End() {
    if (output_ == "json") out_ << "\n]}\n";
  }

 private:
  const std::string output_;
  std::ostream& out_;
  // `truce import` of each version reads these, and no other ones.
  const Headings columns_ = HeadingsOf<Owner>(
      "type name account region arn service contact state since until id key root");
  bool is_first_ = true;
};

// The resource as people read it, beside all that the registry keeps of its key.
Json Joined(const Json& item) {
  Json joined = item.value("resource", Json::object());
  joined["key"] = item.value("key", std::string());
  joined["keyCopy"] = item.value("keyCopy", Json::object());
  return joined;
}

ExitCode RunExport(const ApiFlags& flags, const ExportArguments& given, CommandIo& io) {
  const bool is_csv = given.output == "csv";
  Writer writer(given.output, io.out);
  ApiList list{{is_csv ? "/api/v1/resources" : "/api/v1/registry",
                {{"type", given.type},
                 {"service", given.service},
                 {"namespace", given.ns},
                 {"state", given.state}}},
               SIZE_MAX,
               io.out_is_terminal ? nullptr : "resources"};
  const ExitCode code = AskForEach(flags, list, io, [&](const nlohmann::ordered_json& each) {
    const Json item(each);
    writer.Write(is_csv ? item : Joined(item));
    return !io.out.fail();  // else nobody reads on
  });
  if (code != ExitCode::kOk || io.out.fail()) return code;
  writer.End();
  return ExitCode::kOk;
}

// The party of a share as the keys of an OwnershipGrant; empty when it has no such name.
Json PartyOf(const Json& share) {
  const std::string party = TextIn(share, "party");
  const Json owner = share.value("owner", Json::object());
  const auto with_cluster = [&](Json keys, const std::string& cluster) {
    if (cluster != TextIn(owner, "cluster")) keys["cluster"] = cluster;
    return keys;
  };
  if (party.starts_with("ns:")) {
    const std::size_t slash = party.find('/');
    if (slash == std::string::npos) return Json::object();
    return with_cluster({{"namespace", party.substr(slash + 1)}}, party.substr(3, slash - 3));
  }
  const auto slot =
      party.starts_with("slot:") ? SlotFromText(party.substr(5)) : std::optional<Slot>();
  if (!slot) return Json::object();
  return with_cluster({{"object", slot->kind + "." + slot->group + "/" + slot->name}},
                      slot->cluster);
}

// One OwnershipGrant for each resource that a namespace shares, in the order of first shares.
ExitCode RunGrants(const ApiFlags& flags, const ExportArguments& given, CommandIo& io) {
  TRUCE_ASSIGN_OR_RETURN(const Json shares,
                         AskForItems(flags, {{"/api/v1/shares", {{"namespace", given.ns}}}}, io));
  std::map<std::string, Json> grants;
  for (const Json& share : shares) {
    const Json resource = share.value("resource", Json::object());
    const std::string ns = TextIn(share.value("owner", Json::object()), "namespace");
    Json said = PartyOf(share);
    if (ns.empty() || said.empty()) {
      io.err << "truce: share " << OneLine(TextIn(share, "id")) << " of " << TypeAndName(resource)
             << " left out: no OwnershipGrant can say it\n";
      continue;
    }
    said["level"] = TextIn(share, "level");
    for (const char* name : {"until", "reason"}) {
      if (const std::string text = TextIn(share, name); !text.empty()) said[name] = text;
    }
    const std::string id = TextIn(resource, "id");
    Json& grant = grants[id];
    if (grant.is_null()) {
      grant = GrantAbout(resource, ns, "shares-" + id);
      grant["spec"]["shares"] = Json::array();
    }
    grant["spec"]["shares"].push_back(std::move(said));
  }
  for (const auto& [id, grant] : grants) {
    io.out << "---\n";
    PrintYaml(Dump(grant), io.out);
  }
  return ExitCode::kOk;
}

}  // namespace

CommandAction DeclareExport(CommandLine& app) {
  const auto flags = AddApiFlags(app);
  const auto given = std::make_shared<ExportArguments>();
  app.AddOption("-o,--output", given->output, "Form; default ndjson")
      .OneOf({"json", "ndjson", "csv", "grants"});
  app.AddOption("--type", given->type, "Only that type, as s3/Bucket");
  app.AddOption("--service", given->service, "Only what that service owns");
  app.AddOption("-n,--namespace", given->ns, "Only roots of that namespace");
  app.AddOption("--state", given->state, "Only that state")
      .OneOf({"reserved", "held", "orphaned", "imported"});
  app.Footer(
      "All ownerships, in the order of their keys; ndjson and json with declarations, shares, "
      "transfers\n"
      "and protections. The audit log is not among them; a copy with it, of one moment, is made "
      "with\n"
      "`truce backup`. `truce import` takes csv as a source of its own. The form grants is what\n"
      "namespaces share, as OwnershipGrant manifests for Git.\n\n"
      "Examples:\n"
      "  truce export > registry.ndjson\n"
      "  truce export -o csv --state imported > imported.csv\n"
      "  truce export -o grants -n team-a > grants.yaml\n");
  return [=](CommandIo& io) {
    if (given->output != "grants") return RunExport(*flags, *given, io);
    if (given->type.empty() && given->service.empty() && given->state.empty()) {
      return RunGrants(*flags, *given, io);
    }
    return Complain(io, "-o grants takes no filter but --namespace", ExitCode::kUsage);
  };
}

}  // namespace truce
