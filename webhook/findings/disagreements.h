// Detector names-disagree: objects whose status or external name names another resource, or another
// account, than their fields and configuration do.
//
// Rule (N4 of DESIGN.md): such a name is none of the resource's. It says that
// one of both is wrong: the account of the ProviderConfig, the external name, or a status that
// somebody else wrote. Evidence: the last version seen (ObjectFacts::account_disagreement and
// name_finding).
#ifndef TRUCE_WEBHOOK_FINDINGS_DISAGREEMENTS_H_
#define TRUCE_WEBHOOK_FINDINGS_DISAGREEMENTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "registry/identity/identity.h"
#include "webhook/findings/findings_book.h"
#include "webhook/watch/kinds.h"

namespace truce {

class Facts;

// External synchronization.
class Disagreements final {
 public:
  // More than these are not kept.
  static constexpr std::size_t kMax = 10'000;

  void OnObject(const ObjectFacts& object, Timestamp now);
  void OnGone(const Uid& uid) { known_.erase(uid); }
  // Nobody reads the kind any more.
  void Forget(const GroupKind& kind);

  // One finding for each. Mode warn. `key`: the name that the status shows, for NameOwners.
  std::vector<LiveFinding> Find() const;

 private:
  struct Known {
    Slot slot;
    std::string account;  // ObjectFacts::account_disagreement
    std::string name;     // ObjectFacts::name_finding
    KeyText shown;        // the first name in the account that the status shows
    Timestamp since{};
  };
  std::map<Uid, Known> known_;
};

// Of findings about names that disagree: says whose the resource is that a status shows, where that
// is another owner's; else clears their keys.
void NameOwners(std::vector<LiveFinding>& findings, const Facts& facts);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_DISAGREEMENTS_H_
