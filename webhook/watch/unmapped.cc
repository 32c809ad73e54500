#include "webhook/watch/unmapped.h"

namespace truce {

bool Unmapped::Update(const std::set<GroupKind>& mapped, const std::set<GroupKind>& followed,
                      Timestamp now) {
  const auto before = kinds_;
  for (const GroupKind& kind : mapped) {
    if (kinds_.contains(kind) || kinds_.size() < kMappedKindsMax) kinds_[kind] = std::nullopt;
  }
  for (auto at = kinds_.begin(); at != kinds_.end();) {
    auto& [kind, since] = *at;
    if (mapped.contains(kind)) {
      ++at;
    } else if (followed.contains(kind)) {
      at = kinds_.erase(at);
    } else {
      if (!since || *since > now) since = now;
      ++at;
    }
  }
  return kinds_ != before;
}

std::vector<GroupKind> Unmapped::Due(Timestamp now, std::chrono::milliseconds settle) const {
  std::vector<GroupKind> due;
  for (const auto& [kind, since] : kinds_) {
    if (since && now - *since >= settle) due.push_back(kind);
  }
  return due;
}

std::map<GroupKind, Timestamp> Unmapped::Gone() const {
  std::map<GroupKind, Timestamp> gone;
  for (const auto& [kind, since] : kinds_) {
    if (since) gone.emplace(kind, *since);
  }
  return gone;
}

}  // namespace truce
