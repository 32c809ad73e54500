#include "webhook/serve/shared/cluster_view.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "webhook/serve/shared/json_times.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

Json Out(const GroupKind& kind) { return Json::array({kind.group, kind.kind}); }

Json Out(const ProviderConfigName& config) {
  return Json::array({config.group, config.kind, config.ns, config.name});
}

Json Out(const std::string& text) { return text; }
Json Out(bool flag) { return flag; }
Json Out(Timestamp time) { return TimeToJson(time); }

template <typename Item>
Json Out(const std::vector<Item>& items) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(Out(item));
  return out;
}

template <typename Item>
Json Out(const std::set<Item>& items) {
  Json out = Json::array();
  for (const Item& item : items) out.push_back(Out(item));
  return out;
}

Json Out(const OutsideEndpoint& endpoint) {
  return Json::array({endpoint.host, Out(endpoint.services)});
}

// As a list of pairs: not every key is a text.
template <typename Key, typename Item>
Json Out(const std::map<Key, Item>& items) {
  Json out = Json::array();
  for (const auto& [key, item] : items) {
    Json pair = Json::array();
    pair.push_back(Out(key));
    pair.push_back(Out(item));
    out.push_back(std::move(pair));
  }
  return out;
}

// The same back. False: it is something else.
bool In(const Json& json, std::string& text) {
  if (!json.is_string()) return false;
  text = json.get<std::string>();
  return true;
}

bool In(const Json& json, bool& flag) {
  if (!json.is_boolean()) return false;
  flag = json.get<bool>();
  return true;
}

bool In(const Json& json, Timestamp& time) {
  if (!json.is_number_integer()) return false;
  time = Timestamp(std::chrono::milliseconds(json.get<std::int64_t>()));
  return true;
}

bool In(const Json& json, GroupKind& kind) {
  return json.is_array() && json.size() == 2 && In(json[0], kind.group) && In(json[1], kind.kind);
}

bool In(const Json& json, ProviderConfigName& config) {
  return json.is_array() && json.size() == 4 && In(json[0], config.group) &&
         In(json[1], config.kind) && In(json[2], config.ns) && In(json[3], config.name);
}

template <typename Item>
bool In(const Json& json, std::vector<Item>& items) {
  if (!json.is_array()) return false;
  for (const Json& each : json) {
    if (!In(each, items.emplace_back())) return false;
  }
  return true;
}

template <typename Item>
bool In(const Json& json, std::set<Item>& items) {
  if (!json.is_array()) return false;
  for (const Json& each : json) {
    Item item;
    if (!In(each, item)) return false;
    items.insert(std::move(item));
  }
  return true;
}

bool In(const Json& json, OutsideEndpoint& endpoint) {
  return json.is_array() && json.size() == 2 && In(json[0], endpoint.host) &&
         In(json[1], endpoint.services);
}

template <typename Key, typename Item>
bool In(const Json& json, std::map<Key, Item>& items) {
  if (!json.is_array()) return false;
  for (const Json& each : json) {
    Key key;
    Item item{};
    if (!each.is_array() || each.size() != 2 || !In(each[0], key) || !In(each[1], item)) {
      return false;
    }
    items.emplace(std::move(key), std::move(item));
  }
  return true;
}

template <typename Item>
bool MemberIn(const Json& json, const char* name, Item& item) {
  const auto found = json.find(name);
  return found != json.end() && In(*found, item);
}

bool DoubtsIn(const Json& json, DoubtBoard::Board& doubts) {
  std::map<std::string, std::string> slots;
  if (!MemberIn(json, "doubts", slots) || !MemberIn(json, "doubtedKinds", doubts.kinds)) {
    return false;
  }
  for (auto& [text, doubt] : slots) {
    if (const auto slot = SlotFromText(text)) doubts.slots.emplace(*slot, std::move(doubt));
  }
  return true;
}

}  // namespace

std::string ToText(const ToldView& told) {
  const ClusterView& view = told.view;
  std::map<std::string, std::string> doubts;
  for (const auto& [slot, doubt] : told.doubts.slots) doubts.emplace(ToText(slot), doubt);
  return Dump(Json{{"accounts", Out(view.learned.accounts)},
                   {"moving", Out(view.learned.moving)},
                   {"outside", Out(view.learned.outside)},
                   {"composites", Out(view.learned.composites)},
                   {"claims", Out(view.learned.claims)},
                   {"definitionsKnown", view.learned.definitions_known},
                   {"recovery", view.recovery},
                   {"unlisted", Out(view.unlisted)},
                   {"unwatched", Out(view.unwatched)},
                   {"unmapped", Out(view.unmapped)},
                   {"unseen", Out(told.unseen)},
                   {"doubts", Out(doubts)},
                   {"doubtedKinds", Out(told.doubts.kinds)}});
}

std::optional<ToldView> ToldViewFromText(std::string_view text) {
  const Json json = ParseJson(text);
  if (!json.is_object()) return std::nullopt;
  ToldView told;
  ClusterView& view = told.view;
  view.ready = true;
  const bool is_whole =
      MemberIn(json, "accounts", view.learned.accounts) &&
      MemberIn(json, "moving", view.learned.moving) &&
      MemberIn(json, "outside", view.learned.outside) &&
      MemberIn(json, "composites", view.learned.composites) &&
      MemberIn(json, "claims", view.learned.claims) &&
      MemberIn(json, "definitionsKnown", view.learned.definitions_known) &&
      MemberIn(json, "recovery", view.recovery) && MemberIn(json, "unlisted", view.unlisted) &&
      MemberIn(json, "unwatched", view.unwatched) && MemberIn(json, "unmapped", view.unmapped) &&
      MemberIn(json, "unseen", told.unseen) && DoubtsIn(json, told.doubts);
  return is_whole ? std::optional(std::move(told)) : std::nullopt;
}

}  // namespace truce
