#include "registry/identity/successors.h"

#include <algorithm>
#include <utility>

#include "registry/base/text.h"

namespace truce {

bool NamesSuccessor(std::string_view successor, std::string_view cluster, const Slot& root) {
  const auto parts = PartsOfSuccessor(successor);
  if (!parts) return false;
  const std::string_view in = parts->cluster.empty() ? cluster : parts->cluster;
  if (in != root.cluster) return false;
  if (parts->kind != root.kind && parts->kind != root.kind + "." + root.group) return false;
  return parts->ns == root.ns && parts->name == root.name;
}

std::string SuccessorIn(const std::string& cluster, std::string successor,
                        const std::string& from) {
  const bool tells_cluster = successor.find(':') < successor.find('/');
  if (successor.empty() || cluster == from || tells_cluster) return successor;
  return from + ":" + successor;
}

std::optional<SuccessorParts> PartsOfSuccessor(std::string_view text) {
  const auto slashes = std::count(text.begin(), text.end(), '/');
  const bool has_blank = HasControl(text) || text.find(' ') != std::string_view::npos;
  if (has_blank || slashes < 1 || slashes > 2) return std::nullopt;
  std::string_view kind = TakeUntil(text, '/');
  const bool tells_cluster = kind.find(':') != std::string_view::npos;
  SuccessorParts parts;
  if (tells_cluster) parts.cluster = TakeUntil(kind, ':');
  parts.kind = kind;
  if (slashes == 2) parts.ns = TakeUntil(text, '/');
  parts.name = text;
  if (tells_cluster && parts.cluster.empty()) return std::nullopt;
  return kind.empty() || text.empty() ? std::nullopt : std::optional(std::move(parts));
}

}  // namespace truce
