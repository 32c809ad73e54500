#include "webhook/http/http.h"

#include <algorithm>
#include <utility>

#include "registry/base/random_id.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kRequestIdBytesMax = 64;
constexpr std::string_view kRequestIdField = "X-Request-Id";

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const HttpField& field : headers) {
    if (field.name == name) return field.value;
  }
  return {};
}

std::optional<std::string_view> HttpRequest::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

std::string RequestIdOf(const HttpRequest& request) {
  const std::string_view given = request.Header("x-request-id");
  const bool usable = !given.empty() && given.size() <= kRequestIdBytesMax &&
                      std::all_of(given.begin(), given.end(), [](char c) {
                        return IsAlnum(c) || c == '-' || c == '_' || c == '.';
                      });
  return usable ? std::string(given) : NewId();
}

std::vector<HttpRoute> WithRequestIds(std::vector<HttpRoute> routes) {
  for (HttpRoute& route : routes) {
    route.handler = [handler = std::move(route.handler)](HttpRequest& request) {
      auto response = handler(request);
      if (!response) return response;
      const bool has_one =
          std::any_of(response->headers.begin(), response->headers.end(),
                      [](const auto& field) { return field.first == kRequestIdField; });
      if (!has_one) response->headers.emplace_back(kRequestIdField, RequestIdOf(request));
      return response;
    };
  }
  return routes;
}

HttpResponse RouteProblem(int status, std::string_view detail, std::string_view remedy) {
  const bool is_method = status == 405;
  const bool is_path = status == 404;
  const std::string_view name = is_method ? "method-not-allowed"
                                : is_path ? "not-found"
                                          : "unsupported-media-type";
  const std::string_view title = is_method ? "the path takes other methods"
                                 : is_path ? "not found"
                                           : "the body is of a form that is not taken";
  HttpResponse response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body.append(R"({"type":"/problems/)").append(name);
  response.body.append(R"(","title":")").append(title);
  response.body.append(R"(","status":)").append(std::to_string(status));
  response.body.append(R"(,"detail":")").append(detail);
  response.body.append(R"(","remedy":")").append(remedy).append("\"}");
  return response;
}

HttpResponse PlainText(int status, std::string_view line) {
  HttpResponse response;
  response.status = status;
  response.body.assign(line).push_back('\n');
  return response;
}

}  // namespace truce
