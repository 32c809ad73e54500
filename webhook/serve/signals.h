// Signals that end or wake the server, taken in one place.
#ifndef TRUCE_WEBHOOK_SERVE_SIGNALS_H_
#define TRUCE_WEBHOOK_SERVE_SIGNALS_H_

#include <chrono>
#include <csignal>
#include <ctime>

namespace truce {

// The signals that end or wake the server; blocked in all threads, taken by Wait() only.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set_, number);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }

  // True when the server was asked to end; false after `time`, or at once for SIGHUP.
  bool Wait(std::chrono::milliseconds time) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    timespec limit{};
    limit.tv_sec = seconds.count();
    limit.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
    const int number = sigtimedwait(&set_, nullptr, &limit);
    return number == SIGTERM || number == SIGINT;
  }

 private:
  sigset_t set_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SIGNALS_H_
