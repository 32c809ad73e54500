// Times in JSON that servers write for each other: milliseconds since 1970.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_JSON_TIMES_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_JSON_TIMES_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "registry/base/clock.h"

namespace truce {

inline std::int64_t TimeToJson(Timestamp time) { return time.time_since_epoch().count(); }
// The member `name` of an object; the epoch where it is no time.
Timestamp TimeIn(const nlohmann::json& json, const char* name);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_JSON_TIMES_H_
