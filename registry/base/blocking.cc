#include "registry/base/blocking.h"

#include <utility>

namespace truce {
namespace {

thread_local BlockingObserver* current_observer = nullptr;

}  // namespace

void ObserveBlocking(BlockingObserver* observer) noexcept { current_observer = observer; }

// The observer is taken away for the duration, so a nested region tells the pool nothing twice.
BlockingRegion::BlockingRegion() noexcept : observer_(std::exchange(current_observer, nullptr)) {
  if (observer_ != nullptr) observer_->EnterBlocking();
}

BlockingRegion::~BlockingRegion() {
  if (observer_ == nullptr) return;
  observer_->LeaveBlocking();
  current_observer = observer_;
}

}  // namespace truce
