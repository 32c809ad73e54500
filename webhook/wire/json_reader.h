// JSON of objects that the API server stores → Document.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_READER_H_
#define TRUCE_WEBHOOK_WIRE_JSON_READER_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "registry/base/result.h"
#include "registry/identity/document.h"

namespace truce {

// The API server stores nothing larger: etcd's limit is 1.5 MiB, 8 MiB where it was raised.
inline constexpr std::size_t kObjectBytesMax = 8 * 1024 * 1024;

// Reads one JSON object at a time; keeps its buffers for the next one. External synchronization.
class JsonReader final {
 public:
  JsonReader();
  ~JsonReader();
  JsonReader(JsonReader&&) noexcept;
  JsonReader& operator=(JsonReader&&) noexcept;

  // `json` as a Document, without metadata.managedFields. The document's texts live until the next
  // Read or the end of the reader; `json` may go. Errors: kInvalidArgument, one line: not JSON, not
  // an object, too deep, too large.
  Result<Document> Read(std::string_view json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_READER_H_
