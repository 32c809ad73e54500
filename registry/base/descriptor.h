// Descriptor: a file descriptor that is closed when its holder goes.
#ifndef TRUCE_REGISTRY_BASE_DESCRIPTOR_H_
#define TRUCE_REGISTRY_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace truce {

// Owns a descriptor, or none (negative, as failed system calls return it). External
// synchronization.
class Descriptor final {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }
  // The descriptor, which is the caller's from now on.
  int Release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_BASE_DESCRIPTOR_H_
