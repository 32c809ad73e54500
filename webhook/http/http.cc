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

HttpResponse PlainText(int status, std::string_view line) {
  HttpResponse response;
  response.status = status;
  response.body.assign(line).push_back('\n');
  return response;
}

}  // namespace truce
