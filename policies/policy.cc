#include "policies/policy.h"

#include <algorithm>

namespace truce {

bool IsDeletionJudged(const AdmissionPolicy& policy) {
  return !policy.modes.rules[static_cast<std::size_t>(Rule::kDeletionProtection)].empty();
}

std::string_view BoundService(const AdmissionPolicy& policy, std::string_view ns) {
  const auto& services = policy.parties.services;
  if (ns.empty() || services.empty()) return {};
  const std::string& cluster = policy.identity.cluster;
  const auto set = policy.parties.cluster_sets.find(cluster);
  std::string place = set == policy.parties.cluster_sets.end() ? cluster : set->second;
  const auto found = services.find(place.append(1, '/').append(ns));
  return found == services.end() ? std::string_view() : std::string_view(found->second);
}

bool MatchesAny(std::string_view text, std::span<const std::string> patterns) {
  // No user name of Kubernetes is longer; a longer text could make many stars slow.
  constexpr std::size_t kUserBytesMax = 512;
  if (text.size() > kUserBytesMax) return false;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return MatchesGlob(text, pattern); });
}

}  // namespace truce
