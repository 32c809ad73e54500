#include "webhook/wire/node_reader.h"

#include <algorithm>
#include <span>

#include "registry/base/nearest.h"
#include "registry/base/text.h"

namespace truce {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::string NodeReader::LocationOf(const YamlNode& node) const {
  std::string location(file_);
  if (node.location.line > 0) location.append(":").append(std::to_string(node.location.line));
  return location;
}

Error NodeReader::Fail(const YamlNode& node, std::string_view path, std::string_view what) const {
  return Error{ErrorCode::kInvalidArgument,
               LocationOf(node).append(": ").append(path).append(": ").append(what)};
}

Result<std::string> NodeReader::Text(const YamlNode& node, std::string_view path) const {
  if (node.kind != YamlNode::Kind::kScalar) {
    return Fail(node, path, "is a list or map; write one value");
  }
  if (node.scalar.empty()) return Fail(node, path, "has no value");
  if (!node.quoted && LooksLikeOtherThanText(node.scalar)) {
    return Fail(node, path, "'" + node.scalar + "' is not text to YAML; write it in quotes");
  }
  if (HasControl(node.scalar))
    return Fail(node, path, "holds a control character or line break; remove it");
  constexpr std::size_t kTextBytesMax = 1024;
  if (node.scalar.size() > kTextBytesMax) return Fail(node, path, "is longer than 1024 bytes");
  return node.scalar;
}

Result<std::vector<std::string>> NodeReader::Texts(const YamlNode& node,
                                                   std::string_view path) const {
  TRUCE_RETURN_IF_ERROR(RequireList(node, path));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    TRUCE_ASSIGN_OR_RETURN(std::string text, Text(node.children[i], ItemPath(path, i)));
    texts.push_back(std::move(text));
  }
  return texts;
}

Result<void> NodeReader::RequireList(const YamlNode& node, std::string_view path) const {
  if (node.kind == YamlNode::Kind::kSequence) return {};
  return Fail(node, path, "is not a list; begin each item with '- '");
}

Result<void> NodeReader::RequireMapping(const YamlNode& node, std::string_view path,
                                        std::initializer_list<std::string_view> allowed) const {
  if (node.kind != YamlNode::Kind::kMapping) {
    return Fail(node, path, "is not a map; its keys are " + Joined(allowed));
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string& key = node.keys[i].text;
    if (IsOneOf(key, allowed)) continue;
    YamlNode at_key;
    at_key.location = node.keys[i].location;
    const std::string_view nearest = Nearest(key, std::span(allowed.begin(), allowed.size()));
    std::string what = "unknown key";
    if (nearest.empty()) {
      what.append("; the keys are ").append(Joined(allowed));
    } else {
      what.append("; did you mean '").append(nearest).append("'?");
    }
    return Fail(at_key, std::string(path) + "." + key, what);
  }
  return {};
}

Result<std::string> NodeReader::Required(const YamlNode& mapping, std::string_view key,
                                         std::string_view path) const {
  const YamlNode* node = mapping.Find(key);
  const std::string full = std::string(path).append(".").append(key);
  if (node == nullptr) return Fail(mapping, full, "is missing");
  return Text(*node, full);
}

Result<std::string> NodeReader::Optional(const YamlNode& mapping, std::string_view key,
                                         std::string_view path) const {
  if (mapping.Find(key) == nullptr) return std::string();
  return Required(mapping, key, path);
}

std::string ItemPath(std::string_view path, std::size_t index) {
  return std::string(path).append("[").append(std::to_string(index)).append("]");
}

}  // namespace truce
