#include "tests/model/simulated_process.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/support/validate_now.h"

namespace truce {

// What the watch must know of reviews.
class SimulatedProcess::Sink final : public ReviewSink {
 public:
  Sink(ReviewInbox& inbox, std::string cluster) : inbox_(inbox), cluster_(std::move(cluster)) {}
  void OnReview(const ReviewRecord& record) override {
    warned = record.verdict == Verdict::kAllowed && !record.findings.empty();
    if (record.dry_run) return;
    const GroupKind kind{std::string(record.group), std::string(record.kind)};
    if (!record.prove.empty()) inbox_.Prove({record.prove.begin(), record.prove.end()});
    if (record.verdict == Verdict::kUnknown && !record.name.empty()) {
      inbox_.Unknown(
          {cluster_, kind.group, kind.kind, std::string(record.ns), std::string(record.name)});
    }
    if (record.wrote) inbox_.Admitted(kind);
  }
  bool warned = false;

 private:
  ReviewInbox& inbox_;
  std::string cluster_;
};

SimulatedProcess::SimulatedProcess(SimulatedPorts ports, Moment now, std::uint64_t& ids)
    : ports_(std::move(ports)),
      ids_(ids),
      now_(now),
      watch_store_(ports_.store, ports_.fence == nullptr ? own_fence_ : *ports_.fence) {
  const IdSource id_source = [this] {
    std::string text = std::to_string(++ids_);
    return PublicId{std::string(13 - text.size(), 'a') + text};
  };
  ports_.policy.unresolved_reason = [this](const Slot& holder) {
    return unresolved_.ReasonOf(holder);
  };
  sink_ = std::make_unique<Sink>(inbox_, ports_.policy.identity.cluster);
  service_ = std::make_unique<AdmissionService>(
      AdmissionPorts{ports_.store, ports_.clock, id_source, {sink_.get()}},
      std::make_shared<const AdmissionPolicy>(ports_.policy));
  ports_.options.seed = ports_.random();
  WatcherPorts watched{{watch_store_, ports_.clock, id_source,
                        [] { return std::chrono::steady_clock::now() + std::chrono::minutes(1); },
                        nullptr, &unresolved_},
                       &inbox_,
                       [this](const LearnedIdentity& learned) {
                         TakeLearned(learned, ports_.policy.identity);
                         policy_changed_ = true;
                       }};
  watcher_ = std::make_unique<Watcher>(std::move(watched), ports_.rules, ports_.options);
}
SimulatedProcess::~SimulatedProcess() = default;

bool SimulatedProcess::Chance(double share) {
  return std::uniform_real_distribution<>(0, 1)(ports_.random) < share;
}
std::size_t SimulatedProcess::Pick(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(ports_.random);
}

SimulatedAnswer SimulatedProcess::Validate(std::string review) {
  service_->SetReady(watcher_->ready());
  std::map<std::string, bool, std::less<>> unlisted;
  for (const char* type : {"s3/Bucket", "dynamodb/Table"}) {
    const Watcher::Known known = watcher_->KnownFor(now_, type);
    if (known != Watcher::Known::kYes) unlisted[type] = known == Watcher::Known::kOver;
  }
  if (std::exchange(policy_changed_, false) || unlisted != unlisted_) {
    unlisted_ = unlisted;
    ports_.policy.unlisted = std::move(unlisted);
    service_->SetPolicy(std::make_shared<const AdmissionPolicy>(ports_.policy));
  }
  HttpRequest request;
  request.method = "POST";
  request.path = "/validate";
  request.query.emplace_back("timeout", "10s");
  request.body = std::move(review);
  const HttpResponse response = ValidateNow(*service_, request);
  return {response.status, response.body.find("\"allowed\":true") != std::string::npos,
          sink_->warned, response.body};
}

void SimulatedProcess::SetMappings(const MappingRules& mappings) {
  ports_.policy.identity.mappings = mappings;
  ports_.rules.identity.mappings = mappings;
  policy_changed_ = true;
  watcher_->SetRules(now_, ports_.rules);
}

bool SimulatedProcess::Take(Wishes wishes) {
  const bool any = !wishes.empty();
  for (const WatchId id : wishes.stops) running_.erase(id);
  for (WatchQuery& query : wishes.watches) {
    running_[query.id] = {std::move(query.selection),
                          std::move(query.resource_version),
                          ports_.cluster.life(),
                          {},
                          query.timeout <= Reflector::kHurryWatch};
  }
  if (wishes.discover) pending_.emplace_back().discover = true;
  for (ListWanted& list : wishes.lists) pending_.emplace_back().list = std::move(list);
  for (GetWanted& get : wishes.gets) pending_.emplace_back().get = std::move(get);
  return any;
}

ApiError SimulatedProcess::RandomError() {
  constexpr std::array kErrors{
      std::pair{ApiErrorKind::kUnauthorized, 401}, std::pair{ApiErrorKind::kForbidden, 403},
      std::pair{ApiErrorKind::kThrottled, 429},    std::pair{ApiErrorKind::kServer, 500},
      std::pair{ApiErrorKind::kUnreachable, 0},    std::pair{ApiErrorKind::kTimeout, 0},
      std::pair{ApiErrorKind::kMalformed, 200},    std::pair{ApiErrorKind::kExpired, 410},
      std::pair{ApiErrorKind::kNoSuchType, 404}};
  const auto [kind, status] = kErrors[Pick(kErrors.size())];
  return {kind, status, std::string(Name(kind)), {}};
}

void SimulatedProcess::Answer(Pending& pending, double faults) {
  pending.answered = true;
  if (Chance(faults) && !(pending.discover && Chance(0.5))) {
    pending.error = RandomError();
    return;
  }
  const auto take = [&](auto answer, auto& value) {
    if (answer.ok()) {
      value = std::move(answer).value();
    } else {
      pending.error = answer.error();
    }
  };
  if (pending.discover) take(ports_.cluster.Discover(Chance(faults)), pending.discovery);
  if (pending.list) take(ports_.cluster.List(pending.list->query), pending.page);
  if (pending.get) {
    take(ports_.cluster.Get(pending.get->kind, pending.get->slot.ns, pending.get->slot.name),
         pending.page);
  }
}

void SimulatedProcess::Deliver(Pending pending) {
  if (pending.discover) {
    watcher_->Discovered(now_, pending.error ? ApiResult<Discovery>(*pending.error)
                                             : ApiResult<Discovery>(*pending.discovery));
  } else if (pending.list) {
    watcher_->Listed(now_, pending.list->id,
                     pending.error ? ApiResult<ListPage>(*pending.error)
                                   : ApiResult<ListPage>(*std::move(pending.page)));
  } else {
    watcher_->Got(now_, *pending.get,
                  pending.error ? ApiResult<ListPage>(*pending.error)
                                : ApiResult<ListPage>(*std::move(pending.page)));
  }
}

bool SimulatedProcess::Stream(WatchId id, std::size_t count) {
  Running& watch = running_.at(id);
  const GroupKind kind{watch.selection.kind.group, watch.selection.kind.kind};
  auto events = ports_.cluster.EventsAfter(kind, watch.version, watch.life, count);
  if (!events.ok()) {
    const ApiError& error = events.error();
    running_.erase(id);
    watcher_->Ended(now_, id, error);
    return true;
  }
  std::vector<WatchEvent> some = std::move(events).value();
  const std::string told = std::to_string(ports_.cluster.version());
  if (watch.brief && some.size() < count) {
    watch.brief = false;
    some.push_back({WatchEvent::Type::kBookmark, told, {}});
  }
  if (some.empty()) return false;
  const std::vector<WatchEvent> copy = some;
  if (!watcher_->Events(now_, id, some)) return false;
  watch.version = copy.back().resource_version;
  watch.last = copy;
  return true;
}

// Repeats what was told, tells where it stands, or ends.
void SimulatedProcess::Break(WatchId id) {
  Running& watch = running_.at(id);
  const std::size_t how = Pick(4);
  if (how == 0 && !watch.last.empty()) {
    std::vector<WatchEvent> again = watch.last;
    (void)watcher_->Events(now_, id, again);
    return;
  }
  if (how == 1) {
    while (running_.contains(id) && Stream(id, 100)) {
    }
    if (!running_.contains(id)) return;
    std::vector<WatchEvent> bookmark{
        {WatchEvent::Type::kBookmark, std::to_string(ports_.cluster.version()), {}}};
    if (watcher_->Events(now_, id, bookmark)) {
      running_.at(id).version = std::to_string(ports_.cluster.version());
    }
    return;
  }
  running_.erase(id);
  watcher_->Ended(now_, id, how == 2 ? std::nullopt : std::optional(RandomError()));
}

void SimulatedProcess::Step(double faults) {
  Take(watcher_->Tick(now_));
  if (!pending_.empty() && Chance(0.6)) {
    const std::size_t which = Pick(pending_.size());
    if (!pending_[which].answered) Answer(pending_[which], faults);
    if (Chance(0.5)) {
      Pending pending = std::move(pending_[which]);
      pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(which));
      Deliver(std::move(pending));
    }
  }
  if (!running_.empty()) {
    const auto watch =
        std::next(running_.begin(), static_cast<std::ptrdiff_t>(Pick(running_.size())));
    const WatchId id = watch->first;
    if (Chance(faults)) {
      Break(id);
    } else {
      (void)Stream(id, 1 + Pick(4));
    }
  }
  Take(watcher_->Tick(now_));
}

void SimulatedProcess::Settle() {
  for (int i = 0; i < 10'000; ++i) {
    bool any = Take(watcher_->Tick(now_));
    for (Pending& pending : std::exchange(pending_, {})) {
      any = true;
      if (!pending.answered) Answer(pending, 0);
      Deliver(std::move(pending));
    }
    std::vector<WatchId> ids;
    for (const auto& [id, watch] : running_) ids.push_back(id);
    for (const WatchId id : ids) any = (running_.contains(id) && Stream(id, 100)) || any;
    const auto due = watcher_->Due();
    if (!any && (!due || *due > now_)) return;
  }
}

void SimulatedProcess::Wait(std::chrono::milliseconds time) {
  now_ += time;
  ports_.clock.Advance(time);
}

void SimulatedProcess::Advance(std::chrono::milliseconds time) {
  const Moment end = now_ + time;
  Settle();
  while (now_ < end) {
    const auto due = watcher_->Due();
    const Moment next = due ? std::clamp(*due, now_ + std::chrono::milliseconds{1}, end) : end;
    Wait(std::chrono::duration_cast<std::chrono::milliseconds>(next - now_));
    Settle();
  }
}

std::string SimulatedProcess::Describe() const {
  const WatcherStatus status = watcher_->status();
  std::string text = "ready " + std::to_string(status.ready) + " queued " +
                     std::to_string(status.queued) + " nominated " +
                     std::to_string(status.reconcile.nominated) + " held back " +
                     std::to_string(status.reconcile.held_back) + " gets " +
                     std::to_string(status.reconcile.gets) + " store " + status.store_problem +
                     " discovery " + status.discovery_problem;
  for (const KindStatus& kind : watcher_->Kinds()) {
    text += "\n    " + kind.kind.selection.kind.kind + "." + kind.kind.selection.kind.group + " " +
            std::string(Name(kind.state)) + " " + kind.problem + " " + kind.frozen;
  }
  return text;
}

}  // namespace truce
