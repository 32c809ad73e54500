// LateAnswers: known answers that are kept back for a while, so that a caller who repeats a
// question for ever asks less often. They hold no thread.
#ifndef TRUCE_WEBHOOK_ADMISSION_LATE_ANSWERS_H_
#define TRUCE_WEBHOOK_ADMISSION_LATE_ANSWERS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "webhook/admission/codec.h"

namespace truce {

// Makes an answer.
using Answering = std::function<AdmissionAnswer()>;

// The wait of an answer.
enum class AnswerWait : std::uint8_t {
  kCommit,   // it is made in any case
  kNothing,  // it is known and comes late: not to a caller who hangs up
};

// Called at most once for a review, which then is answered later. Of `at_deadline` and the answer
// that the returned function gets (from any thread, which must not wait) exactly one is called,
// after the review's handler has returned; none when nobody waits for the answer any more.
using AnswerLater = std::function<std::function<void(Answering)>(
    Deadline deadline, Answering at_deadline, AnswerWait wait)>;

// At once; more are not kept back. Each is one of the API server's calls in flight.
inline constexpr std::size_t kLateAnswersMax = 64;
inline constexpr std::chrono::seconds kLatenessMax{3};

// Thread-safe; never blocks.
class LateAnswers final {
 public:
  // Leaves `answer` to `later`, until `time` at the latest. False: it is not kept back, and `later`
  // was not called: as many are already, or EndAll was called.
  bool Keep(const AdmissionAnswer& answer, Deadline time, const AnswerLater& later);

  // Gives all that are kept back now, and keeps none any more: the server ends.
  void EndAll();

  std::size_t kept_now() const;
  std::uint64_t kept_ever() const;

 private:
  using Resume = std::function<void(Answering)>;
  struct Kept {
    std::shared_ptr<const AdmissionAnswer> answer;
    Resume resume;  // null until `later` has returned
  };
  struct Book {
    std::map<std::uint64_t, Kept> kept;
    std::uint64_t ever = 0;
    bool ended = false;
  };
  class Seat;

  // Shared with the places, which continuations may hold for longer than this lives.
  std::shared_ptr<Guarded<Book>> book_ = std::make_shared<Guarded<Book>>();
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_LATE_ANSWERS_H_
