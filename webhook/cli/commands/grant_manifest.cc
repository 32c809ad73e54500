#include "webhook/cli/commands/grant_manifest.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "webhook/cli/output.h"
#include "webhook/cli/server/named_resource.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

}  // namespace

Json GrantAbout(const Json& resource, const std::string& ns, const std::string& name) {
  Json which = {{"type", TextIn(resource, "type")}, {"name", TextIn(resource, "name")}};
  if (const std::string arn = TextIn(resource, "arn"); !arn.empty()) which = {{"arn", arn}};
  return {{"apiVersion", "truce.dev/v1alpha1"},
          {"kind", "OwnershipGrant"},
          {"metadata", {{"name", name}, {"namespace", ns}}},
          {"spec", {{"resource", std::move(which)}}}};
}

ExitCode PrintGrant(const Json& resource, const char* name, const Json& spec, CommandIo& io) {
  const Json root = resource.value("root", Json::object());
  const std::string ns = root.is_object() ? TextIn(root, "namespace") : std::string();
  if (ns.empty()) {
    return Complain(io,
                    TypeAndName(resource) +
                        " has no owner in a namespace that an OwnershipGrant could speak for; "
                        "leave out -o yaml",
                    ExitCode::kNo);
  }
  Json grant = GrantAbout(resource, ns, std::string(name) + "-" + IdOf(resource));
  grant["spec"].update(spec);
  PrintYaml(Dump(grant), io.out);
  io.err << "Nothing was changed: the same as an object for Git, to be committed or applied.\n";
  return ExitCode::kOk;
}

}  // namespace truce
