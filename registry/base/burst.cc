#include "registry/base/burst.h"

#include <algorithm>

#include "registry/base/assert.h"

namespace truce {
namespace {

thread_local Burst* current = nullptr;

}  // namespace

Burst::Burst() noexcept {
  TRUCE_ASSERT(current == nullptr);
  current = this;
}

Burst::~Burst() {
  current = nullptr;
  for (const std::shared_ptr<Waker>& waker : wakers_) waker->Wake();
}

void WakeAfterBurst(const std::shared_ptr<Waker>& waker) {
  if (current == nullptr) return waker->Wake();
  auto& wakers = current->wakers_;
  if (std::find(wakers.begin(), wakers.end(), waker) == wakers.end()) wakers.push_back(waker);
}

}  // namespace truce
