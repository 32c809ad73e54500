// AdmissionService: from a parsed review to its answer.
#ifndef TRUCE_WEBHOOK_ADMISSION_SERVICE_H_
#define TRUCE_WEBHOOK_ADMISSION_SERVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/lifecycle/restore_rules.h"
#include "policies/policy.h"
#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/ownership/terms.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/late_answers.h"
#include "webhook/admission/repeated_refusals.h"
#include "webhook/wire/endpoints.h"

namespace truce {

class Store;

// Those of `slots` that a consistent read could tell of until `deadline`, by slot as asked; the
// namespace of a slot does not count for kinds without one. None at once while too many wait for
// such reads, or too many of `asker`: the namespace for which they are done, else the user.
// Thread-safe.
using ReadLive = std::function<LiveObjects(std::string_view asker, std::span<const Slot> slots,
                                           Deadline deadline)>;
// Whether the user of `review` speaks for namespace `ns`. Errors as of a store: nobody can tell.
// Thread-safe.
using SpeaksForFn = std::function<Result<bool>(const AdmissionRequest& review, std::string_view ns,
                                               Deadline deadline)>;
// An object of Truce's own kinds is reviewed, and no rule is against it: an OwnershipCheck, or
// another one whose spec is new. Errors: kInvalidArgument: why it cannot take effect. Thread-safe;
// takes milliseconds.
using AdmitOwnFn = std::function<Result<void>(const AdmissionRequest& review)>;

// The service's dependencies; they must outlive it.
struct AdmissionPorts {
  Store& store;
  const Clock& clock;
  IdSource ids;                    // thread-safe
  std::vector<ReviewSink*> sinks;  // called for every review, in this order
  SpeaksForFn speaks_for = {};     // empty: nobody speaks for any other namespace
  AdmitOwnFn admit_own = {};       // empty: all objects are good
  ReadLive read_live = {};         // empty: objects to look at bring warnings only
};

// One review as it came.
struct IncomingReview {
  Endpoint endpoint = Endpoint::kDeclarations;  // the subject of the answer
  // Or why there is none: kInvalidArgument, a bad request; anything else: unknown.
  const Result<AdmissionRequest>& request;
  Deadline begun{};     // when its handling began
  Deadline deadline{};  // by when the answer must have left
};

// Memory of refusals between two reviews.
struct RefusalMemory {
  RepeatedRefusals repeated;
  LateAnswers late;
};

// Thread-safe. The three outcomes are never mixed: allowed and denied are verdicts, unknown is
// none, and a body that is no review is a bad request. Never throws.
class AdmissionService final {
 public:
  // Not ready until SetReady(true). `policy` is not null.
  AdmissionService(AdmissionPorts ports, std::shared_ptr<const AdmissionPolicy> policy);
  AdmissionService(const AdmissionService&) = delete;
  AdmissionService& operator=(const AdmissionService&) = delete;

  // Answers one review, whose views need not outlive the call, and reports it to the sinks. Blocks
  // at most until its deadline. About
  // - declarations: "allowed" is said only after the reservations are durable (I3): the answer to a
  //   review that writes, or that rests on one that may just have been written, comes by `later`,
  //   at the deadline at the latest. Dry-runs and denials write nothing (I4). Repeating a review
  //   gives the same answer and writes nothing new.
  // - deletions: as about declarations; what else comes is allowed. Nothing is written, ever.
  //   Composite controllers get a standing refusal (repeated_refusals.h) late: after up to
  //   kLatenessMax, at most half of its time. It is reported when it is known.
  // - checks: Truce's own kinds. The creation of an OwnershipCheck is refused with the full text
  //   when anything conflicts or breaks an enforced rule; another object whose spec is new is
  //   refused when it cannot take effect. Writes nothing, ever.
  // - policies: the same for those but OwnershipChecks, which are allowed.
  // - compositions: everything is allowed, ready or not; an update is warned of its effect on
  //   composites that exist (rule composition-change). Writes nothing; looks for a second at most.
  // - a status: changes of it (rule status-names). Refused where a user who is neither provider nor
  //   restorer changes a field that names are read from; everything else is allowed. Needs no
  //   registry and writes nothing, so dry runs are judged alike, ready or not. Never blocks.
  std::optional<AdmissionAnswer> Answer(const IncomingReview& incoming, const AnswerLater& later);

  // Until ready every answer is unknown (cause not_ready), but for those about a status.
  void SetReady(bool ready) { ready_.store(ready, std::memory_order_release); }
  bool ready() const { return ready_.load(std::memory_order_acquire); }

  // The server ends: no answer is kept back any more.
  void EndLateness() { memory_.late.EndAll(); }
  const LateAnswers& late_answers() const { return memory_.late; }

  // From the next review on. Not null.
  void SetPolicy(std::shared_ptr<const AdmissionPolicy> policy) {
    policy_.Replace(std::move(policy));
  }
  std::shared_ptr<const AdmissionPolicy> policy() const { return policy_.Current(); }
  const InForce<AdmissionPolicy>& in_force() const { return policy_; }

 private:
  AdmissionPorts ports_;
  InForce<AdmissionPolicy> policy_;
  std::atomic<bool> ready_{false};
  RefusalMemory memory_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_SERVICE_H_
