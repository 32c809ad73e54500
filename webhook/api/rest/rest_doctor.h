// GET /api/v1/doctor: the findings of a server about its own installation.
#ifndef TRUCE_WEBHOOK_API_REST_REST_DOCTOR_H_
#define TRUCE_WEBHOOK_API_REST_REST_DOCTOR_H_

#include <functional>
#include <string>
#include <vector>

#include "webhook/api/rest/rest_api.h"

namespace truce {

// One thing that was looked at. Texts are one line each.
struct Checkup {
  enum class State : std::uint8_t { kOk, kWarning, kFailed };

  std::string name;  // "webhook-configuration"; several may have one name
  State state = State::kOk;
  std::string what;    // what was seen
  std::string remedy;  // empty when all is well

  bool operator==(const Checkup&) const = default;
};
std::string_view Name(Checkup::State state);  // "ok", "warning", "failed"

// Answers within the deadline. Thread-safe.
using Examine = std::function<std::vector<Checkup>(Deadline)>;

// Needs list on audit, or the role auditor. `rest` must outlive the route.
HttpRoute DoctorRoute(const RestApi& rest, Examine examine);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_DOCTOR_H_
