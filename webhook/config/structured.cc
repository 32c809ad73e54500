#include "webhook/config/structured.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>

#include "registry/base/text.h"
#include "webhook/config/keys.h"

namespace truce {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string Joined(std::initializer_list<std::string_view> words) {
  std::string out;
  for (const std::string_view word : words) out.append(out.empty() ? "" : ", ").append(word);
  return out;
}

// Reads a mapping of type names to one word each.
template <typename Enum, std::size_t N>
Result<std::map<std::string, Enum, std::less<>>> ReadByType(const YamlNode& node,
                                                            const NodeReader& reader,
                                                            std::string_view key,
                                                            const std::array<Enum, N>& values) {
  if (node.kind != YamlNode::Kind::kMapping) {
    return reader.Fail(node, key, "is not a map; write 's3/Bucket: VALUE' lines below it");
  }
  std::map<std::string, Enum, std::less<>> by_type;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& type = node.keys[i].text;
    const std::string path = std::string(key) + "." + type;
    if (!IsTypeName(type)) {
      return reader.Fail(node.children[i], key,
                         "'" + type + "' is not a type; write SERVICE/KIND, as s3/Bucket");
    }
    // YAML 1.1 readers take a plain 'off' for a boolean; here it is a mode, whoever wrote it.
    const YamlNode& child = node.children[i];
    std::string allowed;
    bool found = false;
    for (const Enum value : values) {
      allowed.append(allowed.empty() ? "" : ", ").append(Name(value));
      if (child.kind != YamlNode::Kind::kScalar || child.scalar != Name(value)) continue;
      by_type.emplace(type, value);
      found = true;
    }
    if (!found) return reader.Fail(child, path, "must be one of " + allowed);
  }
  return by_type;
}

Result<Override> ReadOverride(const YamlNode& node, const NodeReader& reader,
                              const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(
      node, path, {"name", "object", "namespace", "group", "until", "reason"}));
  Override out;
  TRUCE_ASSIGN_OR_RETURN(out.name, reader.Optional(node, "name", path));
  TRUCE_ASSIGN_OR_RETURN(out.object, reader.Optional(node, "object", path));
  TRUCE_ASSIGN_OR_RETURN(out.ns, reader.Optional(node, "namespace", path));
  TRUCE_ASSIGN_OR_RETURN(out.group, reader.Optional(node, "group", path));
  const auto count = [](const std::string& field) { return field.empty() ? 0 : 1; };
  if (count(out.name) + count(out.object) + count(out.ns) + count(out.group) != 1) {
    return reader.Fail(node, path, "must have exactly one of name, object, namespace and group");
  }
  TRUCE_ASSIGN_OR_RETURN(const std::string until, reader.Required(node, "until", path));
  const auto time = ParseTimestamp(until);
  if (!time.has_value()) {
    return reader.Fail(*node.Find("until"), path + ".until",
                       "'" + until + "' is not a time; write it as 2026-11-21T18:00:00Z");
  }
  out.until = *time;
  TRUCE_ASSIGN_OR_RETURN(out.reason, reader.Required(node, "reason", path));
  return out;
}

bool IsAccountNumber(std::string_view text) {
  return text.size() == 12 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The ProviderConfig and its account.
Result<std::pair<ProviderConfigName, std::string>> ReadProviderConfig(const YamlNode& node,
                                                                      const NodeReader& reader,
                                                                      const std::string& path) {
  TRUCE_RETURN_IF_ERROR(
      reader.RequireMapping(node, path, {"group", "kind", "namespace", "name", "account"}));
  ProviderConfigName out;
  TRUCE_ASSIGN_OR_RETURN(out.group, reader.Optional(node, "group", path));
  TRUCE_ASSIGN_OR_RETURN(out.kind, reader.Optional(node, "kind", path));
  if (out.kind.empty()) out.kind = "ProviderConfig";
  if (!IsOneOf(out.kind, {"ProviderConfig", "ClusterProviderConfig"})) {
    return reader.Fail(*node.Find("kind"), path + ".kind",
                       "must be ProviderConfig or ClusterProviderConfig");
  }
  TRUCE_ASSIGN_OR_RETURN(out.ns, reader.Optional(node, "namespace", path));
  TRUCE_ASSIGN_OR_RETURN(out.name, reader.Required(node, "name", path));
  TRUCE_ASSIGN_OR_RETURN(std::string account, reader.Required(node, "account", path));
  if (!IsAccountNumber(account)) {
    return reader.Fail(*node.Find("account"), path + ".account",
                       "must be the 12 digits of an AWS account, in quotes");
  }
  return std::pair(std::move(out), std::move(account));
}

Result<ConfigParty> ReadParty(const YamlNode& node, const NodeReader& reader,
                              const std::string& path) {
  TRUCE_RETURN_IF_ERROR(reader.RequireMapping(node, path, {"service", "namespaces", "users"}));
  ConfigParty out;
  TRUCE_ASSIGN_OR_RETURN(out.service, reader.Required(node, "service", path));
  if (const YamlNode* namespaces = node.Find("namespaces"); namespaces != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(out.namespaces, reader.Texts(*namespaces, path + ".namespaces"));
  }
  if (const YamlNode* users = node.Find("users"); users != nullptr) {
    TRUCE_ASSIGN_OR_RETURN(out.users, reader.Texts(*users, path + ".users"));
  }
  if (out.namespaces.empty() && out.users.empty()) {
    return reader.Fail(node, path, "binds the service to nothing; add namespaces or users");
  }
  return out;
}

}  // namespace

std::string NodeReader::LocationOf(const YamlNode& node) const {
  std::string location(file_);
  if (node.location.line > 0) location.append(":").append(std::to_string(node.location.line));
  return location;
}

Error NodeReader::Fail(const YamlNode& node, std::string_view path, std::string_view what) const {
  return Error{ErrorCode::kInvalidArgument,
               LocationOf(node).append(": ").append(path).append(": ").append(what)};
}

Result<std::string> NodeReader::Text(const YamlNode& node, std::string_view path) const {
  if (node.kind != YamlNode::Kind::kScalar) {
    return Fail(node, path, "is a list or map; write one value");
  }
  if (node.scalar.empty()) return Fail(node, path, "has no value");
  if (!node.quoted && LooksLikeOtherThanText(node.scalar)) {
    return Fail(node, path, "'" + node.scalar + "' is not text to YAML; write it in quotes");
  }
  if (HasControl(node.scalar))
    return Fail(node, path, "holds a control character or line break; remove it");
  constexpr std::size_t kTextBytesMax = 1024;
  if (node.scalar.size() > kTextBytesMax) return Fail(node, path, "is longer than 1024 bytes");
  return node.scalar;
}

Result<std::vector<std::string>> NodeReader::Texts(const YamlNode& node,
                                                   std::string_view path) const {
  TRUCE_RETURN_IF_ERROR(RequireList(node, path));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(std::string text, Text(node.children[i], ItemPath(path, i)));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<void> NodeReader::RequireList(const YamlNode& node, std::string_view path) const {
  if (node.kind == YamlNode::Kind::kSequence) return {};
  return Fail(node, path, "is not a list; begin each item with '- '");
}

Result<void> NodeReader::RequireMapping(const YamlNode& node, std::string_view path,
                                        std::initializer_list<std::string_view> allowed) const {
  if (node.kind != YamlNode::Kind::kMapping) {
    return Fail(node, path, "is not a map; its keys are " + Joined(allowed));
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].text;
    if (IsOneOf(key, allowed)) continue;
    YamlNode at_key;
    at_key.location = node.keys[i].location;
    const std::string_view nearest = Nearest(key, std::span(allowed.begin(), allowed.size()));
    std::string what = "unknown key";
    if (nearest.empty()) {
      what.append("; the keys are ").append(Joined(allowed));
    } else {
      what.append("; did you mean '").append(nearest).append("'?");
    }
    return Fail(at_key, std::string(path) + "." + key, what);
  }
  return {};
}

Result<std::string> NodeReader::Required(const YamlNode& mapping, std::string_view key,
                                         std::string_view path) const {
  const YamlNode* node = mapping.Find(key);
  const std::string full = std::string(path).append(".").append(key);
  if (node == nullptr) return Fail(mapping, full, "is missing");
  return Text(*node, full);
}

Result<std::string> NodeReader::Optional(const YamlNode& mapping, std::string_view key,
                                         std::string_view path) const {
  if (mapping.Find(key) == nullptr) return std::string();
  return Required(mapping, key, path);
}

std::string ItemPath(std::string_view path, std::size_t index) {
  return std::string(path).append("[").append(std::to_string(index)).append("]");
}

bool IsTypeName(std::string_view text) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '.';
    });
  };
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && is_word(text.substr(0, slash)) &&
         is_word(text.substr(slash + 1));
}

Result<void> ReadTypeModes(const YamlNode& node, std::string_view where, Config& config) {
  static constexpr std::array kAll = {Mode::kOff, Mode::kAudit, Mode::kWarn, Mode::kEnforce};
  TRUCE_ASSIGN_OR_RETURN(config.modes.types,
                         ReadByType(node, NodeReader(where), "typeModes", kAll));
  return {};
}

Result<void> ReadUnsureTypeActions(const YamlNode& node, std::string_view where, Config& config) {
  static constexpr std::array kAll = {UnsureAction::kWarn, UnsureAction::kDeny};
  TRUCE_ASSIGN_OR_RETURN(config.modes.unsure_types,
                         ReadByType(node, NodeReader(where), "unsureTypeActions", kAll));
  return {};
}

Result<void> ReadOverrides(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "overrides"));
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(Override item,
                           ReadOverride(node.children[i], reader, ItemPath("overrides", i)));
    config.modes.overrides.push_back(std::move(item));
  }
  return {};
}

Result<void> ReadProviderConfigs(const YamlNode& node, std::string_view where, Config& config) {
  // One without group stands for those of all known AWS providers.
  static constexpr std::array kGroups = {"aws.upbound.io", "aws.m.upbound.io", "aws.crossplane.io"};
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "providerConfigs"));
  std::set<ProviderConfigName> seen;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string path = ItemPath("providerConfigs", i);
    TRUCE_ASSIGN_OR_RETURN(auto item, ReadProviderConfig(node.children[i], reader, path));
    auto& [provider, account] = item;
    if (!seen.insert(provider).second) {
      return reader.Fail(node.children[i], path,
                         "names a ProviderConfig that stands above already");
    }
    if (!provider.group.empty()) {
      config.accounts.emplace(std::move(provider), account);
      continue;
    }
    for (const char* group : kGroups) {
      provider.group = group;
      config.accounts.emplace(provider, account);
    }
  }
  return {};
}

Result<void> ReadParties(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "parties"));
  std::set<std::string> seen;
  std::set<std::string> bound;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string path = ItemPath("parties", i);
    TRUCE_ASSIGN_OR_RETURN(ConfigParty item, ReadParty(node.children[i], reader, path));
    if (!seen.insert(item.service).second) {
      return reader.Fail(node.children[i], path, "names a service that stands above already");
    }
    for (const std::string& name : item.namespaces) {
      if (bound.insert(name).second) continue;
      return reader.Fail(node.children[i], path,
                         "the namespace '" + name + "' is bound to a service already");
    }
    config.parties.push_back(std::move(item));
  }
  return {};
}

Result<void> ReadAccountParties(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  if (node.kind != YamlNode::Kind::kMapping) {
    return reader.Fail(node, "accountParties",
                       "is not a map; write '\"ACCOUNT\": [NAMESPACE]' lines below it");
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& account = node.keys[i].text;
    const std::string path = "accountParties." + account;
    if (!IsAccountNumber(account)) {
      YamlNode at_key;
      at_key.location = node.keys[i].location;
      return reader.Fail(at_key, path, "must be the 12 digits of an AWS account, in quotes");
    }
    TRUCE_ASSIGN_OR_RETURN(const auto names, reader.Texts(node.children[i], path));
    if (names.empty()) {
      return reader.Fail(node.children[i], path,
                         "is empty; name the namespaces, or leave the account out");
    }
    config.account_parties[account].insert(names.begin(), names.end());
  }
  return {};
}

}  // namespace truce
