#include "webhook/serve/shared/json_times.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace truce {

Timestamp TimeIn(const nlohmann::json& json, const char* name) {
  const auto found = json.find(name);
  const bool is_time = found != json.end() && found->is_number_integer();
  return Timestamp(std::chrono::milliseconds(is_time ? found->get<std::int64_t>() : 0));
}

}  // namespace truce
