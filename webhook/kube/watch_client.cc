#include "webhook/kube/watch_client.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "registry/base/descriptor.h"
#include "webhook/kube/watch_stream.h"

namespace truce {
namespace {

using std::chrono::steady_clock;
using Want = WatchStream::Want;

// How often deadlines, and streams that wait for the keeper, are looked at.
constexpr std::chrono::milliseconds kTick{100};
constexpr std::size_t kPieceBytes = 64 * 1024;
constexpr std::uint64_t kWakeMark = 0;  // epoll's data of the wake-up descriptor; ids are shifted

class WatchClient final : public WatchStreams {
 public:
  WatchClient(std::shared_ptr<ServerSession> session, WatchHandler& handler,
              const WatchClientOptions& options)
      : session_(std::move(session)),
        handler_(handler),
        options_(options),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        shared_{*session_, options_, {}, std::vector<char>(kPieceBytes), 0} {}

  ~WatchClient() override {
    thread_.request_stop();
    Wake();
  }
  WatchClient(const WatchClient&) = delete;
  WatchClient& operator=(const WatchClient&) = delete;

  bool Launch() {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = kWakeMark;
    if (epoll_.get() < 0 || wake_.get() < 0) return false;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) return false;
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
    return true;
  }

  void Start(WatchQuery query) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      wanted_.insert(query.id);
      starts_.push_back(std::move(query));
    }
    Wake();
  }

  void Stop(WatchId id) override {
    std::unique_lock<std::mutex> lock(mutex_);
    wanted_.erase(id);
    stops_.push_back(id);
    Wake();
    if (std::this_thread::get_id() == thread_.get_id()) return;
    called_.wait(lock, [&] { return calling_ != id || !is_calling_; });
  }

  void Resume() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      resumed_ = true;
    }
    Wake();
  }

 private:
  // A stream and how the poller knows it.
  struct Entry {
    std::unique_ptr<WatchStream> stream;
    int polled = -1;
    std::uint32_t interest = 0;
    Want want = Want::kTurn;
  };

  void Wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  void Run(const std::stop_token& stop) {
    auto tick_at = steady_clock::now();
    while (!stop.stop_requested()) {
      TakeCommands();
      const auto now = steady_clock::now();
      if (now >= tick_at) {
        Tick(now);
        tick_at = now + kTick;
      }
      StartQueued();
      const std::deque<WatchId> turns = std::exchange(turns_, {});
      for (const WatchId id : turns) Drive(id);
      Poll(turns_.empty() ? tick_at - steady_clock::now() : steady_clock::duration(0));
    }
  }

  void TakeCommands() {
    std::vector<WatchQuery> starts;
    std::vector<WatchId> stops;
    bool resumed = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      starts.swap(starts_);
      stops.swap(stops_);
      resumed = std::exchange(resumed_, false);
    }
    for (WatchQuery& query : starts) {
      const WatchId id = query.id;
      streams_[id].stream = std::make_unique<WatchStream>(std::move(query), shared_);
      queued_.push_back(id);
    }
    // A start and its stop may come together.
    for (const WatchId id : stops) Forget(id);
    if (!resumed) return;
    for (const auto& [id, entry] : streams_) {
      if (entry.want == Want::kDelivery) turns_.push_back(id);
    }
  }

  void Tick(Deadline now) {
    connecting_ = 0;
    for (auto& [id, entry] : streams_) {
      const bool is_refused = entry.want == Want::kDelivery && !entry.stream->events().empty();
      if (is_refused || entry.want == Want::kLarge) {
        entry.stream->Pause(now);
        continue;
      }
      entry.stream->CheckTime(now);
      if (entry.stream->is_connecting()) ++connecting_;
      if (entry.stream->ended() || entry.want == Want::kTime) turns_.push_back(id);
    }
  }

  void StartQueued() {
    while (!queued_.empty() && connecting_ < options_.connecting_max) {
      const WatchId id = queued_.front();
      queued_.pop_front();
      if (streams_.count(id) == 0) continue;
      ++connecting_;
      Drive(id);
    }
  }

  void Poll(steady_clock::duration wait) {
    std::array<epoll_event, 128> events{};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait);
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(std::max<long>(milliseconds.count(), 0)));
    for (int i = 0; i < count; ++i) {
      const std::uint64_t mark = events[static_cast<std::size_t>(i)].data.u64;
      if (mark != kWakeMark) {
        Drive(mark - 1);
        continue;
      }
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t size = ::read(wake_.get(), &ignored, sizeof(ignored));
    }
  }

  // Lets a stream go on, hands out what it brought, and asks the poller for its next step.
  void Drive(WatchId id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    Entry& entry = found->second;
    const std::size_t large_before = shared_.large_events;
    const bool was_connecting = entry.stream->is_connecting() || !entry.stream->has_begun();
    const auto now = steady_clock::now();
    entry.want = entry.stream->Advance(now);
    if (was_connecting && !entry.stream->is_connecting() && connecting_ > 0) --connecting_;
    if (entry.want == Want::kDelivery) Deliver(entry);
    if (shared_.large_events < large_before) WakeLarge();
    if (entry.stream->ended() && entry.stream->events().empty()) {
      Finish(id);
      return;
    }
    Watch(id, entry);
    if (entry.want == Want::kTurn) turns_.push_back(id);
  }

  // Offers the events. Taken: the stream goes on at its next turn.
  void Deliver(Entry& entry) {
    std::vector<WatchEvent>& events = entry.stream->events();
    if (events.empty()) return;
    const WatchId id = entry.stream->query().id;
    if (!BeginCall(id)) {
      events.clear();
      return;
    }
    const bool is_taken = handler_.Events(id, events);
    EndCall();
    if (!is_taken) return;
    events.clear();
    entry.want = Want::kTurn;
  }

  void Finish(WatchId id) {
    const auto found = streams_.find(id);
    std::optional<ApiError> error = found->second.stream->TakeError();
    streams_.erase(found);
    if (!BeginCall(id)) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      wanted_.erase(id);
    }
    handler_.Ended(id, std::move(error));
    EndCall();
  }

  void Forget(WatchId id) {
    const auto found = streams_.find(id);
    if (found == streams_.end()) return;
    const bool is_connecting = found->second.stream->is_connecting();
    const std::size_t large_before = shared_.large_events;
    streams_.erase(found);
    if (is_connecting && connecting_ > 0) --connecting_;
    if (shared_.large_events < large_before) WakeLarge();
  }

  void WakeLarge() {
    for (const auto& [id, entry] : streams_) {
      if (entry.want == Want::kLarge) turns_.push_back(id);
    }
  }

  // False: the stream was stopped.
  bool BeginCall(WatchId id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wanted_.count(id) == 0) return false;
    calling_ = id;
    is_calling_ = true;
    return true;
  }

  void EndCall() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_calling_ = false;
    }
    called_.notify_all();
  }

  void Watch(WatchId id, Entry& entry) {
    std::uint32_t interest = 0;
    if (entry.want == Want::kRead) interest = EPOLLIN | EPOLLRDHUP;
    if (entry.want == Want::kWrite) interest = EPOLLOUT;
    const int descriptor = entry.stream->descriptor();
    if (entry.want == Want::kTurn && descriptor == entry.polled) return;  // asked again soon
    // While connecting the descriptor may be another one of the same number.
    const bool is_same = descriptor == entry.polled && interest == entry.interest;
    if (is_same && !entry.stream->is_connecting()) return;
    epoll_event event{};
    event.events = interest;
    event.data.u64 = id + 1;
    if (descriptor >= 0 && interest == 0) {
      // A connection that nobody reads would report its end again and again.
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, &event);
    } else if (descriptor >= 0 &&
               ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, descriptor, &event) != 0) {
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
    }
    entry.polled = descriptor;
    entry.interest = interest;
  }

  const std::shared_ptr<ServerSession> session_;
  WatchHandler& handler_;
  const WatchClientOptions options_;
  const Descriptor epoll_;
  const Descriptor wake_;

  // Of the thread.
  WatchShared shared_;
  std::unordered_map<WatchId, Entry> streams_;
  std::deque<WatchId> queued_;  // not begun yet
  std::deque<WatchId> turns_;   // can go on without an event
  std::size_t connecting_ = 0;

  std::mutex mutex_;
  std::condition_variable called_;
  std::vector<WatchQuery> starts_;  // guarded by mutex_, as all below
  std::vector<WatchId> stops_;
  std::unordered_set<WatchId> wanted_;
  bool resumed_ = false;
  bool is_calling_ = false;
  WatchId calling_ = 0;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace

Result<std::unique_ptr<WatchStreams>> StartWatchClient(std::shared_ptr<ServerSession> session,
                                                       WatchHandler& handler,
                                                       const WatchClientOptions& options) {
  auto client = std::make_unique<WatchClient>(std::move(session), handler, options);
  if (!client->Launch()) {
    return Error{ErrorCode::kUnavailable, "watch streams: no file descriptor is left"};
  }
  return std::unique_ptr<WatchStreams>(std::move(client));
}

}  // namespace truce
