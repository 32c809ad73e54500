// DeclaredTwice: two objects of one check that declare one resource. Admission, which sees one
// after the other, would refuse the second.
#ifndef TRUCE_POLICIES_DECLARED_TWICE_H_
#define TRUCE_POLICIES_DECLARED_TWICE_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "policies/finding.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

// A declarant: a part of the check, and an object of that part.
struct Declarant {
  std::size_t part = 0;
  std::size_t item = 0;

  bool operator==(const Declarant&) const = default;
};

// External synchronization.
class DeclaredTwice final {
 public:
  // The first declarant of `resource`, unless that is `here`. A declaration that only observes, or
  // has no key, does not count.
  std::optional<Declarant> FirstOf(const DeclaredResource& resource, const Declarant& here);
  void Forget() { first_.clear(); }

  // Its strictest mode: a declaration that may be of another resource only warns.
  static Mode WorstOf(const DeclaredResource& resource) {
    return resource.sure ? Mode::kEnforce : Mode::kWarn;
  }
  // The finding. `who`: "twice in this check", or By.
  static Finding FindingOf(const DeclaredResource& resource, Mode mode, const std::string& who);
  // "by Bucket b and Bucket team-a/a of this check".
  static std::string By(const Slot& second, const Slot& first);

 private:
  std::map<KeyText, Declarant> first_;
};

}  // namespace truce

#endif  // TRUCE_POLICIES_DECLARED_TWICE_H_
