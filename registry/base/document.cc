#include "registry/base/document.h"

#include <algorithm>
#include <utility>

#include "registry/base/assert.h"

namespace truce {

std::string_view Document::Read(const Node& node) const {
  if (node.kind != Kind::kString) return {};
  std::string said;
  read_(node.text, said);
  node.text = Own(said);
  node.is_written = false;
  return node.text;
}

// Equal spellings have one meaning, so most texts are never read.
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

const Document& Document::Open(std::uint32_t index) const {
  std::unique_ptr<Document>& opened = opened_[index];
  if (opened == nullptr) {
    Builder builder;
    build_(nodes_[index].text, nodes_[index].key, builder);
    opened = std::make_unique<Document>(builder.Finish());
  }
  return *opened;
}

Value Value::Child(std::string_view name) const {
  if (!is_object()) return {};
  if (node().is_written) return Tree().Child(name);
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
  const Value tree = Tree();
  return tree.index_ + 1 < tree.node().end ? Value(tree.document_, tree.index_ + 1) : Value();
}

Value Value::next(const Value& child) const {
  const Document::Node* const nodes = child.document_->nodes_.data();
  const std::uint32_t after = nodes[child.index_].end;
  // Children in another document are all that it holds.
  const std::uint32_t end = child.document_ == document_ ? nodes[index_].end : nodes[0].end;
  return after < end ? Value(child.document_, after) : Value();
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for (Value child = first(); child.exists(); child = next(child)) ++count;
  return count;
}

bool Value::Equals(const Value& other) const {
  if (!exists() || !other.exists()) return exists() == other.exists();
  if (document_ == other.document_ && index_ == other.index_) return true;
  constexpr int kOpenedMax = 16;
  const bool is_built = document_->build_ == nullptr && other.document_->build_ == nullptr;
  if (!is_built) return EqualsInDepth(other, kOpenedMax);
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

// `opened`: how many more values may be opened that are as written, which bounds recursion.
bool Value::EqualsInDepth(const Value& other, int opened) const {
  if (kind() != other.kind()) return false;
  const bool is_tree = is_object() || is_array();
  if (!is_tree) return document_->HaveSameText(node(), *other.document_, other.node());
  const bool is_written = node().is_written && other.node().is_written;
  if (is_written && node().text == other.node().text) return true;
  const bool opens = node().is_written || other.node().is_written;
  if (opens && (is_array() || opened == 0)) return false;
  if (opens) --opened;
  Value left = first();
  Value right = other.first();
  for (; left.exists() && right.exists(); left = next(left), right = other.next(right)) {
    if (left.key() != right.key() || !left.EqualsInDepth(right, opened)) return false;
  }
  return !left.exists() && !right.exists();
}

Builder::Builder(Document used) : document_(std::move(used)) {
  document_.nodes_.clear();
  document_.owned_.clear();
  document_.opened_.clear();
  document_.build_ = nullptr;
}

void Builder::AddKeysTo(std::vector<std::string_view>& keys) const {
  TRUCE_ASSERT(open_ != kNone);
  const std::vector<Document::Node>& nodes = document_.nodes_;
  for (std::size_t child = open_ + 1; child < nodes.size(); child = nodes[child].end) {
    keys.push_back(nodes[child].key);
  }
}

void Builder::Add(const Value& value) {
  const Document& from = *value.document_;
  const auto begin = static_cast<std::uint32_t>(document_.nodes_.size());
  for (std::uint32_t i = value.index_; i < value.node().end; ++i) {
    document_.nodes_.push_back(from.nodes_[i]);
    document_.nodes_.back().end += begin - value.index_;
  }
  if (from.read_ != nullptr) document_.read_ = from.read_;
  if (from.build_ != nullptr) document_.build_ = from.build_;
}

Document Builder::Finish() {
  TRUCE_ASSERT(open_ == kNone);
  return std::exchange(document_, Document());
}

}  // namespace truce
