// Refusals, counted, the latest first, packed so that one more of them touches little memory.
#ifndef TRUCE_WEBHOOK_API_LATEST_DENIALS_H_
#define TRUCE_WEBHOOK_API_LATEST_DENIALS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

// Kept at most, in all and of one root: the one seen longest ago gives way, so that the refusals of
// one claim, however many, hide no other's.
inline constexpr std::size_t kDenialsKept = 2000;
inline constexpr std::size_t kDenialsOfRoot = 100;

// Refusals of one resource to one object, counted. Objects of one kind and root whose names a
// composite controller makes up, a new one for each try, are one: `name` is the latest.
struct Denial {
  std::string id;        // 10 characters, of what is counted together; the same after a restart
  KeyText key;           // empty where the rule knows none
  std::string resource;  // for people: S3 bucket "prod-artifacts"
  std::string rule;
  std::string cause;  // as it was told, as far as the disclosure level allowed
  std::string group;
  std::string kind;
  std::string ns;
  std::string name;
  std::string user;  // who asked last
  Timestamp first{};
  Timestamp last{};
  std::uint64_t count = 0;
  Slot root;  // of the object, as far as its lineage tells

  bool operator==(const Denial&) const = default;
};

// Numbers of what lies in a list, by hashes of their texts: an open table. External
// synchronization.
class HashPlaces final {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // The number of hash `hash` for which `is_it` is true, or kNone.
  template <typename Predicate>
  std::uint32_t Find(std::uint64_t hash, Predicate is_it) const {
    if (cells_.empty()) return kNone;
    for (std::size_t at = hash % kCells; cells_[at].number != kNone; at = (at + 1) % kCells) {
      if (cells_[at].tag == TagOf(hash) && is_it(cells_[at].number)) return cells_[at].number;
    }
    return kNone;
  }
  // Makes room: nothing below takes memory after that.
  void Prepare() {
    if (cells_.empty()) cells_.resize(kCells);
  }
  // Of at most kDenialsKept at a time.
  void Add(std::uint64_t hash, std::uint32_t number);
  // Both as they were added.
  void Remove(std::uint64_t hash, std::uint32_t number);
  // Asks for the memory that the next call about `hash` touches first.
  void Expect(std::uint64_t hash) const {
    if (!cells_.empty()) __builtin_prefetch(&cells_[hash % kCells], 1);
  }

 private:
  static constexpr std::size_t kCells = 4096;  // twice as many as there are, a power of two
  static_assert(kCells > 2 * kDenialsKept);
  struct Cell {
    std::uint32_t tag = 0;  // the hash, as much of it as fits: its place is told by it
    std::uint32_t number = kNone;
  };
  static std::uint32_t TagOf(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }

  std::vector<Cell> cells_;
};

// External synchronization. Of a call that throws (memory) nothing is counted.
class LatestDenials final {
 public:
  // What is told of a refusal. Of one that is known already the words to kNs stay.
  enum Word : std::size_t {
    kId,  // of what is counted together, of any length
    kRootCluster,
    kRootGroup,
    kRootKind,
    kRootNs,
    kRootName,
    kGroup,
    kKind,
    kNs,
    kKey,
    kResource,
    kRule,
    kCause,
    kName,
    kUser,
    kWordCount
  };
  using Words = std::array<std::string_view, kWordCount>;

  void Count(const Words& words, Timestamp now);
  // Adds what was counted elsewhere; the words of the one that was seen later stand.
  void Enter(const Denial& denial);

  // Calls `visit(denial)`, the latest last: whoever enters them in this order keeps the order.
  template <typename Fn>
  void ForEach(Fn visit) const {
    for (std::uint32_t at = last_; at != kNone; at = entries_[at].newer) visit(Read(entries_[at]));
  }
  // Those of `key`, or all, at most `count_max`, the latest first.
  std::vector<Denial> Find(const KeyText* key, std::size_t count_max) const;
  bool empty() const { return entries_.empty(); }

 private:
  static constexpr std::uint32_t kNone = HashPlaces::kNone;

  struct Entry {
    std::string texts;                             // one behind the other
    std::array<std::uint32_t, kWordCount> ends{};  // of them
    Timestamp first{};
    Timestamp last{};
    std::uint64_t count = 0;
    std::uint64_t hash = 0;
    std::uint32_t root = kNone;
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
  };
  struct Root {
    std::string text;
    std::uint64_t hash = 0;
    std::size_t count = 0;       // of entries; 0: free
    std::uint32_t next = kNone;  // free one
  };

  static std::string_view WordOf(const Entry& entry, std::size_t word);
  static Denial Read(const Entry& entry);
  std::uint32_t NumberOf(std::string_view id, std::uint64_t hash) const;
  void Unlink(Entry& entry);
  void PutInFront(std::uint32_t number);
  // Its words are `words` from now on; they may be its own.
  void Write(Entry& entry, const Words& words);
  // Packs the words, names their root, and asks for the memory in which both are looked for.
  void Prepare(const Words& words, std::uint64_t hash);
  void Pack(const Words& words);
  void TakePacked(Entry& entry) const;
  // An entry that nothing else holds, with room for what is packed; of `root`, whose number of
  // entries it counts in.
  std::uint32_t Vacate(std::uint32_t root);
  std::uint32_t RootAtHand();
  void LeaveRoot(std::uint32_t number);
  // A new one in front, with the words at hand and nothing counted.
  Entry& Add(std::uint64_t hash, Timestamp first);
  // Asks for the memory that the next new one touches: that of the one that gives way to it.
  void Expect() const;

  std::vector<Entry> entries_;
  std::vector<Root> roots_;
  HashPlaces by_id_;
  HashPlaces by_root_;
  std::uint32_t first_ = kNone;  // the latest
  std::uint32_t last_ = kNone;
  std::uint32_t free_root_ = kNone;
  // Of the words at hand, those that were prepared last.
  std::string packed_;
  std::array<std::uint32_t, kWordCount> packed_ends_{};
  std::string root_text_;
  std::uint64_t root_hash_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_LATEST_DENIALS_H_
