#include "webhook/api/rest/rest_doctor.h"

#include <utility>

#include "registry/base/name_table.h"

namespace truce {

namespace {

constexpr NameTable<Checkup::State::kFailed> kCheckupStates("ok", "warning", "failed");

}  // namespace

std::string_view Name(Checkup::State state) { return kCheckupStates.Of(state); }

HttpRoute DoctorRoute(const RestApi& rest, Examine examine) {
  const auto operation = [&rest,
                          examine = std::move(examine)](RestCall& call) -> Result<HttpResponse> {
    TRUCE_RETURN_IF_ERROR(call.AllowOnly({}));
    if (auto refusal = rest.Refuse(call, {"audit", "", "list", ""})) return *std::move(refusal);
    return ListResponse(examine(call.deadline), [](const Checkup& checkup, JsonWriter& json) {
      json.Object("name", checkup.name, "state", Name(checkup.state), "what", checkup.what,
                  "remedy", checkup.remedy);
    });
  };
  return rest.Authenticated("GET", "/api/v1/doctor", RouteMatch::kExact, operation);
}

}  // namespace truce
