// Readers of `rules`, `exemptions` and `naming`. PolicyFrom (webhook/config/policy.h) checks the
// meaning of rules, types, templates and patterns; the locations are kept for that.
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "policies/rule_list.h"
#include "registry/base/nearest.h"
#include "registry/base/text.h"
#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

Result<Rule> ReadRuleName(const NodeReader& reader, const YamlNode& node, const std::string& path,
                          const std::string& rule) {
  std::vector<std::string_view> ids;
  for (const RuleSpec& spec : RuleList()) {
    if (!spec.configurable) continue;
    if (spec.id == rule) return spec.rule;
    ids.push_back(spec.id);
  }
  const std::string_view nearest = Nearest(rule, ids);
  return reader.Fail(node, path,
                     "no rule '" + rule + "'; " +
                         (nearest.empty() ? "the rules are " + Joined(ids)
                                          : "did you mean '" + std::string(nearest) + "'?"));
}

Result<Mode> ReadMode(const NodeReader& reader, const YamlNode& node, const std::string& path) {
  // YAML 1.1 readers take a plain 'off' for a boolean; here it is a mode, whoever wrote it.
  for (const Mode mode : {Mode::kOff, Mode::kAudit, Mode::kWarn, Mode::kEnforce}) {
    if (node.kind == YamlNode::Kind::kScalar && node.scalar == Name(mode)) return mode;
  }
  return reader.Fail(node, path, "must be one of off, audit, warn, enforce");
}

Result<std::optional<Timestamp>> ReadTime(const NodeReader& reader, const YamlNode& mapping,
                                          std::string_view key, const std::string& path) {
  const YamlNode* node = mapping.Find(key);
  if (node == nullptr) return std::optional<Timestamp>();
  const std::string full = path + "." + std::string(key);
  // A time is no number to people, whatever YAML thinks of it.
  const auto time =
      node->kind == YamlNode::Kind::kScalar ? ParseTimestamp(node->scalar) : std::nullopt;
  if (!time.has_value()) {
    return reader.Fail(*node, full, "is not a time; write it as 2026-11-21T18:00:00Z");
  }
  return time;
}

Result<std::map<std::string, std::string>> ReadLabels(const NodeReader& reader,
                                                      const YamlNode& node,
                                                      const std::string& path) {
  if (node.kind != YamlNode::Kind::kMapping || node.keys.empty()) {
    return reader.Fail(node, path, "is not a map; write 'LABEL: VALUE' lines below it");
  }
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].text;
    TRUCE_ASSIGN_OR_RETURN(out[key], reader.Text(node.children[i], path + "." + key));
  }
  return out;
}

Result<RuleScope> ReadScope(const NodeReader& reader, const YamlNode& node,
                            const std::string& path) {
  RuleScope out;
  const std::array<std::pair<std::string_view, std::string*>, 6> fields = {{
      {"type", &out.type},
      {"namespace", &out.ns},
      {"kind", &out.kind},
      {"object", &out.object},
      {"name", &out.name},
      {"service", &out.service},
  }};
  for (const auto& [key, field] : fields) {
    TRUCE_ASSIGN_OR_RETURN(*field, reader.Optional(node, key, path));
  }
  if (!out.type.empty() && !IsTypeName(out.type)) {
    return reader.Fail(*node.Find("type"), path + ".type",
                       "'" + out.type + "' is not a type; write SERVICE/KIND, as s3/Bucket");
  }
  if (const YamlNode* selector = node.Find("selector"); selector != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(const auto labels, ReadLabels(reader, *selector, path + ".selector"));
    out.selector.assign(labels.begin(), labels.end());
  }
  return out;
}

Result<ModeEntry> ReadModeEntry(const NodeReader& reader, const YamlNode& node,
                                const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(node, path,
                                              {"mode", "type", "namespace", "kind", "object",
                                               "name", "selector", "service", "from", "until"}));
  ModeEntry out;
  const YamlNode* mode = node.Find("mode");
  if (mode == nullptr) return reader.Fail(node, path + ".mode", "is missing");
  TRUCE_ASSIGN_OR_RETURN(out.mode, ReadMode(reader, *mode, path + ".mode"));
  TRUCE_ASSIGN_OR_RETURN(out.scope, ReadScope(reader, node, path));
  TRUCE_ASSIGN_OR_RETURN(out.from, ReadTime(reader, node, "from", path));
  TRUCE_ASSIGN_OR_RETURN(out.until, ReadTime(reader, node, "until", path));
  if (out.from && out.until && *out.until <= *out.from) {
    return reader.Fail(node, path, "ends before it begins; correct 'from' or 'until'");
  }
  out.location = reader.LocationOf(node);
  return out;
}

Result<void> ReadRule(const NodeReader& reader, const YamlNode& node, const std::string& path,
                      std::vector<ModeEntry>& entries) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(node, path, {"mode", "modes"}));
  if (const YamlNode* mode = node.Find("mode"); mode != nullptr) {
    ModeEntry out{.location = reader.LocationOf(*mode)};
    TRUCE_ASSIGN_OR_RETURN(out.mode, ReadMode(reader, *mode, path + ".mode"));
    entries.push_back(std::move(out));
  }
  const YamlNode* modes = node.Find("modes");
  if (modes == nullptr) {
    if (node.Find("mode") != nullptr) return {};
    return reader.Fail(node, path, "says nothing; write 'mode: warn' below it");
  }
  TRUCE_RETURN_IF_ERROR(reader.RequireList(*modes, path + ".modes"));
  for (std::size_t i = 0; i < modes->children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(ModeEntry out,
                           ReadModeEntry(reader, modes->children[i], ItemPath(path + ".modes", i)));
    entries.push_back(std::move(out));
  }
  return {};
}

Result<Exemption> ReadExemption(const NodeReader& reader, const YamlNode& node,
                                const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(node, path,
                                              {"rule", "type", "namespace", "kind", "object",
                                               "name", "selector", "service", "until", "reason"}));
  Exemption out;
  TRUCE_ASSIGN_OR_RETURN(const std::string rule, reader.Optional(node, "rule", path));
  if (!rule.empty()) {
    TRUCE_ASSIGN_OR_RETURN(out.rule,
                           ReadRuleName(reader, *node.Find("rule"), path + ".rule", rule));
  }
  TRUCE_ASSIGN_OR_RETURN(out.scope, ReadScope(reader, node, path));
  if (out.scope == RuleScope{}) {
    return reader.Fail(node, path,
                       "exempts everything; add type, namespace, kind, object, name, selector or "
                       "service, or set the rule's mode");
  }
  TRUCE_ASSIGN_OR_RETURN(out.until, ReadTime(reader, node, "until", path));
  TRUCE_ASSIGN_OR_RETURN(out.reason, reader.Required(node, "reason", path));
  out.location = reader.LocationOf(node);
  return out;
}

// Reads the naming convention and notes where each value stands.
class NamingReader {
 public:
  NamingReader(const NodeReader& reader, ConfigNaming& out) : reader_(reader), out_(out) {}

  Result<void> Read(const YamlNode& node) {
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(
        node, "naming", {"template", "templates", "types", "maxLengths", "variables"}));
    if (node.keys.empty()) return {};  // as `truce config` prints what is not set
    out_.given = true;
    Note("naming", node);
    if (const YamlNode* form = node.Find("template"); form != nullptr) {
      Note("naming.template", *form);
      TRUCE_ASSIGN_OR_RETURN(out_.spec.form, reader_.Text(*form, "naming.template"));
    }
    if (const YamlNode* types = node.Find("types"); types != nullptr) {
      Note("naming.types", *types);
      TRUCE_ASSIGN_OR_RETURN(out_.spec.types, reader_.Texts(*types, "naming.types"));
      if (out_.spec.types.empty()) {
        return reader_.Fail(*types, "naming.types", "is empty; leave it out for all types");
      }
    }
    TRUCE_RETURN_IF_ERROR(ReadForms(node.Find("templates")));
    TRUCE_RETURN_IF_ERROR(ReadLengths(node.Find("maxLengths")));
    return ReadVariables(node.Find("variables"));
  }

 private:
  void Note(const std::string& path, const YamlNode& node) {
    out_.locations[path] = reader_.LocationOf(node);
  }

  Result<void> ReadForms(const YamlNode* node) {
    if (node == nullptr) return {};
    TRUCE_RETURN_IF_ERROR(RequireByType(*node, "naming.templates"));
    for (std::size_t i = 0; i < node->keys.size(); ++i) {
      const std::string path = "naming.templates." + node->keys[i].text;
      Note(path, node->children[i]);
      TRUCE_ASSIGN_OR_RETURN(out_.spec.forms[node->keys[i].text],
                             reader_.Text(node->children[i], path));
    }
    return {};
  }

  Result<void> ReadLengths(const YamlNode* node) {
    if (node == nullptr) return {};
    TRUCE_RETURN_IF_ERROR(RequireByType(*node, "naming.maxLengths"));
    for (std::size_t i = 0; i < node->keys.size(); ++i) {
      const std::string path = "naming.maxLengths." + node->keys[i].text;
      const YamlNode& child = node->children[i];
      const std::string& text = child.scalar;
      std::size_t length = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
      const bool whole = child.kind == YamlNode::Kind::kScalar && error == std::errc() &&
                         end == text.data() + text.size();
      if (!whole || length < 1 || length > 1024) {
        return reader_.Fail(child, path, "must be a whole number, 1 to 1024");
      }
      Note(path, child);
      out_.spec.max_lengths[node->keys[i].text] = length;
    }
    return {};
  }

  Result<void> RequireByType(const YamlNode& node, const std::string& path) const {
    if (node.kind != YamlNode::Kind::kMapping) {
      return reader_.Fail(node, path, "is not a map; write 's3/Bucket: VALUE' lines below it");
    }
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      if (IsTypeName(node.keys[i].text)) continue;
      return reader_.Fail(
          node.children[i], path,
          "'" + node.keys[i].text + "' is not a type; write SERVICE/KIND, as s3/Bucket");
    }
    return {};
  }

  Result<void> ReadVariables(const YamlNode* node) {
    if (node == nullptr) return {};
    TRUCE_RETURN_IF_ERROR(
        reader_.RequireMapping(*node, "naming.variables",
                               {"service", "env", "type", "team", "region", "account", "suffix"}));
    for (std::size_t i = 0; i < node->keys.size(); ++i) {
      const std::string& name = node->keys[i].text;
      const NamingVariable variable = NamingVariableFromName(name).value();
      TRUCE_RETURN_IF_ERROR(ReadVariable(node->children[i], "naming.variables." + name,
                                         variable == NamingVariable::kType,
                                         out_.spec.variables[variable]));
    }
    return {};
  }

  Result<void> ReadVariable(const YamlNode& node, const std::string& path, bool is_type,
                            NamingVariableSpec& out) {
    if (is_type) {
      TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(node, path, {"map"}));
    }
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(node, path, {"values", "pattern", "from", "map"}));
    Note(path, node);
    for (std::size_t i = 0; i < node.keys.size(); ++i) {
      Note(path + "." + node.keys[i].text, node.children[i]);
    }
    if (const YamlNode* values = node.Find("values"); values != nullptr) {
      TRUCE_ASSIGN_OR_RETURN(out.values, reader_.Texts(*values, path + ".values"));
      if (out.values.empty()) {
        return reader_.Fail(*values, path + ".values", "is empty: no name could conform");
      }
    }
    TRUCE_ASSIGN_OR_RETURN(out.pattern, reader_.Optional(node, "pattern", path));
    if (const YamlNode* map = node.Find("map"); map != nullptr) {
      TRUCE_ASSIGN_OR_RETURN(out.spelt, ReadLabels(reader_, *map, path + ".map"));
    }
    const YamlNode* from = node.Find("from");
    if (from == nullptr) return {};
    TRUCE_RETURN_IF_ERROR(reader_.RequireList(*from, path + ".from"));
    for (std::size_t i = 0; i < from->children.size(); ++i) {
      TRUCE_ASSIGN_OR_RETURN(NamingSource source,
                             ReadSource(from->children[i], ItemPath(path + ".from", i)));
      out.sources.push_back(std::move(source));
    }
    return {};
  }

  Result<NamingSource> ReadSource(const YamlNode& node, const std::string& path) {
    using Kind = NamingSource::Kind;
    static constexpr std::array<std::pair<std::string_view, Kind>, 4> kTexts = {{
        {"label", Kind::kLabel},
        {"namespace", Kind::kNamespace},
        {"providerConfig", Kind::kProviderConfig},
        {"fixed", Kind::kFixed},
    }};
    TRUCE_RETURN_IF_ERROR(reader_.RequireMapping(
        node, path, {"declared", "label", "namespace", "providerConfig", "fixed"}));
    if (node.keys.size() != 1) {
      return reader_.Fail(
          node, path, "must have exactly one of declared, label, namespace, providerConfig, fixed");
    }
    if (const YamlNode* declared = node.Find("declared"); declared != nullptr) {
      if (declared->kind != YamlNode::Kind::kScalar || declared->scalar != "true") {
        return reader_.Fail(*declared, path + ".declared", "must be true");
      }
      return NamingSource{Kind::kDeclared, {}};
    }
    const std::string& key = node.keys.front().text;
    NamingSource out;
    for (const auto& [name, kind] : kTexts) {
      if (name == key) out.kind = kind;
    }
    TRUCE_ASSIGN_OR_RETURN(out.text, reader_.Required(node, key, path));
    return out;
  }

  const NodeReader& reader_;
  ConfigNaming& out_;
};

}  // namespace

Result<void> ReadRules(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  if (node.kind != YamlNode::Kind::kMapping) {
    return reader.Fail(node, "rules", "is not a map; write 'RULE: {mode: warn}' lines below it");
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& name = node.keys[i].text;
    TRUCE_ASSIGN_OR_RETURN(const Rule rule, ReadRuleName(reader, node.children[i], "rules", name));
    TRUCE_RETURN_IF_ERROR(ReadRule(reader, node.children[i], "rules." + name,
                                   config.modes.rules[static_cast<std::size_t>(rule)]));
  }
  return {};
}

Result<void> ReadExemptions(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "exemptions"));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(Exemption item,
                           ReadExemption(reader, node.children[i], ItemPath("exemptions", i)));
    config.modes.exemptions.push_back(std::move(item));
  }
  return {};
}

Result<void> ReadNaming(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  return NamingReader(reader, config.naming).Read(node);
}

}  // namespace truce
