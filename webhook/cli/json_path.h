// Paths into JSON as kubectl writes them: for custom columns, jsonpath and --sort-by.
#ifndef TRUCE_WEBHOOK_CLI_JSON_PATH_H_
#define TRUCE_WEBHOOK_CLI_JSON_PATH_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"

namespace truce {

// All values at ".root.namespace", "items[*].name" or "sides[0]"; "$" and "@" are `json` itself.
// None where a member is missing, and where `path` is no path. They live as long as `json`.
std::vector<const nlohmann::json*> ValuesAt(const nlohmann::json& json, std::string_view path);

// A value as one text: an object of a cluster as "Bucket team-a/artifacts", a resource as
// "s3/Bucket prod-artifacts", of a list each; yes or no. Empty for null. kExact: an object with its
// group, "Bucket.s3.aws.upbound.io team-a/artifacts".
enum class Objects { kShort, kExact };
std::string TextOf(const nlohmann::json& value, Objects objects = Objects::kShort);

// The template with `json` in it: texts, {path}, {"\n"}, {range path}…{end}. Errors:
// kInvalidArgument: a bracket that is not closed, a range without end.
Result<std::string> FillTemplate(std::string_view text, const nlohmann::json& json);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_JSON_PATH_H_
