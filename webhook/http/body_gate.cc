#include "webhook/http/body_gate.h"

#include <algorithm>

namespace truce {

void BodyGate::Enter(EventSink& guest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (taken_ < seats_) {
    ++taken_;
  } else {
    waiting_.push_back(&guest);
  }
}

bool BodyGate::IsAdmitted(const EventSink& guest) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::find(waiting_.begin(), waiting_.end(), &guest) == waiting_.end();
}

bool BodyGate::Withdraw(const EventSink& guest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find(waiting_.begin(), waiting_.end(), &guest);
  if (found == waiting_.end()) return false;
  waiting_.erase(found);
  return true;
}

void BodyGate::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (waiting_.empty()) {
    --taken_;
    return;
  }
  EventSink* next = waiting_.front();
  waiting_.pop_front();
  loop_->Post(*next, Report::kNothing);
}

}  // namespace truce
