#include "policies/declared_twice.h"

#include "policies/people.h"

namespace truce {
namespace {

constexpr std::size_t kResourceBytesMax = 256;
constexpr std::size_t kCauseBytesMax = 1024;

}  // namespace

std::optional<Declarant> DeclaredTwice::FirstOf(const DeclaredResource& resource,
                                                const Declarant& here) {
  if (resource.key().empty() || resource.intent == Intent::kObserves) return std::nullopt;
  const auto [found, is_new] = first_.try_emplace(resource.key(), here);
  if (is_new || found->second == here) return std::nullopt;
  return found->second;
}

std::string DeclaredTwice::By(const Slot& second, const Slot& first) {
  return "by " + ObjectBeside(second, first) + " and " + ObjectBeside(first, second) +
         " of this check";
}

Finding DeclaredTwice::FindingOf(const DeclaredResource& resource, Mode mode,
                                 const std::string& who) {
  Finding finding{.rule = Rule::kDuplicateOwnership, .mode = mode};
  finding.resource =
      OneLine(resource.identity.type + " \"" + resource.name + "\"", kResourceBytesMax);
  finding.cause = OneLine(finding.resource + " is declared " + who, kCauseBytesMax);
  finding.remedy = "Declare it once.";
  finding.key = resource.key();
  return finding;
}

}  // namespace truce
