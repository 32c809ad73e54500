// Guarded<T>: data that can be reached only while its lock is held.
#ifndef TRUCE_REGISTRY_BASE_GUARDED_H_
#define TRUCE_REGISTRY_BASE_GUARDED_H_

#include <mutex>
#include <utility>

namespace truce {

// Thread-safe. `With(f)` runs f(T&) under the lock and returns its result; f must not block on I/O
// or call back into code that takes the same lock.
template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  template <typename F>
  decltype(auto) With(F&& f) {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <typename F>
  decltype(auto) With(F&& f) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return std::forward<F>(f)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_GUARDED_H_
