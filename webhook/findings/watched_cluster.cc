#include "webhook/findings/watched_cluster.h"

#include <functional>
#include <utility>

#include "webhook/watch/kinds.h"

namespace truce {
namespace {

void Mark(std::set<Uid>& marked, const Uid& uid, bool is_marked) {
  if (is_marked) {
    marked.insert(uid);
  } else {
    marked.erase(uid);
  }
}

std::size_t HashOf(const Uid& uid) { return std::hash<std::string>()(uid.text); }

}  // namespace

void WatchedCluster::OnSighted(const ObservedVersion& observed) {
  const Uid& uid = observed.facts.uid;
  const auto kind = kinds.find(GroupKindOf(observed.facts.slot));
  if (kind != kinds.end()) kind->second.objects.insert(HashOf(uid));
  Mark(marks.terminating, uid, observed.facts.terminating);
  Mark(marks.paused, uid, observed.paused);
  Mark(marks.in_use, uid, observed.in_use);
}

void WatchedCluster::OnGone(const Uid& uid, const Slot& slot) {
  for (std::set<Uid>* marked : {&marks.terminating, &marks.paused, &marks.in_use}) {
    marked->erase(uid);
  }
  const auto kind = kinds.find(GroupKindOf(slot));
  if (kind != kinds.end()) kind->second.objects.erase(HashOf(uid));
}

void WatchedCluster::OnKindState(const KindStatus& status) {
  const GroupKind kind = status.kind.group_kind();
  if (kind == GroupKind{WebhookConfigurationKind().group, WebhookConfigurationKind().kind}) {
    if (status.state == KindState::kWatched || status.state == KindState::kEmpty) {
      if (!configuration_listed) configuration.reset();
      configuration_known = true;
      // Events of the watch count from now on; a later list begins anew.
    } else if (status.state == KindState::kListing || status.state == KindState::kRelisting) {
      configuration_listed = false;
    }
  }
  if (status.kind.role != Role::kOther) kinds[kind].status = status;
  if (const auto other = others.find(kind); other != others.end()) other->second.status = status;
}

void WatchedCluster::OnConfiguration(Value object, bool gone, const std::string& name) {
  auto read = ReadWebhookConfiguration(object);
  if (!read || read->name != name) return;
  configuration_listed = !gone;
  configuration.reset();
  if (!gone) configuration = std::move(read);
}

bool WatchedCluster::IsReadable(const GroupKind& kind) const {
  const auto found = kinds.find(kind);
  if (found == kinds.end()) return false;
  const KindStatus& status = found->second.status;
  return status.listed && status.state != KindState::kFailing &&
         status.state != KindState::kUnserved;
}

bool WatchedCluster::Lives(const Uid& uid, const Slot& slot) const {
  return IsReadable(GroupKindOf(slot)) && !marks.terminating.contains(uid);
}

}  // namespace truce
