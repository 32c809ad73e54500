#include "webhook/watch/engine.h"

#include <utility>

namespace truce {
namespace {

Moment Now() { return std::chrono::steady_clock::now(); }

// The driver looks at least this often: a wall clock that jumps must not leave it asleep.
constexpr std::chrono::seconds kLongestSleep{5};

}  // namespace

Engine::Engine(std::unique_ptr<Watcher> watcher, ClusterApi& api, EngineOptions options)
    : watcher_(std::move(watcher)), api_(api), options_(options) {}

Engine::~Engine() { Stop(); }

void Engine::Start(WatchStreams& streams) {
  streams_ = &streams;
  threads_.emplace_back([this] { Drive(); });
  for (std::size_t i = 0; i < options_.fetchers; ++i) {
    threads_.emplace_back([this] { Fetch(); });
  }
}

void Engine::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  inputs_changed_.notify_all();
  calls_changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Engine::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
  }
  inputs_changed_.notify_one();
}

Result<void> Engine::Ask(Work work, Deadline deadline) {
  struct Done {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
  };
  const auto done = std::make_shared<Done>();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return Error{ErrorCode::kUnavailable, "the watch of the cluster is ending"};
    inputs_.emplace_back([done, work = std::move(work)](Watcher& watcher, Moment now) {
      work(watcher, now);
      const std::lock_guard<std::mutex> done_lock(done->mutex);
      done->is_done = true;
      done->changed.notify_all();
      return true;
    });
  }
  inputs_changed_.notify_one();
  std::unique_lock<std::mutex> lock(done->mutex);
  if (done->changed.wait_until(lock, deadline, [&] { return done->is_done; })) return {};
  return Error{ErrorCode::kDeadlineExceeded, "the watch of the cluster is busy, try again"};
}

bool Engine::Events(WatchId id, std::vector<WatchEvent>& events) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (batches_ >= options_.batches_max) {
      streams_paused_ = true;
      return false;
    }
    ++batches_;
    inputs_.emplace_back([id, events = std::move(events)](Watcher& watcher, Moment now) mutable {
      return watcher.Events(now, id, events);
    });
  }
  events.clear();
  inputs_changed_.notify_one();
  return true;
}

void Engine::Ended(WatchId id, std::optional<ApiError> error) {
  Put([id, error = std::move(error)](Watcher& watcher, Moment now) {
    watcher.Ended(now, id, error);
    return true;
  });
}

void Engine::Put(Input input) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    inputs_.push_back(std::move(input));
  }
  inputs_changed_.notify_one();
}

void Engine::Drive() {
  // Inputs taken and not handed over yet. A batch without room waits, and all after it: order is
  // kept within a stream, and an end must not overtake its events.
  std::deque<Input> taken;
  while (true) {
    while (!taken.empty() && taken.front()(*watcher_, Now())) taken.pop_front();
    Do(watcher_->Tick(Now()));
    const std::optional<Moment> due = watcher_->Due();
    const Moment sleep_end = std::min(due.value_or(Moment::max()), Now() + kLongestSleep);
    bool resume = false;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      const bool can_take = taken.empty() || watcher_->room();
      inputs_changed_.wait_until(lock, sleep_end, [&] {
        return stopping_ || woken_ || (can_take && (!taken.empty() || !inputs_.empty()));
      });
      if (stopping_) return;
      woken_ = false;
      if (taken.empty()) {
        taken.swap(inputs_);
        batches_ = 0;
        resume = std::exchange(streams_paused_, false);
      }
    }
    if (resume) streams_->Resume();
  }
}

void Engine::Do(Wishes wishes) {
  for (const WatchId id : wishes.stops) streams_->Stop(id);
  for (WatchQuery& watch : wishes.watches) streams_->Start(std::move(watch));
  if (!wishes.discover && wishes.lists.empty() && wishes.gets.empty()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wishes.discover) {
      calls_.emplace_back([this](Deadline deadline) -> Input {
        return [answer = api_.Discover(deadline)](Watcher& watcher, Moment now) {
          watcher.Discovered(now, answer);
          return true;
        };
      });
    }
    for (ListWanted& list : wishes.lists) {
      calls_.emplace_back([this, list = std::move(list)](Deadline deadline) -> Input {
        return [id = list.id, answer = api_.List(list.query, deadline)](Watcher& watcher,
                                                                        Moment now) mutable {
          watcher.Listed(now, id, std::move(answer));
          return true;
        };
      });
    }
    for (GetWanted& get : wishes.gets) {
      calls_.emplace_back([this, get = std::move(get)](Deadline deadline) -> Input {
        return [get, answer = api_.List(get.query(), deadline)](Watcher& watcher, Moment now) {
          watcher.Got(now, get, answer);
          return true;
        };
      });
    }
  }
  calls_changed_.notify_all();
}

void Engine::Fetch() {
  while (true) {
    std::unique_lock<std::mutex> lock(mutex_);
    calls_changed_.wait(lock, [&] { return stopping_ || !calls_.empty(); });
    if (stopping_) return;
    const Call call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    Put(call(Now() + options_.call_timeout));
  }
}

}  // namespace truce
