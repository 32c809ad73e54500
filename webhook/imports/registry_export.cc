// What `truce export` writes: one object a line, or one object with the member items.
#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "webhook/imports/readers.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

// An export nests five deep; what nests deeper is none, and would be read as deep as it goes.
constexpr int kDepthMax = 32;

Error BadItem(std::size_t item, const std::string& message) {
  return {ErrorCode::kInvalidArgument, "item " + std::to_string(item) + ": " + message};
}

// The object at the begin of `text`, with everything to its closing bracket; empty: there is none.
std::string_view FirstObject(std::string_view text) {
  int depth = 0;
  std::string_view object;
  ForEachBracket(text, [&](std::size_t place, bool opens) {
    depth += opens ? 1 : -1;
    if (depth == 0) object = text.substr(0, place + 1);
    return depth > 0 && depth <= kDepthMax;
  });
  return object;
}

void SkipBetween(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n,"), rest.size()));
}

// Takes the tokens off the begin of `rest`, with the space behind each; all of them or none.
bool Take(std::initializer_list<std::string_view> tokens, std::string_view& rest) {
  std::string_view left = rest;
  for (const std::string_view token : tokens) {
    if (!left.starts_with(token)) return false;
    left.remove_prefix(token.size());
    SkipBetween(left);
  }
  rest = left;
  return true;
}

}  // namespace

Result<void> ReadRegistryExport(std::string_view text, ImportFile& file) {
  std::string_view rest = text;
  SkipBetween(rest);
  const bool is_list = Take({"{", "\"items\"", ":", "["}, rest);
  while (rest.starts_with('{')) {
    const std::size_t number = file.copies.size() + 1;
    const std::string_view item = FirstObject(rest);
    if (item.empty()) return BadItem(number, "it does not end, or nests too deep");
    const Json json = ParseJson(item);
    const auto copy = json.is_object() ? json.find("keyCopy") : json.end();
    if (copy == json.end()) return BadItem(number, "it is not JSON with a member keyCopy");
    file.copies.push_back(copy->dump(-1, ' ', false, Json::error_handler_t::replace));
    rest.remove_prefix(item.size());
    SkipBetween(rest);
  }
  if (is_list && Take({"]", "}"}, rest) && rest.empty()) return {};
  if (is_list)
    return BadItem(file.copies.size() + 1, "the list is cut off, or not as export wrote it");
  if (!rest.empty()) return BadItem(file.copies.size() + 1, "it is not an object");
  return {};
}

}  // namespace truce
