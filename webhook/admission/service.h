// AdmissionService: from the body of a review to its answer (design section 5).
#ifndef TRUCE_WEBHOOK_ADMISSION_SERVICE_H_
#define TRUCE_WEBHOOK_ADMISSION_SERVICE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/ownership/ids.h"
#include "webhook/admission/access.h"
#include "webhook/http/http.h"

namespace truce {

class Store;

struct AdmissionRequest;

// What the service stands on; the references must outlive it.
struct AdmissionPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;                    // thread-safe
  std::vector<ReviewSink*> sinks;  // called for every review, in this order
  // Of /validate-check; thread-safe, must not block, may be null.
  std::function<void(const Uid&)> on_check_admitted = {};  // an OwnershipCheck that may be stored
  // Of /validate-check: whether the user of the review speaks for that namespace. Errors as of a
  // store: nobody can tell. Thread-safe; not set: nobody speaks for any.
  std::function<Result<bool>(const AdmissionRequest&, std::string_view, Deadline)> speaks_for = {};
  // Says of an object of one of Truce's other kinds why it cannot take effect (kInvalidArgument).
  std::function<Result<void>(const AdmissionRequest&)> try_own_object = {};
};

// Thread-safe. The three outcomes are never mixed: allowed and denied are HTTP 200, unknown is 503
// with `Retry-After: 1`, a request that is no review is 400. Never throws.
class AdmissionService final {
 public:
  // Not ready until SetReady(true). `policy` is not null.
  AdmissionService(AdmissionPorts ports, std::shared_ptr<const AdmissionPolicy> policy);
  AdmissionService(const AdmissionService&) = delete;
  AdmissionService& operator=(const AdmissionService&) = delete;

  // Answers one review. "allowed" is said only after the reservations are durable (I3): the answer
  // to a review that writes comes by `deferral`, at BudgetOf the request at the latest. Dry-runs
  // and denials write nothing (I4). Repeating a review gives the same answer and writes nothing
  // new.
  std::optional<HttpResponse> Validate(HttpRequest& request, HttpDeferral& deferral);

  // Answers for deletions, as Validate does; what else comes is allowed. Writes nothing, ever.
  std::optional<HttpResponse> ValidateDeletion(HttpRequest& request, HttpDeferral& deferral);

  // Answers for Truce's own kinds. The creation of an OwnershipCheck is refused with the full text
  // when anything conflicts or breaks an enforced rule; another object whose spec is new is refused
  // when it cannot take effect. Writes nothing, ever. Blocks at most until BudgetOf the request.
  HttpResponse ValidateCheck(HttpRequest& request);

  // The same for those but OwnershipChecks, which are allowed.
  HttpResponse ValidatePolicy(HttpRequest& request);

  // Answers for changes of a status (rule status-names): refused where names are read from what is
  // changed by a user who is neither provider nor restorer; everything else is allowed. Needs no
  // registry and writes nothing, so dry runs are judged alike, ready or not. Never blocks.
  HttpResponse ValidateStatus(HttpRequest& request);

  // Until ready every answer is unknown (cause not_ready), but for those about a status.
  void SetReady(bool ready) { ready_.store(ready, std::memory_order_release); }
  bool ready() const { return ready_.load(std::memory_order_acquire); }

  // From the next review on. Not null.
  void SetPolicy(std::shared_ptr<const AdmissionPolicy> policy);
  std::shared_ptr<const AdmissionPolicy> policy() const;

 private:
  AdmissionPorts ports_;
  Guarded<std::shared_ptr<const AdmissionPolicy>> policy_;
  std::atomic<bool> ready_{false};
};

// By when the answer must have left: the API server sends its remaining time rounded up to whole
// seconds as `?timeout=5s`, so n seconds mean n − 1 (one: a half), less a margin for the way back.
// Without a usable value 10 s are assumed, the API server's default. Never later than
// `request.deadline`, when set.
Deadline BudgetOf(const HttpRequest& request);

// The access rules in force; thread-safe, never gives null.
using AccessSource = std::function<std::shared_ptr<const AdmissionAccess>()>;

// The routes of the admission listener: POST to each of kEndpoints' paths, and each with
// /<its secret>. Refused callers get 403, or 401 when a bearer token is asked for. `service` must
// outlive the routes.
std::vector<HttpRoute> AdmissionRoutes(AdmissionService& service, AccessSource access);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_SERVICE_H_
