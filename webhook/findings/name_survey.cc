#include "webhook/findings/name_survey.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "registry/base/text.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

NameRegistry RegistryOf(const Store& store, Deadline deadline) {
  NameRegistry registry;
  registry.root_of = [&store, deadline](const Uid& uid) {
    std::optional<Slot> root;
    const auto read = [&](const Facts& facts) {
      root.reset();
      if (const auto object = facts.ObjectByUid(uid)) root = object->root;
    };
    if (uid.empty() || !store.Read(read, deadline).ok()) root.reset();
    return root;
  };
  registry.service_of = [&store, deadline](const KeyText& key) {
    std::string service;
    const auto read = [&](const Facts& facts) {
      const auto owner = facts.OwnerOf(key);
      service = owner ? owner->service : std::string();
    };
    if (key.empty() || !store.Read(read, deadline).ok()) service.clear();
    return service;
  };
  return registry;
}

// Why not all objects of the kind are counted; empty when they are.
std::string CountKind(const NameSurvey& survey, const FollowedKind& kind, Deadline deadline,
                      NameCensus& census) {
  JsonReader reader;
  ListQuery query;
  query.selection = kind.selection;
  do {
    if (std::chrono::steady_clock::now() >= deadline) return "there was no time left";
    ApiResult<ListPage> page = survey.api.List(query, deadline);
    if (!page.ok()) return page.error().message;
    for (const std::string& text : page.value().objects) {
      const Result<Document> object = reader.Read(text);
      if (!object.ok()) continue;
      census.Add(object.value().root(), kind.group_kind());
      const UseRules rules{*survey.policy, survey.store, survey.now};
      for (UseFault& fault :
           UseFaultsOf(object.value().root(), kind.group_kind(), rules, deadline)) {
        census.AddUse(std::move(fault));
      }
    }
    query.next = page.value().next;
  } while (!query.next.empty());
  return "";
}

}  // namespace

NameReport SurveyNames(const NameSurvey& survey, Deadline deadline) {
  NameCensus census(survey.policy, RegistryOf(survey.store, deadline), survey.now);
  std::vector<FollowedKind> kinds = survey.kinds;
  std::stable_sort(kinds.begin(), kinds.end(), [](const FollowedKind& a, const FollowedKind& b) {
    return a.role > b.role;  // claims before composites before what they are made of
  });
  for (const FollowedKind& kind : kinds) {
    if (!IsRecorded(kind.role)) continue;
    std::string problem = CountKind(survey, kind, deadline, census);
    if (problem.empty()) continue;
    const GroupKind name = kind.group_kind();
    census.AddProblem({KindForPeople(name.kind, name.group), std::move(problem)});
  }
  return census.Take();
}

}  // namespace truce
