// LiveReader: objects as they are at this moment, for rules that refuse by what they are.
#ifndef TRUCE_WEBHOOK_ADMISSION_LIVE_READER_H_
#define TRUCE_WEBHOOK_ADMISSION_LIVE_READER_H_

#include <span>
#include <string_view>

#include "policies/lifecycle/restore_rules.h"
#include "registry/base/clock.h"
#include "registry/identity/values.h"

namespace truce {

// Port. Thread-safe.
class LiveReader {
 public:
  virtual ~LiveReader() = default;
  // Those of `slots` that a consistent read could tell of until `deadline`, by slot as asked; the
  // namespace of a slot does not count for kinds without one. None at once while too many wait for
  // such reads, or too many of `asker`: the namespace for which they are done, else the user.
  virtual LiveObjects Read(std::string_view asker, std::span<const Slot> slots,
                           Deadline deadline) = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_LIVE_READER_H_
