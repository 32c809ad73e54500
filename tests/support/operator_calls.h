// The REST API on a store, called as over the operator socket.
#ifndef TRUCE_TESTS_SUPPORT_OPERATOR_CALLS_H_
#define TRUCE_TESTS_SUPPORT_OPERATOR_CALLS_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/admission/service.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/http/router.h"

namespace truce {

// External synchronization.
class OperatorCalls final {
 public:
  // One of the functions that make the routes of an operation.
  using Routes = std::vector<HttpRoute> (*)(const OperationPorts&);

  // `store`, `clock` and `policy` must outlive it.
  OperatorCalls(Store& store, const Clock& clock, const InForce<AdmissionPolicy>& policy,
                Routes routes)
      : clock_(clock),
        store_(store),
        denials_(store, clock),
        rest_({store_, clock_, ids_, policy, access_, denials_, "1.2.3"}),
        router_(Router::Make(routes(ports())).value()) {}

  Store& store() { return store_; }
  const RestApi& rest() const { return rest_; }
  OperationPorts ports() { return {rest_, store_, clock_, ids_}; }

  HttpResponse Get(const std::string& path,
                   std::vector<std::pair<std::string, std::string>> query = {}) {
    HttpRequest request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    return Call(std::move(request));
  }
  HttpResponse Post(const std::string& path, const std::string& body,
                    const std::string& if_match = "") {
    HttpRequest request;
    request.method = "POST";
    request.path = path;
    request.body = body;
    if (!if_match.empty()) request.headers.push_back({"if-match", if_match});
    return Call(std::move(request));
  }

  static std::string TagOf(const HttpResponse& response) {
    for (const auto& [name, value] : response.headers) {
      if (name == "ETag") return value;
    }
    return "";
  }

 private:
  HttpResponse Call(HttpRequest request) {
    request.remote_address = "unix";
    return *router_.Find(request.method, request.path).route->handler(request);
  }

  const Clock& clock_;
  IdSource ids_ = RandomIds();
  Store& store_;
  DenialBook denials_;
  ApiAccess access_{nullptr, nullptr};
  RestApi rest_;
  Router router_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_OPERATOR_CALLS_H_
