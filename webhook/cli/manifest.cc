#include "webhook/cli/manifest.h"

#include <algorithm>
#include <string_view>

namespace truce {
namespace {

bool IsNumber(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  if (std::count(text.begin(), text.end(), '.') > 1) return false;  // an address, a version
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
  });
}

Document::Kind KindOf(const YamlNode& node) {
  if (node.quoted) return Document::Kind::kString;
  const std::string_view text = node.scalar;
  if (text.empty() || text == "~" || text == "null") return Document::Kind::kNull;
  if (text == "true" || text == "false") return Document::Kind::kBool;
  return IsNumber(text) ? Document::Kind::kNumber : Document::Kind::kString;
}

// Depth is bounded by the parser.
void Add(const YamlNode& node, std::string_view key, Builder& builder) {
  if (node.kind == YamlNode::Kind::kScalar) {
    builder.Scalar(KindOf(node), key, node.scalar);
    return;
  }
  const bool list = node.kind == YamlNode::Kind::kSequence;
  builder.Open(list ? Document::Kind::kArray : Document::Kind::kObject, key);
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    Add(node.children[i], list ? std::string_view() : std::string_view(node.keys[i].text), builder);
  }
  builder.Close();
}

}  // namespace

Document DocumentFrom(const YamlNode& node) {
  Builder builder;
  Add(node, {}, builder);
  return builder.Finish();
}

}  // namespace truce
