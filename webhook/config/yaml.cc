#include "webhook/config/yaml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "registry/base/text.h"
#include "webhook/config/yaml_events.h"

namespace truce {
namespace {

constexpr std::size_t kKeyBytesMax = 256;
constexpr std::string_view kNoAliases =
    "anchors and aliases ('&', '*') are not supported; write the value out";

// Builds the tree; recursion is bounded by kYamlDepthMax.
class Composer {
 public:
  explicit Composer(YamlEvents& reader) : reader_(reader) {}

  // Composes the node whose first event is the present one.
  Result<YamlNode> Node(int depth) {
    const int line = reader_.Place().line;
    if (depth > kYamlDepthMax) {
      return reader_.Fail(line, "nested deeper than " + std::to_string(kYamlDepthMax) + " levels");
    }
    if (++node_count_ > kYamlNodesMax) {
      return reader_.Fail(line, "more than " + std::to_string(kYamlNodesMax) + " values");
    }
    switch (reader_.kind()) {
      case YamlEvents::Kind::kScalar: return Scalar();
      case YamlEvents::Kind::kSequenceStart: return Sequence(depth);
      case YamlEvents::Kind::kMappingStart: return Mapping(depth);
      case YamlEvents::Kind::kAlias: return reader_.Fail(line, kNoAliases);
      case YamlEvents::Kind::kStreamStart:
      case YamlEvents::Kind::kStreamEnd:
      case YamlEvents::Kind::kDocumentStart:
      case YamlEvents::Kind::kDocumentEnd:
      case YamlEvents::Kind::kSequenceEnd:
      case YamlEvents::Kind::kMappingEnd: break;
    }
    return Error{ErrorCode::kInternal, "unexpected YAML event"};
  }

 private:
  Result<void> RefuseDecoration() {
    const int line = reader_.Place().line;
    if (!reader_.anchor().empty()) return reader_.Fail(line, kNoAliases);
    if (!reader_.tag().empty()) {
      return reader_.Fail(line, "tags ('!…') are not supported; put text in quotes instead");
    }
    return {};
  }

  Result<YamlNode> Scalar() {
    TRUCE_RETURN_IF_ERROR(RefuseDecoration());
    YamlNode node;
    node.place = reader_.Place();
    node.scalar = reader_.scalar();
    node.quoted = !reader_.plain();
    return node;
  }

  Result<YamlNode> Sequence(int depth) {
    TRUCE_RETURN_IF_ERROR(RefuseDecoration());
    YamlNode node;
    node.kind = YamlNode::Kind::kSequence;
    node.place = reader_.Place();
    while (true) {
      TRUCE_RETURN_IF_ERROR(reader_.Next());
      if (reader_.kind() == YamlEvents::Kind::kSequenceEnd) return node;
      TRUCE_ASSIGN_OR_RETURN(YamlNode child, Node(depth + 1));
      node.children.push_back(std::move(child));
    }
  }

  Result<YamlNode> Mapping(int depth) {
    TRUCE_RETURN_IF_ERROR(RefuseDecoration());
    YamlNode node;
    node.kind = YamlNode::Kind::kMapping;
    node.place = reader_.Place();
    std::set<std::string, std::less<>> seen;
    while (true) {
      TRUCE_RETURN_IF_ERROR(reader_.Next());
      if (reader_.kind() == YamlEvents::Kind::kMappingEnd) return node;
      TRUCE_ASSIGN_OR_RETURN(YamlKey key, Key());
      if (!seen.insert(key.text).second) return Duplicate(node, key);
      TRUCE_RETURN_IF_ERROR(reader_.Next());
      TRUCE_ASSIGN_OR_RETURN(YamlNode child, Node(depth + 1));
      node.keys.push_back(std::move(key));
      node.children.push_back(std::move(child));
    }
  }

  Result<YamlKey> Key() {
    const YamlPlace place = reader_.Place();
    if (reader_.kind() == YamlEvents::Kind::kAlias) return reader_.Fail(place.line, kNoAliases);
    if (reader_.kind() != YamlEvents::Kind::kScalar) {
      return reader_.Fail(place.line, "a key must be a single word, not a list or mapping");
    }
    TRUCE_ASSIGN_OR_RETURN(YamlNode scalar, Scalar());
    if (scalar.scalar == "<<" && !scalar.quoted) {
      return reader_.Fail(place.line, "merge keys ('<<') are not supported; write the keys out");
    }
    // Keys stand in messages, which are one line.
    if (HasControl(scalar.scalar) || scalar.scalar.size() > kKeyBytesMax) {
      return reader_.Fail(place.line, "a key must be at most 256 bytes on one line");
    }
    return YamlKey{std::move(scalar.scalar), place};
  }

  Error Duplicate(const YamlNode& mapping, const YamlKey& key) {
    const auto first = std::find_if(mapping.keys.begin(), mapping.keys.end(),
                                    [&](const YamlKey& other) { return other.text == key.text; });
    return reader_.Fail(key.place.line,
                        "the key '" + key.text + "' stands here a second time; the " +
                            "first is on line " + std::to_string(first->place.line));
  }

  YamlEvents& reader_;
  std::size_t node_count_ = 0;
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].text == key) return &children[i];
  }
  return nullptr;
}

YamlNode YamlNode::Scalar(std::string text, bool quoted) {
  YamlNode node;
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

Result<YamlNode> ParseYaml(std::string_view text, std::string_view name) {
  YamlEvents reader(text, std::string(name));
  if (text.size() > kYamlBytesMax) {
    return reader.Fail(1, "larger than " + std::to_string(kYamlBytesMax) + " bytes");
  }
  YamlNode empty;
  empty.kind = YamlNode::Kind::kMapping;
  TRUCE_RETURN_IF_ERROR(reader.Next());  // stream start
  TRUCE_RETURN_IF_ERROR(reader.Next());
  if (reader.kind() == YamlEvents::Kind::kStreamEnd) return empty;
  TRUCE_RETURN_IF_ERROR(reader.Next());
  TRUCE_ASSIGN_OR_RETURN(YamlNode root, Composer(reader).Node(1));
  TRUCE_RETURN_IF_ERROR(reader.Next());  // document end
  TRUCE_RETURN_IF_ERROR(reader.Next());
  if (reader.kind() != YamlEvents::Kind::kStreamEnd) {
    return reader.Fail(reader.Place().line, "a second document ('---') is not read; keep one");
  }
  const bool is_blank = root.kind == YamlNode::Kind::kScalar && !root.quoted && root.scalar.empty();
  return is_blank ? empty : root;
}

}  // namespace truce
