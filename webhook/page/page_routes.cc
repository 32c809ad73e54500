#include "webhook/page/page_routes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "webhook/page/page_assets.h"

namespace truce {
namespace {

constexpr std::string_view kFilesPath = "/page/";
constexpr std::string_view kSettingsPath = "/page/settings.json";
constexpr std::string_view kDocument = "index.html";

// Nothing inline, nothing from elsewhere, in nobody's frame; no text ever becomes markup.
constexpr std::string_view kSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

std::string_view MediaTypeOf(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::string_view rest = text.substr(begin);
  return rest.substr(0, rest.find_last_not_of(" \t") + 1);
}

// Whether the list of a field (Accept-Encoding, If-None-Match) has `wanted`, and does not give it
// the weight 0.
bool Lists(std::string_view field, std::string_view wanted) {
  for (std::size_t begin = 0; begin < field.size();) {
    const std::size_t end = std::min(field.find(',', begin), field.size());
    const std::string_view item = field.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    const std::string_view weight = item.substr(semicolon);
    std::string_view name = Trim(item.substr(0, semicolon));
    if (name.starts_with("W/")) name = name.substr(2);
    if (name != wanted) continue;
    return weight.empty() || weight.find_first_not_of("; \tq=0.") != std::string_view::npos;
  }
  return false;
}

HttpResponse Answer(const PageAsset& asset, const HttpRequest& request) {
  const bool is_small = Lists(request.Header("accept-encoding"), "gzip");
  const std::string tag =
      "\"" + std::string(asset.tag) + (is_small ? "-gzip" : "") + std::string("\"");
  HttpResponse response{.content_type = std::string(MediaTypeOf(asset.name)),
                        .body = {},
                        .headers = {{"ETag", tag},
                                    {"Cache-Control", "no-cache"},
                                    {"Vary", "Accept-Encoding"},
                                    {"Content-Security-Policy", std::string(kSecurityPolicy)},
                                    {"Cross-Origin-Opener-Policy", "same-origin"},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"X-Content-Type-Options", "nosniff"}}};
  if (Lists(request.Header("if-none-match"), tag)) {
    response.status = 304;
    return response;
  }
  if (is_small) response.headers.emplace_back("Content-Encoding", "gzip");
  response.body = is_small ? asset.small : asset.plain;
  return response;
}

HttpResponse AnswerFile(std::string_view name, const HttpRequest& request) {
  for (const PageAsset& asset : PageAssets()) {
    if (asset.name == name) return Answer(asset, request);
  }
  return RouteProblem(404, "the page has no such file", "Load the page again.");
}

}  // namespace

std::vector<HttpRoute> PageRoutes(std::string settings) {
  const HttpHandler document = [](HttpRequest& request) { return AnswerFile(kDocument, request); };
  const HttpHandler file = [](HttpRequest& request) {
    return AnswerFile(std::string_view(request.path).substr(kFilesPath.size()), request);
  };
  std::vector<HttpRoute> routes = {{.method = "GET",
                                    .path = std::string(kFilesPath),
                                    .match = RouteMatch::kPrefix,
                                    .handler = file}};
  routes.push_back({.method = "GET",
                    .path = std::string(kSettingsPath),
                    .handler = [settings = std::move(settings)](HttpRequest&) {
                      return HttpResponse{.content_type = "application/json",
                                          .body = settings,
                                          .headers = {{"Cache-Control", "no-cache"},
                                                      {"X-Content-Type-Options", "nosniff"}}};
                    }});
  for (const char* path : {"/", "/matrix", "/resources", "/services", "/denials", "/findings"}) {
    routes.push_back({.method = "GET", .path = path, .handler = document});
  }
  for (const char* path : {"/r/", "/services/", "/denials/", "/findings/"}) {
    routes.push_back(
        {.method = "GET", .path = path, .match = RouteMatch::kPrefix, .handler = document});
  }
  return routes;
}

}  // namespace truce
