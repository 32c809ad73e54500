// Table: a description of one table that holds what is no ownership, and rows of it as values.
//
// Stores write their statements from the description; schema/*/0001_ownership.sql has the CREATE
// TABLE, and a contract test compares both. One table:
//
//   struct Mute { std::string subject; Timestamp until; };
//   inline constexpr TableOf<Mute, …> kMutes = MakeTable<Mute>("mutes", 1,
//       StoredColumn("subject", &Mute::subject), StoredColumn("until", &Mute::until));
#ifndef TRUCE_REGISTRY_OWNERSHIP_TABLE_H_
#define TRUCE_REGISTRY_OWNERSHIP_TABLE_H_

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

// Nothing: NULL.
using TableValue = std::variant<std::monostate, std::int64_t, std::string>;
using TableRow = std::vector<TableValue>;  // in the order of the columns

struct TableColumn {
  std::string_view name;
  bool is_number = false;  // else a text
};

// A view of a description that lives as long as the program. The first `key_size` columns identify
// a row; rows are ordered by them: numbers before texts, texts by bytes.
struct Table {
  std::string_view name;
  std::span<const TableColumn> columns;
  std::size_t key_size = 0;

  friend bool operator==(const Table& a, const Table& b) { return a.name == b.name; }
  friend auto operator<=>(const Table& a, const Table& b) { return a.name <=> b.name; }
};

// The key of `row`.
inline TableRow KeyOf(const Table& table, const TableRow& row) {
  return {row.begin(), row.begin() + static_cast<std::ptrdiff_t>(table.key_size)};
}

// One row of a table, for Changes.
struct TablePut {
  Table table;
  TableRow row;

  bool operator==(const TablePut&) const = default;
};
struct TableDrop {
  Table table;
  TableRow key;

  bool operator==(const TableDrop&) const = default;
};

// The form of a member of type T in its column. An enumeration's owner specializes it by words
// (WordColumn).
template <typename T>
struct ColumnForm;

template <>
struct ColumnForm<std::string> {
  static constexpr bool kIsNumber = false;
  static TableValue To(const std::string& text) { return text; }
  static bool From(const TableValue& value, std::string& text) {
    const auto* const read = std::get_if<std::string>(&value);
    if (read != nullptr) text = *read;
    return read != nullptr;
  }
};

template <std::integral T>
struct ColumnForm<T> {
  static constexpr bool kIsNumber = true;
  static TableValue To(T number) { return static_cast<std::int64_t>(number); }
  static bool From(const TableValue& value, T& number) {
    const auto* const read = std::get_if<std::int64_t>(&value);
    if (read != nullptr) number = static_cast<T>(*read);
    return read != nullptr;
  }
};

template <>
struct ColumnForm<Timestamp> {
  static constexpr bool kIsNumber = true;
  static TableValue To(Timestamp time) { return std::int64_t{time.time_since_epoch().count()}; }
  static bool From(const TableValue& value, Timestamp& time) {
    std::int64_t milliseconds = 0;
    if (!ColumnForm<std::int64_t>::From(value, milliseconds)) return false;
    time = Timestamp(std::chrono::milliseconds(milliseconds));
    return true;
  }
};

template <>
struct ColumnForm<Slot> {
  static constexpr bool kIsNumber = false;
  static TableValue To(const Slot& slot) { return ToText(slot); }
  static bool From(const TableValue& value, Slot& slot) {
    const auto* const text = std::get_if<std::string>(&value);
    return text != nullptr && ReadSlot(*text, slot);
  }
};

// Ids and keys.
template <typename T>
requires requires(T id) {
  { id.text } -> std::same_as<std::string&>;
}
struct ColumnForm<T> {
  static constexpr bool kIsNumber = false;
  static TableValue To(const T& id) { return id.text; }
  static bool From(const TableValue& value, T& id) {
    return ColumnForm<std::string>::From(value, id.text);
  }
};

template <typename T>
struct ColumnForm<std::optional<T>> {
  static constexpr bool kIsNumber = ColumnForm<T>::kIsNumber;
  static TableValue To(const std::optional<T>& value) {
    return value ? ColumnForm<T>::To(*value) : TableValue();
  }
  static bool From(const TableValue& value, std::optional<T>& read) {
    if (std::holds_alternative<std::monostate>(value)) return true;
    return ColumnForm<T>::From(value, read.emplace());
  }
};

// A list or set of texts, ids or slots without line breaks, one a line.
template <typename List>
requires requires(const List& list) {
  requires !std::is_same_v<List, std::string>;
  requires !ColumnForm<typename List::value_type>::kIsNumber;
  list.begin();
}
struct ColumnForm<List> {
  using Item = typename List::value_type;

  static constexpr bool kIsNumber = false;
  static TableValue To(const List& items) {
    std::string lines;
    for (const Item& item : items) {
      lines.append(std::get<std::string>(ColumnForm<Item>::To(item))).append(1, '\n');
    }
    return lines;
  }
  static bool From(const TableValue& value, List& items) {
    const auto* const text = std::get_if<std::string>(&value);
    if (text == nullptr) return false;
    std::string_view rest = *text;
    for (std::size_t end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      Item item;
      if (!ColumnForm<Item>::From(std::string(rest.substr(0, end)), item)) return false;
      items.insert(items.end(), std::move(item));
      rest.remove_prefix(end + 1);
    }
    return rest.empty();
  }
};

// Base of the ColumnForm of an enumeration: its word for people is what is kept.
template <typename Enum, std::optional<Enum> (*kFromName)(std::string_view)>
struct WordColumn {
  static constexpr bool kIsNumber = false;
  static TableValue To(Enum value) { return std::string(Name(value)); }
  static bool From(const TableValue& value, Enum& read) {
    const auto* const text = std::get_if<std::string>(&value);
    const auto found = text == nullptr ? std::nullopt : kFromName(*text);
    if (found) read = *found;
    return found.has_value();
  }
};

// A column and its member: a pointer to member, or a function of the struct that gives a reference.
template <typename Member>
struct StoredColumn {
  constexpr StoredColumn(std::string_view column, Member its_member)
      : name(column), member(its_member) {}

  std::string_view name;
  Member member;
};

// A table whose rows are values of T. A constant.
template <typename T, typename... Members>
class TableOf final {
 public:
  constexpr TableOf(std::string_view name, std::size_t key_size,
                    const StoredColumn<Members>&... columns)
      : name_(name),
        key_size_(key_size),
        columns_{TableColumn{columns.name, Form<Members>::kIsNumber}...},
        members_(columns.member...) {}

  constexpr operator Table() const {  // NOLINT(google-explicit-constructor): it is one
    return {name_, columns_, key_size_};
  }

  TableRow Row(const T& value) const {
    return std::apply(
        [&](const Members&... members) {
          return TableRow{Form<Members>::To(std::invoke(members, value))...};
        },
        members_);
  }
  // Nothing: no `Row` made this.
  std::optional<T> Value(const TableRow& row) const {
    if (row.size() != columns_.size()) return std::nullopt;
    T value{};
    std::size_t at = 0;
    const bool is_read = std::apply(
        [&](const Members&... members) {
          return (Form<Members>::From(row[at++], std::invoke(members, value)) && ...);
        },
        members_);
    if (!is_read) return std::nullopt;
    return value;
  }

  template <typename List>
  std::vector<TableRow> Rows(const List& values) const {
    std::vector<TableRow> rows;
    for (const T& value : values) rows.push_back(Row(value));
    return rows;
  }
  // Nothing: one of them cannot be read.
  std::optional<std::vector<T>> Values(const std::vector<TableRow>& rows) const {
    std::vector<T> values;
    for (const TableRow& row : rows) {
      auto value = Value(row);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
    return values;
  }
  // Those that can be read: a later version wrote the others, which are not for this one.
  std::vector<T> Readable(const std::vector<TableRow>& rows) const {
    std::vector<T> values;
    for (const TableRow& row : rows) {
      if (auto value = Value(row)) values.push_back(*std::move(value));
    }
    return values;
  }

 private:
  template <typename Member>
  using Form = ColumnForm<std::remove_cvref_t<std::invoke_result_t<Member, T&>>>;

  std::string_view name_;
  std::size_t key_size_;
  std::array<TableColumn, sizeof...(Members)> columns_;
  std::tuple<Members...> members_;
};

template <typename T, typename... Members>
constexpr TableOf<T, Members...> MakeTable(std::string_view name, std::size_t key_size,
                                           const StoredColumn<Members>&... columns) {
  return TableOf<T, Members...>(name, key_size, columns...);
}

}  // namespace truce

#endif  // TRUCE_REGISTRY_OWNERSHIP_TABLE_H_
