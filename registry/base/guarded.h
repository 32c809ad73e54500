// Guarded<T>: data that can be reached only while its lock is held. InForce<T>: a value that is
// replaced as a whole.
#ifndef TRUCE_REGISTRY_BASE_GUARDED_H_
#define TRUCE_REGISTRY_BASE_GUARDED_H_

#include <memory>
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

// An immutable value that many read and few replace. Thread-safe. A reader may keep the value that
// it took: it never changes.
template <typename T>
class InForce {
 public:
  InForce() = default;
  explicit InForce(std::shared_ptr<const T> first) : value_(std::move(first)) {}

  // Null before there is one.
  std::shared_ptr<const T> Current() const {
    return value_.With([](const auto& value) { return value; });
  }
  // From the next Current on.
  void Replace(std::shared_ptr<const T> next) {
    value_.With([&](auto& value) { value.swap(next); });
  }

 private:
  Guarded<std::shared_ptr<const T>> value_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_GUARDED_H_
