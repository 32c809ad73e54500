#include "webhook/publish/webhook_repair.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "webhook/wire/base64.h"
#include "webhook/wire/endpoints.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

// A part of a regular expression (RE2) that matches what `pattern` does.
std::string AsRegularExpression(std::string_view pattern) {
  constexpr std::string_view kSpecial = R"(\.+?()|[]{}^$)";
  std::string out;
  for (const char c : pattern) {
    if (c == '*') {
      out += ".*";
      continue;
    }
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// A text between single quotes, as CEL reads it.
std::string AsCelText(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') out += '\\';
    out += c;
  }
  return out += '\'';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> StatusConditions(
    std::span<const std::string> providers, std::span<const std::string> restorers) {
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](std::string name, std::span<const std::string> patterns) {
    if (patterns.empty()) return;
    std::string any;
    for (const std::string& pattern : patterns) {
      any.append(any.empty() ? "" : "|").append(AsRegularExpression(pattern));
    }
    out.emplace_back(std::move(name), "!request.userInfo.username.matches(" +
                                          AsCelText("(?s)^(?:" + any + ")$") + ")");
  };
  add("not-providers", providers);
  add("not-restorers", restorers);
  return out;
}

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSuffix = ".truce.dev";
constexpr std::string_view kMappedPrefix = "mapped-";
constexpr std::string_view kDeclarations = "declarations.truce.dev";
constexpr std::string_view kDeletions = "deletions.truce.dev";
// By its User-Agent.
constexpr std::string_view kOwnManager = "truce";
constexpr std::string_view kFinalizers = "finalizers.truce.dev";

std::string NameOf(const Json& entry) { return TextIn(entry, "name"); }

// Where Truce answers what an entry sends.
std::optional<Endpoint> EndpointOf(std::string_view name) {
  if (name.starts_with(kMappedPrefix)) name.remove_prefix(kMappedPrefix.size());
  // Its requests count as those of declarations.
  if (name == kFinalizers) return Endpoint::kDeclarations;
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto* const found = std::find_if(kEndpoints.begin(), kEndpoints.end(),
                                         [&](Endpoint endpoint) { return Name(endpoint) == name; });
  return found == kEndpoints.end() ? std::nullopt : std::optional(*found);
}

// Groups that the rules of an entry name.
std::set<std::string> GroupsOf(const Json& entry) {
  std::set<std::string> groups;
  const auto rules = entry.find("rules");
  if (rules == entry.end()) return groups;
  for (const Json& rule : *rules) {
    const auto named = rule.is_object() ? rule.find("apiGroups") : rule.end();
    if (named == rule.end()) continue;
    for (const Json& group : *named) {
      if (group.is_string()) groups.insert(group.get<std::string>());
    }
  }
  return groups;
}

const Json* Find(const Json& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Json& entry) { return NameOf(entry) == name; });
  return found == entries.end() ? nullptr : &*found;
}

// Works on the list of entries.
class Repair final {
 public:
  Repair(Json entries, const PublishedWebhook& wanted)
      : entries_(std::move(entries)),
        wanted_(wanted),
        paths_(PathsOf(wanted.path_secret.value_or(std::string()))),
        bundle64_(EncodeBase64(wanted.bundle)) {}

  void Run() {
    NoteBundle();
    RepairDeletions();
    RepairFinalizers();
    RepairCompositions();
    RepairStatus();
    for (Json& entry : entries_) {
      if (!NameOf(entry).ends_with(kSuffix)) continue;
      RepairClient(entry);
    }
    RepairMapped(kDeclarations);
    RepairMapped(kDeletions);
    RepairMapped(kFinalizers);
  }

  WebhookRepair Take(const std::string& version) && {
    WebhookRepair out;
    out.is_of_clients = is_of_clients_;
    out.bundle = std::move(bundle_);
    out.changes = std::move(changes_);
    if (out.changes.empty()) return out;
    const Json patch = {{"metadata", {{"resourceVersion", version}}}, {"webhooks", entries_}};
    out.patch = Dump(patch);
    return out;
  }

 private:
  void NoteBundle() {
    std::set<std::string> bundles;
    for (const Json& entry : entries_) {
      if (!NameOf(entry).ends_with(kSuffix)) continue;
      const auto client = entry.find("clientConfig");
      const bool is_object = client != entry.end() && client->is_object();
      bundles.insert(is_object ? TextIn(*client, "caBundle") : std::string());
    }
    if (bundles.size() == 1) bundle_ = DecodeBase64(*bundles.begin()).value_or("");
  }

  void NoteClient(const Json& entry, std::string_view what) {
    const std::string made = NameOf(entry) + ": entry";
    if (std::find(changes_.begin(), changes_.end(), made) == changes_.end()) is_of_clients_ = true;
    Note(entry, what);
  }

  void Note(const Json& entry, std::string_view what) {
    changes_.push_back(NameOf(entry) + ": " + std::string(what));
  }

  void RepairClient(Json& entry) {
    Json& client = entry["clientConfig"];
    if (!client.is_object()) client = Json::object();
    if (TextIn(client, "caBundle") != bundle64_) {
      client["caBundle"] = bundle64_;
      NoteClient(entry, "caBundle");
    }
    const std::optional<Endpoint> endpoint = EndpointOf(NameOf(entry));
    if (!wanted_.path_secret || !endpoint) return;
    const std::string& path = Of(paths_, *endpoint);
    if (client.contains("service") && client["service"].is_object()) {
      if (TextIn(client["service"], "path") == path) return;
      client["service"]["path"] = path;
      NoteClient(entry, "path");
    }
  }

  static bool SendsDeletions(const Json& entry) {
    const Json rules = entry.value("rules", Json::array());
    return std::any_of(rules.begin(), rules.end(), [](const Json& rule) {
      if (!rule.is_object()) return false;
      const Json operations = rule.value("operations", Json::array());
      return std::any_of(operations.begin(), operations.end(),
                         [](const Json& each) { return each == "DELETE" || each == "*"; });
    });
  }

  // Without it a mark protects nothing. A copy of the declarations' entry, but that nobody waits
  // for Truce to delete something.
  void RepairDeletions() {
    const Json* const model = Find(entries_, kDeclarations);
    const bool is_sent = std::any_of(entries_.begin(), entries_.end(), [](const Json& entry) {
      const std::string name = NameOf(entry);
      return name.ends_with(kSuffix) && !name.starts_with(kMappedPrefix) && SendsDeletions(entry);
    });
    if (model == nullptr || is_sent || Find(entries_, kDeletions) != nullptr) return;
    Json entry = *model;
    entry["name"] = kDeletions;
    entry["failurePolicy"] = "Ignore";
    if (entry.contains("rules") && entry["rules"].is_array()) {
      for (Json& rule : entry["rules"]) {
        if (rule.is_object()) rule["operations"] = {"DELETE"};
      }
    }
    Note(entry, "entry");
    entries_.push_back(std::move(entry));
  }

  // An entry for the updates that the declarations' entry drops. One that drops none needs none.
  void RepairFinalizers() {
    const Json* const model = Find(entries_, kDeclarations);
    if (model == nullptr || Find(entries_, kFinalizers) != nullptr) return;
    Json entry = *model;
    bool drops = false;
    Json conditions = Json::array();
    for (const Json& condition : entry.value("matchConditions", Json::array())) {
      const bool is_drop =
          condition.is_object() && TextIn(condition, "expression") == kUpdateCondition;
      drops = drops || is_drop;
      if (!is_drop) conditions.push_back(condition);
    }
    if (!drops || !entry.contains("rules") || !entry["rules"].is_array()) return;
    conditions.push_back({{"name", "changes-finalizers"}, {"expression", kFinalizersCondition}});
    conditions.push_back(
        {{"name", "changes-nothing-else"}, {"expression", OtherUpdatesCondition()}});
    entry["name"] = kFinalizers;
    entry["failurePolicy"] = "Ignore";
    entry["matchConditions"] = std::move(conditions);
    for (Json& rule : entry["rules"]) {
      if (rule.is_object()) rule["operations"] = {"UPDATE"};
    }
    Note(entry, "entry");
    entries_.push_back(std::move(entry));
  }

  // Points somebody else's path of declarations at `endpoint`. False for one with a secret, which
  // says no endpoint: the writer of the paths writes this entry too.
  static bool PointAt(Endpoint endpoint, Json& holder, const char* key) {
    std::string path = TextIn(holder, key);
    if (!path.ends_with(PathOf(Endpoint::kDeclarations))) return false;
    path.resize(path.size() - PathOf(Endpoint::kDeclarations).size());
    holder[key] = path.append(PathOf(endpoint));
    return true;
  }

  // An entry for the updates that one rule tells, which nobody waits for.
  static Json UpdatesEntryFrom(Json entry, Endpoint endpoint, Json rule) {
    entry["name"] = std::string(Name(endpoint)) + std::string(kSuffix);
    entry["failurePolicy"] = "Ignore";
    entry.erase("namespaceSelector");
    entry.erase("objectSelector");
    rule["operations"] = {"UPDATE"};
    rule["apiVersions"] = {"*"};
    entry["rules"] = Json::array({std::move(rule)});
    Json& client = entry["clientConfig"];
    if (!client.is_object()) return entry;
    if (client.contains("service") && client["service"].is_object()) {
      PointAt(endpoint, client["service"], "path");
    } else {
      PointAt(endpoint, client, "url");
    }
    return entry;
  }

  // Whether the path of a new entry can be known.
  bool CanMake(Endpoint endpoint, const Json& model) const {
    if (wanted_.path_secret) return true;
    Json client = model.value("clientConfig", Json::object());
    if (!client.is_object()) return false;
    if (!client.contains("service")) return PointAt(endpoint, client, "url");
    return client["service"].is_object() && PointAt(endpoint, client["service"], "path");
  }

  // The chart renders the same.
  void RepairCompositions() {
    const Json* const model = Find(entries_, kDeclarations);
    const bool is_there = Find(entries_, kCompositionsEntry) != nullptr;
    if (model == nullptr || is_there || !CanMake(Endpoint::kCompositions, *model)) return;
    Json entry = UpdatesEntryFrom(*model, Endpoint::kCompositions,
                                  {{"apiGroups", {"apiextensions.crossplane.io"}},
                                   {"resources", {"compositions"}},
                                   {"scope", "Cluster"}});
    entry["matchConditions"] = Json::array(
        {{{"name", "changes-the-spec"}, {"expression", "object.spec != oldObject.spec"}}});
    Note(entry, "entry");
    entries_.push_back(std::move(entry));
  }

  void RepairStatus() {
    const Json* const model = Find(entries_, kDeclarations);
    if (!wanted_.status || model == nullptr) return;
    Json conditions = Json::array();
    for (const auto& [name, expression] :
         StatusConditions(wanted_.status->providers, wanted_.status->restorers)) {
      conditions.push_back({{"name", name}, {"expression", expression}});
    }
    const Json* const present = Find(entries_, kStatusEntry);
    if (present == nullptr && !CanMake(Endpoint::kStatus, *model)) return;
    Json entry =
        present == nullptr
            ? UpdatesEntryFrom(
                  *model, Endpoint::kStatus,
                  {{"resources", {"*/status"}}, {"scope", "*"}, {"apiGroups", Json::array()}})
            : *present;
    if (present == nullptr || entry.value("matchConditions", Json::array()) != conditions) {
      entry["matchConditions"] = std::move(conditions);
    }
    std::set<std::string> groups = GroupsOf(*model);
    std::set<std::string> wanted;
    for (const std::string& group : wanted_.status->groups) {
      if (groups.contains(group) || groups.contains("*")) wanted.insert(group);
    }
    const std::set<std::string> covered = GroupsOf(entry);
    const bool has_all = covered.contains("*") || std::includes(covered.begin(), covered.end(),
                                                                wanted.begin(), wanted.end());
    const bool has_rule = entry.contains("rules") && entry["rules"].is_array() &&
                          !entry["rules"].empty() && entry["rules"][0].is_object();
    if (!has_all && has_rule) {
      wanted.insert(covered.begin(), covered.end());
      entry["rules"][0]["apiGroups"] = wanted;
    }
    if (present != nullptr && *present == entry) return;
    Note(entry, present == nullptr ? "entry" : "conditions and groups");
    for (Json& each : entries_) {
      if (NameOf(each) != kStatusEntry) continue;
      each = std::move(entry);
      return;
    }
    entries_.push_back(std::move(entry));
  }

  // The entry for groups that `base` does not name.
  void RepairMapped(std::string_view base) {
    const Json* const model = Find(entries_, base);
    const std::string name = std::string(kMappedPrefix) + std::string(base);
    const Json* const present = Find(entries_, name);
    std::set<std::string> groups;
    if (model != nullptr) {
      groups.insert(wanted_.groups.begin(), wanted_.groups.end());
      if (!wanted_.groups_complete && present != nullptr) groups.merge(GroupsOf(*present));
      for (const std::string& group : GroupsOf(*model)) groups.erase(group);
    }
    if (groups.empty() && present == nullptr) return;
    Json entry;
    if (!groups.empty()) {
      entry = *model;
      entry["name"] = name;
      for (Json& rule : entry["rules"]) {
        if (rule.is_object()) rule["apiGroups"] = groups;
      }
      if (present != nullptr && *present == entry) return;
    }
    changes_.push_back(name + ": rules");
    for (auto each = entries_.begin(); each != entries_.end(); ++each) {
      if (NameOf(*each) != name) continue;
      entries_.erase(each);
      break;
    }
    if (!groups.empty()) entries_.push_back(std::move(entry));
  }

  Json entries_;
  const PublishedWebhook& wanted_;
  const EndpointTexts paths_;
  const std::string bundle64_;
  std::string bundle_;
  bool is_of_clients_ = false;
  std::vector<std::string> changes_;
};

// Of two the one that is known to have written an authority, else the later one.
std::string OtherWriterOf(const Json& metadata) {
  std::pair<bool, std::string> latest;
  std::string out;
  for (const Json& each : metadata.value("managedFields", Json::array())) {
    if (!each.is_object() || TextIn(each, "manager") == kOwnManager) continue;
    const bool is_client =
        Dump(each.value("fieldsV1", Json())).find("f:caBundle") != std::string::npos;
    const std::pair<bool, std::string> when{is_client, TextIn(each, "time")};
    if (when < latest) continue;
    latest = when;
    out = TextIn(each, "manager");
  }
  return out;
}

}  // namespace

Result<WebhookRepair> RepairWebhook(std::string_view configuration,
                                    const PublishedWebhook& wanted) {
  const Json object = ParseJson(configuration);
  const auto malformed = [](std::string_view what) {
    return Error{ErrorCode::kInvalidArgument, "webhook configuration: " + std::string(what)};
  };
  if (!object.is_object() || !object.contains("metadata")) return malformed("not an object");
  const auto entries = object.find("webhooks");
  if (entries == object.end() || !entries->is_array()) return malformed("it has no entries");
  const bool has_ours = std::any_of(entries->begin(), entries->end(), [](const Json& entry) {
    return entry.is_object() && NameOf(entry).ends_with(kSuffix);
  });
  const bool all_objects = std::all_of(entries->begin(), entries->end(),
                                       [](const Json& entry) { return entry.is_object(); });
  if (!has_ours || !all_objects) return malformed("none of its entries is Truce's (*.truce.dev)");
  Repair repair(*entries, wanted);
  repair.Run();
  WebhookRepair out = std::move(repair).Take(TextIn(object["metadata"], "resourceVersion"));
  out.other_writer = OtherWriterOf(object["metadata"]);
  return out;
}

}  // namespace truce
