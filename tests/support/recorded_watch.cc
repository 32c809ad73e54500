#include "tests/support/recorded_watch.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "registry/base/assert.h"

namespace truce {

std::vector<RecordedLine> RecordedWatch(std::string_view name) {
  std::ifstream file(std::string(TRUCE_SOURCE_DIR) + "/tests/support/recordings/" +
                     std::string(name) + ".jsonl");
  TRUCE_ASSERT(file.is_open());
  std::vector<RecordedLine> out;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    const double seconds = json.at("received").get<double>();
    const auto& event = json.at("event");
    out.push_back({Timestamp(std::chrono::milliseconds(std::llround(seconds * 1000))),
                   event.at("type").get<std::string>(), event.at("object").dump()});
  }
  return out;
}

}  // namespace truce
