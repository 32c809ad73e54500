// Rules about what an owner agreed to: foreign-attachment, observer-without-share,
// deletion-protection; and the words for a share that ends.
#ifndef TRUCE_POLICIES_SHARING_RULES_H_
#define TRUCE_POLICIES_SHARING_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "policies/finding.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

class Facts;
struct Owner;
struct Row;

// Of a name in the texts of these rules.
inline constexpr std::size_t kOwnerTextBytesMax = 256;

// S3 bucket "orders-files"
std::string ResourceInWords(const Owner& owner);
// "`truce share s3/Bucket/prod-artifacts --with team-b --level attach --reason '…'`"
std::string ShareCommand(const Owner& owner, const PartyId& with, ShareLevel level);
// The page about the resource, where there is one.
void AddLink(const Owner& owner, const Wording& wording, Finding& finding);

// Facts of one use of a resource of another party, below another root: an attachment to it, or an
// observer of it. The pointees must live during the call only.
struct UseFacts {
  const DeclaredResource* use = nullptr;  // the attachment, or what is observed
  const Owner* holder = nullptr;          // of the resource that is used
  PartyId party;                          // of the user's root
  const PartyRules* parties = nullptr;    // never null
  std::span<const Agreement> agreements;  // of the holder's resource
  bool existed = false;                   // the declaration used it before this version
  // It used it before the holder had it, without anybody's leave, and uses it in another way now.
  bool anew = false;
  Timestamp now{};
};

// The standing of a use by a share.
enum class Standing : std::uint8_t {
  kShared,    // it holds
  kEndsSoon,  // it holds, and ends within kShareNotice
  kEnded,     // it held once
  kNone,
};
Standing StandingOf(const UseFacts& facts, ShareLevel level);

// A warning that the share on which the use relies ends soon, or has ended.
Finding ShareEnds(Rule rule, const UseFacts& facts, bool ended, const Wording& wording);

// The owner of the resource into which `attachment` writes, by any of that one's names; nothing:
// it has none, or `attachment` is none.
std::optional<Owner> ParentOwner(const DeclaredResource& attachment, const Catalogue& catalogue,
                                 const Facts& facts);
// Whether the party or chain of the object in `c` owns that resource.
bool WritesIntoOwn(const DeclaredResource& resource, const RuleCase& c);
// Whether one hand may have written both: cluster-scoped objects that people write are parties of
// their own each, although one team usually writes a bucket and its policy.
bool MayBeOneHand(const Owner& holder, const Slot& root, const Catalogue& catalogue);

// Whether `holder` is another party than that of the root in `c`, and another root.
bool IsOfOthers(const Owner& holder, const RuleCase& c);
// Keeps what `rule` finds about `use`. `c` has everything but the use, its holder and whether it
// existed.
void KeepUse(const RuleCase& c, UseFacts use,
             std::optional<Finding> (*rule)(const UseFacts&, const Wording&),
             std::vector<Finding>& out);

// Rule foreign-attachment. Nothing when the attachment's party may attach. A share that ends within
// kShareNotice warns. One that has ended refuses new attachments and warns those that existed;
// without any share those that existed are none of this rule's business, but for changes of one
// that was there before the holder (`anew`). Otherwise a finding in mode enforce; at most a warning
// while both were written by hand, cluster-scoped: then nothing shows whether their authors are two
// (audit when both name one service).
std::optional<Finding> ForeignAttachment(const UseFacts& facts, const Wording& wording);

// Rule observer-without-share, off until configured: a declaration observes a resource of another
// party that does not share it. Nothing for observers that existed, but a warning when their share
// has ended; a warning when it ends soon.
std::optional<Finding> ObserverWithoutShare(const UseFacts& facts, const Wording& wording);

// Facts of one resource that the deletion of an object would delete.
struct DeletionFacts {
  const Owner* owner = nullptr;
  std::span<const Agreement> agreements;  // of its resource
  std::span<const Row> rows;              // of its resource
  Slot root;                              // of the deleted object
  std::set<Slot> ending;                  // the deleted object, and those below it
  std::optional<Slot> managed;            // of it what deletes the resource, once known
  std::string other_side;                 // of a conflict, in words; empty: none
  bool tells_use = true;                  // shares and observers count, too
  const PartyRules* parties = nullptr;    // never null
  Timestamp now{};
};

// Rule deletion-protection: the deletion of an object would delete a resource
// that is protected, that another side of a conflict has (a manager, a list, a party that left it
// orphaned), shared, or observed by other parties. In mode enforce.
std::optional<Finding> DeletionProtection(const DeletionFacts& facts, const Wording& wording);

}  // namespace truce

#endif  // TRUCE_POLICIES_SHARING_RULES_H_
