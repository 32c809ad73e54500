#include "webhook/watch/unmapped.h"

namespace truce {
namespace {

constexpr std::string_view kHasRule = "-";

}  // namespace

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

std::string Unmapped::ToText() const {
  std::string text;
  for (const auto& [kind, since] : kinds_) {
    text.append(kind.kind).append(".").append(kind.group).append(" ");
    text.append(since ? FormatTimestamp(*since) : std::string(kHasRule)).append("\n");
  }
  return text;
}

Unmapped Unmapped::FromText(std::string_view text) {
  Unmapped out;
  while (!text.empty() && out.kinds_.size() < kMappedKindsMax) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t space = line.find(' ');
    const std::size_t dot = line.find('.');  // no kind has one
    if (space == std::string_view::npos || dot > space) continue;
    const GroupKind kind{std::string(line.substr(dot + 1, space - dot - 1)),
                         std::string(line.substr(0, dot))};
    const std::string_view since = line.substr(space + 1);
    if (since == kHasRule) {
      out.kinds_[kind] = std::nullopt;
    } else if (const auto time = ParseTimestamp(since)) {
      out.kinds_[kind] = *time;
    }
  }
  return out;
}

}  // namespace truce
