#include "webhook/check/manifest_reader.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "registry/base/text.h"
#include "webhook/check/plain_scalar.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

// Annotation keys have at most 317 bytes.
constexpr std::size_t kKeyBytesMax = 1024;
// Mappings with more keys are looked up in a table.
constexpr std::size_t kFewKeys = 16;
constexpr std::string_view kSourceMark = "# Source: ";
constexpr std::size_t kSourceBytesMax = 512;

// Passes a stream on and keeps the lines that Helm writes above each template's output.
class SourceComments final {
 public:
  explicit SourceComments(YamlSource source) : source_(std::move(source)) {}

  std::size_t Read(char* buffer, std::size_t size) {
    const std::size_t got = Take(buffer, size);
    std::string_view bytes(buffer, got);
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::size_t count = std::min(end, bytes.size());
      if (line_.size() < kSourceMark.size() + kSourceBytesMax) {
        line_ +=
            bytes.substr(0, kSourceMark.size() + kSourceBytesMax - line_.size()).substr(0, count);
      }
      if (end == std::string_view::npos) break;
      EndLine();
      bytes.remove_prefix(end + 1);
    }
    return got;
  }

  // The last comment above `line`. Lines are asked for in ascending order.
  std::string Above(int line) {
    while (!found_.empty() && found_.front().first < line) {
      last_ = std::move(found_.front().second);
      found_.pop_front();
    }
    return last_;
  }

 private:
  // The stream without its byte order mark.
  std::size_t Take(char* buffer, std::size_t size) {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (begun_ && begin_.empty()) return source_(buffer, size);
    while (!begun_ && begin_.size() < kMark.size()) {
      char byte = 0;
      if (source_(&byte, 1) == 0) break;
      begin_ += byte;
    }
    if (!begun_ && begin_ == kMark) begin_.clear();
    begun_ = true;
    if (begin_.empty()) return source_(buffer, size);
    const std::size_t count = begin_.copy(buffer, size);
    begin_.erase(0, count);
    return count;
  }

  void EndLine() {
    ++number_;
    if (line_.starts_with(kSourceMark)) {
      if (line_.ends_with('\r')) line_.pop_back();
      found_.emplace_back(number_, line_.substr(kSourceMark.size()));
    } else if (line_.starts_with("---")) {
      found_.emplace_back(number_, std::string());
    }
    line_.clear();
  }

  YamlSource source_;
  std::string begin_;
  bool begun_ = false;
  std::string line_;
  int number_ = 0;
  std::deque<std::pair<int, std::string>> found_;
  std::string last_;
};

// The keys of one mapping while it is read.
class KeyIndex final {
 public:
  explicit KeyIndex(YamlNode& node) : node_(node) {}

  // Index of `key`, or the number of keys.
  std::size_t Find(const std::string& key) const {
    if (node_.keys.size() > kFewKeys) {
      const auto at = table_.find(key);
      return at == table_.end() ? node_.keys.size() : at->second;
    }
    const auto at = std::find_if(node_.keys.begin(), node_.keys.end(),
                                 [&](const YamlKey& each) { return each.text == key; });
    return static_cast<std::size_t>(at - node_.keys.begin());
  }

  void Add(YamlKey key, YamlNode child) {
    node_.keys.push_back(std::move(key));
    node_.children.push_back(std::move(child));
    const std::size_t count = node_.keys.size();
    if (count <= kFewKeys) return;
    for (std::size_t i = count == kFewKeys + 1 ? 0 : count - 1; i < count; ++i) {
      table_.emplace(node_.keys[i].text, i);
    }
  }

 private:
  YamlNode& node_;
  std::unordered_map<std::string, std::size_t> table_;
};

// Builds one document's tree; recursion is bounded by kManifestDepthMax.
class Composer final {
 public:
  explicit Composer(YamlEvents& events) : events_(events) {}

  // The node whose first event is the present one.
  Result<YamlNode> Node(int depth) {
    const int line = events_.Place().line;
    if (depth > kManifestDepthMax) {
      return events_.Fail(line,
                          "nested deeper than " + std::to_string(kManifestDepthMax) + " levels");
    }
    TRUCE_RETURN_IF_ERROR(Count(1, events_.scalar().size(), line));
    if (events_.kind() == YamlEvents::Kind::kAlias) return Alias();
    const std::string anchor(events_.anchor());
    YamlNode node;
    node.place = events_.Place();
    switch (events_.kind()) {
      case YamlEvents::Kind::kScalar: {
        TRUCE_RETURN_IF_ERROR(ReadScalar(node));
        break;
      }
      case YamlEvents::Kind::kSequenceStart: {
        TRUCE_RETURN_IF_ERROR(ReadSequence(depth, node));
        break;
      }
      case YamlEvents::Kind::kMappingStart: {
        TRUCE_RETURN_IF_ERROR(ReadMapping(depth, node));
        break;
      }
      case YamlEvents::Kind::kAlias:
      case YamlEvents::Kind::kStreamStart:
      case YamlEvents::Kind::kStreamEnd:
      case YamlEvents::Kind::kDocumentStart:
      case YamlEvents::Kind::kDocumentEnd:
      case YamlEvents::Kind::kSequenceEnd:
      case YamlEvents::Kind::kMappingEnd:
        return Error{ErrorCode::kInternal, "unexpected YAML event"};
    }
    if (!anchor.empty()) {
      TRUCE_RETURN_IF_ERROR(Count(node, line));
      anchors_[anchor] = node;
    }
    return node;
  }

 private:
  Result<void> Count(std::size_t nodes, std::size_t bytes, int line) {
    nodes_ += nodes;
    bytes_ += bytes;
    if (nodes_ > kManifestNodesMax) {
      return events_.Fail(line, "the document has more than " + std::to_string(kManifestNodesMax) +
                                    " values, aliases written out");
    }
    if (bytes_ > kManifestBytesMax) {
      return events_.Fail(line, "the document is larger than 8 MiB, aliases written out");
    }
    return {};
  }

  // Everything below `node` once more: it is about to be copied.
  Result<void> Count(const YamlNode& node, int line) {
    TRUCE_RETURN_IF_ERROR(Count(1, node.scalar.size(), line));
    for (const YamlKey& key : node.keys) {
      TRUCE_RETURN_IF_ERROR(Count(0, key.text.size(), line));
    }
    for (const YamlNode& child : node.children) TRUCE_RETURN_IF_ERROR(Count(child, line));
    return {};
  }

  Result<YamlNode> Alias() {
    const int line = events_.Place().line;
    const auto found = anchors_.find(events_.anchor());
    if (found == anchors_.end()) {
      return events_.Fail(line, "the alias '*" + std::string(events_.anchor()) +
                                    "' names no anchor above, or one that contains it");
    }
    TRUCE_RETURN_IF_ERROR(Count(found->second, line));
    return found->second;
  }

  Result<void> ReadScalar(YamlNode& node) {
    node.scalar = events_.scalar();
    node.quoted = !events_.plain();
    const std::string_view tag = events_.tag();
    if (tag.empty()) return {};
    constexpr std::string_view kPrefix = "tag:yaml.org,2002:";
    if (tag == "tag:yaml.org,2002:binary") {
      return events_.Fail(node.place.line, "the tag '!!binary' is not supported");
    }
    const bool is_text =
        !tag.starts_with(kPrefix) || tag.ends_with(":str") || tag.ends_with(":timestamp");
    node.quoted = is_text;
    return {};
  }

  Result<void> ReadSequence(int depth, YamlNode& node) {
    node.kind = YamlNode::Kind::kSequence;
    while (true) {
      TRUCE_RETURN_IF_ERROR(events_.Next());
      if (events_.kind() == YamlEvents::Kind::kSequenceEnd) return {};
      TRUCE_ASSIGN_OR_RETURN(YamlNode child, Node(depth + 1));
      node.children.push_back(std::move(child));
    }
  }

  Result<void> ReadMapping(int depth, YamlNode& node) {
    node.kind = YamlNode::Kind::kMapping;
    KeyIndex index(node);
    std::vector<bool> is_merged;
    while (true) {
      TRUCE_RETURN_IF_ERROR(events_.Next());
      if (events_.kind() == YamlEvents::Kind::kMappingEnd) return {};
      const bool merges = events_.plain() && events_.scalar() == "<<";
      TRUCE_ASSIGN_OR_RETURN(YamlKey key, Key());
      TRUCE_RETURN_IF_ERROR(events_.Next());
      const int line = events_.Place().line;
      TRUCE_ASSIGN_OR_RETURN(YamlNode child, Node(depth + 1));
      if (merges) {
        TRUCE_RETURN_IF_ERROR(Merge(std::move(child), line, index, node));
        is_merged.resize(node.keys.size(), true);
        continue;
      }
      const std::size_t at = index.Find(key.text);
      if (at == node.keys.size()) {
        index.Add(std::move(key), std::move(child));
        is_merged.push_back(false);
        continue;
      }
      if (!is_merged[at]) return Duplicate(node.keys[at], key);
      is_merged[at] = false;
      node.children[at] = std::move(child);
    }
  }

  // As go-yaml v2: what is merged replaces what stands above it; of a list the earlier wins.
  Result<void> Merge(YamlNode from, int line, KeyIndex& index, YamlNode& into) {
    if (from.kind == YamlNode::Kind::kSequence) {
      for (auto each = from.children.rbegin(); each != from.children.rend(); ++each) {
        if (each->kind != YamlNode::Kind::kMapping) return NoMapping(line);
        TRUCE_RETURN_IF_ERROR(Merge(std::move(*each), line, index, into));
      }
      return {};
    }
    if (from.kind != YamlNode::Kind::kMapping) return NoMapping(line);
    for (std::size_t i = 0; i < from.keys.size(); ++i) {
      const std::size_t at = index.Find(from.keys[i].text);
      if (at == into.keys.size()) {
        index.Add(std::move(from.keys[i]), std::move(from.children[i]));
      } else {
        into.children[at] = std::move(from.children[i]);
      }
    }
    return {};
  }

  Error NoMapping(int line) const {
    return events_.Fail(line, "'<<' merges mappings, or a list of them, nothing else");
  }

  Result<YamlKey> Key() {
    const YamlPlace place = events_.Place();
    YamlNode node;
    if (events_.kind() == YamlEvents::Kind::kAlias) {
      TRUCE_ASSIGN_OR_RETURN(node, Alias());
    } else if (events_.kind() == YamlEvents::Kind::kScalar) {
      node.scalar = events_.scalar();
      if (!events_.anchor().empty()) anchors_[std::string(events_.anchor())] = node;
    }
    const bool is_scalar = node.kind == YamlNode::Kind::kScalar &&
                           events_.kind() != YamlEvents::Kind::kSequenceStart &&
                           events_.kind() != YamlEvents::Kind::kMappingStart;
    if (!is_scalar) {
      return events_.Fail(place.line, "a key must be a single word, not a list or mapping");
    }
    if (HasControl(node.scalar) || node.scalar.size() > kKeyBytesMax) {
      return events_.Fail(place.line, "a key must be at most 1024 bytes on one line");
    }
    TRUCE_RETURN_IF_ERROR(Count(0, node.scalar.size(), place.line));
    return YamlKey{std::move(node.scalar), place};
  }

  Error Duplicate(const YamlKey& first, const YamlKey& second) const {
    return events_.Fail(second.place.line,
                        "the key '" + second.text +
                            "' stands here a second time; the first is on line " +
                            std::to_string(first.place.line));
  }

  YamlEvents& events_;
  std::map<std::string, YamlNode, std::less<>> anchors_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

bool IsBlank(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && NodeKind(node) == Document::Kind::kNull;
}

// What stands in metadata is text to Kubernetes.
enum class Part : std::uint8_t { kObject, kMetadata, kText, kOther };

Part PartBelow(Part part, std::string_view key) {
  switch (part) {
    case Part::kObject: return key == "metadata" ? Part::kMetadata : Part::kOther;
    case Part::kMetadata: return key == "ownerReferences" ? Part::kOther : Part::kText;
    case Part::kText:
    case Part::kOther: return part;
  }
  return part;
}

Document::Kind KindIn(Part part, const YamlNode& scalar) {
  const Document::Kind kind = NodeKind(scalar);
  return part == Part::kText && kind != Document::Kind::kNull ? Document::Kind::kString : kind;
}

// Depth is bounded by the reader.
void AddTo(Builder& builder, std::string_view key, const YamlNode& node, Part part) {
  if (node.kind == YamlNode::Kind::kScalar) {
    builder.Scalar(KindIn(part, node), key, node.scalar);
    return;
  }
  const bool list = node.kind == YamlNode::Kind::kSequence;
  builder.Open(list ? Document::Kind::kArray : Document::Kind::kObject, key);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const std::string_view name = list ? std::string_view() : std::string_view(node.keys[i].text);
    AddTo(builder, name, node.children[i], PartBelow(part, name));
  }
  builder.Close();
}

// Depth is bounded by the reader.
void AppendPart(const YamlNode& node, Part part, std::string& out) {
  if (node.kind == YamlNode::Kind::kScalar) {
    const Document::Kind kind = KindIn(part, node);
    if (kind == Document::Kind::kNull) {
      out += "null";
    } else if (kind == Document::Kind::kString) {
      AppendJsonString(node.scalar, out);
    } else {
      out += node.scalar;
    }
    return;
  }
  const bool list = node.kind == YamlNode::Kind::kSequence;
  out += list ? '[' : '{';
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) out += ',';
    const std::string_view name = list ? std::string_view() : std::string_view(node.keys[i].text);
    if (!list) {
      AppendJsonString(name, out);
      out += ':';
    }
    AppendPart(node.children[i], PartBelow(part, name), out);
  }
  out += list ? ']' : '}';
}

}  // namespace

struct ManifestReader::Impl {
  Impl(YamlSource source, std::string name)
      : comments(std::move(source)),
        events([this](char* buffer, std::size_t size) { return comments.Read(buffer, size); },
               std::move(name)) {}

  SourceComments comments;
  YamlEvents events;
  bool ended = false;
};

ManifestReader::ManifestReader(YamlSource source, std::string name)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(name))) {}

ManifestReader::~ManifestReader() = default;

Result<std::optional<Manifest>> ManifestReader::Next() {
  YamlEvents& events = impl_->events;
  while (!impl_->ended) {
    impl_->ended = true;  // unless all goes well
    TRUCE_RETURN_IF_ERROR(events.Next());
    if (events.kind() == YamlEvents::Kind::kStreamEnd) return std::optional<Manifest>();
    impl_->ended = false;
    if (events.kind() != YamlEvents::Kind::kDocumentStart) continue;
    impl_->ended = true;
    TRUCE_RETURN_IF_ERROR(events.Next());
    TRUCE_ASSIGN_OR_RETURN(YamlNode root, Composer(events).Node(1));
    impl_->ended = false;
    if (IsBlank(root)) continue;
    std::string source = impl_->comments.Above(root.place.line);
    return std::optional<Manifest>({std::move(root), std::move(source)});
  }
  return std::optional<Manifest>();
}

Document::Kind NodeKind(const YamlNode& scalar) {
  if (scalar.quoted) return Document::Kind::kString;
  const PlainReading reading = ReadPlain(scalar.scalar);
  return reading.as_written ? reading.kind : Document::Kind::kString;
}

Document ReadDocument(const YamlNode& node) {
  Builder builder;
  AddTo(builder, {}, node, Part::kObject);
  return builder.Finish();
}

void AppendJson(const YamlNode& node, std::string& out) { AppendPart(node, Part::kOther, out); }

void AppendObject(const YamlNode& object, std::string& out) {
  AppendPart(object, Part::kObject, out);
}

}  // namespace truce
