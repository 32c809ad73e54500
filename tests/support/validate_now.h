// ValidateNow: a review's answer, waited for.
#ifndef TRUCE_TESTS_SUPPORT_VALIDATE_NOW_H_
#define TRUCE_TESTS_SUPPORT_VALIDATE_NOW_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "webhook/admission/routes.h"

namespace truce {

// Plays the server: keeps what a handler left for later.
class TestDeferral final {
 public:
  operator HttpDefer() {
    return [this](Deadline deadline, HttpContinuation at_deadline, WhenHungUp hung_up) {
      hung_up_ = hung_up;
      deadline_ = deadline;
      at_deadline_ = std::move(at_deadline);
      slot_ = std::make_shared<Slot>();
      return [slot = slot_](HttpContinuation resumed) { slot->Resume(std::move(resumed)); };
    };
  }

  // The answer, or at the deadline what is said without one. An answer that only comes late is
  // known already, and comes at once: no test needs it late.
  HttpResponse Wait() {
    std::unique_lock lock(slot_->mutex);
    const Deadline deadline = hung_up_ == WhenHungUp::kForget ? Deadline::min() : deadline_;
    slot_->changed.wait_until(lock, deadline, [this] { return bool(slot_->answer); });
    const HttpContinuation answer = slot_->answer ? slot_->answer : at_deadline_;
    lock.unlock();
    return answer();
  }

  bool is_deferred() const { return slot_ != nullptr; }
  WhenHungUp hung_up() const { return hung_up_; }
  Deadline deadline() const { return deadline_; }
  bool is_answered() const {
    const std::lock_guard lock(slot_->mutex);
    return bool(slot_->answer);
  }

 private:
  struct Slot {
    void Resume(HttpContinuation resumed) {
      std::lock_guard lock(mutex);
      answer = std::move(resumed);
      changed.notify_one();
    }

    std::mutex mutex;
    std::condition_variable changed;
    HttpContinuation answer;  // guarded by mutex
  };

  WhenHungUp hung_up_ = WhenHungUp::kAnswer;
  Deadline deadline_;
  HttpContinuation at_deadline_;
  std::shared_ptr<Slot> slot_;
};

inline HttpResponse ValidateNow(AdmissionService& service, HttpRequest& request,
                                Endpoint endpoint = Endpoint::kDeclarations) {
  TestDeferral deferral;
  auto response = AnswerReview(service, endpoint, request, deferral);
  return response ? *std::move(response) : deferral.Wait();
}

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_VALIDATE_NOW_H_
