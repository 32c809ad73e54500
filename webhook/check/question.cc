#include "webhook/check/question.h"

#include "webhook/check/locations.h"
#include "webhook/check/manifest_reader.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::string_view kCheckVersion = "truce.dev/v1alpha1";

void AppendMember(std::string_view name, const std::string& json, std::string& out) {
  if (!out.ends_with('{')) out += ',';
  AppendJsonString(name, out);
  out.append(":").append(json);
}

std::string JsonOf(const YamlNode& node) {
  std::string out;
  AppendJson(node, out);
  return out;
}

std::string JsonOf(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

}  // namespace

std::string RequestItem(const YamlNode& object, const Slot& slot) {
  std::string metadata = "{";
  AppendMember("name", JsonOf(slot.name), metadata);
  if (!slot.ns.empty()) AppendMember("namespace", JsonOf(slot.ns), metadata);
  for (const std::string_view part : {"labels", "annotations"}) {
    const YamlNode* node = FindNode(object, {"metadata", part});
    if (node == nullptr || node->kind != YamlNode::Kind::kMapping) continue;
    YamlNode kept = *node;
    for (std::size_t i = 0; i < kept.keys.size(); ++i) {
      if (kept.keys[i].text == "kubectl.kubernetes.io/last-applied-configuration") {
        kept.children[i] = YamlNode::Scalar("", true);
      }
      kept.children[i].quoted = true;  // all of it is text to Kubernetes
    }
    AppendMember(part, JsonOf(kept), metadata);
  }
  std::string out = "{";
  const YamlNode* version = FindNode(object, {"apiVersion"});
  AppendMember("apiVersion", JsonOf(version == nullptr ? "" : version->scalar), out);
  AppendMember("kind", JsonOf(slot.kind), out);
  AppendMember("metadata", metadata + "}", out);
  if (const YamlNode* spec = object.Find("spec")) AppendMember("spec", JsonOf(*spec), out);
  return out + "}";
}

std::string SpecOfDeclared(const std::string& service,
                           const std::vector<DeclaredResource>& declared,
                           const std::string& source) {
  std::string list = "[";
  for (const DeclaredResource& each : declared) {
    const ResourceIdentity& identity = each.identity;
    if (each.partial || each.key().empty()) continue;
    if (list.size() > 1) list += ',';
    std::string item = "{";
    AppendMember("type", JsonOf(identity.type), item);
    std::string parts = "{";
    for (const auto& [name, value] : identity.parts) AppendMember(name, JsonOf(value), parts);
    AppendMember("parts", parts + "}", item);
    if (!identity.account.empty()) AppendMember("account", JsonOf(identity.account), item);
    if (!identity.region.empty()) AppendMember("region", JsonOf(identity.region), item);
    AppendMember("intent", JsonOf(Name(each.intent)), item);
    list += item + "}";
  }
  std::string spec = "{";
  if (!service.empty()) AppendMember("service", JsonOf(service), spec);
  if (!source.empty()) AppendMember("source", JsonOf(source), spec);
  AppendMember("declarations", list + "]", spec);
  return spec + "}";
}

std::string SpecOfValues(const YamlNode& values, const std::string& service,
                         const std::string& mapping) {
  std::string spec = "{";
  if (!service.empty()) AppendMember("service", JsonOf(service), spec);
  AppendMember("values", JsonOf(values), spec);
  if (!mapping.empty()) AppendMember("mapping", JsonOf(mapping), spec);
  return spec + "}";
}

std::string CheckItem(const Slot& slot, const std::string& spec) {
  std::string metadata = "{";
  AppendMember("name", JsonOf(slot.name), metadata);
  AppendMember("namespace", JsonOf(slot.ns), metadata);
  std::string out = "{";
  AppendMember("apiVersion", JsonOf(kCheckVersion), out);
  AppendMember("kind", JsonOf(slot.kind), out);
  AppendMember("metadata", metadata + "}", out);
  AppendMember("spec", spec, out);
  return out + "}";
}

}  // namespace truce
