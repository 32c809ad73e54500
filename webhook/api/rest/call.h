// One call of the REST API: its parameters, read strictly.
#ifndef TRUCE_WEBHOOK_API_REST_CALL_H_
#define TRUCE_WEBHOOK_API_REST_CALL_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/admission/policy.h"
#include "webhook/api/auth/caller.h"
#include "webhook/http/http.h"

namespace truce {

inline constexpr std::size_t kPageDefault = 100;
inline constexpr std::size_t kPageMax = 1000;
inline constexpr std::size_t kParameterBytesMax = 2048;
inline constexpr int kBodyDepthMax = 64;

// Lives for one request. External synchronization.
struct RestCall {
  HttpRequest& request;
  Caller caller;
  std::shared_ptr<const AdmissionPolicy> policy;
  Deadline deadline{};

  // Refuses parameters that are not among `allowed`, stand twice, are longer than
  // kParameterBytesMax, or hold control characters or bytes that are not UTF-8.
  // Errors: kInvalidArgument.
  Result<void> AllowOnly(std::initializer_list<std::string_view> allowed) const;

  std::string Parameter(std::string_view name) const;  // empty when it is missing
  // Errors: kInvalidArgument: neither "true" nor "false".
  Result<std::optional<bool>> Switch(std::string_view name) const;
  // The parameter `limit`, at least 1; more than kPageMax counts as kPageMax.
  // Errors: kInvalidArgument.
  Result<std::size_t> Limit() const;
};

// Whether `text` is valid UTF-8.
bool IsUtf8(std::string_view text);
// Whether arrays and objects of the JSON `text` stand deeper inside each other than kBodyDepthMax:
// to be asked before it is parsed, because what reads and writes values goes as deep as they do.
bool NestsTooDeep(std::string_view json);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_CALL_H_
