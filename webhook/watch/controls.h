// WatchControls: recovery mode and the brake, for operators.
#ifndef TRUCE_WEBHOOK_WATCH_CONTROLS_H_
#define TRUCE_WEBHOOK_WATCH_CONTROLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"

namespace truce {

struct RecoveryView {
  bool active = false;
  std::string reason;
  Timestamp since{};
  bool resynced = false;  // a full resync is done: it may be finished
  struct Wait {
    std::string kind;  // "Bucket.s3.aws.upbound.io"
    std::string why;   // one line

    bool operator==(const Wait&) const = default;
  };
  std::vector<Wait> waits;  // until then: the kinds that it waits for
};

// The actor of a command and the reason, for the audit log.
struct OperatorWord {
  std::string actor;
  std::string reason = {};
};

struct BrakeView {
  struct Frozen {
    std::string kind;  // "Bucket.s3.aws.upbound.io"
    std::string reason;
  };
  struct Waiting {
    std::string kind;
    std::uint64_t objects = 0;
    Timestamp since{};
  };
  std::uint64_t nominated = 0;  // objects missing from lists, to be looked at
  std::uint64_t held_back = 0;  // of them those that the brake holds
  std::vector<Frozen> frozen;
  std::vector<Waiting> waiting;
};

// Port: recovery mode and the brake. Thread-safe; answers within ten seconds.
class WatchControls {
 public:
  virtual ~WatchControls() = default;
  virtual Result<RecoveryView> Recovery() const = 0;
  virtual Result<RecoveryView> StartRecovery(const OperatorWord& word) = 0;
  // Reviews at this server follow it on return.
  // Errors: kConflict: not in recovery mode, or no full resync is done yet and not `force`.
  virtual Result<RecoveryView> EndRecovery(bool force, const OperatorWord& word) = 0;
  virtual Result<BrakeView> Brake() = 0;
  // Of nothing: of all kinds. Returns how many objects are released. Errors: kNotFound: no such
  // kind is followed.
  virtual Result<std::uint64_t> ReleaseBrake(const std::optional<GroupKind>& kind,
                                             const OperatorWord& word) = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WATCH_CONTROLS_H_
