// HashTable: values under hashes, none of whose changes waits for all the others.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_
#define TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

using TextHash = std::uint32_t;

inline TextHash HashOf(std::string_view text) {
  return static_cast<TextHash>(std::hash<std::string_view>{}(text));
}

// Open addressing; 4 bytes and a value for an entry, 4 entries for 1.5 to 3 values. Texts are not
// kept: the caller knows from the value whether it is the one. `Value{}` is a free entry and cannot
// be inserted. It stands in parts by the upper bits of the hash, each of which grows alone: as one
// table a million values would hold everybody up for 0.1 s. External synchronization.
template <typename Value>
class HashTable {
 public:
  HashTable() = default;
  HashTable(const HashTable&) = delete;
  HashTable& operator=(const HashTable&) = delete;

  // The first value under `hash` for which `is_it(value)`, else null; valid until the next change.
  // `is_it` is asked for one value after the other until it says yes.
  template <typename IsIt>
  const Value* Find(TextHash hash, const IsIt& is_it) const {
    const Part& part = parts_[PartOf(hash)];
    const Value& value = part.values[part.IndexOf(hash, is_it)];
    return value == Value{} ? nullptr : &value;
  }
  template <typename IsIt>
  Value* Find(TextHash hash, const IsIt& is_it) {
    return const_cast<Value*>(std::as_const(*this).Find(hash, is_it));
  }

  // Beside those that stand under `hash` already.
  void Insert(TextHash hash, Value value) {
    parts_[PartOf(hash)].Insert(hash, std::move(value));
    ++size_;
  }

  // The one that Find would give; nothing when there is none.
  template <typename IsIt>
  void Erase(TextHash hash, const IsIt& is_it) {
    Part& part = parts_[PartOf(hash)];
    const std::size_t index = part.IndexOf(hash, is_it);
    if (part.values[index] == Value{}) return;
    part.Erase(index);
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr unsigned kPartBits = 8;
  static constexpr std::size_t kPlacesMin = 8;

  // The number of places is a power of two. At most 3 of 4 are taken: probes stay short, and one of
  // them is always free.
  struct Part {
    template <typename IsIt>
    std::size_t IndexOf(TextHash hash, const IsIt& is_it) const {
      const std::size_t mask = hashes.size() - 1;
      std::size_t index = hash & mask;
      while (!(values[index] == Value{}) && (hashes[index] != hash || !is_it(values[index]))) {
        index = (index + 1) & mask;
      }
      return index;
    }

    void Insert(TextHash hash, Value value) {
      if ((taken + 1) * 4 > hashes.size() * 3) Grow();
      const std::size_t index = IndexOf(hash, [](const Value&) { return false; });
      hashes[index] = hash;
      values[index] = std::move(value);
      ++taken;
    }

    // Followers that were pushed beyond the hole move back into it, so that a probe never ends too
    // early.
    void Erase(std::size_t hole) {
      const std::size_t mask = hashes.size() - 1;
      for (std::size_t index = (hole + 1) & mask; !(values[index] == Value{});
           index = (index + 1) & mask) {
        const std::size_t home = hashes[index] & mask;
        if (((index - home) & mask) < ((index - hole) & mask)) continue;
        hashes[hole] = hashes[index];
        values[hole] = std::move(values[index]);
        hole = index;
      }
      values[hole] = Value{};
      --taken;
    }

    void Grow() {
      const std::size_t places = 2 * hashes.size();
      const auto old_hashes = std::exchange(hashes, std::vector<TextHash>(places));
      auto old_values = std::exchange(values, std::vector<Value>(places));
      taken = 0;
      for (std::size_t old = 0; old < old_values.size(); ++old) {
        if (!(old_values[old] == Value{})) Insert(old_hashes[old], std::move(old_values[old]));
      }
    }

    std::size_t taken = 0;
    std::vector<TextHash> hashes = std::vector<TextHash>(kPlacesMin);
    std::vector<Value> values = std::vector<Value>(kPlacesMin);
  };

  // Places within a part go by the lower bits.
  static std::size_t PartOf(TextHash hash) { return hash >> (32U - kPartBits); }

  std::size_t size_ = 0;
  std::array<Part, std::size_t{1} << kPartBits> parts_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_
