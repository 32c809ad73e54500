#include "webhook/api/rest/rest_doctor.h"

#include <utility>

namespace truce {

std::string_view Name(Checkup::State state) {
  switch (state) {
    case Checkup::State::kOk: return "ok";
    case Checkup::State::kWarning: return "warning";
    case Checkup::State::kFailed: break;
  }
  return "failed";
}

HttpRoute DoctorRoute(const RestApi& rest, Examine examine) {
  const auto operation = [&rest, examine = std::move(examine)](RestCall& call) {
    const Result<void> checked = call.AllowOnly({});
    if (!checked.ok()) return ProblemResponse(checked.error());
    if (auto refusal = rest.Refuse(call, {"audit", "", "list", ""})) return *std::move(refusal);
    JsonWriter json;
    json.BeginObject().Key("items").BeginArray();
    for (const Checkup& checkup : examine(call.deadline)) {
      json.BeginObject()
          .Field("name", checkup.name)
          .Field("state", Name(checkup.state))
          .Field("what", checkup.what)
          .Field("remedy", checkup.remedy)
          .EndObject();
    }
    json.EndArray().EndObject();
    return JsonResponse(json.Take());
  };
  return rest.Authenticated("GET", "/api/v1/doctor", RouteMatch::kExact, operation);
}

}  // namespace truce
