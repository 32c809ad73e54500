#include "tests/support/small_cluster.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace truce::testing {
namespace {

std::uint64_t NumberOf(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

SmallObject ObjectFromJson(const std::string& text) {
  const auto members = [](const nlohmann::json& object) {
    const std::string json = object.dump();
    return json.substr(1, json.size() - 2);
  };
  nlohmann::json object = nlohmann::json::parse(text);
  nlohmann::json metadata = object.at("metadata");
  const std::string version = object.at("apiVersion");
  SmallObject out{{version.substr(0, version.find('/')), object.at("kind")},
                  metadata.value("namespace", ""),
                  metadata.at("name"),
                  metadata.at("uid"),
                  {},
                  {},
                  metadata.at("creationTimestamp")};
  for (const char* name : {"name", "namespace", "uid", "creationTimestamp", "resourceVersion"}) {
    metadata.erase(name);
  }
  for (const char* name : {"apiVersion", "kind", "metadata"}) object.erase(name);
  out.metadata = members(metadata);
  out.rest = members(object);
  return out;
}

std::string SmallCluster::JsonOf(const SmallObject& object, std::uint64_t version) {
  std::string json = R"({"apiVersion":"x/v1","kind":")" + object.kind.kind +
                     R"(","metadata":{"name":")" + object.name + R"(","uid":")" + object.uid +
                     R"(","resourceVersion":")" + std::to_string(version) +
                     R"(","creationTimestamp":")" + object.created + "\"";
  if (!object.ns.empty()) json += R"(,"namespace":")" + object.ns + "\"";
  if (!object.metadata.empty()) json += "," + object.metadata;
  json += "}";
  if (!object.rest.empty()) json += "," + object.rest;
  return json + "}";
}

std::uint64_t SmallCluster::Put(const SmallObject& object) {
  auto& place = objects_[object.kind];
  const bool exists = place.contains({object.ns, object.name});
  place[{object.ns, object.name}] = {object, ++version_};
  past_.push_back({object.kind,
                   {exists ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded,
                    std::to_string(version_), JsonOf(object, version_)}});
  return version_;
}

void SmallCluster::Remove(const GroupKind& kind, const std::string& ns, const std::string& name) {
  auto& place = objects_[kind];
  const auto found = place.find({ns, name});
  if (found == place.end()) return;
  ++version_;
  past_.push_back({kind,
                   {WatchEvent::Type::kDeleted, std::to_string(version_),
                    JsonOf(found->second.object, version_)}});
  place.erase(found);
}

void SmallCluster::Forget(const GroupKind& kind) {
  std::erase_if(past_, [&](const Past& past) { return past.kind == kind; });
}

void SmallCluster::FailLists(const GroupKind& kind, std::optional<ApiError> error) {
  list_errors_.erase(kind);
  if (error) list_errors_.emplace(kind, *std::move(error));
}

ApiResult<Discovery> SmallCluster::Discover() const {
  Discovery discovery;
  for (const auto& [name, kind] : served_) {
    discovery.kinds.push_back({kind, {"get", "list", "watch"}});
  }
  return discovery;
}

ApiResult<ListPage> SmallCluster::List(const ListQuery& query) {
  ++lists;
  const GroupKind kind{query.selection.kind.group, query.selection.kind.kind};
  if (!served_.contains(kind)) return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  if (const auto error = list_errors_.find(kind); error != list_errors_.end()) {
    return error->second;
  }
  ListPage page;
  page.resource_version = std::to_string(version_);
  std::size_t at = 0;
  const std::size_t begin = query.next.empty() ? 0 : NumberOf(query.next);
  for (const auto& [place, stored] : objects_[kind]) {
    if (at++ < begin) continue;
    if (page.objects.size() == query.limit) {
      page.next = std::to_string(at - 1);
      break;
    }
    page.objects.push_back(JsonOf(stored.object, stored.version));
  }
  return page;
}

ApiResult<ListPage> SmallCluster::Get(const GetWanted& get) {
  ++gets;
  if (get_error_) return *get_error_;
  const GroupKind kind{get.kind.group, get.kind.kind};
  if (!served_.contains(kind)) return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  ListPage page;
  page.resource_version = std::to_string(version_);
  const auto found = objects_[kind].find({get.slot.ns, get.slot.name});
  if (found != objects_[kind].end()) {
    page.objects.push_back(JsonOf(found->second.object, found->second.version));
  }
  return page;
}

ApiResult<std::vector<WatchEvent>> SmallCluster::EventsAfter(const Selection& selection,
                                                             const std::string& version) const {
  if (watch_error_) return *watch_error_;
  const GroupKind kind{selection.kind.group, selection.kind.kind};
  if (!served_.contains(kind)) return ApiError{ApiErrorKind::kNoSuchType, 404, "no such type", {}};
  if (NumberOf(version) < compacted_) return ApiError{ApiErrorKind::kExpired, 410, "too old", {}};
  std::vector<WatchEvent> events;
  for (const Past& past : past_) {
    if (past.kind == kind && NumberOf(past.event.resource_version) > NumberOf(version)) {
      events.push_back(past.event);
    }
  }
  return events;
}

Driver::Driver(SmallCluster& cluster, Store& store, FakeClock& clock, Options options)
    : cluster_(cluster), clock_(clock) {
  WatcherPorts ports{{store, clock,
                      [this] {
                        std::string text = std::to_string(++cluster_.ids);
                        return PublicId{std::string(13 - text.size(), 'a') + text};
                      },
                      [] { return std::chrono::steady_clock::now() + std::chrono::minutes(1); },
                      options.observer, &unresolved},
                     &inbox,
                     [this](const LearnedIdentity& all) {
                       learned = all;
                       accounts = all.accounts;
                     }};
  watcher_ = std::make_unique<Watcher>(std::move(ports), options.rules, std::move(options.watcher));
}

bool Driver::Perform(Wishes wishes) {
  const bool any = !wishes.empty();
  for (const WatchId id : wishes.stops) watches_.erase(id);
  for (WatchQuery& query : wishes.watches) {
    watches_[query.id] = {std::move(query.selection), std::move(query.resource_version),
                          query.timeout <= Reflector::kHurryWatch};
  }
  if (wishes.discover) watcher_->Discovered(now, cluster_.Discover());
  if (lists_backwards) std::reverse(wishes.lists.begin(), wishes.lists.end());
  for (const ListWanted& list : wishes.lists) {
    const ServedKind& kind = list.query.selection.kind;
    if (before_list) before_list({kind.group, kind.kind});
    const ApiResult<ListPage> page = cluster_.List(list.query);
    if (const auto meanwhile = std::exchange(while_listing, nullptr)) meanwhile();
    watcher_->Listed(now, list.id, page);
  }
  for (GetWanted& get : wishes.gets) {
    if (hold_gets) {
      held_gets_.push_back(std::move(get));
    } else if (hold_answers) {
      ApiResult<ListPage> answer = cluster_.Get(get);
      held_answers_.emplace_back(std::move(get), std::move(answer));
    } else {
      watcher_->Got(now, get, cluster_.Get(get));
    }
  }
  return any;
}

bool Driver::Deliver() {
  bool any = false;
  if (!hold_gets) {
    for (const GetWanted& get : std::exchange(held_gets_, {})) {
      any = true;
      watcher_->Got(now, get, cluster_.Get(get));
    }
  }
  if (!hold_answers) {
    for (const auto& [get, answer] : std::exchange(held_answers_, {})) {
      any = true;
      watcher_->Got(now, get, answer);
    }
  }
  if (hold_events) return any;
  const std::map<WatchId, Running> running = watches_;
  for (const auto& [id, watch] : running) {
    if (hold_kind == GroupKind{watch.selection.kind.group, watch.selection.kind.kind}) continue;
    auto events = cluster_.EventsAfter(watch.selection, watch.version);
    if (!events.ok()) {
      any = true;
      watches_.erase(id);
      watcher_->Ended(now, id, events.error());
      continue;
    }
    std::vector<WatchEvent> some = std::move(events).value();
    if (watch.brief) {
      watches_[id].brief = false;
      some.push_back({WatchEvent::Type::kBookmark, std::to_string(cluster_.version()), {}});
    }
    if (some.empty()) continue;
    any = true;
    const std::string last = some.back().resource_version;
    if (watcher_->Events(now, id, some)) watches_[id].version = last;
  }
  return any;
}

void Driver::Settle() {
  for (int i = 0; i < 10'000; ++i) {
    bool any = Perform(watcher_->Tick(now));
    any = Deliver() || any;
    const auto due = watcher_->Due();
    if (!any && (!due || *due > now)) return;
  }
}

void Driver::Advance(std::chrono::milliseconds time) {
  const Moment end = now + time;
  Settle();
  while (now < end) {
    const auto due = watcher_->Due();
    const Moment next = due ? std::clamp(*due, now + std::chrono::milliseconds{1}, end) : end;
    clock_.Advance(std::chrono::duration_cast<std::chrono::milliseconds>(next - now));
    now = next;
    Settle();
  }
}

void Driver::EndWatches(const std::optional<ApiError>& error) {
  const std::map<WatchId, Running> running = std::exchange(watches_, {});
  for (const auto& [id, watch] : running) watcher_->Ended(now, id, error);
}

}  // namespace truce::testing
