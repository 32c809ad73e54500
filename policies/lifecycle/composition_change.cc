// Rule composition-change: warns the author of a change to a Composition of its effects on
// composites that exist.
//
// Spec: an update of a Composition (1) drops a Usage template that composites have: Crossplane
// before 1.18.2 leaves such a Usage terminating, and it goes on refusing every deletion of the
// objects that it protects; (2) while objects of its composites have no controller, as after a
// restore: the objects that it drops are left behind (Crossplane before 1.17) or deleted. It never
// refuses. Look-alikes that are none: a Usage template that is only changed, or moved to
// function-patch-and-transform; a new or changed step of another function, which may make it.
// Parameters: none; at most warns.
// Vectors: tests/unit/composition_change_test.cc.
#include "policies/lifecycle/composition_change.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::string_view kApiextensions = "apiextensions.crossplane.io";
constexpr std::string_view kProtection = "protection.crossplane.io";

GroupKind KindOf(Value object) {
  const std::string_view version = StringOf(object.Child("apiVersion"));
  const std::size_t slash = version.find('/');
  return {
      std::string(slash == std::string_view::npos ? std::string_view() : version.substr(0, slash)),
      std::string(StringOf(object.Child("kind")))};
}

// A Usage that a Composition renders.
struct UsageTemplate {
  std::string name;  // of the template; empty: none
  std::string kind;  // that it protects; empty: not said
};

void AddTemplates(Value resources, std::vector<UsageTemplate>& out) {
  if (!resources.is_array()) return;
  for (Value at = resources.first(); at.exists(); at = resources.next(at)) {
    const Value base = at.Child("base");
    if (!IsUsageKind(KindOf(base))) continue;
    out.push_back({std::string(StringOf(at.Child("name"))),
                   std::string(StringOf(base.Child("spec").Child("of").Child("kind")))});
  }
}

bool IsPatchAndTransform(Value input) {
  return KindOf(input) == GroupKind{"pt.fn.crossplane.io", "Resources"};
}

std::vector<UsageTemplate> TemplatesOf(Value spec) {
  std::vector<UsageTemplate> out;
  AddTemplates(spec.Child("resources"), out);
  const Value pipeline = spec.Child("pipeline");
  if (!pipeline.is_array()) return out;
  for (Value step = pipeline.first(); step.exists(); step = pipeline.next(step)) {
    const Value input = step.Child("input");
    if (IsPatchAndTransform(input)) AddTemplates(input.Child("resources"), out);
  }
  return out;
}

// Whether a step of an unknown function is new, or changed.
bool HasNewUnknownStep(Value spec, Value old_spec) {
  const Value pipeline = spec.Child("pipeline");
  if (!pipeline.is_array()) return false;
  const Value old = old_spec.Child("pipeline");
  const auto existed = [&](Value step) {
    if (!old.is_array()) return false;
    for (Value at = old.first(); at.exists(); at = old.next(at)) {
      if (at.Equals(step)) return true;
    }
    return false;
  };
  for (Value step = pipeline.first(); step.exists(); step = pipeline.next(step)) {
    if (!IsPatchAndTransform(step.Child("input")) && !existed(step)) return true;
  }
  return false;
}

std::string AtLeast(std::size_t count, bool complete, std::string_view one, std::string_view many) {
  std::string out = complete ? std::to_string(count) : "at least " + std::to_string(count);
  return out.append(" ").append(count == 1 ? one : many);
}

}  // namespace

bool IsUsageKind(const GroupKind& kind) {
  if (kind.group == kApiextensions) return kind.kind == "Usage";
  return kind.group == kProtection && (kind.kind == "Usage" || kind.kind == "ClusterUsage");
}

CompositionChange ReadCompositionChange(Value object, Value old_object) {
  const Value spec = object.Child("spec");
  const Value old_spec = old_object.Child("spec");
  CompositionChange out;
  out.composite = KindOf(spec.Child("compositeTypeRef"));
  out.changes = !spec.Equals(old_spec);
  // Usages that another function may make from now on are not missing.
  if (!out.changes || HasNewUnknownStep(spec, old_spec)) return out;
  std::vector<UsageTemplate> now = TemplatesOf(spec);
  for (const UsageTemplate& old : TemplatesOf(old_spec)) {
    // Templates without name differ by the kind that they protect.
    const auto same = std::find_if(now.begin(), now.end(), [&](const UsageTemplate& each) {
      return each.name == old.name && (!old.name.empty() || each.kind == old.kind);
    });
    if (same != now.end()) {
      now.erase(same);
      continue;
    }
    const std::string kind = old.kind.empty() ? "what it protects" : old.kind;
    const bool is_reported =
        std::find(out.unguarded.begin(), out.unguarded.end(), kind) != out.unguarded.end();
    if (!is_reported) out.unguarded.push_back(kind);
  }
  return out;
}

bool ConcernedCount::Add(const Object& object, const AllFacts& facts) {
  bool has_usage = false;
  for (const std::string& name : object.names) {
    // Every name is a look into the registry, and the author waits for the answer.
    if (++names_ > kConcernedNamesMax) {
      concerned_.complete = false;
      return false;
    }
    const auto slot = SlotFromText(object.slot.cluster + "/" + name);
    if (!slot) continue;
    if (IsUsageKind({slot->group, slot->kind})) {
      has_usage = true;
      continue;
    }
    const auto named = facts.ObjectBySlot(*slot);
    if (named && OnlyLabelled(*named)) ++concerned_.unadopted;
  }
  if (has_usage) ++concerned_.with_usage;
  return true;
}

std::vector<Finding> JudgeCompositions(const RuleCase& c) {
  std::vector<Finding> out;
  const CompositionCase& composition = *c.composition;
  if (!composition.change.unguarded.empty() && composition.concerned.with_usage > 0) {
    Keep(c, UsageDropped(composition), ModeTopic{}, out);
  }
  if (composition.change.changes && composition.concerned.unadopted > 0) {
    Keep(c, RestoredAtRisk(composition), ModeTopic{}, out);
  }
  return out;
}

std::vector<Finding> JudgeComposition(const CompositionCase& composition,
                                      const AdmissionPolicy& policy, Timestamp now) {
  ObjectFacts object;
  object.slot = composition.composition;
  std::vector<Finding> out =
      JudgeByRules(Entry::kCompositions, {.policy = &policy,
                                          .object = &object,
                                          .root = &object.slot,
                                          .requester = &composition.requester,
                                          .now = now,
                                          .composition = &composition});
  for (Finding& finding : out) MakePrintable(finding);
  return out;
}

Finding UsageDropped(const CompositionCase& composition) {
  const CompositesConcerned& concerned = composition.concerned;
  const std::string kind = OneLine(composition.change.composite.kind, kShownTextBytesMax);
  const std::string blocked = OneLine(Joined(composition.change.unguarded), kShownTextBytesMax);
  Finding out{.rule = Rule::kCompositionChange, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = "Composition " + OneLine(composition.composition.name, kShownTextBytesMax);
  out.cause =
      out.resource + " drops a Usage, which " +
      AtLeast(concerned.with_usage, concerned.complete, "composite has", "composites have") +
      " of kind " + kind +
      ": Crossplane before 1.18.2 leaves it terminating, and it goes on blocking every "
      "deletion of " +
      blocked + ".";
  out.remedy =
      "With Crossplane before 1.18.2, keep the Usage until Crossplane is newer. The finding "
      "stale-usage tells of each that stays, and how to end it.";
  out.warning = OneLine(
      "truce: " +
          AtLeast(concerned.with_usage, concerned.complete, "composite has", "composites have") +
          " this Usage; before Crossplane 1.18.2 it stays and blocks " + blocked,
      kWarningBytesMax);
  return out;
}

Finding RestoredAtRisk(const CompositionCase& composition) {
  const CompositesConcerned& concerned = composition.concerned;
  const std::string verb = concerned.unadopted == 1 ? " is " : " are ";
  const std::string kind = OneLine(composition.change.composite.kind, kShownTextBytesMax);
  Finding out{.rule = Rule::kCompositionChange, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = "Composition " + OneLine(composition.composition.name, kShownTextBytesMax);
  out.cause = AtLeast(concerned.unadopted, concerned.complete, "object", "objects") +
              " of composites of kind " + kind + (concerned.unadopted == 1 ? " has" : " have") +
              " no controller (a restored backup leaves such objects): what " + out.resource +
              " drops of them is left behind (Crossplane before 1.17) or deleted, with its cloud "
              "resource.";
  out.remedy =
      "Change it once Crossplane has adopted them, which it does at its next look at each "
      "composite that is not paused.";
  out.warning = OneLine("truce: " +
                            AtLeast(concerned.unadopted, concerned.complete, "restored object of ",
                                    "restored objects of ") +
                            kind + verb + "not adopted: what this drops is orphaned or deleted",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
