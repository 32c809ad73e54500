// Members and text of JSON that others sent or will read.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_
#define TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace truce {

// The member `name` when it is a text; empty otherwise, and when `json` is no object.
std::string TextIn(const nlohmann::json& json, const char* name);
std::string TextIn(const nlohmann::ordered_json& json, const char* name);

// `text` as a value. If it is no JSON, is_discarded() of the value is true: it is neither object
// nor list nor anything else.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);

// Calls `visit(place, opens)` for each bracket of `json` outside of texts, until that returns
// false.
template <typename Visit>
void ForEachBracket(std::string_view json, const Visit& visit) {
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[' || c == '}' || c == ']') {
      if (!visit(i, c == '{' || c == '[')) return;
    }
  }
}

// On one line, or indented by two; bytes that are no UTF-8 are replaced.
std::string Dump(const nlohmann::json& json);
std::string Dump(const nlohmann::ordered_json& json);
std::string DumpIndented(const nlohmann::json& json);
std::string DumpIndented(const nlohmann::ordered_json& json);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_
