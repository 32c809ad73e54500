// TrialKeeper: keeps the trial's record in the store, from time to time.
#ifndef TRUCE_WEBHOOK_SERVE_TRIAL_KEEPER_H_
#define TRUCE_WEBHOOK_SERVE_TRIAL_KEEPER_H_

#include "registry/base/clock.h"
#include "webhook/api/trial_book.h"
#include "webhook/log/log.h"

namespace truce {

// References must outlive it. For one thread.
class TrialKeeper final {
 public:
  TrialKeeper(TrialBook& book, Logger& logger) : book_(book), logger_(logger) {}

  // Takes over what the store holds; what cannot be read begins anew, with a warning in the log.
  // Blocks for at most 5 s, as all calls.
  void Load();
  // Keep, at most once a minute.
  void Step();
  // Writes what is new; what cannot be written now is written with the next.
  void Keep();

 private:
  TrialBook& book_;
  Logger& logger_;
  Deadline due_{};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_TRIAL_KEEPER_H_
