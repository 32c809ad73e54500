#include "webhook/wire/json_text.h"

#include <nlohmann/json.hpp>

namespace truce {
namespace {

template <typename Json>
std::string TextMember(const Json& json, const char* name) {
  if (!json.is_object()) return {};
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->template get<std::string>()
                                                   : std::string();
}

template <typename Json>
std::string Text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string TextIn(const nlohmann::json& json, const char* name) { return TextMember(json, name); }
std::string TextIn(const nlohmann::ordered_json& json, const char* name) {
  return TextMember(json, name);
}

nlohmann::json ParseJson(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, false);
}
nlohmann::ordered_json ParseOrderedJson(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

std::string Dump(const nlohmann::json& json) { return Text(json, -1); }
std::string Dump(const nlohmann::ordered_json& json) { return Text(json, -1); }
std::string DumpIndented(const nlohmann::json& json) { return Text(json, 2); }
std::string DumpIndented(const nlohmann::ordered_json& json) { return Text(json, 2); }

}  // namespace truce
