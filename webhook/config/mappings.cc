// The setting `mappings`. Here are shape, words and paths; whether types and parts exist is the
// catalogue's to say, when the rules are built from these values.
#include <algorithm>
#include <array>
#include <cctype>

#include "webhook/config/keys.h"
#include "webhook/config/structured.h"

namespace truce {
namespace {

constexpr std::string_view kPathHelp =
    "; a path starts at spec, labels, annotations or is metadata.name, as spec.parameters.name or "
    "labels['example.org/service']";
constexpr std::string_view kValuesPathHelp =
    "; a path names members of the values, as objectStorage.*.name";

// What holds for all paths of one rule.
struct RuleContext {
  const NodeReader& reader;
  bool is_values;
};

Error BadPath(const RuleContext& rule, const YamlNode& node, std::string_view path) {
  std::string what = "'" + node.scalar + "' is not a path";
  what += rule.is_values ? kValuesPathHelp : kPathHelp;
  return rule.reader.Fail(node, path, what);
}

Result<std::string> ReadPath(const RuleContext& rule, const YamlNode& node,
                             const std::string& path) {
  TRUCE_ASSIGN_OR_RETURN(std::string text, rule.reader.Text(node, path));
  if (!IsFieldPath(text, rule.is_values)) return BadPath(rule, node, path);
  return text;
}

// A path, or {path: …}, or {value: constant}.
Result<MappedValue> ReadValue(const RuleContext& rule, const YamlNode& node,
                              const std::string& path) {
  MappedValue out;
  if (node.kind == YamlNode::Kind::kScalar) {
    TRUCE_ASSIGN_OR_RETURN(out.text, ReadPath(rule, node, path));
    return out;
  }
  TRUCE_RETURN_IF_ERROR(rule.reader.RequireMapping(node, path, {"path", "value"}));
  const YamlNode* value = node.Find("value");
  const YamlNode* field = node.Find("path");
  if ((value == nullptr) == (field == nullptr)) {
    return rule.reader.Fail(node, path, "must have exactly one of path and value");
  }
  out.is_constant = value != nullptr;
  if (out.is_constant) {
    TRUCE_ASSIGN_OR_RETURN(out.text, rule.reader.Text(*value, path + ".value"));
  } else {
    TRUCE_ASSIGN_OR_RETURN(out.text, ReadPath(rule, *field, path + ".path"));
  }
  return out;
}

Result<std::optional<MappedValue>> ReadOptionalValue(const RuleContext& rule, const YamlNode& node,
                                                     const std::string& path,
                                                     std::string_view key) {
  const YamlNode* child = node.Find(key);
  if (child == nullptr) return std::optional<MappedValue>();
  TRUCE_ASSIGN_OR_RETURN(MappedValue value,
                         ReadValue(rule, *child, std::string(path).append(".").append(key)));
  return std::optional<MappedValue>(std::move(value));
}

Result<MappedDeclaration> ReadDeclaration(const RuleContext& rule, const YamlNode& node,
                                          const std::string& path) {
  const NodeReader& reader = rule.reader;
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(node, path, {"type", "parts", "region", "account", "intent"}));
  MappedDeclaration out;
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
    TRUCE_ASSIGN_OR_RETURN(MappedValue value,
                           ReadValue(rule, parts->children[i], path + ".parts." + part));
    out.parts.emplace(part, std::move(value));
  }
  TRUCE_ASSIGN_OR_RETURN(out.region, ReadOptionalValue(rule, node, path, "region"));
  TRUCE_ASSIGN_OR_RETURN(out.account, ReadOptionalValue(rule, node, path, "account"));
  if (node.Find("intent") != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(out.intent, reader.Required(node, "intent", path));
  }
  static constexpr std::array<std::string_view, 3> kIntents = {"observes", "manages", "deletes"};
  if (std::find(kIntents.begin(), kIntents.end(), out.intent) == kIntents.end()) {
    return reader.Fail(*node.Find("intent"), path + ".intent",
                       "must be one of observes, manages, deletes");
  }
  return out;
}

// Exactly one of {group and kind} and {chartValues: true}. Returns whether it is about values.
Result<bool> ReadSubject(const NodeReader& reader, const YamlNode& node, const std::string& path,
                         ConfigMapping& out) {
  const YamlNode* values = node.Find("chartValues");
  if (values != nullptr && values->scalar != "true") {
    return reader.Fail(*values, path + ".chartValues", "must be true, or be left out");
  }
  if (values != nullptr) {
    if (node.Find("group") == nullptr && node.Find("kind") == nullptr) return true;
    return reader.Fail(node, path, "must have either group and kind, or chartValues");
  }
  TRUCE_ASSIGN_OR_RETURN(out.group, reader.Required(node, "group", path));
  TRUCE_ASSIGN_OR_RETURN(out.kind, reader.Required(node, "kind", path));
  return false;
}

Result<std::vector<std::string>> ReadNamespaces(const NodeReader& reader, const YamlNode& node,
                                                const std::string& path) {
  const YamlNode* list = node.Find("namespaces");
  if (list == nullptr) return std::vector<std::string>();
  TRUCE_ASSIGN_OR_RETURN(std::vector<std::string> out, reader.Texts(*list, path));
  if (!out.empty()) return out;
  return reader.Fail(*list, path, "is empty; leave it out where the rule holds everywhere");
}

Result<ConfigMapping> ReadMapping(const NodeReader& reader, const YamlNode& node,
                                  const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      node, path, {"group", "kind", "chartValues", "service", "namespaces", "declares"}));
  ConfigMapping out;
  out.place = reader.PlaceOf(node);
  TRUCE_ASSIGN_OR_RETURN(const bool is_values, ReadSubject(reader, node, path, out));
  const RuleContext rule{reader, is_values};
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
    TRUCE_ASSIGN_OR_RETURN(
        MappedDeclaration item,
        ReadDeclaration(rule, declares->children[i], ItemPath(path + ".declares", i)));
    out.declares.push_back(std::move(item));
  }
  return out;
}

// Both hold for one namespace, or both everywhere.
bool IsOneOfBoth(const ConfigMapping& a, const ConfigMapping& b) {
  if (a.namespaces.empty() || b.namespaces.empty()) {
    return a.namespaces.empty() && b.namespaces.empty();
  }
  return std::any_of(a.namespaces.begin(), a.namespaces.end(), [&](const std::string& ns) {
    return std::find(b.namespaces.begin(), b.namespaces.end(), ns) != b.namespaces.end();
  });
}

bool IsMapped(const ConfigMapping& item, const Config& config) {
  return std::any_of(config.mappings.begin(), config.mappings.end(),
                     [&](const ConfigMapping& other) {
                       return other.group == item.group && other.kind == item.kind &&
                              other.name == item.name && IsOneOfBoth(other, item);
                     });
}

bool IsNameByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

// Splits off the step that `path` begins with: a name, '*', or brackets. Empty when there is none.
std::string_view NextStep(std::string_view path) {
  if (path.starts_with("[*]")) return path.substr(0, 3);
  if (path.starts_with("['")) {
    const std::size_t end = path.find("']", 2);
    return end == std::string_view::npos || end == 2 ? std::string_view{} : path.substr(0, end + 2);
  }
  if (path.starts_with('*')) return path.substr(0, 1);
  std::size_t size = 0;
  while (size < path.size() && IsNameByte(path[size])) ++size;
  return path.substr(0, size);
}

}  // namespace

bool IsFieldPath(std::string_view path, bool any_start) {
  constexpr std::size_t kStepsMax = 16;
  std::vector<std::string_view> steps;
  while (true) {
    const std::string_view step = NextStep(path);
    if (step.empty() || steps.size() == kStepsMax) return false;
    steps.push_back(step);
    path.remove_prefix(step.size());
    if (path.empty()) break;
    if (path.starts_with('[')) continue;
    if (!path.starts_with('.')) return false;
    path.remove_prefix(1);
  }
  if (any_start) return true;
  const std::string_view root = steps.front();
  if (root == "metadata") {
    const bool is_map = steps.size() > 2 && (steps[1] == "labels" || steps[1] == "annotations");
    return is_map || (steps.size() == 2 && steps[1] == "name");
  }
  return steps.size() > 1 && (root == "spec" || root == "labels" || root == "annotations");
}

Result<void> ReadMappingObject(const YamlNode& node, std::string_view where,
                               const std::string& name, Config& config) {
  const NodeReader reader(where);
  TRUCE_ASSIGN_OR_RETURN(ConfigMapping item, ReadMapping(reader, node, "spec"));
  if (item.kind.empty()) item.name = name;
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
    TRUCE_ASSIGN_OR_RETURN(ConfigMapping item, ReadMapping(reader, node.children[i], path));
    if (IsMapped(item, config)) {
      return reader.Fail(node.children[i], path,
                         "maps a kind that is mapped above already; add to its 'declares'");
    }
    config.mappings.push_back(std::move(item));
  }
  return {};
}

}  // namespace truce
