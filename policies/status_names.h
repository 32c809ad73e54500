// Rule status-names: who may write the part of a status that names are read from.
#ifndef TRUCE_POLICIES_STATUS_NAMES_H_
#define TRUCE_POLICIES_STATUS_NAMES_H_

#include <string_view>

#include "policies/finding.h"
#include "registry/identity/values.h"

namespace truce {

// A change of a status. The pointees must live during the call only.
struct StatusWrite {
  const Slot* object = nullptr;  // never null
  std::string_view field;        // that names are read from: "status.atProvider.arn"
  std::string_view user;         // neither provider nor restorer
};

// Rule status-names: `write` changes what names are read from. In mode enforce; the caller lowers
// it.
Finding StatusNameChanged(const StatusWrite& write);

}  // namespace truce

#endif  // TRUCE_POLICIES_STATUS_NAMES_H_
