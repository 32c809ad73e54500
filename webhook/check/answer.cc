#include "webhook/check/answer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "policies/finding.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytesMax = 2048;

std::string TextOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return {};
  return OneLine(found->get_ref<const std::string&>(), kTextBytesMax);
}

CheckFinding FindingOf(const Json& json) {
  return {.severity = SeverityOf(TextOf(json, "mode")),
          .rule = TextOf(json, "rule"),
          .resource = TextOf(json, "resource"),
          .cause = TextOf(json, "cause"),
          .remedy = TextOf(json, "remedy"),
          .link = TextOf(json, "link"),
          .key = TextOf(json, "key")};
}

const Json* ListOf(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() || !found->is_array() ? nullptr : &*found;
}

}  // namespace

CheckSeverity SeverityOf(std::string_view mode) {
  if (mode == "enforce") return CheckSeverity::kError;
  return mode == "warn" ? CheckSeverity::kWarning : CheckSeverity::kNote;
}

Result<std::vector<AnsweredItem>> ReadAnswer(const std::string& text, std::size_t items) {
  const Error strange{ErrorCode::kUnavailable,
                      "the answer is not a check report; is it a Truce server of this version?"};
  const Json json = ParseJson(text);
  if (!json.is_object()) return strange;
  const Json* list = ListOf(json, "items");
  // A missing answer would pass as clean.
  if (list == nullptr || list->size() != items) return strange;
  std::vector<AnsweredItem> out;
  for (const Json& each : *list) {
    AnsweredItem item;
    const Json* declares = each.is_object() ? ListOf(each, "declares") : nullptr;
    const Json* findings = each.is_object() ? ListOf(each, "findings") : nullptr;
    if (findings == nullptr) return strange;
    item.tells_declarations = declares != nullptr;
    for (const Json& resource : declares == nullptr ? Json::array() : *declares) {
      if (!resource.is_object()) return strange;
      DeclaredResource declared;
      declared.identity.type = TextOf(resource, "type");
      declared.name = TextOf(resource, "name");
      if (std::string key = TextOf(resource, "key"); !key.empty()) {
        declared.names = {{{std::move(key)}, false}};
      }
      // A word that is not known counts as the strongest: better told of in vain than not at all.
      declared.intent = IntentFromName(TextOf(resource, "intent")).value_or(Intent::kDeletes);
      item.declares.push_back(std::move(declared));
    }
    const auto known = each.find("known");
    item.knows_kind = !item.declares.empty() ||
                      (known != each.end() && known->is_boolean() && known->get<bool>());
    for (const Json& finding : *findings) {
      if (!finding.is_object()) return strange;
      // The whole input is compared here, with lines; the server sees a part of it.
      if (!finding.contains("sameCheck")) item.findings.push_back(FindingOf(finding));
    }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace truce
