#include "tests/support/rest_fixture.h"

#include <nlohmann/json.hpp>

#include "tests/support/validate_now.h"
#include "webhook/api/rest/operations.h"

namespace truce {

using nlohmann::json;

std::vector<HttpRoute> RestTest::AllRoutes() {
  std::vector<HttpRoute> routes = rest_.Routes();
  const OperationPorts ports{rest_, store_, clock_, random_ids_};
  for (std::vector<HttpRoute> more : {ShareRoutes(ports), TransferRoutes(ports), CountRoutes(ports),
                                      DenialRoutes(ports, denials_), LineageRoutes(ports)}) {
    for (HttpRoute& route : more) routes.push_back(std::move(route));
  }
  return routes;
}

json RestTest::Get(const std::string& path, Query query, int status) {
  const HttpResponse response = Ask(path, std::move(query));
  EXPECT_EQ(response.status, status) << path << " " << response.body;
  return json::parse(response.body, nullptr, false);
}

void RestTest::DeclareObject(Sent sent) {
  sent.uid = "uid-" + sent.kind + sent.name;
  sent.review = "review-" + sent.kind + sent.name;
  HttpRequest request;
  request.body = BodyOf(sent);
  EXPECT_EQ(json::parse(ValidateNow(recorded_service_, request).body)["response"]["allowed"], true);
}

std::string RestTest::IdOf(const std::string& bucket) {
  return Get("/api/v1/resources:lookup", {{"type", "s3/Bucket"}, {"name", bucket}})
      .at("resources")
      .at(0)
      .at("id");
}

}  // namespace truce
