// Directory: which keys have this id, name, ARN, service. In memory, about 130 bytes an ownership.
//
// It holds where to look, never what is true: whoever asks reads the owners of the keys from the
// store and passes over those that do not fit (a hash may fit by chance, an owner may have gone).
#ifndef TRUCE_WEBHOOK_API_DIRECTORY_H_
#define TRUCE_WEBHOOK_API_DIRECTORY_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "registry/ownership/terms.h"
#include "registry/store/owner_finder.h"

namespace truce {

struct Owner;

// External synchronization. A change costs the same with few entries and with millions, but for
// keys that share a name or an ARN.
class Directory final {
  enum By : std::size_t { kById, kByName, kByArn, kByKey, kByCount };

 public:
  // What is entered of an owner.
  struct Item {
    explicit Item(const Owner& owner);

    KeyText key;
    std::array<std::uint32_t, kByCount> hash;
    std::string service;
    std::string ns;       // of the root
    std::string leaf_ns;  // of the managed resource
  };

  Directory();

  // Enters the owner of a key, in place of what was entered for the key.
  void Put(const Item& item);
  void Put(const Owner& owner) { Put(Item(owner)); }
  // Asks the processor for the memory that entering these touches, for all of them at once: one
  // after the other they wait for it, which takes longer than all else.
  void Expect(std::span<const Item* const> items) const;
  void Erase(const KeyText& key);

  // Keys whose owner has, or by chance of hashing seems to have, that id, name (whatever its case)
  // or ARN; at most `limit`.
  std::vector<KeyText> WithId(const PublicId& id, std::size_t limit) const;
  std::vector<KeyText> WithName(std::string_view name, std::size_t limit) const;
  std::vector<KeyText> WithArn(std::string_view arn, std::size_t limit) const;
  // The first `limit` keys of the service that follow `after`, in order. Passes over all keys of
  // the service.
  std::vector<KeyText> OfService(const std::string& service, const KeyText& after,
                                 std::size_t limit) const;

  // Services by name that follow `after`, with the number of their keys.
  std::vector<ServiceCount> Services(const std::string& after, std::size_t limit) const;

  // Calls `visit(key, service)` with what was entered, in no order, from place `from` on; looks at
  // `places` places at most. Returns where to go on, or nothing at the end. What comes and goes
  // between two calls may be missed.
  template <typename Fn>
  std::optional<std::size_t> Visit(std::size_t from, std::size_t places, Fn visit) const {
    const std::size_t end = std::min(entries_.size(), from + places);
    for (std::size_t at = from; at < end; ++at) {
      const Entry& entry = entries_[at];
      if (entry.key) visit(KeyOf(entry), std::string_view(services_[entry.service].name));
    }
    if (end == entries_.size()) return std::nullopt;
    return end;
  }

  // Namespaces of roots and managed resources that were entered, also of those that are gone; the
  // first OwnerFinder::kNamespacesMax of them.
  const std::set<std::string>& namespaces() const { return namespaces_; }

  std::size_t size() const { return live_; }

 private:
  // Into `entries_`; the last one is none.
  using Index = std::uint32_t;
  static constexpr Index kNone = 0xFFFFFFFF;

  // Of all but the key, whose hash is made when it is asked for: millions of entries.
  using Hashes = std::array<std::uint32_t, kByKey>;

  struct Entry {
    std::unique_ptr<char[]> key;  // its length (4 bytes), then its text
    Hashes hash{};
    std::array<Index, kByCount> next{};
    std::uint32_t service = 0;  // index in services_, when live; else next free entry
    Index service_next = kNone;
    Index service_before = kNone;
  };

  struct Service {
    std::string name;
    Index first = kNone;
    std::size_t keys = 0;
  };

  static std::string_view KeyOf(const Entry& entry);
  static std::uint32_t HashBy(std::size_t by, const Entry& entry);
  std::size_t BucketOf(std::uint32_t hash) const;
  void AddBucket();
  Index Find(std::string_view key, std::uint32_t hash) const;
  Index TakeEntry(std::string_view key);
  void NoteNamespace(const std::string& ns);
  void Link(Index index);
  void Unlink(Index index);
  std::uint32_t ServiceIndex(std::string_view name);
  std::vector<KeyText> WithHash(By by, std::uint32_t hash, std::size_t limit) const;

  // Deques grow without moving what they hold: commits wait for a change.
  std::deque<Entry> entries_;
  Index free_ = kNone;
  std::size_t live_ = 0;
  // Heads of chains, as many for each of the hashes.
  std::array<std::deque<Index>, kByCount> buckets_;
  std::deque<Service> services_;  // never gone: their names are kept once
  // Indices in services_: in order for those who list, by hash for each entry, which would compare
  // its service with a dozen others.
  std::map<std::string_view, std::uint32_t> services_by_name_;
  std::unordered_map<std::string_view, std::uint32_t> service_indices_;
  std::set<std::string> namespaces_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_DIRECTORY_H_
