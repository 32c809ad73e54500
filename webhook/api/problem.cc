#include "webhook/api/problem.h"

#include <utility>

#include "policies/finding.h"

namespace truce {
namespace {

struct StatusRow {
  int status;
  std::string_view name;
  std::string_view title;
  std::string_view remedy;
};

StatusRow WordingOf(ProblemType type) {
  switch (type) {
    case ProblemType::kMalformed:
      return {400, "malformed", "the request is malformed",
              "correct the request; /openapi.yaml describes it"};
    case ProblemType::kUnauthenticated:
      return {
          401, "unauthenticated", "not authenticated",
          "send a bearer token (truce: --token-file FILE); `kubectl create token NAME -n NAMESPACE "
          "--audience truce` makes one"};
    case ProblemType::kForbidden:
      return {403, "forbidden", "the caller may not do this",
              "ask whoever administers Truce, or the namespace, for the permission"};
    case ProblemType::kNotFound:
      return {404, "not-found", "not found",
              "check the name or id; the list of its kind shows what there is"};
    case ProblemType::kConflict:
      return {409, "conflict", "it conflicts with the present state", "read it again, then decide"};
    case ProblemType::kPreconditionFailed:
      return {412, "precondition-failed", "it changed since it was read",
              "read it again, then repeat the request with the new ETag"};
    case ProblemType::kTooLarge:
      return {413, "too-large", "the request is too large", "send less at once"};
    case ProblemType::kPreconditionRequired:
      return {428, "precondition-required", "the request does not say what it is based on",
              "send the ETag of what was read as If-Match"};
    case ProblemType::kTooManyRequests:
      return {429, "too-many-requests", "too many requests",
              "wait as long as Retry-After says, then repeat the request"};
    case ProblemType::kUnavailable:
      return {503, "unavailable", "Truce cannot answer now",
              "wait as long as Retry-After says, then repeat the request"};
    case ProblemType::kInternal: break;
  }
  return {500, "internal", "the server failed", "see the server's log"};
}

}  // namespace

Problem ProblemOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument: return {ProblemType::kMalformed, error.message, {}};
    case ErrorCode::kNotFound: return {ProblemType::kNotFound, error.message, {}};
    case ErrorCode::kConflict: return {ProblemType::kConflict, error.message, {}};
    case ErrorCode::kResourceExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded: return {ProblemType::kUnavailable, error.message, {}};
    case ErrorCode::kDataLoss:
    case ErrorCode::kInternal: break;
  }
  return {ProblemType::kInternal, error.message, {}};
}

HttpResponse ProblemResponse(const Problem& problem) {
  const StatusRow row = WordingOf(problem.type);
  JsonWriter json;
  json.BeginObject();
  json.Field("type", std::string("/problems/").append(row.name));
  json.Field("title", row.title);
  json.NumberField("status", row.status);
  json.Field("detail", OneLine(problem.detail, kMessageBytesMax));
  json.Field("remedy", problem.remedy.empty() ? std::string(row.remedy)
                                              : OneLine(problem.remedy, kMessageBytesMax));
  json.EndObject();
  HttpResponse response{
      .status = row.status, .content_type = "application/problem+json", .body = json.Take()};
  if (row.status == 429 || row.status == 503) response.headers.emplace_back("Retry-After", "1");
  if (row.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

HttpResponse ProblemResponse(const Error& error) { return ProblemResponse(ProblemOf(error)); }

HttpResponse ProblemResponse(ProblemType type, std::string detail) {
  return ProblemResponse(Problem{type, std::move(detail), {}});
}

HttpResponse AnswerOf(Result<HttpResponse> answer) {
  return answer.ok() ? std::move(answer).value() : ProblemResponse(answer.error());
}

HttpResponse JsonResponse(std::string json, const std::string& tag, int status) {
  HttpResponse response{
      .status = status, .content_type = "application/json", .body = std::move(json)};
  if (!tag.empty()) response.headers.emplace_back("ETag", tag);
  return response;
}

HttpResponse TextResponse(std::size_t count, std::string_view text) {
  JsonWriter json;
  json.BeginObject().NumberField("count", count).Field("text", text);
  return JsonResponse(json.EndObject().Take());
}

}  // namespace truce
