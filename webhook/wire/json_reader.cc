#include "webhook/wire/json_reader.h"

namespace truce {

Result<Document> JsonReader::Read(std::string_view json) {
  text_.reserve(json.size() + kScanPadding);
  text_ = json;
  Builder builder;
  if (!scan_.Read(text_, {}, builder)) {
    return Error{ErrorCode::kInvalidArgument, "not an object of the API: no JSON"};
  }
  Document document = builder.Finish();
  if (!document.root().is_object()) {
    return Error{ErrorCode::kInvalidArgument, "not an object of the API: no JSON object"};
  }
  return document;
}

}  // namespace truce
