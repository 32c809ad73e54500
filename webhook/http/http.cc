#include "webhook/http/http.h"

namespace truce {

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
