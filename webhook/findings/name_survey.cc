#include "webhook/findings/name_survey.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "policies/judge.h"
#include "registry/base/text.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "registry/store/store.h"
#include "webhook/wire/json_reader.h"

namespace truce {
namespace {

// Where the store does not answer by `deadline`, nothing is known.
class StoredNames final : public NameRegistry {
 public:
  StoredNames(const Store& store, Deadline deadline) : store_(store), deadline_(deadline) {}

  std::optional<Slot> RootOf(const Uid& uid) const override {
    std::optional<Slot> root;
    const auto read = [&](const Facts& facts) {
      root.reset();
      if (const auto object = facts.ObjectByUid(uid)) root = object->root;
    };
    if (uid.empty() || !store_.Read(read, deadline_).ok()) root.reset();
    return root;
  }

  std::string ServiceOf(const KeyText& key) const override {
    std::string service;
    const auto read = [&](const Facts& facts) {
      const auto owner = OwnerByName(key, facts);
      service = owner ? owner->service : std::string();
    };
    if (key.empty() || !store_.Read(read, deadline_).ok()) service.clear();
    return service;
  }

 private:
  const Store& store_;
  const Deadline deadline_;
};

// Judges `object`, a whole one of `kind`, as if it asked now for what it has; changes nothing. A
// registry that does not answer before `deadline` gives none.
std::vector<UseFault> UseFaultsOf(Value object, const GroupKind& kind, const NameSurvey& survey,
                                  Deadline deadline) {
  const AdmissionPolicy& policy = *survey.policy;
  // As an update from nothing: what it has is all new, and its lineage is that of its uid.
  ReviewCase asked;
  asked.request.operation = Operation::kUpdate;
  asked.request.object = Identify(object, kind, policy.identity);
  asked.request.old_object = Identify(Value(), kind, policy.identity);
  asked.evidence = ReadEvidence(object, asked.request.object, policy);
  const ObjectFacts& declared = asked.request.object;
  const bool has_names = !declared.uid.empty() && !declared.slot.name.empty();
  if (!has_names || !ConcernsRegistry(asked.request)) return {};
  Judgement judgement(std::move(asked), policy, survey.now);
  std::vector<Finding> findings;
  const auto read = [&](const Facts& facts) {
    const Decision decision = judgement.Judge(facts, [] { return PublicId(); });
    findings = judgement.FindingsOf(decision);
  };
  if (!survey.store.Read(read, deadline).ok()) return {};
  std::vector<UseFault> out;
  for (Finding& found : findings) {
    const bool is_use =
        found.rule == Rule::kForeignAttachment || found.rule == Rule::kObserverWithoutShare;
    if (!is_use) continue;
    out.push_back({std::string(Name(found.rule)), std::string(Name(found.mode)),
                   ForPeople(judgement.request().object.slot), std::move(found.cause),
                   std::move(found.remedy)});
  }
  return out;
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
      for (UseFault& fault :
           UseFaultsOf(object.value().root(), kind.group_kind(), survey, deadline)) {
        census.AddUse(std::move(fault));
      }
    }
    query.next = page.value().next;
  } while (!query.next.empty());
  return "";
}

}  // namespace

NameReport SurveyNames(const NameSurvey& survey, Deadline deadline) {
  const StoredNames registry(survey.store, deadline);
  NameCensus census(survey.policy, &registry, survey.now);
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
