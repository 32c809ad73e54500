// NameTable: the texts of an enumeration's values, both ways.
#ifndef TRUCE_REGISTRY_BASE_NAME_TABLE_H_
#define TRUCE_REGISTRY_BASE_NAME_TABLE_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace truce {

// A table in the order of the enumeration, whose values count from 0 to `kLast`; another number of
// texts does not compile. Immutable.
template <auto kLast>
class NameTable {
 public:
  using Enum = decltype(kLast);
  static constexpr std::size_t kSize = static_cast<std::size_t>(kLast) + 1;

  template <typename... Texts>
  requires(sizeof...(Texts) == kSize) explicit constexpr NameTable(const Texts&... texts)
      : texts_{texts...} {}

  // The text of `value`; "?" for what is none of the values.
  constexpr std::string_view Of(Enum value) const {
    const auto index = static_cast<std::size_t>(value);
    return index < kSize ? texts_[index] : std::string_view("?");
  }
  // The value whose text this is.
  constexpr std::optional<Enum> Find(std::string_view text) const {
    for (std::size_t i = 0; i < kSize; ++i) {
      if (texts_[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }

 private:
  std::array<std::string_view, kSize> texts_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_NAME_TABLE_H_
