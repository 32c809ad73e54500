// ApiParts: what the REST API needs beside the admission service, from settings to routes.
#ifndef TRUCE_WEBHOOK_SERVE_API_PARTS_H_
#define TRUCE_WEBHOOK_SERVE_API_PARTS_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "webhook/api/auth/cached_reviews.h"
#include "webhook/api/auth/cluster_reviews.h"
#include "webhook/api/indexed_store.h"
#include "webhook/api/override_book.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/config/config.h"
#include "webhook/log/log.h"

namespace truce {

struct AdmissionRequest;

// References must outlive it.
struct ApiPartsPorts {
  IndexedStore& store;
  const Clock& clock;
  Logger& logger;
  ClusterSource cluster;  // who vouches for Kubernetes tokens; not set: nobody
  std::function<std::shared_ptr<const AdmissionPolicy>()> policy;
  std::string_view version;
  OverrideBook::OnChange on_overrides;  // what was made while the server runs
  std::function<void(const std::vector<KeyText>&, JsonWriter&)> findings;  // as in RestPorts
  std::size_t check_bytes_max;                                             // as in RestPorts
  std::function<std::vector<Hindrance>()> deletions_unsent;                // as in RestPorts
};

// Thread-safe but for Configure, which is for one thread.
class ApiParts final {
 public:
  explicit ApiParts(ApiPartsPorts ports);
  ~ApiParts();  // ends the filling
  ApiParts(const ApiParts&) = delete;
  ApiParts& operator=(const ApiParts&) = delete;

  // Reviews report here.
  DenialBook& denials() { return denials_; }
  const RestApi& rest() const { return *rest_; }
  // What the API listener and the operator socket answer alike.
  std::vector<HttpRoute> Routes();

  // Whether the user of `review` speaks for namespace `ns`. Errors: kUnavailable,
  // kDeadlineExceeded, kResourceExhausted.
  Result<bool> SpeaksFor(const AdmissionRequest& review, std::string_view ns, Deadline deadline);

  // Takes over who may call, from the settings and the token file. On an error nothing changes.
  // Errors: kInvalidArgument, kNotFound, kUnavailable.
  Result<void> Configure(const Config& config);

  // Takes over the overrides that the store holds, and enters its owners, beside everything else;
  // again and again until it works. Once, when the store is open.
  void StartFilling();

 private:
  void FillUntilDone();

  const ApiPartsPorts ports_;
  DenialBook denials_;
  std::optional<ClusterTokenReviewer> cluster_tokens_;
  std::optional<ClusterAccessReviewer> cluster_access_;
  std::optional<CachedTokenReviewer> tokens_;
  std::optional<CachedAccessReviewer> access_reviewer_;
  std::optional<ApiAccess> access_;
  OverrideBook overrides_;
  std::optional<RestApi> rest_;

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread filler_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_API_PARTS_H_
