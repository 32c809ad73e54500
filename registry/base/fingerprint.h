// Fingerprint: 64 bits of texts (FNV-1a), the same on every machine and in every version, unlike
// std::hash. Against chance, not against somebody who wants two texts to have one.
#ifndef TRUCE_REGISTRY_BASE_FINGERPRINT_H_
#define TRUCE_REGISTRY_BASE_FINGERPRINT_H_

#include <cstdint>
#include <string_view>

namespace truce {

// A value. The order of additions counts.
class Fingerprint {
 public:
  // The bytes of `text`: "a", then "bc" is the same as "ab", then "c".
  constexpr void AddBytes(std::string_view text) {
    for (const char c : text) AddByte(static_cast<unsigned char>(c));
  }
  // `text` and its end, a byte that no UTF-8 holds.
  constexpr void Add(std::string_view text) {
    AddBytes(text);
    AddByte(0xFF);
  }
  constexpr std::uint64_t value() const { return value_; }

 private:
  constexpr void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3ULL; }

  std::uint64_t value_ = 0xCBF29CE484222325ULL;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_FINGERPRINT_H_
