// What the admission service reports of each review: to the log, to metrics.
#ifndef TRUCE_WEBHOOK_ADMISSION_SINK_H_
#define TRUCE_WEBHOOK_ADMISSION_SINK_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "policies/finding.h"
#include "registry/base/result.h"
#include "registry/identity/identity.h"
#include "registry/ownership/ids.h"

namespace truce {

// Outcome of one call of the webhook. `kBadRequest`: 400, the caller's fault, no verdict.
enum class Verdict : std::uint8_t { kAllowed, kDenied, kUnknown, kBadRequest };
inline constexpr std::size_t kVerdictCount = 4;
std::string_view Name(Verdict verdict);  // "allowed", "denied", "unknown", "bad_request"

// Why a verdict is unknown: label values of truce_unknown_total.
enum class UnknownCause : std::uint8_t {
  kNotReady,          // "not_ready": the store is not open, or types were not attempted yet
  kStoreUnavailable,  // "store_unavailable": busy, disk full, read-only
  kStoreFull,         // "store_full": its queue is full
  kStoreDamaged,      // "store_damaged"
  kDeadline,          // "deadline": the time of the API server's call was used up
  kOverload,          // "overload": refused before it was handled
  kException,         // "exception": out of memory, a bug
  kInternal,          // "internal": a failed check of our own
  kUnlisted,          // "kind_unlisted": the key may be taken by an object that was not listed yet
};
inline constexpr std::size_t kUnknownCauseCount = 9;
std::string_view Name(UnknownCause cause);

// The operation of a request, for labels: "CREATE", "UPDATE", "DELETE", "CONNECT", "none" (bad
// request).
inline constexpr std::size_t kOperationLabelCount = 5;

// One review. Views live during the call only. Never holds object bodies or secrets; `user`, `name`
// and the like are the caller's texts: print them escaped.
struct ReviewRecord {
  Verdict verdict = Verdict::kAllowed;
  std::optional<UnknownCause> unknown;  // set when the verdict is unknown
  int status = 200;                     // HTTP status of the answer
  int code = 0;                         // status code inside a denial (403, 422); else 0
  std::string_view detail;              // error text (unknown, bad request); else empty

  std::string_view operation = "none";  // see above
  std::string_view uid;                 // request.uid
  std::string_view group;
  std::string_view kind;
  std::string_view sub_resource;
  std::string_view ns;
  std::string_view name;
  std::string_view user;
  std::string_view service;  // as the object says; empty for what was not judged
  bool dry_run = false;
  bool wrote = false;                 // the store was written
  std::span<const Finding> findings;  // of all modes
  std::string_view keys;         // what was judged, joined by spaces: at most 16, the rest counted
  std::span<const RowId> prove;  // reservations whose proof is due now
  std::string_view override_reason;  // set when an override lowered a mode
  // Set for a denied request of a composite controller: the object's controller, which is to hear
  // of it, and the text of the denial.
  const ObjectRef* composite = nullptr;
  std::string_view denial;
  std::chrono::nanoseconds elapsed{};  // in the service
};

// Port. Thread-safe; must not block, throw or take long: it runs before the answer is sent.
class ReviewSink {
 public:
  virtual ~ReviewSink() = default;
  virtual void OnReview(const ReviewRecord& record) noexcept = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_SINK_H_
