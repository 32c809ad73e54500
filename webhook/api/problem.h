// Problems: how the API says no (RFC 9457), with stable types and a remedy.
#ifndef TRUCE_WEBHOOK_API_PROBLEM_H_
#define TRUCE_WEBHOOK_API_PROBLEM_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "webhook/http/http.h"
#include "webhook/wire/json_writer.h"

namespace truce {

// Every kind of problem; each has one status and one type, "/problems/<name>", that never change.
enum class ProblemType {
  kMalformed,             // 400 malformed
  kUnauthenticated,       // 401 unauthenticated
  kForbidden,             // 403 forbidden
  kNotFound,              // 404 not-found
  kConflict,              // 409 conflict: the state of the thing forbids it
  kPreconditionFailed,    // 412 precondition-failed: it changed since it was read
  kTooLarge,              // 413 too-large
  kPreconditionRequired,  // 428 precondition-required: If-Match is missing
  kTooManyRequests,       // 429 too-many-requests, with Retry-After
  kInternal,              // 500 internal
  kUnavailable,           // 503 unavailable, with Retry-After
};

struct Problem {
  ProblemType type = ProblemType::kInternal;
  std::string detail;  // one sentence: the fault of this request
  std::string remedy;  // what to do; empty: the type's own
};

// The problem that an error of the registry or the store is.
Problem ProblemOf(const Error& error);

// {"type", "title", "status", "detail", "remedy"} as application/problem+json. 429 and
// 503 carry Retry-After: 1, 401 WWW-Authenticate: Bearer.
HttpResponse ProblemResponse(const Problem& problem);
HttpResponse ProblemResponse(const Error& error);
HttpResponse ProblemResponse(ProblemType type, std::string detail);

// The answer of a handler: its response, or the problem that its error is.
HttpResponse AnswerOf(Result<HttpResponse> answer);

// A JSON answer; `tag`: its entity tag, unless it is empty.
HttpResponse JsonResponse(std::string json, const std::string& tag = {}, int status = 200);
// {"items": […], "nextCursor"}: of each item what `write(item, json)` writes, else its own JSON;
// the cursor, unless it is empty.
template <typename Items, typename Write>
HttpResponse ListResponse(const Items& items, const Write& write, const std::string& next = {}) {
  JsonWriter json;
  json.BeginObject().ListField("items", items, write);
  if (!next.empty()) json.Field("nextCursor", next);
  return JsonResponse(json.EndObject().Take());
}
template <typename Items>
HttpResponse ListResponse(const Items& items, const std::string& next = {}) {
  return ListResponse(
      items, [](const auto& item, JsonWriter& json) { json.Put(item); }, next);
}
// {"count", "text"}: a report for people.
HttpResponse TextResponse(std::size_t count, std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_PROBLEM_H_
