#include "webhook/config/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <set>

namespace truce {
namespace {

std::string_view ToView(const yaml_char_t* text, std::size_t size) {
  return {reinterpret_cast<const char*>(text), size};
}

// The parser and one pending event, freed in the right order.
class EventReader {
 public:
  EventReader(std::string_view text, std::string_view name) : name_(name) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~EventReader() {
    Drop();
    yaml_parser_delete(&parser_);
  }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  // Moves to the next event.
  Result<void> Next() {
    Drop();
    if (yaml_parser_parse(&parser_, &event_) == 0) return SyntaxError();
    pending_ = true;
    return {};
  }
  const yaml_event_t& event() const { return event_; }
  YamlPlace Place() const {
    return {static_cast<int>(event_.start_mark.line) + 1,
            static_cast<int>(event_.start_mark.column) + 1};
  }
  Error Fail(int line, std::string_view what) const {
    std::string message(name_);
    message.append(":").append(std::to_string(line)).append(": ").append(what);
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  }

 private:
  void Drop() {
    if (pending_) yaml_event_delete(&event_);
    pending_ = false;
  }
  Error SyntaxError() const {
    if (parser_.error == YAML_READER_ERROR) {
      std::string what = "byte " + std::to_string(parser_.problem_offset) + ": " +
                         (parser_.problem != nullptr ? parser_.problem : "cannot be read");
      return Fail(static_cast<int>(parser_.mark.line) + 1, what);
    }
    std::string what = parser_.problem != nullptr ? parser_.problem : "out of memory";
    if (parser_.context != nullptr) what.append(" (").append(parser_.context).append(")");
    if (what.find("cannot start any token") != std::string::npos) {
      what += "; indent with spaces, and put text with special characters in quotes";
    }
    return Fail(static_cast<int>(parser_.problem_mark.line) + 1, what);
  }

  std::string_view name_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool pending_ = false;
};

constexpr std::size_t kKeyBytesMax = 256;
constexpr std::string_view kNoAliases =
    "anchors and aliases ('&', '*') are not supported; write the value out";

// Builds the tree; recursion is bounded by kYamlDepthMax.
class Composer {
 public:
  explicit Composer(EventReader& reader) : reader_(reader) {}

  // Composes the node whose first event is the present one.
  Result<YamlNode> Node(int depth) {
    const int line = reader_.Place().line;
    if (depth > kYamlDepthMax) {
      return reader_.Fail(line, "nested deeper than " + std::to_string(kYamlDepthMax) + " levels");
    }
    if (++node_count_ > kYamlNodesMax) {
      return reader_.Fail(line, "more than " + std::to_string(kYamlNodesMax) + " values");
    }
    switch (reader_.event().type) {
      case YAML_SCALAR_EVENT: return Scalar();
      case YAML_SEQUENCE_START_EVENT: return Sequence(depth);
      case YAML_MAPPING_START_EVENT: return Mapping(depth);
      case YAML_ALIAS_EVENT: return reader_.Fail(line, kNoAliases);
      case YAML_NO_EVENT:
      case YAML_STREAM_START_EVENT:
      case YAML_STREAM_END_EVENT:
      case YAML_DOCUMENT_START_EVENT:
      case YAML_DOCUMENT_END_EVENT:
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: break;
    }
    return Error{ErrorCode::kInternal, "unexpected YAML event"};
  }

 private:
  Result<void> RefuseDecoration(const yaml_char_t* anchor, const yaml_char_t* tag) {
    const int line = reader_.Place().line;
    if (anchor != nullptr) return reader_.Fail(line, kNoAliases);
    if (tag != nullptr) {
      return reader_.Fail(line, "tags ('!…') are not supported; put text in quotes instead");
    }
    return {};
  }

  Result<YamlNode> Scalar() {
    const auto& data = reader_.event().data.scalar;
    TRUCE_RETURN_IF_ERROR(RefuseDecoration(data.anchor, data.tag));
    YamlNode node;
    node.place = reader_.Place();
    node.scalar = ToView(data.value, data.length);
    node.quoted = data.style != YAML_PLAIN_SCALAR_STYLE;
    return node;
  }

  Result<YamlNode> Sequence(int depth) {
    const auto& data = reader_.event().data.sequence_start;
    TRUCE_RETURN_IF_ERROR(RefuseDecoration(data.anchor, data.tag));
    YamlNode node;
    node.kind = YamlNode::Kind::kSequence;
    node.place = reader_.Place();
    while (true) {
      TRUCE_RETURN_IF_ERROR(reader_.Next());
      if (reader_.event().type == YAML_SEQUENCE_END_EVENT) return node;
      TRUCE_ASSIGN_OR_RETURN(YamlNode child, Node(depth + 1));
      node.children.push_back(std::move(child));
    }
  }

  Result<YamlNode> Mapping(int depth) {
    const auto& data = reader_.event().data.mapping_start;
    TRUCE_RETURN_IF_ERROR(RefuseDecoration(data.anchor, data.tag));
    YamlNode node;
    node.kind = YamlNode::Kind::kMapping;
    node.place = reader_.Place();
    std::set<std::string, std::less<>> seen;
    while (true) {
      TRUCE_RETURN_IF_ERROR(reader_.Next());
      if (reader_.event().type == YAML_MAPPING_END_EVENT) return node;
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
    if (reader_.event().type == YAML_ALIAS_EVENT) return reader_.Fail(place.line, kNoAliases);
    if (reader_.event().type != YAML_SCALAR_EVENT) {
      return reader_.Fail(place.line, "a key must be a single word, not a list or mapping");
    }
    TRUCE_ASSIGN_OR_RETURN(YamlNode scalar, Scalar());
    if (scalar.scalar == "<<" && !scalar.quoted) {
      return reader_.Fail(place.line, "merge keys ('<<') are not supported; write the keys out");
    }
    const bool is_one_line = std::none_of(scalar.scalar.begin(), scalar.scalar.end(),
                                          [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    // Keys stand in messages, which are one line.
    if (!is_one_line || scalar.scalar.size() > kKeyBytesMax) {
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

  EventReader& reader_;
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
  EventReader reader(text, name);
  if (text.size() > kYamlBytesMax) {
    return reader.Fail(1, "larger than " + std::to_string(kYamlBytesMax) + " bytes");
  }
  YamlNode empty;
  empty.kind = YamlNode::Kind::kMapping;
  TRUCE_RETURN_IF_ERROR(reader.Next());  // stream start
  TRUCE_RETURN_IF_ERROR(reader.Next());
  if (reader.event().type == YAML_STREAM_END_EVENT) return empty;
  TRUCE_RETURN_IF_ERROR(reader.Next());
  TRUCE_ASSIGN_OR_RETURN(YamlNode root, Composer(reader).Node(1));
  TRUCE_RETURN_IF_ERROR(reader.Next());  // document end
  TRUCE_RETURN_IF_ERROR(reader.Next());
  if (reader.event().type != YAML_STREAM_END_EVENT) {
    return reader.Fail(reader.Place().line, "a second document ('---') is not read; keep one");
  }
  const bool is_blank = root.kind == YamlNode::Kind::kScalar && !root.quoted && root.scalar.empty();
  return is_blank ? empty : root;
}

}  // namespace truce
