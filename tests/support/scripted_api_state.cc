#include "tests/support/scripted_api_state.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace truce {
namespace {

using Json = nlohmann::json;

std::string KeyOf(const ServedKind& kind) { return kind.group + "/" + kind.plural; }

std::string GroupVersion(const ServedKind& kind) {
  return kind.group.empty() ? kind.version : kind.group + "/" + kind.version;
}

std::vector<std::string> Split(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : path) {
    if (c != '/') {
      part += c;
      continue;
    }
    if (!part.empty()) parts.push_back(std::move(part));
    part.clear();
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

std::string Value(const ScriptedRequest& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? "" : found->second;
}

Json Verbs() { return {"create", "delete", "get", "list", "patch", "update", "watch"}; }

ScriptedReply JsonReply(const Json& json, int status = 200) { return {status, json.dump()}; }

std::string Text(const Json& object, const char* key) { return object.value(key, std::string()); }

std::string Decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size()) {
      unsigned value = 0;
      std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::optional<ScriptedRequest> TakeRequest(std::string& input) {
  const std::size_t end = input.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  ScriptedRequest request;
  const std::string head = input.substr(0, end);
  std::size_t line_end = std::min(head.find("\r\n"), head.size());
  const std::string first = head.substr(0, line_end);
  const std::size_t space = first.find(' ');
  request.method = first.substr(0, space);
  request.target = first.substr(space + 1, first.rfind(' ') - space - 1);
  while (line_end < head.size()) {
    const std::size_t begin = line_end + 2;
    line_end = std::min(head.find("\r\n", begin), head.size());
    const std::string line = head.substr(begin, line_end - begin);
    const std::size_t colon = line.find(':');
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.fields[name] = line.substr(std::min(colon + 2, line.size()));
  }
  std::size_t length = 0;
  const std::string& announced = request.fields["content-length"];
  std::from_chars(announced.data(), announced.data() + announced.size(), length);
  if (input.size() < end + 4 + length) return std::nullopt;
  request.body = input.substr(end + 4, length);
  input.erase(0, end + 4 + length);
  const std::size_t question = request.target.find('?');
  request.path = Decode(request.target.substr(0, question));
  std::string query = question == std::string::npos ? "" : request.target.substr(question + 1);
  while (!query.empty()) {
    const std::string pair = query.substr(0, query.find('&'));
    query.erase(0, pair.size() + 1);
    const std::size_t equal = std::min(pair.find('='), pair.size());
    request.query[Decode(pair.substr(0, equal))] =
        Decode(pair.substr(std::min(equal + 1, pair.size())));
  }
  return request;
}

ScriptedReply StatusReply(int code, std::string_view reason, std::string_view message,
                          std::string_view details) {
  const Json json = {{"kind", "Status"},
                     {"apiVersion", "v1"},
                     {"metadata", Json::object()},
                     {"status", code < 400 ? "Success" : "Failure"},
                     {"message", message},
                     {"reason", reason},
                     {"details", Json::parse(details)},
                     {"code", code}};
  return JsonReply(json, code);
}

std::string OnlyMetadata(const std::string& json) {
  const Json object = Json::parse(json);
  return Json{{"kind", "PartialObjectMetadata"},
              {"apiVersion", "meta.k8s.io/v1"},
              {"metadata", object.at("metadata")}}
      .dump();
}

void ScriptedApiState::AddKind(const ServedKind& kind) {
  std::shared_ptr<Series>& series = series_[KeyOf(kind)];
  if (series == nullptr || series->kind.namespaced != kind.namespaced) {
    series = std::make_shared<Series>();
    series->compacted = version_;
  }
  series->kind = kind;
}

void ScriptedApiState::RemoveKind(const ServedKind& kind) { series_.erase(KeyOf(kind)); }

void ScriptedApiState::SetStale(const std::string& group, bool stale) {
  if (stale) {
    stale_.insert(group);
  } else {
    stale_.erase(group);
  }
}

std::size_t ScriptedApiState::object_count() const {
  std::size_t count = 0;
  for (const auto& [key, series] : series_) count += series->objects.size();
  return count;
}

ScriptedApiState::Written ScriptedApiState::Put(const ServedKind& kind, const std::string& json) {
  AddKind(kind);
  return Store(*series_[KeyOf(kind)], json);
}

void ScriptedApiState::Record(Series& series, std::string_view type, const std::string& key) {
  const Series::Object& object = series.objects.at(key);
  std::string line = R"({"type":")";
  line.append(type).append(R"(","object":)").append(object.json).append("}\n");
  series.history.push_back({version_, std::make_shared<const std::string>(std::move(line)),
                            std::make_shared<const std::string>(key),
                            std::make_shared<const std::string>(object.reason)});
  if (series.history.size() <= kHistoryMax) return;
  series.compacted = series.history.front().version;
  series.history.pop_front();
}

ScriptedApiState::Written ScriptedApiState::Store(Series& series, const std::string& json) {
  Json object = Json::parse(json);
  Json& metadata = object["metadata"];
  const std::string key = Text(metadata, "namespace") + "/" + Text(metadata, "name");
  Series::Object& stored = series.objects[key];
  const bool is_new = stored.uid.empty();
  ++version_;
  if (is_new) {
    const std::string number = std::to_string(++uids_);
    stored.uid = "00000000-0000-4000-8000-" + std::string(12 - number.size(), '0') + number;
    stored.created = metadata.value("creationTimestamp", "2026-11-21T08:00:00Z");
  }
  object["apiVersion"] = GroupVersion(series.kind);
  object["kind"] = series.kind.kind;
  metadata["uid"] = stored.uid;
  metadata["creationTimestamp"] = stored.created;
  metadata["resourceVersion"] = std::to_string(version_);
  stored.json = object.dump();
  stored.reason = object.contains("reason") ? Text(object, "reason") : "";
  stored.version = version_;
  Written written{stored.uid, std::to_string(version_)};
  Record(series, is_new ? "ADDED" : "MODIFIED", key);
  return written;
}

bool ScriptedApiState::Remove(const ServedKind& kind, const std::string& ns,
                              const std::string& name) {
  const auto found = series_.find(KeyOf(kind));
  if (found == series_.end()) return false;
  Series& series = *found->second;
  const std::string key = ns + "/" + name;
  const auto object = series.objects.find(key);
  if (object == series.objects.end()) return false;
  Json last = Json::parse(object->second.json);
  last["metadata"]["resourceVersion"] = std::to_string(++version_);
  object->second.json = last.dump();
  Record(series, "DELETED", key);
  series.objects.erase(object);
  return true;
}

void ScriptedApiState::Compact() {
  for (auto& [key, series] : series_) {
    series->history.clear();
    series->compacted = version_;
  }
}

std::shared_ptr<ScriptedApiState::Series> ScriptedApiState::Find(const ScriptedRequest& request,
                                                                 std::string* ns,
                                                                 std::string* name) {
  const std::vector<std::string> parts = Split(request.path);
  const bool is_core = !parts.empty() && parts[0] == "api";
  std::size_t at = is_core ? 2 : 3;  // after "api/v1" or "apis/group/version"
  if (parts.size() <= at) return nullptr;
  bool in_namespace = false;
  if (parts[at] == "namespaces" && parts.size() > at + 2) {
    *ns = parts[at + 1];
    at += 2;
    in_namespace = true;
  }
  const auto found = series_.find((is_core ? "" : parts[1]) + "/" + parts[at]);
  if (found == series_.end()) return nullptr;
  const ServedKind& kind = found->second->kind;
  if (kind.version != parts[is_core ? 1 : 2]) return nullptr;
  if (in_namespace && !kind.namespaced) return nullptr;
  if (parts.size() > at + 1) *name = parts[at + 1];
  // An object of a namespaced kind is reached through its namespace only.
  if (kind.namespaced && !in_namespace && !name->empty()) return nullptr;
  return found->second;
}

ScriptedReply ScriptedApiState::Answer(const ScriptedRequest& request) {
  if (request.path == "/api" || request.path == "/apis") return Discovery(request.path == "/api");
  std::string ns;
  std::string name;
  const std::shared_ptr<Series> series = Find(request, &ns, &name);
  if (series == nullptr) return {404, "404 page not found\n", "text/plain; charset=utf-8"};
  const std::string key = ns + "/" + name;
  if (request.method == "POST") return Create(*series, request, ns);
  if (request.method == "GET" && name.empty()) return List(*series, request, ns);
  if (series->objects.count(key) == 0) return Get(*series, ns, name);  // not found
  if (request.method == "PATCH") return Patch(*series, request, key);
  if (request.method == "DELETE") {
    Remove(series->kind, ns, name);
    return StatusReply(200, "", "");
  }
  return Get(*series, ns, name);
}

ScriptedReply ScriptedApiState::Get(const Series& series, const std::string& ns,
                                    const std::string& name) {
  const auto found = series.objects.find(ns + "/" + name);
  if (found != series.objects.end()) return {200, found->second.json};
  const Json details = {{"name", name}, {"group", series.kind.group}, {"kind", series.kind.plural}};
  return StatusReply(404, "NotFound", series.kind.plural + " \"" + name + "\" not found",
                     details.dump());
}

ScriptedReply ScriptedApiState::Create(Series& series, const ScriptedRequest& request,
                                       const std::string& ns) {
  Json object = Json::parse(request.body, nullptr, false);
  if (object.is_discarded()) return StatusReply(400, "BadRequest", "not JSON");
  Json& metadata = object["metadata"];
  if (!ns.empty()) metadata["namespace"] = ns;
  if (Text(metadata, "name").empty()) {
    metadata["name"] = Text(metadata, "generateName") + std::to_string(uids_ + 1);
  }
  const std::string name = Text(metadata, "name");
  if (series.objects.count(ns + "/" + name) != 0) {
    const Json details = {
        {"name", name}, {"group", series.kind.group}, {"kind", series.kind.plural}};
    return StatusReply(409, "AlreadyExists",
                       series.kind.plural + " \"" + name + "\" already exists", details.dump());
  }
  Store(series, object.dump());
  return {201, series.objects.at(ns + "/" + name).json};
}

ScriptedReply ScriptedApiState::Patch(Series& series, const ScriptedRequest& request,
                                      const std::string& key) {
  Json object = Json::parse(series.objects.at(key).json);
  const Json patch = Json::parse(request.body, nullptr, false);
  if (patch.is_discarded()) return StatusReply(400, "BadRequest", "not JSON");
  const Json::json_pointer version("/metadata/resourceVersion");
  if (patch.contains(version) && patch.at(version) != object.at(version)) {
    return StatusReply(409, "Conflict", "the object has been modified");
  }
  object.merge_patch(patch);
  Store(series, object.dump());
  return {200, series.objects.at(key).json};
}

ScriptedReply ScriptedApiState::List(const Series& series, const ScriptedRequest& request,
                                     const std::string& ns) {
  const std::string limit_text = Value(request, "limit");
  std::size_t limit = 0;
  std::from_chars(limit_text.data(), limit_text.data() + limit_text.size(), limit);
  const std::string next = Value(request, "continue");
  const std::size_t bar = next.find('|');
  const std::string version =
      bar == std::string::npos ? std::to_string(version_) : next.substr(0, bar);
  const std::string selector = Value(request, "fieldSelector");
  const auto accept = request.fields.find("accept");
  const bool only_metadata = accept != request.fields.end() &&
                             accept->second.find("PartialObjectMetadata") != std::string::npos;
  auto at = bar == std::string::npos ? series.objects.begin()
                                     : series.objects.upper_bound(next.substr(bar + 1));
  std::string items;
  std::size_t count = 0;
  std::string last;
  for (; at != series.objects.end() && (limit == 0 || count < limit); ++at) {
    if (!ns.empty() && !at->first.starts_with(ns + "/")) continue;
    if (!selector.empty() && selector != "reason=" + at->second.reason) continue;
    if (count++ > 0) items += ',';
    items += only_metadata ? OnlyMetadata(at->second.json) : at->second.json;
    last = at->first;
  }
  Json metadata = {{"resourceVersion", version}};
  if (at != series.objects.end()) metadata["continue"] = version + "|" + last;
  // As custom resources are listed: members in alphabetical order.
  const std::string api_version = only_metadata ? "meta.k8s.io/v1" : GroupVersion(series.kind);
  const std::string kind = only_metadata ? "PartialObjectMetadataList" : series.kind.kind + "List";
  return {200, R"({"apiVersion":")" + api_version + R"(","items":[)" + items + R"(],"kind":")" +
                   kind + R"(","metadata":)" + metadata.dump() + "}\n"};
}

ScriptedReply ScriptedApiState::Discovery(bool core) const {
  if (old_discovery_) {
    return JsonReply({{"kind", core ? "APIVersions" : "APIGroupList"}, {"groups", Json::array()}});
  }
  std::map<std::string, std::map<std::string, Json>> groups;
  for (const auto& [key, series] : series_) {
    const ServedKind& kind = series->kind;
    if (kind.group.empty() != core) continue;
    Json resource = {{"resource", kind.plural},
                     {"responseKind", {{"group", kind.group}, {"kind", kind.kind}}},
                     {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                     {"verbs", Verbs()}};
    groups[kind.group].emplace(kind.version, Json::array()).first->second.push_back(resource);
  }
  Json items = Json::array();
  for (const auto& [name, versions] : groups) {
    Json listed = Json::array();
    const bool is_stale = stale_.count(name) != 0;
    for (const auto& [version, resources] : versions) {
      listed.push_back({{"version", version},
                        {"resources", is_stale ? Json::array() : resources},
                        {"freshness", is_stale ? "Stale" : "Current"}});
    }
    items.push_back({{"metadata", {{"name", name}}}, {"versions", listed}});
  }
  return JsonReply({{"kind", "APIGroupDiscoveryList"},
                    {"apiVersion", "apidiscovery.k8s.io/v2"},
                    {"metadata", Json::object()},
                    {"items", items}});
}

}  // namespace truce
