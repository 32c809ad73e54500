#include "webhook/serve/admission_part.h"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "policies/suspensions.h"
#include "webhook/admission/codec.h"
#include "webhook/watch/accounts.h"
#include "webhook/watch/watcher.h"

namespace truce {

AdmissionPart::AdmissionPart(std::shared_ptr<const Catalogue> catalogue, Store& store,
                             Logger& logger, const Clock& clock)
    : logger_(logger),
      clock_(clock),
      source_(std::move(catalogue), [this](const EffectivePolicy& policy) { TakePolicy(policy); }),
      overrides_(store, clock, RandomIds(), [this](const std::vector<Override>& overrides) {
        Publish([&](Policies& policies) { policies.overrides = overrides; });
      }) {}

void AdmissionPart::Begin(AdmissionPorts ports) {
  in_force_.Replace(effective().policy);
  service_.emplace(std::move(ports), effective().policy);
}

void AdmissionPart::TakePolicy(const EffectivePolicy& policy) {
  Publish([&](Policies& policies) { policies.configured = policy; });
  if (listener_) listener_(policy);
}

// Changes the policies and hands them to the service as one.
template <typename Change>
void AdmissionPart::Publish(Change change) {
  policies_.With([&](Policies& policies) {
    change(policies);
    if (!service_) return;
    auto policy = std::make_shared<AdmissionPolicy>(*policies.configured.policy);
    policy->unseen = policies.unseen;
    policy->unresolved_reason = [this](const Slot& holder) { return unresolved_.ReasonOf(holder); };
    // Also before the first view: the watch shows by then what it showed before the start.
    policy->watched = !policies.configured.config->no_cluster;
    if (policies.view) {
      const ClusterView& view = *policies.view;
      // Nothing that this server watches itself can grow old.
      if (view.life != nullptr) {
        policy->is_blind = [life = view.life] {
          return life->IsOver(std::chrono::steady_clock::now());
        };
      }
      policy->recovery = view.recovery;
      policy->unlisted = {view.unlisted.begin(), view.unlisted.end()};
      policy->unwatched = view.unwatched;
      TakeLearned(view.learned, policy->identity);
      policy->claims = view.learned.claims;
      policy->definitions_known = view.learned.definitions_known;
    } else if (policies.configured.config->no_cluster) {
      // Nobody tells here which of them all has that stands under their provisional accounts.
      policy->identity.moving =
          ProvisionalAccountsOf(policy->identity.accounts, policy->identity.cluster);
    }
    auto& overrides = policy->modes.overrides;
    overrides.insert(overrides.end(), policies.overrides.begin(), policies.overrides.end());
    in_force_.Replace(policy);
    service_->SetPolicy(std::move(policy));
    if (policies.ready && !service_->ready()) {
      service_->SetReady(true);
      logger_.Log(LogLevel::kInfo, "ready", {});
    }
  });
}

// Without them the server is stricter than it was told, never laxer.
void AdmissionPart::LoadOverrides(std::chrono::milliseconds time) {
  const Result<void> loaded = overrides_.Load(In(time));
  std::string problem = loaded.ok() ? std::string() : loaded.error().message;
  if (problem != overrides_problem_ && !problem.empty()) {
    logger_.Log(LogLevel::kError, "overrides not taken over",
                {{"message", std::string_view(problem)}});
  }
  overrides_problem_ = std::move(problem);
}

void AdmissionPart::SetView(const ClusterView& view) {
  Publish([&](Policies& policies) {
    policies.view = view;
    policies.ready = view.ready;
  });
}

void AdmissionPart::SetUnseen(const std::map<GroupKind, Timestamp>& unseen) {
  Publish([&](Policies& policies) { policies.unseen = unseen; });
}

void AdmissionPart::SetReady() {
  Publish([](Policies& policies) { policies.ready = true; });
}

EffectivePolicy AdmissionPart::effective() const {
  return policies_.With([](const Policies& policies) { return policies.configured; });
}

std::map<GroupKind, Timestamp> AdmissionPart::unmapped() const {
  return policies_.With([](const Policies& policies) {
    return policies.view ? policies.view->unmapped : std::map<GroupKind, Timestamp>();
  });
}

Result<void> AdmissionPart::TryObject(const AdmissionRequest& review) const {
  for (const ServedKind& kind : source_.kinds()) {
    if (kind.group != review.kind.group || kind.kind != review.kind.kind) continue;
    const std::optional<OwnObject> object = ReadOwnObject(kind, review.object);
    // The API server gives each object a name and a uid before it asks.
    if (object) return source_.Try(*object);
  }
  return {};
}

void AdmissionPart::WriteMetrics(MetricWriter& writer) const {
  if (!service_) return;
  std::array<int, 2> suspended{};
  for (const Suspension& each : SuspensionsAt(*policy(), clock_.Now())) {
    ++suspended[static_cast<std::size_t>(each.cause)];
  }
  writer.Family("truce_recovery_mode");
  writer.Sample(suspended[static_cast<std::size_t>(SuspensionCause::kRecovery)]);
  writer.Family("truce_overrides_in_force");
  writer.Sample(suspended[static_cast<std::size_t>(SuspensionCause::kOverride)]);
  const LateAnswers& late = service_->late_answers();
  writer.Family("truce_late_answers");
  writer.Sample(static_cast<double>(late.kept_now()));
  writer.Family("truce_late_answers_total");
  writer.Sample(static_cast<double>(late.kept_ever()));
}

}  // namespace truce
