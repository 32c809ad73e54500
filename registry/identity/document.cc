#include "registry/identity/document.h"

#include <utility>

#include "registry/base/assert.h"

namespace truce {

Value Value::Child(std::string_view name) const {
  if (!is_object()) return {};
  for (Value child = first(); child.exists(); child = next(child)) {
    if (child.key() == name) return child;
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
  const std::uint32_t after = child.node().end;
  return after < node().end ? Value(document_, after) : Value();
}

std::size_t Value::size() const {
  std::size_t count = 0;
  for (Value child = first(); child.exists(); child = next(child)) ++count;
  return count;
}

void Builder::Open(Kind kind, std::string_view key) {
  TRUCE_ASSERT(kind == Kind::kArray || kind == Kind::kObject);
  open_.push_back(static_cast<std::uint32_t>(document_.nodes_.size()));
  document_.nodes_.push_back({key, {}, 0, kind});
}

void Builder::Close() {
  TRUCE_ASSERT(!open_.empty());
  document_.nodes_[open_.back()].end = static_cast<std::uint32_t>(document_.nodes_.size());
  open_.pop_back();
}

void Builder::Scalar(Kind kind, std::string_view key, std::string_view text) {
  const auto end = static_cast<std::uint32_t>(document_.nodes_.size()) + 1;
  document_.nodes_.push_back({key, text, end, kind});
}

std::string_view Builder::Own(std::string text) {
  return document_.owned_.emplace_back(std::move(text));
}

Document Builder::Finish() {
  TRUCE_ASSERT(open_.empty());
  return std::exchange(document_, Document());
}

}  // namespace truce
