// HashTable: values under hashes, none of whose changes waits for all the others.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_
#define TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_

#include <array>
#include <bit>
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

// Open addressing; 4 bytes and a value for a place, 5 places for 3.2 to 4 values. Texts are not
// kept: the caller knows from the value whether it is the one. It stands in parts by the upper bits
// of the hash, each of which grows alone: as one table a million values would hold everybody up for
// 0.1 s. External synchronization.
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
    const std::size_t index = part.IndexOf(hash, is_it);
    return part.IsFree(index) ? nullptr : &part.values[index];
  }
  template <typename IsIt>
  Value* Find(TextHash hash, const IsIt& is_it) {
    return const_cast<Value*>(std::as_const(*this).Find(hash, is_it));
  }

  // Has the caches bring what Find(hash) probably reads; values are pointers.
  void Expect(TextHash hash) const {
    const Part& part = parts_[PartOf(hash)];
    const std::size_t index = part.HomeOf(hash);
    if (part.hashes[index] == (hash | kTaken)) __builtin_prefetch(&part.values[index][0]);
  }

  // Beside those that stand under `hash` already.
  void Insert(TextHash hash, Value value) {
    parts_[PartOf(hash)].Insert(hash, std::move(value));
    ++size_;
  }

  // As Insert, for filling it with many, which nobody finds before Settle: they wait in their
  // parts, and each part is then made once, in its size, while a processor's caches hold it.
  void Append(TextHash hash, Value value) {
    parts_[PartOf(hash)].Append(hash, std::move(value));
    ++size_;
  }
  void Settle() {
    for (Part& part : parts_) part.Settle();
  }

  // The one that Find would give; nothing when there is none.
  template <typename IsIt>
  void Erase(TextHash hash, const IsIt& is_it) {
    Part& part = parts_[PartOf(hash)];
    const std::size_t index = part.IndexOf(hash, is_it);
    if (part.IsFree(index)) return;
    part.Erase(index);
    --size_;
  }

  std::size_t size() const { return size_; }

 private:
  static constexpr unsigned kPartBits = 8;
  static constexpr std::size_t kPlacesMin = 8;
  // The hashes of a part agree in their upper bits, so one of those may tell that a place is taken.
  static constexpr TextHash kTaken = 1U << 31U;

  // At most 4 of 5 places are taken: probes stay short, and one of them is always free.
  struct Part {
    bool IsFree(std::size_t index) const { return hashes[index] == 0; }

    template <typename IsIt>
    std::size_t IndexOf(TextHash hash, const IsIt& is_it) const {
      std::size_t index = HomeOf(hash);
      while (!IsFree(index) && (hashes[index] != (hash | kTaken) || !is_it(values[index]))) {
        index = After(index);
      }
      return index;
    }

    void Insert(TextHash hash, Value value) {
      MakeRoom(1);
      const std::size_t index = IndexOf(hash, [](const Value&) { return false; });
      hashes[index] = hash | kTaken;
      values[index] = std::move(value);
      ++taken;
    }

    void Append(TextHash hash, Value value) {
      waiting_hashes.push_back(hash);
      waiting.push_back(std::move(value));
    }

    void Settle() {
      const auto new_hashes = std::exchange(waiting_hashes, {});
      auto new_values = std::exchange(waiting, {});
      MakeRoom(new_hashes.size());
      for (std::size_t i = 0; i < new_hashes.size(); ++i) {
        Insert(new_hashes[i], std::move(new_values[i]));
      }
    }

    // Followers that were pushed beyond the hole move back into it, so that a probe never ends too
    // early.
    void Erase(std::size_t hole) {
      for (std::size_t index = After(hole); !IsFree(index); index = After(index)) {
        if (Distance(HomeOf(hashes[index]), index) < Distance(hole, index)) continue;
        hashes[hole] = hashes[index];
        values[hole] = std::move(values[index]);
        hole = index;
      }
      hashes[hole] = 0;
      values[hole] = Value{};
      --taken;
    }

    // By quarters of the power of two that it has reached: little stays free, and 4 or 8 bytes for
    // each place are then just what an allocator gives.
    void MakeRoom(std::size_t more) {
      std::size_t places = hashes.size();
      while ((taken + more) * 5 > places * 4) places += std::bit_floor(places) / 4;
      if (places == hashes.size()) return;
      const auto old_hashes = std::exchange(hashes, std::vector<TextHash>(places));
      auto old_values = std::exchange(values, std::vector<Value>(places));
      taken = 0;
      for (std::size_t old = 0; old < old_values.size(); ++old) {
        if (old_hashes[old] != 0) Insert(old_hashes[old], std::move(old_values[old]));
      }
    }

    // The bits that tell the part do not tell the place.
    std::size_t HomeOf(TextHash hash) const {
      return (std::uint64_t{hash << kPartBits} * hashes.size()) >> 32U;
    }
    std::size_t After(std::size_t index) const {
      return index + 1 == hashes.size() ? 0 : index + 1;
    }
    std::size_t Distance(std::size_t from, std::size_t to) const {
      return to >= from ? to - from : to + hashes.size() - from;
    }

    std::size_t taken = 0;
    std::vector<TextHash> hashes = std::vector<TextHash>(kPlacesMin);
    std::vector<Value> values = std::vector<Value>(kPlacesMin);
    // Appended and not settled.
    std::vector<TextHash> waiting_hashes;
    std::vector<Value> waiting;
  };

  static std::size_t PartOf(TextHash hash) { return hash >> (32U - kPartBits); }

  std::size_t size_ = 0;
  std::array<Part, std::size_t{1} << kPartBits> parts_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_HASH_TABLE_H_
