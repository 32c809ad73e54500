// OwnObject: an object of one of Truce's own kinds (truce.dev), and who takes such objects over.
#ifndef TRUCE_WEBHOOK_PUBLISH_OWN_OBJECT_H_
#define TRUCE_WEBHOOK_PUBLISH_OWN_OBJECT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "registry/base/document.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/wire/yaml.h"

namespace truce {

// The verdict about one object: its condition Accepted.
struct OwnVerdict {
  bool accepted = true;
  std::string message;       // one line: "in force", or what is wrong and how to mend it
  std::string outcome = {};  // status.verdict, beside status.message; empty: neither

  bool operator==(const OwnVerdict&) const = default;
};

// One object as it was last seen. A value.
struct OwnObject {
  ServedKind kind;
  std::string ns;  // empty: cluster-scoped
  std::string name;
  std::string uid;
  std::int64_t generation = 0;          // counts versions of spec
  std::string created;                  // metadata.creationTimestamp
  YamlNode spec;                        // as the configuration's readers take it, without places
  std::optional<OwnVerdict> said = {};  // by its condition Accepted, of this generation

  // "NamingPolicy standard", "OwnershipGrant team-a/files": for messages.
  std::string Label() const;
};

// The condition Accepted as an object's status has it.
struct OwnCondition {
  OwnVerdict verdict;
  std::int64_t generation = 0;  // observedGeneration

  bool operator==(const OwnCondition&) const = default;
};

// `text` as a tree without places, as ParseYaml gives one of the same JSON.
YamlNode YamlFrom(Value value);

// Reads a whole object of `kind`; nothing when it has no name or uid.
std::optional<OwnObject> ReadOwnObject(const ServedKind& kind, Value object);
// Its condition Accepted; nothing when there is none.
std::optional<OwnCondition> ReadOwnCondition(Value object);
// The merge patch of `status` that says `verdict` about `generation`.
std::string OwnStatusPatch(const OwnVerdict& verdict, std::int64_t generation,
                           const std::string& now);

// Takes over the objects of one or a few kinds. Called on one thread at a time.
class OwnHandler {
 public:
  virtual ~OwnHandler() = default;
  virtual std::vector<ServedKind> kinds() const = 0;
  // All objects of the kinds, the oldest first (created, kind, namespace, name): whenever one came,
  // changed or went, after Refresh, and before the first review is answered. Returns a verdict
  // each, in the same order. Idempotent; may block for a few seconds. A refused object
  // changes nothing.
  virtual std::vector<OwnVerdict> Take(std::span<const OwnObject> objects) = 0;
  // Before the first Take that has all objects of the kinds: others are gone.
  virtual void SetComplete() {}
  // Whether every server takes them, since they hold there. Else only the one that leads does.
  virtual bool is_for_all() const { return true; }
  // How often Take is to be repeated although no object changed; nothing: never.
  virtual std::optional<std::chrono::milliseconds> again() const { return std::nullopt; }
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_OWN_OBJECT_H_
