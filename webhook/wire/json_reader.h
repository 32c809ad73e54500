// JSON → Document, of objects that the API server stores; reviews are read by the same scan.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_READER_H_
#define TRUCE_WEBHOOK_WIRE_JSON_READER_H_

#include <string>
#include <string_view>

#include "registry/base/document.h"
#include "registry/base/result.h"
#include "webhook/wire/json_scan.h"

namespace truce {

// Reads one JSON object at a time; keeps its buffers for the next one. External synchronization.
class JsonReader final {
 public:
  // `json` as a Document, without metadata.managedFields. The document's texts live until the next
  // Read or the end of the reader; `json` may go. A key may come twice: the API server would not
  // have stored it. Errors: kInvalidArgument, one line: not JSON, not an object.
  Result<Document> Read(std::string_view json);

 private:
  std::string text_;
  JsonScan scan_{JsonScan::Keys::kAny};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_READER_H_
