#include "webhook/admission/reroll_guard.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policies/judge.h"
#include "registry/identity/uids.h"
#include "registry/ownership/review.h"
#include "registry/store/store.h"
#include "webhook/admission/rerolls.h"

namespace truce {
namespace {

// The update under review and its exchanged names.
struct Reroll {
  Uid uid;  // of the composite
  ExchangedNames names;
  std::vector<StandingRefusal> refusals;  // that it tries again
};

// Nothing for a review that is no such update, or that passes in any case.
std::optional<Reroll> RerollOf(const AdmissionRequest& review, const AdmissionPolicy& policy,
                               const RerollPorts& ports) {
  const bool is_update =
      review.operation == ReviewOperation::kUpdate && review.sub_resource.empty();
  if (!is_update || !ports.repeated.any()) return std::nullopt;
  const Value metadata = review.object.Child("metadata");
  Reroll out;
  out.uid = UidIn(policy.identity.cluster, metadata.Child("uid").text());
  const auto standing = ports.repeated.StandingOf(out.uid, ports.clock.Now());
  if (standing.empty()) return std::nullopt;
  const bool is_terminating = !metadata.Child("deletionTimestamp").empty();
  std::optional<ExchangedNames> names;
  if (MatchesAny(review.user, policy.composite_controllers) && !is_terminating) {
    names = NamesExchanged(review.object, review.old_object);
  }
  if (!names) {
    if (!review.dry_run) ports.repeated.NoteChange(out.uid);
    return std::nullopt;
  }
  auto refusals = RefusalsOf(*names, standing);
  if (!refusals) return std::nullopt;
  const bool try_due = std::any_of(refusals->begin(), refusals->end(),
                                   [](const StandingRefusal& each) { return each.try_due; });
  if (try_due) {
    if (!review.dry_run) ports.repeated.NotePassed(out.uid);
    return std::nullopt;
  }
  out.names = *std::move(names);
  out.refusals = *std::move(refusals);
  return out;
}

// The resource that is refused again, in words.
struct AskedAgain {
  Finding finding;
  std::string type;
  std::string kind;
  Slot root;
};

// The part of `reroll` that is refused as before; forgets refusals that no longer hold. Nothing
// when any part passes, or the registry cannot tell.
std::optional<AskedAgain> AskAgain(const Reroll& reroll, const AdmissionPolicy& policy,
                                   const RerollPorts& ports, Deadline deadline) {
  std::optional<AskedAgain> out;
  bool some_known = false;   // an object of one of the names
  bool some_passes = false;  // or may pass
  std::vector<const StandingRefusal*> lifted;
  const auto look = [&](const Facts& facts) {
    out.reset();
    some_known = some_passes = false;
    lifted.clear();
    for (const std::vector<Slot>* names : {&reroll.names.gone, &reroll.names.come}) {
      for (Slot slot : *names) {
        slot.cluster = policy.identity.cluster;
        some_known = some_known || facts.ObjectBySlot(slot).has_value();
        slot.ns.clear();
        some_known = some_known || facts.ObjectBySlot(slot).has_value();
      }
    }
    for (const StandingRefusal& refusal : reroll.refusals) {
      if (refusal.asked == nullptr) {
        some_passes = true;
        continue;
      }
      Judgement judgement(ReviewCase(*refusal.asked), policy, ports.clock.Now());
      const Decision decision = judgement.Judge(facts, ports.ids);
      if (decision.allowed || !judgement.unlisted().empty()) {
        lifted.push_back(&refusal);
        some_passes = true;
        continue;
      }
      if (out) continue;
      for (const Finding& finding : judgement.FindingsOf(decision)) {
        if (finding.mode != Mode::kEnforce) continue;
        const auto& resources = judgement.request().object.resources;
        out = AskedAgain{finding, resources.empty() ? "" : resources.front().identity.type,
                         refusal.kind.kind, decision.root};
        break;
      }
    }
  };
  const Result<void> read = ports.store.Read(look, deadline);
  if (!read.ok()) return std::nullopt;
  // Only now: a look that was overtaken may have found otherwise.
  for (const StandingRefusal* refusal : lifted) {
    ports.repeated.Forget(reroll.uid, refusal->topic);
  }
  return some_known || some_passes ? std::nullopt : out;
}

// Not sure is as good as there being one.
bool NoneExists(const ExchangedNames& names, std::string_view asker, const ReadLive& read_live,
                Deadline deadline) {
  std::vector<Slot> slots = names.gone;
  slots.insert(slots.end(), names.come.begin(), names.come.end());
  const LiveObjects seen = read_live(asker, slots, deadline);
  return std::all_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    const auto object = seen.find(slot);
    return object != seen.end() && !object->second;
  });
}

}  // namespace

RerollJudgement JudgeRerolls(const AdmissionRequest& review, const AdmissionPolicy& policy,
                             const RerollPorts& ports, Deadline deadline) {
  RerollJudgement out;
  if (!ports.repeated.any() || !ports.read_live) return out;
  const std::optional<Reroll> reroll = RerollOf(review, policy, ports);
  if (!reroll) return out;
  const auto again = AskAgain(*reroll, policy, ports, deadline);
  if (!again) return out;
  const Deadline probed = std::min(deadline, std::chrono::steady_clock::now() + kProbeTime);
  const std::string_view asker = review.ns.empty() ? review.user : review.ns;
  if (!NoneExists(reroll->names, asker, ports.read_live, probed)) return out;
  out.root = again->root;
  const RerollCase asked{.composite = {policy.identity.cluster, std::string(review.kind.group),
                                       std::string(review.kind.kind), std::string(review.ns),
                                       std::string(review.name)},
                         .root = again->root,
                         .requester = RequesterOf(review.user, policy),
                         .again = {&again->finding, again->type, again->kind}};
  out.findings = JudgeReroll(asked, policy, ports.clock.Now());
  const bool refuses =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) { return finding.mode == Mode::kEnforce; });
  if (refuses && !review.dry_run) {
    out.repetition = ports.repeated.NoteKeptBack(reroll->uid, ports.clock.Now());
  }
  return out;
}

}  // namespace truce
