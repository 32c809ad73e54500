// The REST API's handlers over an indexed memory store, with callers and rights that a test sets.
#ifndef TRUCE_TESTS_SUPPORT_REST_FIXTURE_H_
#define TRUCE_TESTS_SUPPORT_REST_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/admission_fixture.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/http/router.h"

namespace truce {

class NobodyElse final : public AccessReviewer {
 public:
  Result<bool> Allowed(const KubernetesUser& user, const Permission& permission,
                       Deadline) override {
    if (on_ask) std::exchange(on_ask, nullptr)();
    return allowed.count(user.name + " " + ToText(permission)) > 0;
  }
  std::set<std::string> allowed;
  std::function<void()> on_ask;  // called once, meanwhile
};

class AnyToken final : public TokenReviewer {
 public:
  Result<std::optional<KubernetesUser>> FindUser(const std::string& token, const std::string&,
                                                 Deadline) override {
    return std::optional<KubernetesUser>(KubernetesUser{token, "", {}, {}});
  }
};

class RestTest : public AdmissionFixture {
 protected:
  RestTest() { recorded_service_.SetReady(true); }

  using Query = std::vector<std::pair<std::string, std::string>>;

  // As the operator, unless user_ is set: then as that Kubernetes user.
  HttpResponse Send(HttpRequest request) {
    if (!router_) router_ = Router::Make(AllRoutes()).value();
    const auto match = router_->Find(request.method, request.path);
    if (match.route == nullptr) return PlainText(404, "no route");
    request.remote_address = user_.empty() ? "unix" : "192.0.2.7";
    const std::string authorization = "Bearer " + user_;
    if (!user_.empty()) request.headers.push_back({"authorization", authorization});
    return *match.route->handler(request);
  }
  HttpResponse Call(const std::string& method, const std::string& path,
                    const std::string& body = "", const std::string& if_match = "") {
    HttpRequest request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (!if_match.empty()) request.headers.push_back({"if-match", if_match});
    return Send(std::move(request));
  }
  HttpResponse Ask(const std::string& path, Query query) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    return Send(std::move(request));
  }
  // Kept: cursors are sealed by the routes that gave them.
  std::vector<HttpRoute> AllRoutes();
  nlohmann::json Get(const std::string& path, Query query = {}, int status = 200);
  static std::string HeaderOf(const HttpResponse& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    return "";
  }
  void Declare(const std::string& ns, const std::string& bucket, const std::string& service) {
    DeclareObject(Claim(ns, bucket, bucket, service));
  }
  void DeclareObject(Sent sent);
  std::string IdOf(const std::string& bucket);

  DenialBook denials_{store_, clock_};
  AnyToken tokens_;
  NobodyElse reviews_;
  ApiAccess access_{&tokens_, &reviews_};
  IdSource random_ids_ = RandomIds();
  AdmissionService recorded_service_{AdmissionPorts{store_, clock_, random_ids_, {&denials_}},
                                     service_.policy()};
  const InForce<AdmissionPolicy>& policy_view_ = service_.in_force();
  RestApi rest_{{store_, clock_, random_ids_, policy_view_, access_, denials_, "1.2.3"}};
  std::optional<Router> router_;
  std::string user_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_REST_FIXTURE_H_
