// DeferredAnswer: what a connection and the one who will answer share.
#ifndef TRUCE_WEBHOOK_HTTP_DEFERRED_ANSWER_H_
#define TRUCE_WEBHOOK_HTTP_DEFERRED_ANSWER_H_

#include <mutex>
#include <utility>

#include "webhook/http/connection.h"
#include "webhook/http/event_loop.h"
#include "webhook/http/http.h"

namespace truce {

// Resume is thread-safe; the rest is for the connection, with the turn.
class DeferredAnswer final : public HttpDeferred {
 public:
  DeferredAnswer(HttpConnection& connection, EventLoop& loop, HttpContinuation at_deadline)
      : at_deadline_(std::move(at_deadline)), connection_(&connection), loop_(loop) {}

  void Resume(HttpContinuation answer) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (connection_ == nullptr || answer_) return;
    answer_.swap(answer);
    loop_.Post(*connection_, Report::kNothing);
  }

  // The answer; empty as long as there is none.
  HttpContinuation Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(answer_, nullptr);
  }
  // The answer, or what is said without one.
  HttpContinuation TakeAtDeadline() {
    HttpContinuation answer = Take();
    return answer ? answer : at_deadline_;
  }
  // The connection goes on to something else. The continuations may own the object that would have
  // answered, so they end here.
  void Abandon() {
    HttpContinuation answer;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      connection_ = nullptr;
      answer.swap(answer_);
    }
    at_deadline_ = nullptr;
  }

 private:
  HttpContinuation at_deadline_;  // of the connection
  std::mutex mutex_;
  HttpConnection* connection_;  // guarded by mutex_; null: nobody waits
  HttpContinuation answer_;     // guarded by mutex_
  EventLoop& loop_;             // lives as long as the connection
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_DEFERRED_ANSWER_H_
