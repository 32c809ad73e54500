#include "webhook/serve/shared/review_news.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "registry/ownership/terms.h"

namespace truce {
namespace {

using Json = nlohmann::json;

template <typename Item>
void AddBounded(const std::set<Item>& from, std::set<Item>& into) {
  for (const Item& item : from) {
    if (into.size() >= ReviewNews::kMax) return;
    into.insert(item);
  }
}

// The texts of a list of `count`; nothing: it is none.
std::optional<std::vector<std::string>> TextsOf(const Json& json, std::size_t count) {
  if (!json.is_array() || json.size() != count) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& item : json) {
    if (!item.is_string()) return std::nullopt;
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

template <typename Visit>
void ForEachIn(const Json& json, const char* name, Visit visit) {
  if (!json.is_object()) return;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_array()) return;
  for (const Json& item : *found) visit(item);
}

Json SlotsToJson(const std::set<Slot>& slots) {
  Json out = Json::array();
  for (const Slot& slot : slots) out.push_back(ToText(slot));
  return out;
}

std::set<Slot> SlotsIn(const Json& json, const char* name) {
  std::set<Slot> slots;
  ForEachIn(json, name, [&](const Json& item) {
    const auto slot = item.is_string() ? SlotFromText(item.get<std::string>()) : std::nullopt;
    if (slot) slots.insert(*slot);
  });
  return slots;
}

}  // namespace

void ReviewNews::Add(const ReviewNews& more) {
  AddBounded(more.reviews.admitted, reviews.admitted);
  AddBounded(more.reviews.prove, reviews.prove);
  AddBounded(more.reviews.unknown, reviews.unknown);
  AddBounded(more.deletions, deletions);
  AddBounded(more.checks, checks);
  AddBounded(more.provider_acts, provider_acts);
}

Json ToJson(const ReviewNews& news) {
  Json admitted = Json::array();
  for (const GroupKind& kind : news.reviews.admitted) admitted.push_back({kind.group, kind.kind});
  Json prove = Json::array();
  for (const RowId& row : news.reviews.prove) {
    prove.push_back({row.resource.text, row.uid.text, Name(row.state)});
  }
  Json checks = Json::array();
  for (const Uid& uid : news.checks) checks.push_back(uid.text);
  Json acts = Json::array();
  for (const ProviderAct& act : news.provider_acts) acts.push_back({act.user, ToText(act.slot)});
  return {{"admitted", std::move(admitted)},
          {"prove", std::move(prove)},
          {"unknown", SlotsToJson(news.reviews.unknown)},
          {"deletions", SlotsToJson(news.deletions)},
          {"checks", std::move(checks)},
          {"providerActs", std::move(acts)}};
}

ReviewNews NewsFromJson(const Json& json) {
  ReviewNews news;
  ForEachIn(json, "admitted", [&](const Json& item) {
    if (const auto texts = TextsOf(item, 2))
      news.reviews.admitted.insert({(*texts)[0], (*texts)[1]});
  });
  ForEachIn(json, "prove", [&](const Json& item) {
    const auto texts = TextsOf(item, 3);
    if (!texts) return;
    const bool is_seen = (*texts)[2] == Name(RowState::kSeen);
    news.reviews.prove.insert(
        {{(*texts)[0]}, {(*texts)[1]}, is_seen ? RowState::kSeen : RowState::kReserved});
  });
  news.reviews.unknown = SlotsIn(json, "unknown");
  news.deletions = SlotsIn(json, "deletions");
  ForEachIn(json, "checks", [&](const Json& item) {
    if (item.is_string()) news.checks.insert({item.get<std::string>()});
  });
  ForEachIn(json, "providerActs", [&](const Json& item) {
    const auto texts = TextsOf(item, 2);
    const auto slot = texts ? SlotFromText((*texts)[1]) : std::nullopt;
    if (slot) news.provider_acts.insert({(*texts)[0], *slot});
  });
  return news;
}

void NewsBox::DeletionAsked(const Slot& slot) {
  news_.With([&](ReviewNews& news) {
    if (news.deletions.size() < ReviewNews::kMax) news.deletions.insert(slot);
  });
}

void NewsBox::CheckAdmitted(const Uid& uid) {
  news_.With([&](ReviewNews& news) {
    if (news.checks.size() < ReviewNews::kMax) news.checks.insert(uid);
  });
}

void NewsBox::ProviderActed(const ProviderAct& act) {
  news_.With([&](ReviewNews& news) {
    if (news.provider_acts.size() < ReviewNews::kMax) news.provider_acts.insert(act);
  });
}

void NewsBox::PutBack(const ReviewNews& news) {
  news_.With([&](ReviewNews& present) { present.Add(news); });
}

ReviewNews NewsBox::Take() {
  return news_.With([](ReviewNews& news) { return std::exchange(news, ReviewNews()); });
}

}  // namespace truce
