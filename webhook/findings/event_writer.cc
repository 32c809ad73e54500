#include "webhook/findings/event_writer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "registry/identity/uids.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kCallTime{5};
constexpr int kAttemptsMax = 3;
constexpr std::chrono::seconds kPause{2};  // before an Event that failed is tried again

const ServedKind& EventKind() {
  static const ServedKind kKind{"", "v1", "Event", "events", true};
  return kKind;
}

// Where Events about cluster-scoped objects must live.
std::string NamespaceOf(const Slot& object) { return object.ns.empty() ? "default" : object.ns; }

bool IsWorthRepeating(ApiErrorKind kind) {
  switch (kind) {
    case ApiErrorKind::kThrottled:
    case ApiErrorKind::kServer:
    case ApiErrorKind::kUnreachable:
    case ApiErrorKind::kTimeout: return true;
    case ApiErrorKind::kUnauthorized:
    case ApiErrorKind::kForbidden:
    case ApiErrorKind::kNoSuchType:
    case ApiErrorKind::kNoSuchObject:
    case ApiErrorKind::kConflict:
    case ApiErrorKind::kAlreadyExists:
    case ApiErrorKind::kExpired:
    case ApiErrorKind::kInvalid:
    case ApiErrorKind::kMalformed: break;
  }
  return false;
}

}  // namespace

std::string EventJson(const ObjectEvent& event, Timestamp now, const std::string& reporter) {
  const std::string time = FormatTimestamp(now);
  nlohmann::ordered_json object = {{"kind", event.object.kind}, {"name", event.object.name}};
  object["apiVersion"] =
      event.object.group.empty() ? event.version : event.object.group + "/" + event.version;
  if (!event.object.ns.empty()) object["namespace"] = event.object.ns;
  if (!event.uid.empty()) object["uid"] = std::string(MetadataUid(event.uid));
  const nlohmann::ordered_json json = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", EventName(event)}, {"namespace", NamespaceOf(event.object)}}},
      {"involvedObject", object},
      {"reason", event.reason},
      {"message", event.note},
      {"type", event.warning ? "Warning" : "Normal"},
      {"source", {{"component", "truce"}, {"host", reporter}}},
      {"reportingComponent", "truce"},
      {"reportingInstance", reporter},
      {"firstTimestamp", time},
      {"lastTimestamp", time},
      {"count", 1}};
  return Dump(json);
}

EventWriter::EventWriter(ClusterApi& api, const Clock& clock, Options options)
    : api_(api), clock_(clock), options_(std::move(options)), queue_(options_.limits) {
  worker_.Start();
}

void EventWriter::Queue(ObjectEvent event) {
  EventQueue::Outcome outcome = EventQueue::Outcome::kDropped;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    outcome = queue_.Push(std::move(event), clock_.Now());
  }
  if (outcome == EventQueue::Outcome::kRepeated) ++repeated_;
  if (outcome == EventQueue::Outcome::kDropped) ++dropped_;
  worker_.Wake();
}

void EventWriter::Post(ObjectEvent event) { Queue(std::move(event)); }

void EventWriter::PostLater(std::string root, std::function<std::vector<ObjectEvent>()> make) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto of_root = std::count_if(tasks_.begin(), tasks_.end(), [&](const Task& task) {
      return !root.empty() && task.root == root;
    });
    if (tasks_.size() >= options_.tasks_max ||
        static_cast<std::size_t>(of_root) >= options_.tasks_of_root_max) {
      ++dropped_;
      return;
    }
    tasks_.push_back({std::move(root), std::move(make)});
  }
  worker_.Wake();
}

bool EventWriter::Flush(Deadline deadline) {
  const auto is_done = [this] {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tasks_.empty() && queue_.size() == 0 && !is_busy_;
  };
  while (!is_done()) {
    if (worker_.is_stopping() || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

void EventWriter::Trouble(const std::string& message) {
  if (message.empty() != is_in_trouble_) return;
  is_in_trouble_ = !message.empty();
  if (options_.on_trouble) options_.on_trouble(message);
}

std::chrono::milliseconds EventWriter::Write(ObjectEvent event) {
  const std::string json = EventJson(event, clock_.Now(), options_.reporter);
  const auto answer = api_.Create(EventKind(), NamespaceOf(event.object), json,
                                  std::chrono::steady_clock::now() + kCallTime);
  // The name is made of the content: an existing Event was told already, before a restart too.
  if (answer.ok() || answer.error().kind == ApiErrorKind::kAlreadyExists) {
    attempts_ = 0;
    ++(answer.ok() ? written_ : repeated_);
    Trouble({});
    return {};
  }
  Trouble(answer.error().message);
  if (IsWorthRepeating(answer.error().kind) && ++attempts_ < kAttemptsMax) {
    const auto pause = answer.error().retry_after.value_or(kPause);
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.PutBack(std::move(event));
    // However long an API server asks to wait: the queue behind grows meanwhile.
    return std::min<std::chrono::milliseconds>(pause, 5 * kPause);
  }
  attempts_ = 0;
  ++failed_;
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.Forget(event);
  return {};
}

Worker::Rest EventWriter::Turn() {
  std::vector<Task> tasks;
  std::optional<ObjectEvent> next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    tasks.swap(tasks_);
    next = queue_.Take(clock_.Now());
    is_busy_ = true;
  }
  // Without the lock: making them reads the store, writing waits for the API server.
  for (const Task& task : tasks) {
    for (ObjectEvent& event : task.make()) Queue(std::move(event));
  }
  const Deadline earliest = next ? In(Write(std::move(*next))) : Deadline{};
  const std::lock_guard<std::mutex> lock(mutex_);
  is_busy_ = false;
  const auto wait = queue_.WaitTime(clock_.Now());
  return {wait ? In(*wait) : Deadline::max(), earliest};
}

void EventWriter::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_events_total");
  const std::array<std::pair<std::string_view, std::uint64_t>, 4> counts = {
      {{"written", written_}, {"repeated", repeated_}, {"dropped", dropped_}, {"failed", failed_}}};
  for (const auto& [outcome, count] : counts) {
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        {{"outcome", outcome}}};
    writer.Sample(labels, static_cast<double>(count));
  }
}

}  // namespace truce
