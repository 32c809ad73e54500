// An admission service on a memory store with a clock that stands still, and reviews to send to it.
#ifndef TRUCE_TESTS_SUPPORT_ADMISSION_FIXTURE_H_
#define TRUCE_TESTS_SUPPORT_ADMISSION_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/ownership/rows.h"
#include "tests/support/fake_clock.h"
#include "tests/support/faulty_store.h"
#include "tests/support/memory_store.h"
#include "tests/support/store_contents.h"
#include "webhook/admission/service.h"

namespace truce {

inline constexpr std::string_view kCrossplane =
    "system:serviceaccount:crossplane-system:crossplane";
inline constexpr std::string_view kProvider =
    "system:serviceaccount:crossplane-system:provider-aws-s3";

// What a review reported, copied.
struct Reported {
  Verdict verdict = Verdict::kAllowed;
  std::optional<UnknownCause> unknown;
  std::string operation;
  std::string kind;
  std::string ns;
  std::string name;
  std::string user;
  std::string override_reason;
  std::string detail;
  std::string keys;
  bool wrote = false;
  std::vector<std::string> findings;  // "duplicate-ownership enforce"
  std::vector<Finding> told;          // the same, whole
  std::uint64_t repetition = 0;
  bool acts_as_provider = false;
};

class RecordingSink final : public ReviewSink {
 public:
  void OnReview(const ReviewRecord& record) override;
  std::vector<Reported> all() const {
    return records_.With([](const auto& records) { return records; });
  }
  Reported last() const { return all().back(); }

 private:
  Guarded<std::vector<Reported>> records_;
};

// An object and who sends it.
struct Sent {
  std::string operation = "CREATE";
  std::string group;
  std::string version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;           // of the object
  std::string spec = "{}";   // JSON
  std::string metadata;      // more members, each with a comma before: `,"labels":{…}`
  std::string old_spec;      // UPDATE; empty: as `spec`
  std::string old_metadata;  // UPDATE; used as it stands
  std::string sub_resource;
  std::string status;      // JSON; empty: none
  std::string old_status;  // UPDATE
  std::string user = "ann";
  std::string review = "review-1";
  bool dry_run = false;
};

// The body of the review of `sent`.
std::string BodyOf(const Sent& sent);

// A claim of the tour: kind ObjectStorage in `ns`, for bucket `bucket`, of service `service`.
Sent Claim(std::string_view ns, std::string_view name, std::string_view bucket,
           std::string_view service);
// A managed bucket whose external name is `bucket`; cluster-scoped.
Sent Bucket(std::string_view name, std::string_view bucket);
// An object of any catalogued kind below aws.upbound.io, with metadata.name as its name.
Sent Managed(std::string_view service, std::string_view kind, std::string_view name,
             std::string_view for_provider);
// A namespaced queue `name` of `ns`, by ProviderConfig `config` of it.
Sent QueueOf(const std::string& ns, const std::string& name, const std::string& config = "one",
             const std::string& region = "eu-west-1");

// What the webhook answered.
struct Answered {
  int status = 0;
  std::string retry_after;
  std::string body;
  bool allowed = false;
  int code = 0;
  std::string reason;
  std::string message;
  std::string uid;
  std::vector<std::string> warnings;
};

// What `service` answers to the review `body`.
Answered Ask(AdmissionService& service, Endpoint endpoint, std::string body,
             std::string timeout = "10s");

// What a test says that the cluster has.
class ToldLiveObjects final {
 public:
  LiveObjects Read(std::string_view asker, std::span<const Slot> slots);

  LiveObjects objects;  // what is missing does not exist
  bool silent = false;  // nothing can be read
  std::vector<Slot> asked;
  std::string asker;  // of the last one
};

class AdmissionFixture : public ::testing::Test {
 protected:
  AdmissionFixture();

  // The policy of the tour: mapping of platform.example.org/ObjectStorage, everything else as by
  // default.
  static AdmissionPolicy DefaultPolicy();
  void ChangePolicy(const std::function<void(AdmissionPolicy&)>& change);

  Answered Send(const Sent& sent) { return Post(BodyOf(sent)); }
  Answered Post(std::string body, std::string timeout = "10s");
  // To /validate-check.
  Answered Check(const Sent& sent);
  // To /validate-deletion.
  Answered Deletion(std::string body);
  // To /validate-composition.
  Answered Composition(const Sent& sent);
  // To /validate-status.
  Answered Status(const Sent& sent);

  StoreContents Contents() const { return ContentsOf(memory_).value(); }
  // What the last review found: "duplicate-ownership enforce, quota warn".
  std::string Found() const;
  // The only finding of the last review; an empty one where there are none or several.
  Finding OnlyFinding() const;

  FakeClock clock_{*ParseTimestamp("2026-11-21T08:00:00Z")};
  MemoryStore memory_;
  truce::testing::FaultyStore store_{memory_};
  RecordingSink sink_;
  ToldLiveObjects live_;
  AdmissionPolicy present_;
  std::vector<Uid> admitted_checks_;
  Result<bool> speaks_ = true;          // of whoever asks for another namespace
  std::vector<std::string> asked_for_;  // "ann team-a"
  Result<void> own_objects_;            // what is said of Truce's other kinds
  AdmissionService service_;
  int ids_ = 0;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_ADMISSION_FIXTURE_H_
