#include "tests/model/simulated_cluster.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "tests/model/simulated_kinds.h"

namespace truce {
namespace {

std::uint64_t NumberOf(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool IsManaged(const SimulatedObject& object) {
  return object.kind.kind == kBucketKind.kind || object.kind == kTableKind;
}

std::string RefJson(const ObjectRef& ref) {
  std::string json = R"({"apiVersion":")" + ref.group + R"(/v1beta1","kind":")" + ref.kind +
                     R"(","name":")" + ref.name + "\"";
  if (!ref.ns.empty()) json += R"(,"namespace":")" + ref.ns + "\"";
  return json + "}";
}

std::string MetadataJson(const SimulatedObject& object) {
  std::string json = R"({"name":")" + object.name + R"(","uid":")" + object.uid +
                     R"(","creationTimestamp":")" + FormatTimestamp(object.created) + "\"";
  if (!object.ns.empty()) json += R"(,"namespace":")" + object.ns + "\"";
  if (object.version != 0)
    json += R"(,"resourceVersion":")" + std::to_string(object.version) + "\"";
  if (object.terminating) json += R"(,"deletionTimestamp":"2026-11-21T07:00:00Z")";
  if (!object.finalizers.empty()) {
    json += R"(,"finalizers":[)";
    for (const std::string& finalizer : object.finalizers)
      json += (json.back() == '[' ? "\"" : ",\"") + finalizer + "\"";
    json += "]";
  }
  const bool is_managed = IsManaged(object);
  if (is_managed && (object.composed || !object.bucket.empty())) {
    json += R"(,"annotations":{"crossplane.io/external-name":")" + object.bucket + "\"";
    if (object.composed) json += R"(,"crossplane.io/composition-resource-name":"bucket")";
    json += "}";
  }
  if (object.controller) {
    json += R"(,"ownerReferences":[{"apiVersion":")" + object.controller->group +
            R"(/v1beta1","kind":")" + object.controller->kind + R"(","name":")" +
            object.controller->name + R"(","uid":")" + object.controller->uid.text +
            R"(","controller":true}])";
  }
  return json + "}";
}

std::string ArnOf(const SimulatedObject& object) {
  if (object.kind != kTableKind) return "arn:aws:s3:::x";
  return std::string("arn:aws:dynamodb:eu-west-1:") + kAccountNumber + ":table/" + object.bucket;
}

std::string SpecJson(const SimulatedObject& object) {
  if (IsManaged(object)) {
    const char* policies = R"(["*"])";
    if (object.intent == Intent::kManages)
      policies = R"(["Create","Update","Observe","LateInitialize"])";
    if (object.intent == Intent::kObserves) policies = R"(["Observe"])";
    return std::string(R"({"forProvider":{"region":"eu-west-1"},"managementPolicies":)") +
           policies + "}";
  }
  std::string json = R"({"parameters":{"name":")" + object.bucket + R"("})";
  if (object.claim) json += R"(,"claimRef":)" + RefJson(*object.claim);
  if (!object.resources.empty()) {
    if (object.ns.empty()) {
      json += R"(,"resourceRefs":[)";
      for (const ObjectRef& ref : object.resources)
        json += (json.back() == '[' ? "" : ",") + RefJson(ref);
      json += "]";
    } else {
      json += R"(,"resourceRef":)" + RefJson(object.resources.front());
    }
  }
  return json + "}";
}

// What hides nothing: of some objects a number that no integer holds, or what lies deep.
std::string FillingOf(const SimulatedObject& object) {
  static const std::string kDeep = std::string(1500, '[') + std::string(1500, ']');
  switch (std::hash<std::string>()(object.uid) % 8) {
    case 0: return R"(,"filling":100000000000000000000)";
    case 1: return R"(,"filling":[1e400,-9223372036854775809])";
    case 2: return R"(,"filling":)" + kDeep;
    default: return "";
  }
}

}  // namespace

std::string JsonOf(const SimulatedObject& object) {
  std::string json = R"({"apiVersion":")" + object.kind.group + R"(/v1beta1","kind":")" +
                     object.kind.kind + R"(","metadata":)" + MetadataJson(object);
  if (!object.extra.empty()) return json + "," + object.extra + "}";
  json += FillingOf(object) + R"(,"spec":)" + SpecJson(object);
  if (object.deleting) {
    json += R"(,"status":{"atProvider":{"arn":")" + ArnOf(object) + R"("},"conditions":[
        {"type":"Ready","status":"False","reason":"Deleting"},
        {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  } else if (object.real) {
    json += R"(,"status":{"atProvider":{"arn":")" + ArnOf(object) + R"("},"conditions":[
        {"type":"Ready","status":"True","reason":"Available","message":")" +
            std::to_string(object.observed) + R"("},
        {"type":"Synced","status":"True","reason":"ReconcileSuccess"}]})";
  }
  return json + "}";
}

ObjectRef RefTo(const SimulatedObject& object) {
  return {object.kind.group, object.kind.kind, object.ns, object.name, Uid{object.uid}};
}

const SimulatedObject& SimulatedCluster::Put(SimulatedObject object) {
  auto& places = objects_[object.kind];
  const Place place{object.ns, object.name};
  const bool exists = places.contains(place);
  object.version = ++version_;
  past_[object.kind].push_back({version_,
                                {exists ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded,
                                 std::to_string(version_), JsonOf(object)}});
  return places[place] = std::move(object);
}

void SimulatedCluster::Remove(SimulatedObject last) {
  objects_[last.kind].erase({last.ns, last.name});
  last.version = ++version_;
  past_[last.kind].push_back(
      {version_, {WatchEvent::Type::kDeleted, std::to_string(version_), JsonOf(last)}});
}

const SimulatedObject* SimulatedCluster::Find(const GroupKind& kind, const std::string& ns,
                                              const std::string& name) const {
  const auto places = objects_.find(kind);
  if (places == objects_.end()) return nullptr;
  const auto found = places->second.find({ns, name});
  return found == places->second.end() ? nullptr : &found->second;
}

std::vector<SimulatedObject> SimulatedCluster::ObjectsOf(const GroupKind& kind) const {
  std::vector<SimulatedObject> all;
  if (const auto places = objects_.find(kind); places != objects_.end()) {
    for (const auto& [place, object] : places->second) all.push_back(object);
  }
  return all;
}

void SimulatedCluster::Compact() {
  compacted_ = version_;
  past_.clear();
  snapshots_.clear();
}

void SimulatedCluster::Restore(bool bump) {
  ++life_;
  objects_ = backup_->first;
  if (!bump) writes_since_ /= 2;
  version_ = bump ? version_ + 1000 : backup_->second + writes_since_;
  compacted_ = version_;
  past_.clear();
  snapshots_.clear();
}

ApiResult<Discovery> SimulatedCluster::Discover(bool lose_one) const {
  Discovery discovery;
  for (const auto& [name, kind] : served_) {
    if (std::exchange(lose_one, false)) {
      discovery.failed_groups.push_back(kind.group);
      continue;
    }
    if (!discovery.failed_groups.empty() && discovery.failed_groups.back() == kind.group) continue;
    discovery.kinds.push_back({kind, {"get", "list", "watch"}});
  }
  return discovery;
}

ApiResult<ListPage> SimulatedCluster::List(const ListQuery& query) {
  const GroupKind kind{query.selection.kind.group, query.selection.kind.kind};
  if (!served_.contains(kind)) return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  std::vector<std::string> all;
  ListPage page;
  std::size_t begin = 0;
  std::string token;
  if (query.next.empty()) {
    for (const auto& [place, object] : objects_[kind]) all.push_back(JsonOf(object));
    page.resource_version = std::to_string(version_);
    token = std::to_string(version_) + ":" + std::to_string(++tokens_) + ":";
    if (all.size() > query.limit) snapshots_[token] = all;
  } else {
    const std::size_t cut = query.next.rfind(':') + 1;
    token = query.next.substr(0, cut);
    begin = NumberOf(query.next.substr(cut));
    const auto snapshot = snapshots_.find(token);
    if (snapshot == snapshots_.end())
      return ApiError{ApiErrorKind::kExpired, 410, "the token is too old", {}};
    all = snapshot->second;
    page.resource_version = token.substr(0, token.find(':'));
  }
  for (std::size_t i = begin; i < all.size() && i < begin + query.limit; ++i)
    page.objects.push_back(std::move(all[i]));
  if (begin + query.limit < all.size()) page.next = token + std::to_string(begin + query.limit);
  return page;
}

ApiResult<ListPage> SimulatedCluster::Get(const ServedKind& kind, const std::string& ns,
                                          const std::string& name) const {
  ListPage page;
  page.resource_version = std::to_string(version_);
  const GroupKind group_kind{kind.group, kind.kind};
  if (!served_.contains(group_kind))
    return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  if (const auto places = objects_.find(group_kind); places != objects_.end()) {
    const auto found = places->second.find({ns, name});
    if (found != places->second.end()) page.objects.push_back(JsonOf(found->second));
  }
  return page;
}

ApiResult<std::vector<WatchEvent>> SimulatedCluster::EventsAfter(const GroupKind& kind,
                                                                 const std::string& version,
                                                                 std::uint64_t life,
                                                                 std::size_t count) const {
  if (!served_.contains(kind)) return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  const std::uint64_t after = NumberOf(version);
  if (life != life_ || after > version_)
    return ApiError{ApiErrorKind::kExpired, 504, "too large resource version", {}};
  if (after < compacted_) return ApiError{ApiErrorKind::kExpired, 410, "too old", {}};
  std::vector<WatchEvent> events;
  const auto past = past_.find(kind);
  if (past == past_.end()) return events;
  auto next = std::upper_bound(
      past->second.begin(), past->second.end(), after,
      [](std::uint64_t wanted, const Past& event) { return wanted < event.version; });
  for (; next != past->second.end() && events.size() < count; ++next) events.push_back(next->event);
  return events;
}

}  // namespace truce
