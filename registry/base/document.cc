#include "registry/base/document.h"

#include <algorithm>
#include <utility>

#include "registry/base/assert.h"

namespace truce {

std::string_view Document::Read(const Node& node) const {
  std::string said;
  read_(node.text, said);
  node.text = Own(said);
  node.is_written = false;
  return node.text;
}

// What is written alike says the same, so most are never read.
bool Document::HaveSameText(const Node& node, const Document& other, const Node& others) const {
  const bool is_alike = node.is_written == others.is_written && node.text == others.text;
  if (is_alike || !(node.is_written || others.is_written)) return is_alike;
  return TextOf(node) == other.TextOf(others);
}

std::string_view Document::Own(std::string_view text) const {
  constexpr std::size_t kFirstBytes = 256;
  constexpr std::size_t kMoreBytes = 64 * 1024;
  if (owned_.empty() || owned_.back().capacity() - owned_.back().size() < text.size()) {
    const std::size_t usual = owned_.empty() ? kFirstBytes : kMoreBytes;
    owned_.emplace_back().reserve(std::max(usual, text.size()));
  }
  std::string& last = owned_.back();
  const std::size_t begin = last.size();
  last.append(text);
  return std::string_view(last).substr(begin);
}

Value Value::Child(std::string_view name) const {
  if (!is_object()) return {};
  // Each child ends below its parent's end: the operator that checks that again for each child of
  // each review would be a thirtieth of it. The same in `next`.
  const Document::Node* const nodes = document_->nodes_.data();
  const std::uint32_t end = nodes[index_].end;
  for (std::uint32_t child = index_ + 1; child < end; child = nodes[child].end) {
    if (nodes[child].key == name) return Value(document_, child);
  }
  return {};
}

Value Value::At(std::span<const std::string> path) const {
  Value value = *this;
  for (const std::string& step : path) {
    if (value.is_array() && value.size() == 1) value = value.first();
    value = value.Child(step);
  }
  return value;
}

Value Value::first() const {
  if (!is_object() && !is_array()) return {};
  return index_ + 1 < node().end ? Value(document_, index_ + 1) : Value();
}

Value Value::next(const Value& child) const {
  const Document::Node* const nodes = document_->nodes_.data();
  const std::uint32_t after = nodes[child.index_].end;
  return after < nodes[index_].end ? Value(document_, after) : Value();
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for (Value child = first(); child.exists(); child = next(child)) ++count;
  return count;
}

bool Value::Equals(const Value& other) const {
  if (!exists() || !other.exists()) return exists() == other.exists();
  if (document_ == other.document_ && index_ == other.index_) return true;
  const std::uint32_t count = node().end - index_;
  if (other.node().end - other.index_ != count) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Document::Node& a = document_->nodes_[index_ + i];
    const Document::Node& b = other.document_->nodes_[other.index_ + i];
    if (a.kind != b.kind || a.end - index_ != b.end - other.index_ ||
        !document_->HaveSameText(a, *other.document_, b) || (i > 0 && a.key != b.key)) {
      return false;
    }
  }
  return true;
}

Builder::Builder(Document used) : document_(std::move(used)) {
  document_.nodes_.clear();
  document_.owned_.clear();
}

void Builder::AddKeysTo(std::vector<std::string_view>& keys) const {
  TRUCE_ASSERT(open_ != kNone);
  const std::vector<Document::Node>& nodes = document_.nodes_;
  for (std::size_t child = open_ + 1; child < nodes.size(); child = nodes[child].end) {
    keys.push_back(nodes[child].key);
  }
}

Document Builder::Finish() {
  TRUCE_ASSERT(open_ == kNone);
  return std::exchange(document_, Document());
}

}  // namespace truce
