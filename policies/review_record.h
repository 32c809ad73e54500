// ReviewRecord: the outcome of one review, for its records: log, metrics, Events, denials and
// trials.
#ifndef TRUCE_POLICIES_REVIEW_RECORD_H_
#define TRUCE_POLICIES_REVIEW_RECORD_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "policies/finding.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"

namespace truce {

// Outcome of one call of the webhook. `kBadRequest`: 400, the caller's fault, no verdict.
enum class Verdict : std::uint8_t { kAllowed, kDenied, kUnknown, kBadRequest };
inline std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAllowed: return "allowed";
    case Verdict::kDenied: return "denied";
    case Verdict::kUnknown: return "unknown";
    case Verdict::kBadRequest: return "bad_request";
  }
  return "unknown";
}

// Why a verdict is unknown: label values of truce_unknown_total.
enum class UnknownCause : std::uint8_t {
  kNotReady,          // the store is not open, or types were not attempted yet
  kStoreUnavailable,  // busy, disk full, read-only
  kStoreFull,         // its queue is full
  kStoreDamaged,
  kDeadline,   // the time of the API server's call was used up
  kOverload,   // refused before it was handled
  kException,  // out of memory, a bug
  kInternal,   // a failed check of our own
  kUnlisted,   // the key may be taken by an object that was not listed yet
};
inline std::string_view Name(UnknownCause cause) {
  switch (cause) {
    case UnknownCause::kNotReady: return "not_ready";
    case UnknownCause::kStoreUnavailable: return "store_unavailable";
    case UnknownCause::kStoreFull: return "store_full";
    case UnknownCause::kStoreDamaged: return "store_damaged";
    case UnknownCause::kDeadline: return "deadline";
    case UnknownCause::kOverload: return "overload";
    case UnknownCause::kException: return "exception";
    case UnknownCause::kInternal: return "internal";
    case UnknownCause::kUnlisted: return "kind_unlisted";
  }
  return "internal";
}

// One review. Views live during the call only. Never holds object bodies or secrets; `user`, `name`
// and the like are the caller's texts: print them escaped.
struct ReviewRecord {
  Verdict verdict = Verdict::kAllowed;
  std::optional<UnknownCause> unknown;  // set when the verdict is unknown
  int code = 200;                       // of the answer; of a denial the one in it: 403, 422
  std::string_view detail;              // error text (unknown, bad request); else empty

  std::string_view operation = "none";  // CREATE, UPDATE, DELETE, CONNECT; none: bad request
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
  std::string_view keys;         // the judged ones, joined by spaces: at most 16, the rest counted
  std::span<const RowId> prove;  // reservations whose proof is due now
  std::string_view override_reason;  // set when an override lowered a mode
  // Set for a denied request of a composite controller: the object's controller, which is to hear
  // of it.
  const ObjectRef* composite = nullptr;
  std::string_view denial;     // the text of a denial, else empty
  const Slot* root = nullptr;  // of the object, as far as the lineage tells; null: not judged
  // The user did what only a provider does, and is neither that nor a restorer nor Crossplane.
  bool acts_as_provider = false;
  bool made_up = false;  // a composite controller made up the object's name, for this try only
  // How often the same was refused to a composite controller lately, this time included; 0: nobody
  // counts.
  std::uint64_t repetition = 0;
  std::chrono::nanoseconds elapsed{};  // in the service
};

// Port. Thread-safe; must not block or take long: it runs before the answer is sent. A sink that
// throws (memory) loses its note, and nothing else.
class ReviewSink {
 public:
  virtual ~ReviewSink() = default;
  virtual void OnReview(const ReviewRecord& record) = 0;
};

}  // namespace truce

#endif  // TRUCE_POLICIES_REVIEW_RECORD_H_
