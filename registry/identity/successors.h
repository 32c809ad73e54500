// Words that name who takes over: "<kind>/<namespace>/<name>", of a cluster-scoped object
// "<kind>/<name>". <kind> is "Kind.group", or "Kind" alone, which fits the kinds of that name of
// all groups. A word means an object of the cluster where it is said, since clusters that share a
// registry have namespaces and objects of one name; one of another cluster is "<cluster>:<kind>/…".
#ifndef TRUCE_REGISTRY_IDENTITY_SUCCESSORS_H_
#define TRUCE_REGISTRY_IDENTITY_SUCCESSORS_H_

#include <optional>
#include <string>
#include <string_view>

#include "registry/identity/values.h"

namespace truce {

struct SuccessorParts {
  std::string cluster;  // empty: not given
  std::string kind;
  std::string ns;
  std::string name;
};
// Nothing when the word has another form.
std::optional<SuccessorParts> PartsOfSuccessor(std::string_view text);

// Whether `successor`, which is said in `cluster`, names `root`.
bool NamesSuccessor(std::string_view successor, std::string_view cluster, const Slot& root);

// `successor`, which somebody in `from` says, as somebody in `cluster` says it.
std::string SuccessorIn(const std::string& cluster, std::string successor, const std::string& from);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_SUCCESSORS_H_
