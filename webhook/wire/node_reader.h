// Reading trees of YAML with messages "file:line: key: what is wrong; how to mend it".
#ifndef TRUCE_WEBHOOK_WIRE_NODE_READER_H_
#define TRUCE_WEBHOOK_WIRE_NODE_READER_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "webhook/wire/yaml.h"

namespace truce {

// Reads nodes of one file; `path` names the value in messages, e.g. "overrides[0].until".
// Immutable; all errors are kInvalidArgument.
class NodeReader final {
 public:
  // `file` must outlive the reader.
  explicit NodeReader(std::string_view file) : file_(file) {}

  // "file:line", or the file alone for a node that was not read from one.
  std::string LocationOf(const YamlNode& node) const;
  Error Fail(const YamlNode& node, std::string_view path, std::string_view what) const;

  // A text of one line: refuses lists, empty values and plain scalars that YAML readers take for a
  // number, boolean or null (write them in quotes).
  Result<std::string> Text(const YamlNode& node, std::string_view path) const;
  // A list of texts.
  Result<std::vector<std::string>> Texts(const YamlNode& node, std::string_view path) const;

  Result<void> RequireList(const YamlNode& node, std::string_view path) const;
  // A mapping with no other keys than `allowed`; an unknown key's message proposes the nearest one.
  Result<void> RequireMapping(const YamlNode& node, std::string_view path,
                              std::initializer_list<std::string_view> allowed) const;
  // The text of a key that must be there, and of one that may be missing ("" then).
  Result<std::string> Required(const YamlNode& mapping, std::string_view key,
                               std::string_view path) const;
  Result<std::string> Optional(const YamlNode& mapping, std::string_view key,
                               std::string_view path) const;

 private:
  std::string_view file_;
};

// "overrides" and 2 -> "overrides[2]".
std::string ItemPath(std::string_view path, std::size_t index);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_NODE_READER_H_
