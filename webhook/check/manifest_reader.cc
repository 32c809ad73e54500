#include "webhook/check/manifest_reader.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "registry/base/text.h"
#include "webhook/check/plain_scalar.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

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

bool IsBlank(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && NodeKind(node) == Document::Kind::kNull;
}

// Kubernetes takes all values in metadata for texts.
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
        documents([this](char* buffer, std::size_t size) { return comments.Read(buffer, size); },
                  std::move(name)) {}

  SourceComments comments;
  YamlDocuments documents;
};

ManifestReader::ManifestReader(YamlSource source, std::string name)
    : impl_(std::make_unique<Impl>(std::move(source), std::move(name))) {}

ManifestReader::~ManifestReader() = default;

Result<std::optional<Manifest>> ManifestReader::Next() {
  while (true) {
    TRUCE_ASSIGN_OR_RETURN(std::optional<YamlNode> root, impl_->documents.Next());
    if (!root.has_value()) return std::optional<Manifest>();
    if (IsBlank(*root)) continue;
    std::string source = impl_->comments.Above(root->location.line);
    return std::optional<Manifest>({*std::move(root), std::move(source)});
  }
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
