#include "webhook/api/rest/rest_doctor.h"

#include <utility>

#include "registry/base/name_table.h"

namespace truce {

namespace {

constexpr NameTable<Checkup::State::kFailed> kCheckupStates("ok", "warning", "failed");

}  // namespace

std::string_view Name(Checkup::State state) { return kCheckupStates.Of(state); }

HttpRoute DoctorRoute(const RestApi& rest, Examine examine) {
  const auto operation = [examine = std::move(examine)](RestCall& call) -> Result<HttpResponse> {
    return ListResponse(examine(call.deadline), [](const Checkup& checkup, JsonWriter& json) {
      json.Object("name", checkup.name, "state", Name(checkup.state), "what", checkup.what,
                  "remedy", checkup.remedy);
    });
  };
  return rest.Routed({"GET", "/api/v1/doctor", {}, {"audit", "", "list", ""}, operation});
}

}  // namespace truce
