// YamlEvents: libyaml's events, one at a time, for the readers of configuration and of manifests.
#ifndef TRUCE_WEBHOOK_WIRE_YAML_EVENTS_H_
#define TRUCE_WEBHOOK_WIRE_YAML_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "webhook/wire/yaml.h"

namespace truce {

// Puts at most `size` bytes into `buffer`; 0: the end. Must not fail otherwise.
using YamlSource = std::function<std::size_t(char* buffer, std::size_t size)>;

// Reads one stream forwards; holds one event and libyaml's small look-ahead, never the whole text.
// External synchronization.
class YamlEvents final {
 public:
  enum class Kind : std::uint8_t {
    kStreamStart,
    kStreamEnd,
    kDocumentStart,
    kDocumentEnd,
    kScalar,
    kSequenceStart,
    kSequenceEnd,
    kMappingStart,
    kMappingEnd,
    kAlias,
  };

  // Messages have `name`. `text` must outlive the reader.
  YamlEvents(std::string_view text, std::string name);
  YamlEvents(YamlSource source, std::string name);
  ~YamlEvents();
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  // Moves to the next event; before the first call there is none.
  // Errors: kInvalidArgument, "name:line: what is wrong": syntax, not UTF-8.
  Result<void> Next();

  Kind kind() const;
  YamlLocation Location() const;
  // Of the present event, until the next one; empty where it has none.
  std::string_view scalar() const;
  bool plain() const;  // a scalar without quotes or block
  std::string_view anchor() const;
  std::string_view tag() const;

  // "name:line: what".
  Error Fail(int line, std::string_view what) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What a document may hold.
struct YamlRules {
  int depth_max = 0;
  std::size_t nodes_max = 0;  // aliases written out
  std::size_t bytes_max = 0;  // of its scalars and keys, aliases written out
  std::size_t key_bytes_max = 0;
  // Anchors, aliases, tags and merge keys are errors; else they are read as go-yaml v2 does.
  bool is_plain = false;
};

// The tree that begins with the present event of `events`, to its last event. Errors:
// kInvalidArgument, as of Next, and "name:line: what is wrong" where it breaks `rules`, has a key
// twice or one that is no single word.
Result<YamlNode> ComposeYaml(YamlEvents& events, const YamlRules& rules);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_YAML_EVENTS_H_
