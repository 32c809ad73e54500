// JSON → Document: reviews, checks and objects that the API server stores, by one walk, so that all
// of them are judged by the same text.
#ifndef TRUCE_WEBHOOK_WIRE_JSON_READER_H_
#define TRUCE_WEBHOOK_WIRE_JSON_READER_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/document.h"
#include "registry/base/result.h"

// Only sources that parse have the header of simdjson.
namespace simdjson::dom {
class element;
class object;
class array;
}  // namespace simdjson::dom

namespace truce {

// A key that stands twice among `keys`, whose order is nobody's afterwards.
std::optional<std::string_view> KeyTwice(std::span<std::string_view> keys);

// What a walk refuses, and what becomes of metadata.
struct WalkRules {
  int depth_max = 0;       // objects and arrays inside each other, the outermost counted as one
  bool keys_once = true;   // a key may not stand twice in one object
  int metadata_depth = 0;  // of the object `metadata` to which the rest applies
  std::span<const std::string_view> left_out = {};  // members that are not looked at
  std::span<const std::pair<std::string_view, std::string_view>> added = {};  // texts put behind
};

// Walks parsed trees, each value once. Keeps its buffers. External synchronization.
class TreeWalk final {
 public:
  explicit TreeWalk(const WalkRules& rules) : rules_(rules) {}

  // Checks all of `value`, which stands at `depth`; with `builder` also builds it there. The
  // builder's texts are views into the tree, numbers excepted: each is the shortest text that reads
  // back as the same one. False: see twice(). Recursion is bounded by `depth_max`.
  bool Read(simdjson::dom::element value, int depth, Builder* builder);

  // Of the last call, when it was false: the key that stands twice in one object; nothing: the tree
  // is deeper than the rules allow.
  std::optional<std::string_view> twice() const { return twice_; }

 private:
  bool Walk(simdjson::dom::element value, std::string_view key, Builder* builder, int depth);
  bool WalkObject(simdjson::dom::object object, std::string_view key, Builder* builder, int depth);
  bool WalkArray(simdjson::dom::array array, std::string_view key, Builder* builder, int depth);
  bool LeavesOut(std::string_view key) const;
  bool CheckKeys(simdjson::dom::object object);

  WalkRules rules_;
  // Those of the object that is checked, where they do not ascend.
  std::vector<std::string_view> keys_;
  std::optional<std::string_view> twice_;
};

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
  // Read or the end of the reader; `json` may go. A key may stand twice: the API server would not
  // have stored it. Errors: kInvalidArgument, one line: not JSON, not an object, too deep, too
  // large.
  Result<Document> Read(std::string_view json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_JSON_READER_H_
