// The values that identity and ownership speak of (glossary: DESIGN.md).
//
// All are plain values: immutable in use, compared by content, safe to copy between threads.
#ifndef TRUCE_REGISTRY_IDENTITY_VALUES_H_
#define TRUCE_REGISTRY_IDENTITY_VALUES_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

// A text that names one thing; distinct per `Tag`, so that two of them cannot be mixed up.
template <typename Tag>
struct Id {
  std::string text;

  bool empty() const { return text.empty(); }
  auto operator<=>(const Id&) const = default;
};

using Uid = Id<struct UidTag>;           // metadata.uid of one life of an object
using ReviewUid = Id<struct ReviewTag>;  // request.uid of one AdmissionReview
using KeyText = Id<struct KeyTag>;       // canonical resource key (KeyOf in identity.h)
using PartyId = Id<struct PartyTag>;     // who may act for an owner
using PublicId = Id<struct PublicTag>;   // 13 base32 characters, in links
// Identifies a resource in the registry, from its first declaration to its last; none of its names
// does. Such an id, too.
using ResourceId = Id<struct ResourceTag>;

struct GroupKind {
  std::string group;  // "s3.aws.upbound.io"; empty for the core group
  std::string kind;   // "Bucket"

  auto operator<=>(const GroupKind&) const = default;
};

// Where a declaration lives. At most one live object per slot (etcd guarantees it).
struct Slot {
  std::string cluster;
  std::string group;
  std::string kind;
  std::string ns;  // empty: cluster-scoped
  std::string name;

  auto operator<=>(const Slot&) const = default;
};

// "cluster/group/kind/namespace/name"; the parts cannot contain "/" (Kubernetes names).
std::string ToText(const Slot& slot);
// The inverse; nothing when `text` has not exactly five parts.
std::optional<Slot> SlotFromText(std::string_view text);
// The same into `slot`, for readers of many; false: its content is of no use then.
bool ReadSlot(std::string_view text, Slot& slot);
// For people: "Bucket.s3.aws.upbound.io team-a/artifacts" (no namespace when cluster-scoped).
std::string ForPeople(const Slot& slot);

// The effect of a declaration on its resource, ordered by strength.
enum class Intent : std::uint8_t {
  kObserves,  // management policies exactly {Observe}
  kManages,   // writes; its deletion leaves the resource
  kDeletes,   // writes; its deletion deletes the resource
};
std::string_view Name(Intent intent);  // "observes", "manages", "deletes"
std::optional<Intent> IntentFromName(std::string_view name);

// Everything known about which resource is meant, also parts outside the type's scope, so that a
// later catalogue can compute another key from it.
struct ResourceIdentity {
  std::string type;       // "s3/Bucket"
  std::string partition;  // "aws", or the name space of an endpoint outside; empty: not known
  std::string account;    // 12 digits, "?<provisional account>" while unknown, or empty where the
                          // type needs none
  std::string region;     // empty: none or not known
  std::vector<std::pair<std::string, std::string>> parts;  // catalogue order, normalised values

  auto operator<=>(const ResourceIdentity&) const = default;
};

// "s3/Bucket|aws||us-west-2|name=prod-artifacts", each field percent-encoded; kept in rows.
std::string ToText(const ResourceIdentity& identity);
bool ReadIdentity(std::string_view text, ResourceIdentity& identity);  // a fresh one; as ReadSlot

// Percent-encodes every byte outside [A-Za-z0-9._~/:@-] ("|", "=", "%", "?", space, control and
// non-ASCII).
std::string PercentEncode(std::string_view text);
std::optional<std::string> PercentDecode(std::string_view text);

// Appends `text` as PercentEncode writes it.
void AppendEncoded(std::string& out, std::string_view text);
// Appends an account: 12 digits, or "?" and the encoded provisional account.
void AppendAccount(std::string& out, std::string_view account);
// "type|partition|account|region", as the texts of identities and of names begin (of names with the
// type's space).
std::string PlaceText(std::string_view type, std::string_view partition, std::string_view account,
                      std::string_view region);
// Appends "|part=value".
void AppendPart(std::string& out, std::string_view part, std::string_view value);

// Longest value of one part in bytes: the longest name AWS knows (an S3 object key), which is also
// more than any ARN has.
inline constexpr std::size_t kPartBytesMax = 1024;
// Longest text of a label's or annotation's value that people are shown.
inline constexpr std::size_t kLabelBytesMax = 253;

// Whether `text` may hold characters outside ASCII.
enum class KeyAlphabet { kAscii, kUnicode };

// Why `text` must not become part of a key, or nothing when it may: longer than kPartBytesMax, not
// UTF-8, a control, invisible, direction-changing or blank character other than a space, or a
// character outside `alphabet`. The reason completes a sentence: "contains U+200B (zero width
// space)".
std::optional<std::string> WhyBad(std::string_view text, KeyAlphabet alphabet);

// `text` in printable ASCII: everything else as \u{…}, invalid bytes as \x{…}; cut at
// kLabelBytesMax.
std::string Printable(std::string_view text);

// Whether `text` is short and clean enough to stand in a sentence as it is.
bool Presentable(std::string_view text);

// Whether only ASCII can match `regex` (RE2 syntax): it names no Unicode class or code point, no
// negated class and no "any character". False for an empty pattern, which says nothing.
bool MatchesAsciiOnly(std::string_view regex);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_VALUES_H_
