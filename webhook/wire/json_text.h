// Members and text of JSON that others sent or will read.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_
#define TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace truce {

// The member `name` when it is a text; empty otherwise, and when `json` is no object.
std::string TextIn(const nlohmann::json& json, const char* name);
std::string TextIn(const nlohmann::ordered_json& json, const char* name);

// `text` as a value. What is no JSON becomes a value whose is_discarded() is true: neither object
// nor list nor anything else.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);

// On one line, or indented by two; bytes that are no UTF-8 are replaced.
std::string Dump(const nlohmann::json& json);
std::string Dump(const nlohmann::ordered_json& json);
std::string DumpIndented(const nlohmann::json& json);
std::string DumpIndented(const nlohmann::ordered_json& json);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_TEXT_H_
