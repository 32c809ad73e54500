// Changes as the arrays that truce.put takes (schema/postgres).
#ifndef TRUCE_REGISTRY_STORE_POSTGRES_RECORDS_H_
#define TRUCE_REGISTRY_STORE_POSTGRES_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/ownership/rows.h"
#include "registry/store/postgres/connection.h"

namespace truce {

// An array of texts in PostgreSQL's own notation. A value.
class TextArray {
 public:
  // A text that people read: bytes that PostgreSQL cannot keep (U+0000, no UTF-8) become U+FFFD.
  void Text(std::string_view text);
  void Number(std::int64_t number);
  void Null();

  std::string Take() && { return std::move(text_) + "}"; }
  std::string Whole() const { return text_ + "}"; }

 private:
  void Begin();

  std::string text_ = "{";
};

// The longest key, uid, slot or name that an index takes with certainty, in bytes.
inline constexpr std::size_t kKeyMax = 2'000;

// Whether PostgreSQL takes `text` as a text at all.
bool CanBeRead(std::string_view text);

// Whether the texts by which things are found can be kept as they are: a thing that another text
// finds would be somebody else's. Such a text names nothing.
bool CanBeKey(std::string_view text);

// Writes the rows of tables, drops before puts.
std::vector<PgStatement> TableStatements(const Changes& changes);

// The parameters of truce.put, in their order. Of two puts of one thing the last one counts.
// Errors: kInternal: a text by which things are found cannot be kept.
Result<std::vector<std::optional<std::string>>> PutParameters(const Changes& changes);

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_POSTGRES_RECORDS_H_
