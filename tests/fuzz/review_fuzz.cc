// Fuzz target of the review: parse, identify, decide, answer. Whatever the body, the answer is one
// of 200 with a well-formed AdmissionReview, 400 or 503, and a second equal body changes nothing
// more. What the codec accepts, and reads, is what a plain reading of the same bytes says.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "registry/base/assert.h"
#include "registry/ownership/rows.h"
#include "tests/support/memory_store.h"
#include "tests/support/plain_review.h"
#include "tests/support/store_contents.h"
#include "tests/support/validate_now.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/service.h"

namespace {

class StandingClock final : public truce::Clock {
 public:
  truce::Timestamp Now() const override { return truce::Timestamp(std::chrono::hours(500000)); }
};

std::shared_ptr<const truce::AdmissionPolicy> Policy() {
  auto policy = std::make_shared<truce::AdmissionPolicy>();
  policy->catalogue = std::make_shared<const truce::Catalogue>(truce::Catalogue::BuiltIn());
  policy->identity.cluster = "local";
  policy->identity.catalogue = policy->catalogue.get();
  policy->providers = {"system:*:provider-*"};
  policy->composite_controllers = {"system:serviceaccount:crossplane-system:crossplane"};
  policy->limits = {100, 1000};
  return policy;
}

truce::HttpResponse Answer(truce::AdmissionService& service, std::string body) {
  truce::HttpRequest request;
  request.body = std::move(body);
  truce::HttpResponse response = ValidateNow(service, request);
  TRUCE_ASSERT(response.status == 200 || response.status == 400);
  return response;
}

bool IsAboutJson(const std::string& message) {
  for (const char* words : {"not JSON", "UTF-8", "is empty", "nested deeper", "appears twice"}) {
    if (message.find(words) != std::string::npos) return true;
  }
  return false;
}

void CompareWithPlainReading(const std::string& body) {
  truce::ReviewReader reader;
  std::string read = body;
  const auto review = reader.Read(read);
  const truce::JsonFault fault = truce::JsonFaultOf(body);
  if (!review.ok()) {
    TRUCE_ASSERT(fault != truce::JsonFault::kNone || !IsAboutJson(review.error().message));
    return;
  }
  TRUCE_ASSERT(fault != truce::JsonFault::kRefused);
  const truce::Value object = review.value().object;
  const truce::Value old_object = review.value().old_object;
  TRUCE_ASSERT(!object.exists() || IsMemberOf(body, "object", object));
  TRUCE_ASSERT(!old_object.exists() || IsMemberOf(body, "oldObject", old_object));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kPolicy = Policy();
  static const StandingClock kClock;
  const std::string body(reinterpret_cast<const char*>(data), size);
  CompareWithPlainReading(body);
  truce::MemoryStore store;
  int next = 0;
  truce::AdmissionService service(
      {store, kClock, [&next] { return truce::PublicId{std::to_string(++next)}; }, {}}, kPolicy);
  service.SetReady(true);
  const truce::HttpResponse first = Answer(service, body);
  if (first.status != 200) return 0;
  const auto before = ContentsOf(store);
  const truce::HttpResponse second = Answer(service, body);
  TRUCE_ASSERT(second.status == 200);
  TRUCE_ASSERT(before.ok() && ContentsOf(store).value() == before.value());
  truce::ReviewReader reader;
  std::string answer = first.body;
  // The answer is JSON of an AdmissionReview; only its lack of a request is complained of.
  TRUCE_ASSERT(reader.Read(answer).error().message == "request is missing");
  return 0;
}
