#include "tests/support/recorded_review.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "registry/base/assert.h"
#include "tests/support/json_document.h"

namespace truce {

Document DocumentFromReview(std::string_view name, ReviewPart part) {
  std::string path = TRUCE_SOURCE_DIR "/tests/golden/admission/";
  path.append(name).append(".json");
  std::ifstream file(path);
  TRUCE_ASSERT(file.is_open());
  const auto review = nlohmann::ordered_json::parse(file);
  const char* member = part == ReviewPart::kObject ? "object" : "oldObject";
  return DocumentFromJson(review.at("request").at(member).dump());
}

}  // namespace truce
