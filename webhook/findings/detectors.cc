#include "webhook/findings/detectors.h"

#include "registry/base/text.h"
#include "webhook/findings/concerned.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

constexpr std::size_t kPage = 500;
constexpr std::chrono::seconds kConcernedTime{5};

bool NamesSomething(const LiveFinding& finding) {
  return !finding.key.empty() || !finding.objects.empty();
}

}  // namespace

DetectorKind AlwaysFollowed(ServedKind kind, std::string field_selector, std::string_view finds) {
  DetectorKind out;
  out.kind.selection.kind = std::move(kind);
  out.kind.selection.field_selector = std::move(field_selector);
  out.kind.role = Role::kOther;
  out.kind.always = true;
  out.finds = finds;
  return out;
}

Detectors::Detectors(DetectorPorts ports) : ports_(std::move(ports)) {
  for (std::size_t i = 0; i < kDetectorCount; ++i) {
    const DetectorInfo& info = InfoOf(static_cast<Detector>(i));
    if (info.make != nullptr) examiners_.push_back(info.make());
  }
  watched_.With([&](WatchedCluster& cluster) {
    for (const auto& examiner : examiners_) {
      for (const DetectorKind& each : examiner->Kinds("")) {
        if (!each.finds.empty()) cluster.others[each.kind.group_kind()].finds = each.finds;
      }
    }
  });
}

Detectors::~Detectors() = default;

std::vector<FollowedKind> Detectors::Kinds(const std::string& webhook) const {
  std::vector<FollowedKind> out;
  for (const auto& examiner : examiners_) {
    for (DetectorKind& each : examiner->Kinds(webhook)) out.push_back(std::move(each.kind));
  }
  return out;
}

void Detectors::OnSighted(const ObservedVersion& observed) {
  const Timestamp now = ports_.clock.Now();
  watched_.With([&](WatchedCluster& cluster) {
    cluster.OnSighted(observed);
    for (const auto& examiner : examiners_) examiner->OnSighted(observed, now);
  });
}

void Detectors::OnGone(const Uid& uid, const Slot& slot) {
  watched_.With([&](WatchedCluster& cluster) {
    cluster.OnGone(uid, slot);
    for (const auto& examiner : examiners_) examiner->OnGone(uid, slot);
  });
}

void Detectors::OnKindState(const KindStatus& status) {
  watched_.With([&](WatchedCluster& cluster) {
    cluster.OnKindState(status);
    for (const auto& examiner : examiners_) examiner->OnKindState(status);
  });
}

void Detectors::OnOther(const FollowedKind& kind, Value object, bool gone) {
  const OtherObject other{kind, object, gone, ports_.cluster, ports_.clock.Now()};
  const bool is_webhook = kind.selection.kind.kind == WebhookConfigurationKind().kind;
  const std::string webhook = is_webhook ? ports_.around().webhook.name : std::string();
  watched_.With([&](WatchedCluster& cluster) {
    if (is_webhook) cluster.OnConfiguration(object, gone, webhook);
    for (const auto& examiner : examiners_) examiner->OnOther(other);
  });
}

void Detectors::OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) {
  const Timestamp now = ports_.clock.Now();
  const GroupKind named = kind.group_kind();
  const Slot slot{ports_.cluster, named.group, named.kind, object.ns, object.name};
  watched_.With([&](const auto&) {
    for (const auto& examiner : examiners_) {
      examiner->OnUnread(slot, gone ? std::string() : object.why, now);
    }
  });
}

void Detectors::OnProviderAct(const ProviderAct& act) {
  const Timestamp now = ports_.clock.Now();
  watched_.With([&](const auto&) {
    for (const auto& examiner : examiners_) examiner->OnProviderAct(act, now);
  });
}

void Detectors::OnDeletionAsked(const Slot& slot) {
  const Timestamp now = ports_.clock.Now();
  watched_.With([&](const auto&) {
    for (const auto& examiner : examiners_) examiner->OnDeletionAsked(slot, now);
  });
}

void Detectors::SetServed(std::vector<ServedKind> kinds) {
  std::map<GroupKind, ServedKind> served;
  for (ServedKind& kind : kinds) {
    GroupKind name{kind.group, kind.kind};
    served.insert_or_assign(std::move(name), std::move(kind));
  }
  watched_.With([&](WatchedCluster& cluster) { cluster.served = std::move(served); });
}

void Detectors::SetReady(std::chrono::milliseconds took) {
  watched_.With([&](WatchedCluster& cluster) { cluster.ready = took; });
}

// Best effort: findings that cannot be looked up now are shown to those only who may read
// everything.
void Detectors::AddWhomTheyConcern(std::vector<LiveFinding>& found) const {
  const Deadline deadline = std::chrono::steady_clock::now() + kConcernedTime;
  for (std::size_t begin = 0; begin < found.size(); begin += kPage) {
    const std::size_t end = std::min(found.size(), begin + kPage);
    const bool asks = std::any_of(found.begin() + static_cast<std::ptrdiff_t>(begin),
                                  found.begin() + static_cast<std::ptrdiff_t>(end), NamesSomething);
    if (!asks) continue;
    const auto look = [&](const Facts& facts) {
      for (std::size_t i = begin; i < end; ++i) AddConcerned(found[i], facts);
    };
    if (ports_.store.Read(look, deadline).ok()) continue;
    // Half of whom it concerns would look like all of them.
    for (std::size_t i = begin; i < end; ++i) {
      found[i].namespaces.clear();
      found[i].services.clear();
    }
  }
}

void Detectors::Report(Detector detector, std::vector<LiveFinding> found) {
  AddWhomTheyConcern(found);
  const auto changes = ports_.book.Replace(detector, std::move(found), ports_.clock.Now());
  for (const FindingChange& change : changes) ports_.on_change(change);
}

Result<void> Detectors::ReadPage(const Examination& at,
                                 const std::function<void(const PassPlace&)>& look) {
  std::vector<std::function<void()>> keep;
  const auto read = [&](const AllFacts& facts) {
    keep.clear();
    look({facts, *at.around.policy, at.now, keep});
  };
  TRUCE_RETURN_IF_ERROR(at.store.Read(read, at.deadline));
  for (const std::function<void()>& each : keep) each();
  return {};
}

Result<void> Detectors::PassOverOwners(const Examination& at) {
  KeyText after;
  KeyText last;
  std::size_t count = 0;
  do {
    after = last;
    TRUCE_RETURN_IF_ERROR(ReadPage(at, [&](const PassPlace& place) {
      const std::vector<Owner> owners = place.facts.OwnersIn(OwnerList::kAll, after, kPage);
      for (const Owner& owner : owners) {
        for (const auto& examiner : examiners_) examiner->OnOwner(owner, place);
      }
      count = owners.size();
      if (count > 0) last = owners.back().key;
    }));
  } while (count == kPage);
  return {};
}

Result<void> Detectors::PassOverObjects(const Examination& at, const Slot& kind, Role role) {
  std::string after;
  std::string next;
  do {
    after = next;
    TRUCE_RETURN_IF_ERROR(ReadPage(at, [&](const PassPlace& place) {
      ObjectPage page = place.facts.ObjectsOfKind(kind, after, kPage);
      for (const Object& object : page.objects) {
        for (const auto& examiner : examiners_) examiner->OnObject(object, role, place);
      }
      next = std::move(page.next);
    }));
  } while (!next.empty());
  return {};
}

Result<void> Detectors::PassOver(const Examination& at) {
  for (const auto& examiner : examiners_) examiner->BeginPass();
  TRUCE_RETURN_IF_ERROR(PassOverOwners(at));
  std::map<GroupKind, Role> kinds;
  watched_.With([&](const WatchedCluster& cluster) {
    for (const auto& [kind, known] : cluster.kinds) {
      if (!known.objects.empty()) kinds[kind] = known.status.kind.role;
    }
  });
  for (const auto& [kind, role] : kinds) {
    TRUCE_RETURN_IF_ERROR(
        PassOverObjects(at, {ports_.cluster, kind.group, kind.kind, "", ""}, role));
  }
  for (const auto& examiner : examiners_) examiner->EndPass(at);
  return {};
}

Result<void> Detectors::Examine(Deadline deadline) {
  const Surroundings around = ports_.around();
  const Examination at{ports_.store,
                       deadline,
                       ports_.clock.Now(),
                       around,
                       watched_,
                       [this](Detector detector, std::vector<LiveFinding> found) {
                         Report(detector, std::move(found));
                       }};
  const bool is_ready =
      watched_.With([](const WatchedCluster& cluster) { return cluster.ready.has_value(); });
  for (const bool needs_lists : {false, true}) {
    if (needs_lists && !is_ready) return {};
    for (const auto& examiner : examiners_) {
      if (examiner->NeedsLists() != needs_lists) continue;
      TRUCE_RETURN_IF_ERROR(examiner->Examine(at));
    }
  }
  const bool is_due = !pass_at_ || at.now < *pass_at_ || at.now - *pass_at_ >= kPassEvery;
  if (!is_due) return {};
  TRUCE_RETURN_IF_ERROR(PassOver(at));
  pass_at_ = at.now;
  return {};
}

CoverageReport Detectors::Coverage() const {
  const Surroundings around = ports_.around();
  const Timestamp now = ports_.clock.Now();
  return watched_.With(
      [&](const WatchedCluster& cluster) { return CoverageOf(cluster, around, now); });
}

std::optional<ServedKind> Detectors::KindOf(const GroupKind& kind) const {
  return watched_.With([&](const WatchedCluster& cluster) -> std::optional<ServedKind> {
    const auto followed = cluster.kinds.find(kind);
    if (followed != cluster.kinds.end() && followed->second.status.state != KindState::kUnserved) {
      return followed->second.status.kind.selection.kind;
    }
    const auto served = cluster.served.find(kind);
    return served == cluster.served.end() ? std::nullopt : std::optional(served->second);
  });
}

std::vector<TagWar> Detectors::Wars() const {
  return watched_.With([](const WatchedCluster& cluster) { return cluster.wars; });
}

std::vector<FollowedKind> Detectors::KindsWithObjects() const {
  std::vector<FollowedKind> kinds;
  watched_.With([&](const WatchedCluster& cluster) {
    for (const auto& [name, kind] : cluster.kinds) {
      const bool may_have = !kind.objects.empty() || !kind.status.listed;
      if (may_have && kind.status.state != KindState::kUnserved) kinds.push_back(kind.status.kind);
    }
  });
  return kinds;
}

BaselineReport Detectors::Watched() const {
  BaselineReport report;
  watched_.With([&](const WatchedCluster& cluster) {
    report.complete = cluster.ready.has_value();
    report.took = cluster.ready.value_or(std::chrono::milliseconds(0));
    report.wars = cluster.wars;
    for (const auto& [name, kind] : cluster.kinds) {
      ++report.kinds;
      report.objects += kind.objects.size();
      if (!kind.status.problem.empty()) {
        report.problems.push_back({KindForPeople(name.kind, name.group), kind.status.problem});
      }
    }
  });
  return report;
}

}  // namespace truce
