#include "webhook/findings/name_census.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/judge.h"
#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/rule_case.h"
#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

using State = NameCensus::State;
using Judged = NameCensus::Judged;

// The state of a name with a fault: the rule may be off, or exempt it.
State StateOf(const AppliedMode& applied) {
  if (applied.mode != Mode::kOff) return State::kViolating;
  return applied.exempt != nullptr ? State::kExempt : State::kConforming;
}

Judged Faulty(const RuleCase& c, Rule rule, const AppliedMode& applied, std::string better) {
  Judged out;
  out.state = StateOf(applied);
  out.violation.object = ForPeople(c.object->slot);
  out.violation.rule = Name(rule);
  out.violation.mode = Name(applied.mode);
  out.violation.better = std::move(better);
  return out;
}

// One verdict a name: the convention's, whose suggestion AWS takes too, before AWS's.
Judged Judge(const RuleCase& c, const DeclaredResource& resource, const AwsNameRule& rule) {
  const NameFacts facts = FactsOf(c, resource, NameOf(resource, rule));
  const auto mode_of = [&](Rule each) {
    return ModeIn(c, each, TopicOf(c, each, resource, facts.name));
  };
  Judged out;
  const auto& convention = c.policy->names->convention;
  const auto departure = convention ? convention->FaultOf(facts) : std::nullopt;
  if (departure) {
    out = Faulty(c, Rule::kNamingConvention, mode_of(Rule::kNamingConvention),
                 departure->suggestion.empty() ? departure->pattern : departure->suggestion);
  }
  if (out.state == State::kViolating) return out;
  const auto fault = rule.FaultOf(facts.name, facts.fifo);
  if (!fault || fault->warns) return out;
  Judged by_aws =
      Faulty(c, Rule::kAwsName, mode_of(Rule::kAwsName), rule.Near(facts.name, facts.fifo));
  return by_aws.state == State::kConforming ? out : by_aws;
}

std::vector<std::string> RowOf(const NameViolation& one) {
  return {one.service, one.type, one.name, one.better, one.rule, one.mode, one.object};
}

}  // namespace

NameCensus::NameCensus(std::shared_ptr<const AdmissionPolicy> policy, Timestamp now,
                       const Store* store, Deadline deadline)
    : policy_(std::move(policy)), now_(now), store_(store), deadline_(deadline) {
  report_.at = now;
  report_.convention = policy_->names != nullptr && policy_->names->convention.has_value();
}

std::optional<Slot> NameCensus::RootOf(const Uid& uid) const {
  std::optional<Slot> root;
  const auto read = [&](const Facts& facts) {
    const auto object = facts.ObjectByUid(uid);
    root = object ? std::optional(object->root) : std::nullopt;
  };
  if (store_ == nullptr || uid.empty() || !store_->Read(read, deadline_).ok()) root.reset();
  return root;
}

std::string NameCensus::ServiceOf(const KeyText& name) const {
  std::string service;
  const auto read = [&](const Facts& facts) {
    const auto owner = OwnerByName(name, facts);
    service = owner ? owner->service : std::string();
  };
  if (store_ == nullptr || name.empty() || !store_->Read(read, deadline_).ok()) service.clear();
  return service;
}

void NameCensus::Count(const std::string& service, Judged judged) {
  NameCounts& counts = report_.counts[{service, judged.violation.type}];
  switch (judged.state) {
    case State::kConforming:
      ++counts.conforming;
      ++report_.conforming;
      return;
    case State::kExempt:
      ++counts.exempt;
      ++report_.exempt;
      return;
    case State::kViolating:
      ++counts.violating;
      ++report_.violating;
      // Counted all the same: the report gives the number of those not listed.
      if (report_.violations.size() >= kNameViolationsMax) return;
      judged.violation.service = service;
      report_.violations.push_back(std::move(judged.violation));
      return;
  }
}

void NameCensus::AddBadNames(const RuleCase& c, const std::string& service) {
  for (const BadName& bad : c.object->bad_names) {
    const AppliedMode applied =
        ModeIn(c, Rule::kResourceName, {.type = bad.type, .name = bad.shown});
    Judged judged = Faulty(c, Rule::kResourceName, applied, "");
    judged.violation.type = bad.type;
    judged.violation.name = bad.shown;
    Count(service, std::move(judged));
  }
}

void NameCensus::Add(Value object, const GroupKind& kind) {
  if (policy_->names == nullptr) return;
  const ObjectFacts facts = Identify(object, kind, policy_->identity);
  const NameEvidence evidence = ReadEvidence(object, facts, *policy_);
  const auto known = RootOf(facts.uid);
  const RuleCase c{.policy = policy_.get(),
                   .object = &facts,
                   .evidence = &evidence,
                   .root = known ? &*known : &facts.slot,
                   .now = now_};
  std::string service(DeclaredService(facts));
  AddBadNames(c, service);
  for (const DeclaredResource& resource : facts.resources) {
    if (resource.intent == Intent::kObserves) continue;
    const AwsNameRule* rule = policy_->names->aws->Find(resource.identity.type);
    if (rule == nullptr || NameOf(resource, *rule).empty()) continue;
    // A claim and its managed resource declare the same name: it counts once.
    if (!resource.key().empty() && !seen_.insert(resource.key()).second) continue;
    if (service.empty()) service = ServiceOf(resource.key());
    Judged judged = Judge(c, resource, *rule);
    judged.violation.type = resource.identity.type;
    judged.violation.name = NameOf(resource, *rule);
    Count(service, std::move(judged));
  }
}

void NameCensus::AddUse(UseFault fault) {
  if (report_.uses.size() < kNameViolationsMax) report_.uses.push_back(std::move(fault));
}

NameReport NameCensus::Take() {
  std::sort(report_.uses.begin(), report_.uses.end(), [](const UseFault& a, const UseFault& b) {
    return std::tie(a.object, a.rule, a.cause) < std::tie(b.object, b.rule, b.cause);
  });
  std::sort(report_.violations.begin(), report_.violations.end(),
            [](const NameViolation& a, const NameViolation& b) {
              return std::tie(a.service, a.type, a.name, a.object) <
                     std::tie(b.service, b.type, b.name, b.object);
            });
  return std::move(report_);
}

namespace {

// Judges `object`, a whole one of `kind`, as if it asked now for what it has; changes nothing. A
// registry that does not answer before `deadline` gives none.
std::vector<UseFault> UseFaultsOf(Value object, const GroupKind& kind, const NameSurvey& survey,
                                  Deadline deadline) {
  const AdmissionPolicy& policy = *survey.policy;
  // As an update from nothing: all its fields are new, and its lineage is that of its uid.
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
  NameCensus census(survey.policy, survey.now, &survey.store, deadline);
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

std::uint64_t PercentDone(const NameCounts& counts) {
  const std::uint64_t all = counts.conforming + counts.exempt + counts.violating;
  return all == 0 ? 100 : (counts.conforming + counts.exempt) * 100 / all;
}

std::string NameSummary(const NameReport& report) {
  const NameCounts all{report.conforming, report.exempt, report.violating};
  std::string out =
      std::to_string(all.conforming) + " of " +
      Counted(all.conforming + all.exempt + all.violating, "name conforms", "names conform") +
      ", " + std::to_string(all.exempt) + " exempt, " + std::to_string(all.violating) +
      " violating (" + std::to_string(PercentDone(all)) + " % done).";
  if (!report.convention) out += " No naming convention is on: these are AWS's rules alone.";
  return out;
}

std::string UseFaultsText(const NameReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (const UseFault& one : report.uses) rows.push_back({one.rule, one.mode, one.cause});
  return rows.empty() ? "" : TextTable({"RULE", "MODE", "WHAT RELIES ON ANOTHER'S RESOURCE"}, rows);
}

std::string NameReportText(const NameReport& report) {
  std::string out = "Names by the rules in force: " + NameSummary(report) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [place, counts] : report.counts) {
    rows.push_back({place.first, place.second, std::to_string(counts.conforming),
                    std::to_string(counts.exempt), std::to_string(counts.violating),
                    std::to_string(PercentDone(counts)) + " %"});
  }
  if (!rows.empty()) {
    out += "\n" + TextTable({"SERVICE", "TYPE", "CONFORMING", "EXEMPT", "VIOLATING", "DONE"}, rows);
  }
  rows.clear();
  for (const NameViolation& one : report.violations) rows.push_back(RowOf(one));
  if (!rows.empty()) {
    out +=
        "\n" + TextTable({"SERVICE", "TYPE", "NAME", "SUGGESTED", "RULE", "MODE", "OBJECT"}, rows);
  }
  if (report.violating > report.violations.size()) {
    out += "\nCounted above, not listed here: " +
           std::to_string(report.violating - report.violations.size()) + "\n";
  }
  rows.clear();
  for (const NameProblem& problem : report.problems) {
    rows.push_back({problem.kind, problem.problem});
  }
  if (!rows.empty()) out += "\n" + TextTable({"NOT COUNTED", "WHY"}, rows);
  return out;
}

}  // namespace truce
