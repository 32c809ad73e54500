// One call of the REST API: its parameters, read strictly.
#ifndef TRUCE_WEBHOOK_API_REST_CALL_H_
#define TRUCE_WEBHOOK_API_REST_CALL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/api/auth/caller.h"
#include "webhook/http/http.h"

namespace truce {

inline constexpr std::size_t kPageDefault = 100;
inline constexpr std::size_t kPageMax = 1000;
inline constexpr std::size_t kParameterBytesMax = 2048;
inline constexpr int kBodyDepthMax = 1010;

// Lives for one request. External synchronization.
struct RestCall {
  HttpRequest& request;
  Caller caller;
  std::shared_ptr<const AdmissionPolicy> policy;
  Deadline deadline{};

  // Refuses parameters that are not among `allowed`, come twice, are longer than
  // kParameterBytesMax, or hold control characters or bytes that are not UTF-8.
  // Errors: kInvalidArgument.
  Result<void> AllowOnly(const std::vector<std::string_view>& allowed) const;

  std::string Parameter(std::string_view name) const;  // empty when it is missing
  // Errors: kInvalidArgument: neither "true" nor "false".
  Result<std::optional<bool>> Switch(std::string_view name) const;
  // One of `known`: their first when it is missing. Errors: kInvalidArgument.
  Result<std::string> OneOf(std::string_view name,
                            std::initializer_list<std::string_view> known) const;
  // The parameter `limit`, at least 1; more than kPageMax counts as kPageMax.
  // Errors: kInvalidArgument.
  Result<std::size_t> Limit() const;
};

inline constexpr std::size_t kSmallBodyBytesMax = 64 * 1024;

// The body as one JSON object. Errors: kInvalidArgument: larger than kSmallBodyBytesMax, nested too
// deep, no object.
Result<nlohmann::json> ReadBody(const HttpRequest& request);

// The members of a body that is one JSON object of texts; no other ones than `allowed`.
// Errors: kInvalidArgument: as ReadBody, or a member that is no line of text.
Result<std::map<std::string, std::string>> ReadTexts(
    const HttpRequest& request, std::initializer_list<std::string_view> allowed);
// The time that `text`, given as `name`, is. Errors: kInvalidArgument.
Result<Timestamp> TimeIn(std::string_view name, std::string_view text);
// Whether `text` is one line of valid UTF-8 without control characters, of 1 to `bytes_max` bytes.
bool IsLine(std::string_view text, std::size_t bytes_max);

// Whether arrays and objects of the JSON `text` are nested deeper than kBodyDepthMax: to be asked
// before it is parsed, because the functions that read and write values recurse as deep as they do.
bool NestsTooDeep(std::string_view json);
std::string TooDeepText();  // what a refusal says of it

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CALL_H_
