// The one reader of YAML: a small tree with line numbers. Configuration has none of YAML's
// surprises; manifests are read as kubectl reads them.
#ifndef TRUCE_WEBHOOK_WIRE_YAML_H_
#define TRUCE_WEBHOOK_WIRE_YAML_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"

namespace truce {

// A place in a file. Lines and columns count from 1; 0 = not from a file.
struct YamlLocation {
  int line = 0;
  int column = 0;
};

// A key of a mapping.
struct YamlKey {
  std::string text;
  YamlLocation location;
};

// One node. A value; external synchronization.
struct YamlNode {
  enum class Kind { kScalar, kSequence, kMapping };

  Kind kind = Kind::kScalar;
  YamlLocation location;
  std::string scalar;              // kScalar
  bool quoted = false;             // kScalar: in quotes or a block, so it is text in any spelling
  std::string tag;                 // of YamlDocuments: "!Ref", which says nothing to Kubernetes
  std::vector<YamlKey> keys;       // kMapping: keys[i] names children[i]
  std::vector<YamlNode> children;  // kSequence and kMapping

  // The value of `key`, or null. Of a mapping only.
  const YamlNode* Find(std::string_view key) const;

  static YamlNode Scalar(std::string text, bool quoted);
};

// Limits of ParseYaml; each is far above any sensible configuration.
inline constexpr std::size_t kYamlBytesMax = 4 * 1024 * 1024;
inline constexpr int kYamlDepthMax = 32;
inline constexpr std::size_t kYamlNodesMax = 200'000;

// Reads one document from `text`; an empty one is an empty mapping. Messages have `name`:
// they read "name:line: what is wrong". Errors: kInvalidArgument (syntax, not UTF-8, a key twice
// in one mapping, a key that is no scalar,
//   anchors, aliases and merge keys, tags, a second document, a limit above exceeded).
Result<YamlNode> ParseYaml(std::string_view text, std::string_view name);

// Limits of one of YamlDocuments, far above what etcd stores (1.5 MiB).
inline constexpr std::size_t kManifestBytesMax = 8 * 1024 * 1024;  // of its scalars
inline constexpr std::size_t kManifestNodesMax = 200'000;          // aliases written out
inline constexpr int kManifestDepthMax = 1002;

// Puts at most `size` bytes into `buffer`; 0: the end. Must not fail otherwise.
using YamlSource = std::function<std::size_t(char* buffer, std::size_t size)>;

// Documents one after another, with anchors, aliases, tags and merge keys as go-yaml v2 has them.
// Holds one document, never the whole text. External synchronization.
class YamlDocuments final {
 public:
  // Messages have `name`.
  YamlDocuments(YamlSource source, std::string name);
  ~YamlDocuments();
  YamlDocuments(const YamlDocuments&) = delete;
  YamlDocuments& operator=(const YamlDocuments&) = delete;

  // The next document; nothing at the end, and after an error.
  // Errors: kInvalidArgument, "name:line: what is wrong": syntax, not UTF-8, a key twice, a key
  //   that is no scalar, an alias to nothing or to a value around it, a merge of a value that is no
  //   mapping, a tag that changes a value's meaning, a limit above.
  Result<std::optional<YamlNode>> Next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The node as block YAML that ParseYaml reads back to an equal tree; every line starts with
// `indent` spaces and ends with a newline. Scalars that a reader could take for something else are
// quoted.
std::string WriteYaml(const YamlNode& node, int indent);

// A scalar as it must be written: plain when that is unambiguous, else in double quotes.
std::string WriteYamlScalar(std::string_view text, bool quoted);

// True when YAML 1.1 or 1.2 readers could take the plain scalar for null, a boolean or a number.
bool LooksLikeOtherThanText(std::string_view plain);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_YAML_H_
