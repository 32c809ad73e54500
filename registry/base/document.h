// Document: a JSON-like tree that the core can read without knowing JSON, YAML or their libraries.
//
// One flat array in document order; a Value is a cursor into it. Adapters (webhook/wire for JSON,
// libyaml for manifests) fill it through Builder, whole or in part: texts, objects and arrays may
// stay as they are written until somebody asks, so that parts that nobody reads are never built.
#ifndef TRUCE_REGISTRY_BASE_DOCUMENT_H_
#define TRUCE_REGISTRY_BASE_DOCUMENT_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/assert.h"

namespace truce {

class Builder;
class Value;

// Immutable after Builder::Finish. Text is viewed, not copied: the texts given to the builder must
// outlive the document, except texts passed through Builder::Own. External synchronization where it
// has values as written (Builder::Written), which are read when they are first asked for.
class Document final {
 public:
  enum class Kind : std::uint8_t { kMissing, kNull, kBool, kNumber, kString, kArray, kObject };

  // Replaces `said` by the meaning of `written`, a text of a document.
  using TextReader = void (*)(std::string_view written, std::string& said);
  // Builds `written`, the object or array under `key`.
  using TreeReader = void (*)(std::string_view written, std::string_view key, Builder& builder);

  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  Value root() const&;
  Value root() const&& = delete;

 private:
  friend class Builder;
  friend class Value;
  struct Node {
    std::string_view key;           // member name; empty in arrays and at the root
    mutable std::string_view text;  // string contents; number and bool as written; see is_written
    std::uint32_t end = 0;          // index after the last descendant
    Kind kind = Kind::kMissing;
    // Its text is yet to be read; of an object or array nothing else is here.
    mutable bool is_written = false;
  };

  std::string_view TextOf(const Node& node) const {
    return node.is_written ? Read(node) : node.text;
  }
  std::string_view Read(const Node& node) const;
  bool HaveSameText(const Node& node, const Document& other, const Node& others) const;
  std::string_view Own(std::string_view text) const;
  // The object or array at `index`, which is kept as it is written.
  const Document& Open(std::uint32_t index) const;

  std::vector<Node> nodes_;
  TextReader read_ = nullptr;
  TreeReader build_ = nullptr;  // null: no object or array is kept as it is written
  mutable std::map<std::uint32_t, std::unique_ptr<Document>> opened_;  // by the index of their node
  // Texts behind each other; none is ever grown beyond its capacity, which would move it. Unlike a
  // deque, an empty list owns no memory.
  mutable std::list<std::string> owned_;
};

// A cursor; valid while its Document lives. A missing member is a Value of kind kMissing, so that
// paths can be followed without checks.
class Value final {
 public:
  Value() = default;

  Document::Kind kind() const {
    return document_ == nullptr ? Document::Kind::kMissing : node().kind;
  }
  bool exists() const { return kind() != Document::Kind::kMissing; }
  // True for missing and null: Kubernetes treats them alike.
  bool empty() const {
    return kind() == Document::Kind::kMissing || kind() == Document::Kind::kNull;
  }
  bool is_object() const { return kind() == Document::Kind::kObject; }
  bool is_array() const { return kind() == Document::Kind::kArray; }
  bool is_string() const { return kind() == Document::Kind::kString; }
  bool is_true() const { return kind() == Document::Kind::kBool && text() == "true"; }

  // The string's contents, or the number or bool as written; empty for everything else.
  std::string_view text() const {
    return document_ == nullptr ? std::string_view{} : document_->TextOf(node());
  }
  // The member name of this value.
  std::string_view key() const { return document_ == nullptr ? std::string_view{} : node().key; }

  // The member `name` of an object; missing otherwise.
  Value Child(std::string_view name) const;
  // Follows `path` member by member; an array of one element is looked through.
  Value At(std::span<const std::string> path) const;

  // First child and next sibling, for iteration over arrays and objects:
  //   for (Value v = array.first(); v.exists(); v = array.next(v)) ...
  Value first() const;
  Value next(const Value& child) const;
  // Number of children.
  std::size_t size() const;

  // Whether both are the same tree: kinds, texts, and members in the same order. Their own keys do
  // not count. Arrays that are kept as they are written, and deep parts of a document that has
  // such values, are the same only if they are written alike.
  bool Equals(const Value& other) const;

 private:
  friend class Builder;
  friend class Document;
  Value(const Document* document, std::uint32_t index) : document_(document), index_(index) {}
  const Document::Node& node() const { return document_->nodes_[index_]; }
  // Of an object or array: the place of its children.
  Value Tree() const { return node().is_written ? document_->Open(index_).root() : *this; }
  bool EqualsInDepth(const Value& other, int opened) const;

  const Document* document_ = nullptr;
  std::uint32_t index_ = 0;
};

// Builds one Document in document order. External synchronization. Misuse is a programmer's error.
class Builder final {
 public:
  using Kind = Document::Kind;

  Builder() = default;
  // Builds in the memory of `used`, whose values end.
  explicit Builder(Document used);

  // Opens an array or object; `key` is empty inside arrays.
  void Open(Kind kind, std::string_view key);
  void Close();
  // Adds the keys of the members so far of the innermost open object to `keys`.
  void AddKeysTo(std::vector<std::string_view>& keys) const;
  void Scalar(Kind kind, std::string_view key, std::string_view text);
  // A string that says what `read` finds in `written`, once somebody asks. One `read` a document.
  void Written(std::string_view key, std::string_view written, Document::TextReader read);
  // An object or array that `build` finds in `written`, once somebody asks. One `build` a document.
  void Written(Kind kind, std::string_view key, std::string_view written,
               Document::TreeReader build);
  // A copy of `value` under its own key; its texts are viewed.
  void Add(const Value& value);
  // Keeps a copy of `text` alive as long as the document and returns a view of it.
  std::string_view Own(std::string_view text) { return document_.Own(text); }
  // The finished document; the builder is empty afterwards. Requires every Open to be closed.
  Document Finish();

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  // Written in place: the processor would read a copied node before its stores are through, and
  // wait for them.
  Document::Node& Add(Kind kind, std::string_view key, std::uint32_t end) {
    Document::Node& node = document_.nodes_.emplace_back();
    node.key = key;
    node.end = end;
    node.kind = kind;
    return node;
  }

  Document document_;
  // The innermost open value, or kNone. While a value is open, its `end` is the one around it.
  std::uint32_t open_ = kNone;
};

inline void Builder::Open(Kind kind, std::string_view key) {
  TRUCE_ASSERT(kind == Kind::kArray || kind == Kind::kObject);
  const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
  Add(kind, key, open_);
  open_ = index;
}

inline void Builder::Close() {
  TRUCE_ASSERT(open_ != kNone);
  const auto end = static_cast<std::uint32_t>(document_.nodes_.size());
  open_ = std::exchange(document_.nodes_[open_].end, end);
}

inline void Builder::Scalar(Kind kind, std::string_view key, std::string_view text) {
  const auto end = static_cast<std::uint32_t>(document_.nodes_.size()) + 1;
  Add(kind, key, end).text = text;
}

inline void Builder::Written(std::string_view key, std::string_view written,
                             Document::TextReader read) {
  Scalar(Kind::kString, key, written);
  document_.nodes_.back().is_written = true;
  document_.read_ = read;
}

inline void Builder::Written(Kind kind, std::string_view key, std::string_view written,
                             Document::TreeReader build) {
  Scalar(kind, key, written);
  document_.nodes_.back().is_written = true;
  document_.build_ = build;
}

inline Value Document::root() const& { return nodes_.empty() ? Value() : Value(this, 0); }

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_DOCUMENT_H_
