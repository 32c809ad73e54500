#include "tests/support/memory_cluster_api.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace truce {
namespace {

using Json = nlohmann::json;

ApiError NotThere() { return {ApiErrorKind::kNoSuchObject, 404, "not found", std::nullopt}; }

}  // namespace

void MemoryClusterApi::SetFault(Fault fault) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fault_ = std::move(fault);
}

void MemoryClusterApi::Put(const ServedKind& kind, const std::string& ns,
                           const std::string& object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Json json = Json::parse(object);
  json["metadata"]["resourceVersion"] = std::to_string(++version_);
  objects_[PathOf(kind, ns, json["metadata"]["name"].get<std::string>())] = json.dump();
}

void MemoryClusterApi::Remove(const ServedKind& kind, const std::string& ns,
                              const std::string& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  objects_.erase(PathOf(kind, ns, name));
}

std::string MemoryClusterApi::Object(const ServedKind& kind, const std::string& ns,
                                     const std::string& name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects_.find(PathOf(kind, ns, name));
  return found == objects_.end() ? std::string() : found->second;
}

std::uint64_t MemoryClusterApi::writes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return writes_;
}

std::optional<ApiError> MemoryClusterApi::FaultOf(std::string_view verb, const ServedKind& kind) {
  Fault fault;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    fault = fault_;
  }
  if (!fault) return std::nullopt;
  return fault(verb, kind.plural);
}

ApiResult<Discovery> MemoryClusterApi::Discover(Deadline /*deadline*/) { return Discovery(); }

ApiResult<ListPage> MemoryClusterApi::List(const ListQuery& query, Deadline /*deadline*/) {
  const Selection& selection = query.selection;
  if (auto fault = FaultOf("list", selection.kind)) return *std::move(fault);
  ListPage page;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [path, object] : objects_) {
    Json json = Json::parse(object);
    const std::string name = json["metadata"]["name"].get<std::string>();
    const std::size_t at = path.find("/namespaces/");
    const std::size_t begin = at + std::string_view("/namespaces/").size();
    const std::string ns =
        at == std::string::npos ? "" : path.substr(begin, path.find('/', begin) - begin);
    const bool selected =
        selection.field_selector.empty() || selection.field_selector == "metadata.name=" + name;
    if (!selected || PathOf(selection.kind, ns, name) != path) continue;
    if (!ns.empty()) json["metadata"]["namespace"] = ns;
    page.objects.push_back(json.dump());
  }
  return page;
}

ApiResult<std::string> MemoryClusterApi::Get(const ServedKind& kind, std::string_view ns,
                                             std::string_view name, Deadline /*deadline*/) {
  if (auto fault = FaultOf("get", kind)) return *std::move(fault);
  std::string object = Object(kind, std::string(ns), std::string(name));
  if (object.empty()) return NotThere();
  return object;
}

ApiResult<std::string> MemoryClusterApi::Create(const ServedKind& kind, std::string_view ns,
                                                std::string_view object, Deadline /*deadline*/) {
  if (auto fault = FaultOf("create", kind)) return *std::move(fault);
  const Json json = Json::parse(object);
  const std::string name = json["metadata"]["name"].get<std::string>();
  if (!Object(kind, std::string(ns), name).empty()) {
    return ApiError{ApiErrorKind::kAlreadyExists, 409, "already exists", std::nullopt};
  }
  Put(kind, std::string(ns), std::string(object));
  const std::lock_guard<std::mutex> lock(mutex_);
  ++writes_;
  return objects_[PathOf(kind, ns, name)];
}

ApiResult<std::string> MemoryClusterApi::Patch(const PatchTarget& target, std::string_view patch,
                                               Deadline /*deadline*/) {
  if (auto fault = FaultOf("patch", target.kind)) return *std::move(fault);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects_.find(PathOf(target.kind, target.ns, target.name));
  if (found == objects_.end()) return NotThere();
  Json json = Json::parse(found->second);
  const Json changes = Json::parse(patch);
  const std::string present = json["metadata"]["resourceVersion"].get<std::string>();
  const Json wanted = changes.value("/metadata/resourceVersion"_json_pointer, Json(present));
  if (wanted != present) {
    return ApiError{ApiErrorKind::kConflict, 409, "the object has been modified", std::nullopt};
  }
  json.merge_patch(changes);
  json["metadata"]["resourceVersion"] = std::to_string(++version_);
  ++writes_;
  return found->second = json.dump();
}

ApiResult<std::string> MemoryClusterApi::Delete(const ServedKind& kind, std::string_view ns,
                                                std::string_view name, Deadline /*deadline*/) {
  if (auto fault = FaultOf("delete", kind)) return *std::move(fault);
  Remove(kind, std::string(ns), std::string(name));
  return std::string("{}");
}

}  // namespace truce
