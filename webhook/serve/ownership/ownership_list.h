// What a namespace owns, in words, for people who have the rights of kubectl alone: the answer to
// an OwnershipCheck that asks for a list.
#ifndef TRUCE_WEBHOOK_SERVE_OWNERSHIP_OWNERSHIP_LIST_H_
#define TRUCE_WEBHOOK_SERVE_OWNERSHIP_OWNERSHIP_LIST_H_

#include <cstddef>
#include <string>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/admission/codec.h"
#include "webhook/api/indexed_store.h"

namespace truce {

// The most lines, and bytes, of one list: it travels in a message of the API server, and its audit
// log keeps it.
inline constexpr std::size_t kListedMax = 100;
inline constexpr std::size_t kListBytesMax = 16'384;

struct OwnershipListPorts {
  const IndexedStore& store;
  const AdmissionPolicy& policy;
};

// The ownerships whose roots are in the namespace of `review`, of this cluster, by key: a line that
// counts them and says when there are more, then a table. spec.list of its object narrows it: type,
// service. Errors: kInvalidArgument: no such type; those of the store; kUnavailable also while the
// directory is filled. Blocks at most until `deadline`. Thread-safe.
Result<std::string> OwnershipsInWords(const OwnershipListPorts& ports,
                                      const AdmissionRequest& review, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_OWNERSHIP_OWNERSHIP_LIST_H_
