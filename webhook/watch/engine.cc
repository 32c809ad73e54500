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
  for (std::size_t i = 0; i < options_.fetchers; ++i) {
    fetchers_.emplace_back([this] { return Fetch(); }).Start();
  }
  driver_.Start();
}

void Engine::Stop() {
  driver_.Stop();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.clear();
  }
  fetchers_.clear();
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
    if (driver_.is_stopping()) {
      return Error{ErrorCode::kUnavailable, "the watch of the cluster is ending"};
    }
    inputs_.emplace_back([done, work = std::move(work)](Watcher& watcher, Moment now) {
      work(watcher, now);
      const std::lock_guard<std::mutex> done_lock(done->mutex);
      done->is_done = true;
      done->changed.notify_all();
      return true;
    });
  }
  driver_.Wake();
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
  driver_.Wake();
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
  driver_.Wake();
}

bool Engine::HasInputs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return !inputs_.empty();
}

Worker::Rest Engine::Drive() {
  if (taken_.empty()) {
    bool resume = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken_.swap(inputs_);
      batches_ = 0;
      resume = std::exchange(streams_paused_, false);
    }
    if (resume) streams_->Resume();
  }
  while (!taken_.empty() && taken_.front()(*watcher_, Now())) taken_.pop_front();
  Do(watcher_->Tick(Now()));
  const bool can_go_on = taken_.empty() ? HasInputs() : watcher_->room();
  if (can_go_on) return {Now()};
  return {std::min(watcher_->Due().value_or(Moment::max()), Now() + kLongestSleep)};
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
  for (Worker& fetcher : fetchers_) fetcher.Wake();
}

Worker::Rest Engine::Fetch() {
  Call call;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (calls_.empty()) return {};
    call = std::move(calls_.front());
    calls_.pop_front();
  }
  Put(call(Now() + options_.call_timeout));
  return {Now()};
}

}  // namespace truce
