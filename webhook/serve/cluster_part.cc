#include "webhook/serve/cluster_part.h"

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace truce {
namespace {

// How long readiness waits for the status of Truce's own objects to be written.
constexpr std::chrono::seconds kSettleTime{5};
// Each server tells each second what it reviewed, and each second it is taken up.
constexpr std::chrono::seconds kHeardWithin{10};

// Whether other servers may share the registry.
bool HasOthers(const Config& config) { return IsPostgresUrl(config.store); }

ReconcileRules RulesOf(const EffectivePolicy& policy) {
  ReconcileRules rules;
  rules.catalogue = policy.policy->catalogue;
  rules.identity = policy.policy->identity;
  rules.parties = policy.policy->parties;
  rules.account_parties = policy.policy->account_parties;
  rules.reservation_ttl =
      std::chrono::duration_cast<std::chrono::seconds>(policy.config->reservation_ttl);
  rules.settle_time = policy.config->settle_time;
  return rules;
}

}  // namespace

ClusterPart::ClusterPart(ClusterPartPorts ports)
    : ports_(ports),
      watch_({ports.store, ports.watch_store, ports.clock, ports.logger, ports.health,
              ports.admission.unresolved(), [this](const ClusterView& view) { TakeView(view); },
              [this](const auto& kinds) { OnUnseen(kinds); }, ports.config.Current()->cluster_id,
              ports.config.Current()->data_dir, ports.config.Current()->lease_namespace,
              HasOthers(*ports.config.Current())}),
      sink_(watch_.inbox(), ports.config.Current()->cluster_id, [this] { watch_.Wake(); }),
      detection_({ports.store, ports.clock, ports.logger, watch_, ports.admission.in_force(),
                  ports.credentials, ports.config, [this] { return ports_.admission.unmapped(); },
                  [this](const auto& kinds) { OnUnseen(kinds); }}),
      grants_({ports.watch_store, ports.clock, ports.admission.in_force(),
               ports.config.Current()->cluster_id}),
      checks_({ports.store, ports.clock, ports.admission.in_force(),
               [admission = &ports.admission] { return admission->ready(); }, watch_.api(),
               HasOthers(*ports.config.Current()) ? kHeardWithin : std::chrono::seconds(0)}),
      own_({ports.clock, watch_.api(), [this] { return Leads(); },
            [this](const OwnEvent& event) { Note(event); }},
           {&ports.admission.source(), &checks_, &grants_}),
      shared_({ports.store, ports.clock, ports.logger, ports.admission.in_force(),
               ports.config.Current()->cluster_id, watch_.inbox(), detection_.mutes(), watch_,
               *this}) {
  const EffectivePolicy present = ports_.admission.effective();
  rules_of_ = present.config;
  watch_.SetRules(RulesOf(present));
  ports_.admission.SetListener([this](const EffectivePolicy& policy) { TakePolicy(policy); });
}

ClusterPart::~ClusterPart() { Stop(); }

Result<void> ClusterPart::Start(ServerSettings server) {
  begun_ = std::chrono::steady_clock::now();
  std::vector<FollowedKind> others = detection_.kinds();
  for (FollowedKind& kind : own_.kinds()) others.push_back(std::move(kind));
  TRUCE_RETURN_IF_ERROR(watch_.Start(std::move(server), {std::move(others), *this}));
  detection_.Start();
  shared_.Start();
  return {};
}

void ClusterPart::Stop() {
  // They ask the cluster by what ends with the watch.
  shared_.Stop();
  own_.Stop();
  detection_.Stop();
  watch_.Stop();
}

std::vector<ReviewSink*> ClusterPart::sinks() {
  std::vector<ReviewSink*> all = {&sink_, &deletions_, &provider_acts_, &detection_.refusals()};
  if (ports_.config.Current()->denial_events) all.push_back(&detection_.denials());
  return all;
}

void ClusterPart::NoteCheckAdmitted(const Uid& uid) {
  if (Leads()) {
    checks_.NoteAdmitted(uid);
  } else {
    shared_.box().CheckAdmitted(uid);
  }
}

void ClusterPart::NoteDeletionAsked(const Slot& slot) {
  if (Leads()) {
    detection_.OnDeletionAsked(slot);
  } else {
    shared_.box().DeletionAsked(slot);
  }
}

void ClusterPart::NoteProviderAct(const ProviderAct& act) {
  if (Leads()) {
    detection_.OnProviderAct(act);
  } else {
    shared_.box().ProviderActed(act);
  }
}

void ClusterPart::TakeUp(const ReviewNews& news) {
  ReviewInbox& inbox = watch_.inbox();
  for (const GroupKind& kind : news.reviews.admitted) inbox.Admitted(kind);
  inbox.Prove({news.reviews.prove.begin(), news.reviews.prove.end()});
  for (const Slot& slot : news.reviews.unknown) inbox.Unknown(slot);
  if (!news.reviews.empty()) watch_.Wake();
  for (const Slot& slot : news.deletions) detection_.OnDeletionAsked(slot);
  for (const ProviderAct& act : news.provider_acts) detection_.OnProviderAct(act);
  for (const Uid& uid : news.checks) checks_.NoteAdmitted(uid);
}

WatchReports ClusterPart::Gather() {
  WatchReports reports = detection_.Gather();
  Result<BrakeView> brake = watch_.Brake();
  if (brake.ok()) reports.brake = std::move(brake).value();
  Result<RecoveryView> recovery = watch_.Recovery();
  if (recovery.ok()) reports.waits = std::move(recovery.value().waits);
  return reports;
}

void ClusterPart::TellRefused(const std::string& problem) {
  detection_.TellRefused(ports_.config.Current()->webhook_configuration, problem);
}

void ClusterPart::TakePolicy(const EffectivePolicy& policy) {
  if (!SaysTheSameOfObjects(*rules_of_, *policy.config)) watch_.SetRules(RulesOf(policy));
  rules_of_ = policy.config;
  ports_.credentials.Wake();
}

void ClusterPart::TakeView(const ClusterView& view) {
  const bool was_ready = ports_.admission.ready();
  // The first review is judged by the policies that are there.
  if (view.ready && !was_ready) own_.Settle(In(kSettleTime));
  ports_.admission.SetView(view);
  // The webhook's rules follow the XRDs.
  if (view.learned.composites != composites_ || view.ready != was_ready) ports_.credentials.Wake();
  composites_ = view.learned.composites;
  if (!view.ready || view.is_published || has_seen_all_) return;
  has_seen_all_ = true;
  // Statuses are this server's to write now.
  own_.Refresh();
  detection_.SetReady(std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begun_));
}

void ClusterPart::Note(const OwnEvent& event) {
  const std::string_view message = event.message;
  if (event.kind == OwnEvent::Kind::kTrouble) {
    return ports_.logger.Log(LogLevel::kWarning, "status cannot be written",
                             {{"message", message}});
  }
  const bool is_refused = event.kind == OwnEvent::Kind::kRefused;
  ports_.logger.Log(is_refused ? LogLevel::kError : LogLevel::kInfo,
                    is_refused ? "object refused" : "object taken over",
                    {{"object", std::string_view(event.object)}, {"message", message}});
}

void ClusterPart::OnSighted(const ObservedVersion& observed) {
  detection_.OnSighted(observed);
  own_.OnSighted(observed);
}

void ClusterPart::OnGone(const Uid& uid, const Slot& slot) {
  detection_.OnGone(uid, slot);
  own_.OnGone(uid, slot);
}

void ClusterPart::OnKindState(const KindStatus& status) {
  detection_.OnKindState(status);
  own_.OnKindState(status);
}

void ClusterPart::OnOther(const FollowedKind& kind, Value object, bool gone) {
  detection_.OnOther(kind, object, gone);
  own_.OnOther(kind, object, gone);
}

}  // namespace truce
