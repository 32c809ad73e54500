// Own kinds that add to the configuration: each is a function and a line in PolicyKinds.
#ifndef TRUCE_WEBHOOK_PUBLISH_POLICY_OBJECTS_H_
#define TRUCE_WEBHOOK_PUBLISH_POLICY_OBJECTS_H_

#include <span>

#include "registry/base/result.h"
#include "webhook/config/config.h"
#include "webhook/publish/own_object.h"

namespace truce {

// How objects of one kind become configuration. `add` appends what `object` says to `config`, with
// object.Label() as the place; its error is kInvalidArgument, "PLACE: PATH: what is wrong; how to
// mend it", and then `config` is dropped. PolicyFrom checks the meaning of types, rules and
// patterns afterwards, on the whole.
struct PolicyKind {
  ServedKind kind;
  Result<void> (*add)(const OwnObject& object, Config& config);
};

// All of them, in the order in which objects of one age are applied.
std::span<const PolicyKind> PolicyKinds();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_POLICY_OBJECTS_H_
