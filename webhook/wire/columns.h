// Columns: one description of a thing that people see, which its JSON, tables, CSV and the
// parameters of its lists follow. The name of a column is that of the member in JSON, of the cell
// in CSV, of the parameter that filters by it, and in --sort-by and custom columns.
#ifndef TRUCE_WEBHOOK_WIRE_COLUMNS_H_
#define TRUCE_WEBHOOK_WIRE_COLUMNS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "registry/base/clock.h"
#include "webhook/wire/json_writer.h"

namespace truce {

// The value of a column. A text or a thing given by reference is not copied.
class Datum final {
  template <typename T>
  static constexpr bool kIsOther =
      !std::is_convertible_v<T, std::string_view> && !std::is_same_v<std::decay_t<T>, Timestamp> &&
      !std::is_same_v<std::decay_t<T>, Datum>;

 public:
  Datum(std::string_view text) : held_(text) {}
  Datum(const char* text) : held_(std::string_view(text)) {}
  Datum(const std::string& text) : held_(std::string_view(text)) {}
  Datum(std::string&& text) : held_(std::move(text)) {}
  Datum(Timestamp time) : held_(FormatTimestamp(time)) {}
  // Anything else that JsonWriter::Put takes.
  template <typename T, std::enable_if_t<kIsOther<T>, int> = 0>
  Datum(T&& value) {
    if constexpr (std::is_lvalue_reference_v<T>) {
      held_ = [at = &value](JsonWriter& json) { json.Put(*at); };
    } else {
      held_ = [own = std::forward<T>(value)](JsonWriter& json) { json.Put(own); };
    }
  }

  void Write(JsonWriter& json) const {
    if (const auto* write = std::get_if<Written>(&held_)) {
      (*write)(json);
    } else if (const auto* own = std::get_if<std::string>(&held_)) {
      json.Text(*own);
    } else {
      json.Text(std::get<std::string_view>(held_));
    }
  }
  // The text, or the JSON of anything else. Lists are sorted by it.
  std::string text() const {
    if (const auto* own = std::get_if<std::string>(&held_)) return *own;
    if (const auto* view = std::get_if<std::string_view>(&held_)) return std::string(*view);
    JsonWriter json;
    Write(json);
    return json.Take();
  }

 private:
  using Written = std::function<void(JsonWriter&)>;
  std::variant<std::string_view, std::string, Written> held_;
};

// How tables show a column where its value alone does not tell.
enum class Look : std::uint8_t {
  kPlain,     // a text, a number, yes or no; an object as "Bucket team-a/artifacts"; "-" for none
  kAccount,   // "unknown (ProviderConfig prod)"
  kOwner,     // "(not shown)" to whom it is not
  kResource,  // of a key: s3/Bucket/prod-artifacts
  kSource,    // how Truce knows a name
  kAudited,   // the subject of an override
  kMaker,     // "configuration" for nobody
  kUntil,     // "imported until 2026-11-29T10:00:00Z" where the thing has an end
};

template <typename T>
struct Column {
  std::string_view name;         // of a member of the member: "object.cluster"
  Datum (*get)(const T& thing);  // null: tables read it of other members; it is no member itself
  std::string_view title = {};   // in tables; empty: the name in capitals
  Look look = Look::kPlain;
};

// The description of a thing: a function Columns<Thing> ColumnsOf(const Thing*).
template <typename T>
struct Columns {
  std::span<const Column<T>> all;  // the members in their order
  std::string_view table;  // the names of those that tables show; behind "+" those of wide ones
};
template <typename T>
concept Described = requires(const T* thing) {
  ColumnsOf(thing);
};

template <Described T>
void WriteMembers(const T& thing, JsonWriter& json) {
  for (const Column<T>& column : ColumnsOf(&thing).all) {
    if (column.get != nullptr) column.get(thing).Write(json.Key(column.name));
  }
}
template <Described T>
void WriteJson(const T& thing, JsonWriter& json) {
  json.BeginObject();
  WriteMembers(thing, json);
  json.EndObject();
}

// The column of that name; null: there is none.
template <Described T>
const Column<T>* ColumnNamed(std::string_view name) {
  for (const Column<T>& column : ColumnsOf(static_cast<const T*>(nullptr)).all) {
    if (column.name == name && column.get != nullptr) return &column;
  }
  return nullptr;
}

// A column, as a table knows it.
struct Heading {
  std::string name;
  std::string title;
  Look look = Look::kPlain;
  bool wide = false;
};
using Headings = std::vector<Heading>;

// Those of a thing that `table` names, as Columns::table; empty: its own.
template <Described T>
Headings HeadingsOf(std::string_view table = {}) {
  const Columns<T> columns = ColumnsOf(static_cast<const T*>(nullptr));
  if (table.empty()) table = columns.table;
  Headings out;
  bool wide = false;
  while (!table.empty()) {
    const std::string_view word = table.substr(0, table.find(' '));
    table.remove_prefix(std::min(word.size() + 1, table.size()));
    wide = wide || word == "+";
    for (const Column<T>& column : columns.all) {
      if (column.name != word) continue;
      out.push_back({std::string(word), std::string(column.title), column.look, wide});
    }
  }
  return out;
}

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_COLUMNS_H_
