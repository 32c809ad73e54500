// The setting `mappings`. Here are shape, words and paths; whether types and parts exist is the
// catalogue's to say, when the rules are built from these values.
#include <algorithm>
#include <array>

#include "registry/base/text.h"
#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

constexpr std::string_view kPathHelp =
    "; a path starts at spec, labels, annotations or is metadata.name, as spec.parameters.name or "
    "labels['example.org/service']";
constexpr std::string_view kValuesPathHelp =
    "; a path names members of the values, as objectStorage.*.name";

// The context of all paths of one rule.
struct RuleContext {
  const NodeReader& reader;
  FieldPath::Root root;
};

Result<FieldPath> ReadPath(const RuleContext& rule, const YamlNode& node, const std::string& path) {
  TRUCE_ASSIGN_OR_RETURN(const std::string text, rule.reader.Text(node, path));
  std::optional<FieldPath> field = FieldPathOf(text, rule.root);
  if (field) return *std::move(field);
  std::string what = "'" + text + "' is not a path";
  what += rule.root == FieldPath::Root::kValues ? kValuesPathHelp : kPathHelp;
  return rule.reader.Fail(node, path, what);
}

// A path, or {path: …}, or {value: constant}.
Result<PartSource> ReadValue(const RuleContext& rule, const YamlNode& node,
                             const std::string& path) {
  PartSource out;
  if (node.kind == YamlNode::Kind::kScalar) {
    TRUCE_ASSIGN_OR_RETURN(out.path, ReadPath(rule, node, path));
    return out;
  }
  TRUCE_RETURN_IF_ERROR(rule.reader.RequireMapping(node, path, {"path", "value"}));
  const YamlNode* value = node.Find("value");
  const YamlNode* field = node.Find("path");
  if ((value == nullptr) == (field == nullptr)) {
    return rule.reader.Fail(node, path, "must have exactly one of path and value");
  }
  if (value != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(out.constant, rule.reader.Text(*value, path + ".value"));
  } else {
    TRUCE_ASSIGN_OR_RETURN(out.path, ReadPath(rule, *field, path + ".path"));
  }
  return out;
}

Result<std::optional<PartSource>> ReadOptionalValue(const RuleContext& rule, const YamlNode& node,
                                                    const std::string& path, std::string_view key) {
  const YamlNode* child = node.Find(key);
  if (child == nullptr) return std::optional<PartSource>();
  TRUCE_ASSIGN_OR_RETURN(PartSource value,
                         ReadValue(rule, *child, std::string(path).append(".").append(key)));
  return std::optional<PartSource>(std::move(value));
}

Result<MappedResource> ReadDeclaration(const RuleContext& rule, const YamlNode& node,
                                       const std::string& path) {
  const NodeReader& reader = rule.reader;
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(node, path, {"type", "parts", "region", "account", "intent"}));
  MappedResource out;
  TRUCE_ASSIGN_OR_RETURN(out.type, reader.Required(node, "type", path));
  if (!IsTypeName(out.type)) {
    return reader.Fail(*node.Find("type"), path + ".type",
                       "'" + out.type + "' is not a type; write SERVICE/KIND, as s3/Bucket");
  }
  const YamlNode* parts = node.Find("parts");
  if (parts == nullptr) return reader.Fail(node, path + ".parts", "is missing");
  if (parts->kind != YamlNode::Kind::kMapping || parts->keys.empty()) {
    return reader.Fail(*parts, path + ".parts", "must be a map of parts, as 'name: spec.name'");
  }
  for (std::size_t i = 0; i < parts->keys.size(); ++i) {
    const std::string& part = parts->keys[i].text;
    TRUCE_ASSIGN_OR_RETURN(PartSource value,
                           ReadValue(rule, parts->children[i], path + ".parts." + part));
    out.parts.emplace(part, std::move(value));
  }
  TRUCE_ASSIGN_OR_RETURN(out.region, ReadOptionalValue(rule, node, path, "region"));
  TRUCE_ASSIGN_OR_RETURN(out.account, ReadOptionalValue(rule, node, path, "account"));
  const YamlNode* intent = node.Find("intent");
  if (intent == nullptr) return out;
  TRUCE_ASSIGN_OR_RETURN(const std::string word, reader.Required(node, "intent", path));
  const std::optional<Intent> known = IntentFromName(word);
  if (!known) {
    return reader.Fail(*intent, path + ".intent", "must be one of observes, manages, deletes");
  }
  out.intent = *known;
  return out;
}

// Exactly one of {group and kind} and {chartValues: true}, which is a rule without kind.
Result<GroupKind> ReadSubject(const NodeReader& reader, const YamlNode& node,
                              const std::string& path) {
  GroupKind out;
  const YamlNode* values = node.Find("chartValues");
  if (values != nullptr && values->scalar != "true") {
    return reader.Fail(*values, path + ".chartValues", "must be true, or be left out");
  }
  if (values != nullptr) {
    if (node.Find("group") == nullptr && node.Find("kind") == nullptr) return out;
    return reader.Fail(node, path, "must have either group and kind, or chartValues");
  }
  TRUCE_ASSIGN_OR_RETURN(out.group, reader.Required(node, "group", path));
  TRUCE_ASSIGN_OR_RETURN(out.kind, reader.Required(node, "kind", path));
  return out;
}

Result<std::vector<std::string>> ReadNamespaces(const NodeReader& reader, const YamlNode& node,
                                                const std::string& path) {
  const YamlNode* list = node.Find("namespaces");
  if (list == nullptr) return std::vector<std::string>();
  TRUCE_ASSIGN_OR_RETURN(std::vector<std::string> out, reader.Texts(*list, path));
  if (!out.empty()) return out;
  return reader.Fail(*list, path, "is empty; leave it out where the rule holds everywhere");
}

Result<MappingRule> ReadMapping(const NodeReader& reader, const YamlNode& node,
                                const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      node, path, {"group", "kind", "chartValues", "service", "namespaces", "declares"}));
  MappingRule out;
  TRUCE_ASSIGN_OR_RETURN(out.kind, ReadSubject(reader, node, path));
  const RuleContext rule{
      reader, out.kind.kind.empty() ? FieldPath::Root::kValues : FieldPath::Root::kObject};
  if (const YamlNode* service = node.Find("service"); service != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(out.service, ReadPath(rule, *service, path + ".service"));
  }
  TRUCE_ASSIGN_OR_RETURN(out.namespaces, ReadNamespaces(reader, node, path + ".namespaces"));
  const YamlNode* declares = node.Find("declares");
  if (declares == nullptr) return reader.Fail(node, path + ".declares", "is missing");
  TRUCE_RETURN_IF_ERROR(reader.RequireList(*declares, path + ".declares"));
  if (declares->children.empty()) {
    return reader.Fail(*declares, path + ".declares", "is empty; name at least one resource");
  }
  for (std::size_t i = 0; i < declares->children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(MappedResource item, ReadDeclaration(rule, declares->children[i],
                                                                ItemPath(path + ".declares", i)));
    out.declares.push_back(std::move(item));
  }
  return out;
}

// Both hold for one namespace, or both everywhere.
bool IsOneOfBoth(const MappingRule& a, const MappingRule& b) {
  if (a.namespaces.empty() || b.namespaces.empty()) {
    return a.namespaces.empty() && b.namespaces.empty();
  }
  return std::any_of(a.namespaces.begin(), a.namespaces.end(),
                     [&](const std::string& ns) { return b.HoldsIn(ns); });
}

bool IsMapped(const ConfigMapping& item, const Config& config) {
  return std::any_of(config.mappings.begin(), config.mappings.end(),
                     [&](const ConfigMapping& other) {
                       return other.rule.kind == item.rule.kind && other.name == item.name &&
                              IsOneOfBoth(other.rule, item.rule);
                     });
}

}  // namespace

std::optional<FieldPath> FieldPathOf(std::string_view text, FieldPath::Root root) {
  Result<FieldPath> path = FieldPath::Parse(text, root);
  if (!path.ok()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("['")) i = text.find("']", i + 2) + 1;
    const char c = text[i];
    const bool is_name = IsAlnum(c) || c == '-' || c == '_';
    if (!is_name && std::string_view(".*[]").find(c) == std::string_view::npos) return std::nullopt;
  }
  return std::move(path).value();
}

Result<void> ReadMappingObject(const YamlNode& node, std::string_view where,
                               const std::string& name, Config& config) {
  const NodeReader reader(where);
  ConfigMapping item{.location = reader.LocationOf(node)};
  TRUCE_ASSIGN_OR_RETURN(item.rule, ReadMapping(reader, node, "spec"));
  if (item.rule.kind.kind.empty()) item.name = name;
  if (IsMapped(item, config)) {
    return reader.Fail(node, "spec", "maps a kind that is mapped already; remove one of the two");
  }
  config.mappings.push_back(std::move(item));
  return {};
}

Result<void> ReadMappings(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "mappings"));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string path = ItemPath("mappings", i);
    ConfigMapping item{.location = reader.LocationOf(node.children[i])};
    TRUCE_ASSIGN_OR_RETURN(item.rule, ReadMapping(reader, node.children[i], path));
    if (IsMapped(item, config)) {
      return reader.Fail(node.children[i], path,
                         "maps a kind that is mapped above already; add to its 'declares'");
    }
    config.mappings.push_back(std::move(item));
  }
  return {};
}

}  // namespace truce
