// Readers of settings that only the file can give.
#include <algorithm>
#include <array>
#include <set>

#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "webhook/config/keys.h"
#include "webhook/wire/node_reader.h"

namespace truce {
namespace {

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
  const bool is_known = std::ranges::any_of(Flavours(), [&](const FlavourSpec& flavour) {
    return out.kind == flavour.config_kind || out.kind == flavour.own_config_kind;
  });
  if (!is_known) {
    return reader.Fail(*node.Find("kind"), path + ".kind",
                       "must be ProviderConfig, ClusterProviderConfig, or Namespace for ACK");
  }
  if (!out.group.empty() && out.kind == SpecOf(Flavour::kAck).config_kind) {
    return reader.Fail(*node.Find("group"), path + ".group",
                       "must be left out: a Namespace has none");
  }
  TRUCE_ASSIGN_OR_RETURN(out.ns, reader.Optional(node, "namespace", path));
  TRUCE_ASSIGN_OR_RETURN(out.name, reader.Required(node, "name", path));
  TRUCE_ASSIGN_OR_RETURN(std::string account, reader.Required(node, "account", path));
  if (!IsAccount(account)) {
    return reader.Fail(*node.Find("account"), path + ".account",
                       "must be the 12 digits of an AWS account, in quotes");
  }
  return std::pair(std::move(out), std::move(account));
}

}  // namespace

bool IsTypeName(std::string_view text) {
  const auto is_word = [](std::string_view word) {
    return !word.empty() && std::all_of(word.begin(), word.end(),
                                        [](char c) { return IsAlnum(c) || c == '-' || c == '.'; });
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
    // One without group stands for those of all known AWS providers.
    for (const FlavourSpec& flavour : Flavours()) {
      if (provider.kind != flavour.config_kind && provider.kind != flavour.own_config_kind)
        continue;
      provider.group = flavour.ConfigGroup();
      config.accounts.emplace(provider, account);
    }
  }
  return {};
}

Result<void> ReadParties(const YamlNode& node, std::string_view where, Config& config) {
  const NodeReader reader(where);
  TRUCE_RETURN_IF_ERROR(reader.RequireList(node, "parties"));
  std::set<std::string> seen;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const YamlNode& party = node.children[i];
    const std::string path = ItemPath("parties", i);
    TRUCE_RETURN_IF_ERROR(reader.RequireMapping(party, path, {"service", "namespaces"}));
    TRUCE_ASSIGN_OR_RETURN(const std::string service, reader.Required(party, "service", path));
    if (!seen.insert(service).second) {
      return reader.Fail(party, path, "names a service that stands above already");
    }
    const YamlNode* namespaces = party.Find("namespaces");
    if (namespaces == nullptr || namespaces->children.empty()) {
      return reader.Fail(party, path, "binds the service to nothing; add namespaces");
    }
    TRUCE_ASSIGN_OR_RETURN(const auto names, reader.Texts(*namespaces, path + ".namespaces"));
    for (const std::string& name : names) {
      if (config.services.emplace(name, service).second) continue;
      return reader.Fail(party, path, "the namespace '" + name + "' is bound to a service already");
    }
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
    if (!IsAccount(account)) {
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
