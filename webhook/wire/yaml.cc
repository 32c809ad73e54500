#include "webhook/wire/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "registry/base/text.h"

namespace truce {
namespace {

std::string_view ToView(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// libyaml's events, one at a time: one event and libyaml's small look-ahead are held, never the
// whole text.
class Events final {
 public:
  Events(std::string_view text, std::string name) : Events(std::move(name)) {
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Events(YamlSource source, std::string name) : Events(std::move(name)) {
    source_ = std::move(source);
    yaml_parser_set_input(&parser_, &Events::Read, this);
  }
  ~Events() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Moves to the next event; before the first call there is none.
  Result<void> Next() {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser_, &event_) == 0 ? Fault() : Result<void>();
  }

  bool Is(yaml_event_type_t type) const { return event_.type == type; }
  bool AtEnd() const { return Is(YAML_STREAM_END_EVENT) || Is(YAML_NO_EVENT); }
  YamlLocation Location() const {
    return {static_cast<int>(event_.start_mark.line) + 1,
            static_cast<int>(event_.start_mark.column) + 1};
  }
  // Of the present event; empty where it has none.
  std::string_view scalar() const {
    if (!Is(YAML_SCALAR_EVENT)) return {};
    const auto& scalar = event_.data.scalar;
    return {reinterpret_cast<const char*>(scalar.value), scalar.length};
  }
  bool plain() const {  // a scalar without quotes or block
    return Is(YAML_SCALAR_EVENT) && event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  }
  std::string_view anchor() const {
    if (Is(YAML_SCALAR_EVENT)) return ToView(event_.data.scalar.anchor);
    if (Is(YAML_SEQUENCE_START_EVENT)) return ToView(event_.data.sequence_start.anchor);
    if (Is(YAML_MAPPING_START_EVENT)) return ToView(event_.data.mapping_start.anchor);
    return Is(YAML_ALIAS_EVENT) ? ToView(event_.data.alias.anchor) : std::string_view();
  }
  std::string_view tag() const {
    if (Is(YAML_SCALAR_EVENT)) return ToView(event_.data.scalar.tag);
    if (Is(YAML_SEQUENCE_START_EVENT)) return ToView(event_.data.sequence_start.tag);
    return Is(YAML_MAPPING_START_EVENT) ? ToView(event_.data.mapping_start.tag)
                                        : std::string_view();
  }

  // "name:line: what".
  Error Fail(int line, std::string_view what) const {
    std::string message = name_;
    message.append(":").append(std::to_string(line)).append(": ").append(what);
    return Error{ErrorCode::kInvalidArgument, std::move(message)};
  }

 private:
  explicit Events(std::string name) : name_(std::move(name)) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }

  static int Read(void* self, unsigned char* buffer, std::size_t size, std::size_t* got) {
    *got = static_cast<Events*>(self)->source_(reinterpret_cast<char*>(buffer), size);
    return 1;
  }

  Error Fault() const {
    const std::string problem = parser_.problem != nullptr ? parser_.problem : "out of memory";
    if (parser_.error == YAML_READER_ERROR) {
      return Fail(static_cast<int>(parser_.mark.line) + 1,
                  "byte " + std::to_string(parser_.problem_offset) + ": " + problem);
    }
    std::string what = problem;
    if (parser_.context != nullptr) what.append(" (").append(parser_.context).append(")");
    if (what.find("cannot start any token") != std::string::npos) {
      what += "; indent with spaces, and put text with special characters in quotes";
    }
    return Fail(static_cast<int>(parser_.problem_mark.line) + 1, what);
  }

  std::string name_;
  YamlSource source_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

struct YamlRules {
  int depth_max;
  std::size_t nodes_max;  // aliases written out
  std::size_t bytes_max;  // of scalars and keys, aliases written out
  std::size_t key_bytes_max;
  bool is_plain;  // no anchors, aliases, tags and merge keys
};

constexpr YamlRules kOneDocument{.depth_max = kYamlDepthMax,
                                 .nodes_max = kYamlNodesMax,
                                 .bytes_max = kYamlBytesMax,
                                 .key_bytes_max = 256,
                                 .is_plain = true};
constexpr YamlRules kManifests{.depth_max = kManifestDepthMax,
                               .nodes_max = kManifestNodesMax,
                               .bytes_max = kManifestBytesMax,
                               .key_bytes_max = 1024,  // annotation keys have 317 at most
                               .is_plain = false};

constexpr std::size_t kFewKeys = 16;  // that are looked through faster than a table is made

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

constexpr std::string_view kNoAliases =
    "anchors and aliases ('&', '*') are not supported; write the value out";

// Builds one document's tree; recursion is bounded by the rules.
class Composer final {
 public:
  Composer(Events& events, const YamlRules& rules) : events_(events), rules_(rules) {}

  // The node whose first event is the present one.
  Result<YamlNode> Node(int depth) {
    const int line = events_.Location().line;
    if (depth > rules_.depth_max) {
      return events_.Fail(line,
                          "nested deeper than " + std::to_string(rules_.depth_max) + " levels");
    }
    TRUCE_RETURN_IF_ERROR(Count(1, events_.scalar().size(), line));
    TRUCE_RETURN_IF_ERROR(CheckPlain());
    if (events_.Is(YAML_ALIAS_EVENT)) return Alias();
    const std::string anchor(events_.anchor());
    YamlNode node;
    node.location = events_.Location();
    if (events_.tag().starts_with('!')) node.tag = events_.tag();
    if (events_.Is(YAML_SCALAR_EVENT)) {
      TRUCE_RETURN_IF_ERROR(ReadScalar(node));
    } else if (events_.Is(YAML_SEQUENCE_START_EVENT)) {
      TRUCE_RETURN_IF_ERROR(ReadSequence(depth, node));
    } else if (events_.Is(YAML_MAPPING_START_EVENT)) {
      TRUCE_RETURN_IF_ERROR(ReadMapping(depth, node));
    } else {
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
    if (nodes_ > rules_.nodes_max) {
      const std::string most = "more than " + std::to_string(rules_.nodes_max) + " values";
      return events_.Fail(
          line, rules_.is_plain ? most : "the document has " + most + ", aliases written out");
    }
    if (bytes_ > rules_.bytes_max) {
      return events_.Fail(line, "the document is larger than " +
                                    std::to_string(rules_.bytes_max / 1024 / 1024) +
                                    " MiB, aliases written out");
    }
    return {};
  }

  // Of plain YAML: that the present event is nothing more.
  Result<void> CheckPlain() const {
    if (!rules_.is_plain) return {};
    const int line = events_.Location().line;
    if (events_.Is(YAML_ALIAS_EVENT) || !events_.anchor().empty()) {
      return events_.Fail(line, kNoAliases);
    }
    if (events_.tag().empty()) return {};
    return events_.Fail(line, "tags ('!…') are not supported; put text in quotes instead");
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
    const int line = events_.Location().line;
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
      return events_.Fail(node.location.line, "the tag '!!binary' is not supported");
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
      if (events_.Is(YAML_SEQUENCE_END_EVENT)) return {};
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
      if (events_.Is(YAML_MAPPING_END_EVENT)) return {};
      const bool merges = events_.plain() && events_.scalar() == "<<";
      TRUCE_ASSIGN_OR_RETURN(YamlKey key, Key());
      TRUCE_RETURN_IF_ERROR(events_.Next());
      const int line = events_.Location().line;
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

  // As go-yaml v2: a merged value replaces one above it; of a list the earlier wins.
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
    const YamlLocation location = events_.Location();
    const bool is_word = events_.Is(YAML_SCALAR_EVENT);
    if (is_word || events_.Is(YAML_ALIAS_EVENT)) TRUCE_RETURN_IF_ERROR(CheckPlain());
    YamlNode node;
    if (events_.Is(YAML_ALIAS_EVENT)) {
      TRUCE_ASSIGN_OR_RETURN(node, Alias());
    } else if (is_word) {
      node.scalar = events_.scalar();
      if (!events_.anchor().empty()) anchors_[std::string(events_.anchor())] = node;
    }
    const bool is_scalar = node.kind == YamlNode::Kind::kScalar &&
                           !events_.Is(YAML_SEQUENCE_START_EVENT) &&
                           !events_.Is(YAML_MAPPING_START_EVENT);
    if (!is_scalar) {
      return events_.Fail(location.line, "a key must be a single word, not a list or mapping");
    }
    if (rules_.is_plain && node.scalar == "<<" && events_.plain()) {
      return events_.Fail(location.line, "merge keys ('<<') are not supported; write the keys out");
    }
    // Messages have keys in them, and are one line.
    if (HasControl(node.scalar) || node.scalar.size() > rules_.key_bytes_max) {
      return events_.Fail(
          location.line,
          "a key must be at most " + std::to_string(rules_.key_bytes_max) + " bytes on one line");
    }
    TRUCE_RETURN_IF_ERROR(Count(0, node.scalar.size(), location.line));
    return YamlKey{std::move(node.scalar), location};
  }

  Error Duplicate(const YamlKey& first, const YamlKey& second) const {
    return events_.Fail(second.location.line,
                        "the key '" + second.text +
                            "' stands here a second time; the first is on line " +
                            std::to_string(first.location.line));
  }

  Events& events_;
  const YamlRules& rules_;
  std::map<std::string, YamlNode, std::less<>> anchors_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
};

// The next document; nothing at the end.
Result<std::optional<YamlNode>> NextDocument(Events& events, const YamlRules& rules) {
  do {
    TRUCE_RETURN_IF_ERROR(events.Next());
    if (events.AtEnd()) return std::optional<YamlNode>();
  } while (!events.Is(YAML_DOCUMENT_START_EVENT));
  TRUCE_RETURN_IF_ERROR(events.Next());
  TRUCE_ASSIGN_OR_RETURN(YamlNode root, Composer(events, rules).Node(1));
  return std::optional<YamlNode>(std::move(root));
}

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
  Events events(text, std::string(name));
  if (text.size() > kYamlBytesMax) {
    return events.Fail(1, "larger than " + std::to_string(kYamlBytesMax) + " bytes");
  }
  YamlNode empty;
  empty.kind = YamlNode::Kind::kMapping;
  TRUCE_ASSIGN_OR_RETURN(std::optional<YamlNode> root, NextDocument(events, kOneDocument));
  if (!root.has_value()) return empty;
  TRUCE_RETURN_IF_ERROR(events.Next());  // document end
  TRUCE_RETURN_IF_ERROR(events.Next());
  if (!events.AtEnd()) {
    return events.Fail(events.Location().line, "a second document ('---') is not read; keep one");
  }
  const bool is_blank =
      root->kind == YamlNode::Kind::kScalar && !root->quoted && root->scalar.empty();
  return is_blank ? std::move(empty) : *std::move(root);
}

struct YamlDocuments::Impl {
  Events events;
  bool ended = false;
};

YamlDocuments::YamlDocuments(YamlSource source, std::string name)
    : impl_(new Impl{Events(std::move(source), std::move(name))}) {}

YamlDocuments::~YamlDocuments() = default;

Result<std::optional<YamlNode>> YamlDocuments::Next() {
  if (impl_->ended) return std::optional<YamlNode>();
  impl_->ended = true;  // unless all goes well
  TRUCE_ASSIGN_OR_RETURN(std::optional<YamlNode> root, NextDocument(impl_->events, kManifests));
  impl_->ended = !root.has_value();
  return root;
}

}  // namespace truce
