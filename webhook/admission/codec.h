// AdmissionReview v1, in and out (facts: Kubernetes api admission/v1 types.go; the contract table
// of DESIGN.md says what each malformed body is answered).
#ifndef TRUCE_WEBHOOK_ADMISSION_CODEC_H_
#define TRUCE_WEBHOOK_ADMISSION_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policies/review_record.h"
#include "registry/base/document.h"
#include "registry/base/result.h"

namespace truce {

inline constexpr std::size_t kReviewBytesMax = 8 * 1024 * 1024;
// request.uid is a UUID; anything longer is no API server's.
inline constexpr std::size_t kReviewUidBytesMax = 128;

enum class ReviewOperation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };
std::string_view Name(ReviewOperation operation);  // "CREATE", …

struct GroupVersionKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;

  bool operator==(const GroupVersionKind&) const = default;
};

// One review, as views into its body and the reader that read it.
struct AdmissionRequest {
  std::string_view uid;
  GroupVersionKind kind;          // of the object as it was converted for us
  GroupVersionKind request_kind;  // of the user's object; differs under matchPolicy Equivalent
  std::string_view resource;      // "buckets"
  std::string_view sub_resource;  // "status"; empty: the object itself
  std::string_view name;
  std::string_view ns;
  ReviewOperation operation = ReviewOperation::kCreate;
  std::string_view user;
  std::vector<std::string_view> groups;
  bool dry_run = false;
  // Without metadata.managedFields; missing where the request has null, where the operation has
  // none, and for requests that are not judged (subresources but `status`, CONNECT).
  Value object;
  Value old_object;
};

// Reads reviews; keeps its buffers for the next one. External synchronization.
class ReviewReader final {
 public:
  ReviewReader();
  ~ReviewReader();
  ReviewReader(ReviewReader&&) noexcept;
  ReviewReader& operator=(ReviewReader&&) noexcept;

  // Reads `body`, which must have at least kScanPadding readable bytes of capacity beyond its size
  // (it is reserved if not). How deep it is and how many values it has refuses nothing (R4). The
  // request's views live until the next Read, the end of the reader or that of `body`, which stays
  // as it is until then. Errors: kInvalidArgument, one line that says what is wrong: not JSON, not
  // UTF-8, a byte order mark,
  //   bytes after the end, a key twice in an object of the first kBuiltLevels levels, apiVersion or
  //   kind other than admission.k8s.io/v1 AdmissionReview, no request.uid, unknown operation, no
  //   object where the operation has one, an object of another kind or namespace than the request
  //   says; kResourceExhausted: out of memory.
  Result<AdmissionRequest> Read(std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The answer to a review, before it takes a form.
struct AdmissionAnswer {
  Verdict verdict = Verdict::kAllowed;
  std::string uid = {};      // of the request
  int code = 200;            // as HTTP counts: denied 403 or 422, unknown 503, bad request 400
  std::string message = {};  // denied: the whole text; unknown, bad request: one line
  std::vector<std::string> warnings = {};
};

// The AdmissionReview that says `answer`, which is a verdict, as JSON. Bytes that are not UTF-8
// become U+FFFD.
std::string WriteReview(const AdmissionAnswer& answer);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_CODEC_H_
