#include "registry/identity/successors.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace truce {
namespace {

// Where the kind begins: behind the cluster, if the word names one.
std::size_t BeginOfKind(std::string_view successor) {
  const std::size_t colon = successor.substr(0, successor.find('/')).find(':');
  return colon == std::string_view::npos ? 0 : colon + 1;
}

}  // namespace

bool NamesSuccessor(std::string_view successor, std::string_view cluster, const Slot& root) {
  const std::size_t begin = BeginOfKind(successor);
  const std::string_view in = begin == 0 ? cluster : successor.substr(0, begin - 1);
  const std::string_view text = successor.substr(begin);
  const std::size_t slash = text.find('/');
  if (in != root.cluster || slash == std::string_view::npos) return false;
  const std::string_view kind = text.substr(0, slash);
  const std::string_view rest = text.substr(slash + 1);
  if (kind != root.kind && kind != root.kind + "." + root.group) return false;
  return rest == root.ns + "/" + root.name || (root.ns.empty() && rest == root.name);
}

std::string SuccessorIn(const std::string& cluster, std::string successor,
                        const std::string& from) {
  if (successor.empty() || cluster == from || BeginOfKind(successor) != 0) return successor;
  return from + ":" + successor;
}

std::optional<SuccessorParts> PartsOfSuccessor(const std::string& text) {
  const std::size_t first = text.find('/');
  if (first == std::string::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  SuccessorParts parts{{}, text.substr(0, first), {}, {}};
  if (const std::size_t colon = parts.kind.find(':'); colon != std::string::npos) {
    if (colon == 0) return std::nullopt;
    parts.cluster = parts.kind.substr(0, colon);
    parts.kind.erase(0, colon + 1);
  }
  if (second == std::string::npos) {
    parts.name = text.substr(first + 1);
  } else {
    parts.ns = text.substr(first + 1, second - first - 1);
    parts.name = text.substr(second + 1);
  }
  const bool has_blank =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
  const bool fits = !parts.kind.empty() && !parts.name.empty() && !has_blank &&
                    parts.name.find('/') == std::string::npos;
  return fits ? std::optional(std::move(parts)) : std::nullopt;
}

}  // namespace truce
