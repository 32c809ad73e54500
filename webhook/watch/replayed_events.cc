#include "webhook/watch/replayed_events.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "webhook/watch/kinds.h"

namespace truce {

namespace {

// Asking again tells no more.
bool IsLost(ApiErrorKind kind) {
  return kind == ApiErrorKind::kExpired || kind == ApiErrorKind::kForbidden ||
         kind == ApiErrorKind::kNoSuchType || kind == ApiErrorKind::kInvalid;
}

}  // namespace

void ReplayedEvents::Begin(Moment now, WatchQuery query, const UnlistedObjects& objects,
                           std::optional<ClusterVersion> list) {
  const ServedKind& kind = query.selection.kind;
  Events events{.kind = {kind.group, kind.kind}, .of_asked = {}};
  const auto position = VersionNumber(query.resource_version);
  if (list && position && *list <= *position) {
    // Nothing happened since; a list from before the position is of another history.
    events.whole = list == position;
    shown_.push_back(std::move(events));
    return;
  }
  patience_end_ = std::max(patience_end_, now + kPatience);
  query.timeout = kWatch;
  Running running{.query = std::move(query),
                  .objects = {},
                  .list = list,
                  .events = std::move(events),
                  .due = now};
  for (const auto& [uid, waits] : objects) running.objects.emplace(MetadataUid(uid), waits);
  running_.push_back(std::move(running));
}

std::vector<WatchQuery> ReplayedEvents::TakeWatches(Moment now, WatchId& last_id) {
  std::vector<WatchQuery> watches;
  for (Running& running : running_) {
    if (!running.due || now < *running.due) continue;
    running.due.reset();
    running.query.id = ++last_id;
    watches.push_back(running.query);
  }
  return watches;
}

ReplayedEvents::RunningAt ReplayedEvents::Find(WatchId id) {
  return std::find_if(running_.begin(), running_.end(), [&](const Running& running) {
    return !running.due && running.query.id == id;
  });
}

bool ReplayedEvents::TakeEvents(WatchId id, const std::vector<WatchEvent>& events) {
  const RunningAt running = Find(id);
  if (running == running_.end()) return false;
  for (const WatchEvent& event : events) {
    running->query.resource_version = event.resource_version;
    if (event.type == WatchEvent::Type::kBookmark) continue;
    if (running->list && running->list < VersionNumber(event.resource_version)) continue;
    const Result<Document> document = reader_.Read(event.object);
    if (!document.ok()) {
      running->unreadable = true;
      continue;
    }
    const Value metadata = document.value().root().Child("metadata");
    const auto object = running->objects.find(StringOf(metadata.Child("uid")));
    if (object == running->objects.end()) {
      // One more than is kept says that there were too many.
      if (running->events.others.size() <= kOthersMax) running->events.others.push_back(event);
      continue;
    }
    running->events.of_asked.push_back(event);
    if (event.type == WatchEvent::Type::kDeleted) object->second = false;
  }
  const bool waits = std::any_of(running->objects.begin(), running->objects.end(),
                                 [](const auto& object) { return object.second; });
  // Objects that the list lacks ended before it.
  const bool is_shown = running->list <= VersionNumber(running->query.resource_version);
  if (running->list ? !is_shown : waits) return true;
  running->events.whole =
      running->list && !running->unreadable && running->events.others.size() <= kOthersMax;
  stops_.push_back(id);
  End(running);
  return true;
}

bool ReplayedEvents::Ended(Moment now, WatchId id, const std::optional<ApiError>& error) {
  const RunningAt running = Find(id);
  if (running == running_.end()) return false;
  const bool whole = !error && !running->list;
  if (whole || (error && IsLost(error->kind))) {
    End(running);
  } else {
    running->due = now + std::max<Moment::duration>(
                             kAgain, error ? error->retry_after.value_or(kAgain) : kAgain);
  }
  return true;
}

void ReplayedEvents::End(RunningAt at) {
  shown_.push_back(std::move(at->events));
  running_.erase(at);
}

bool ReplayedEvents::IsOver(Moment now) {
  if (now < patience_end_) return running_.empty();
  while (!running_.empty()) {
    if (!running_.front().due) stops_.push_back(running_.front().query.id);
    End(running_.begin());
  }
  return true;
}

std::optional<Moment> ReplayedEvents::Due() const {
  if (running_.empty()) return std::nullopt;
  Moment due = patience_end_;
  for (const Running& running : running_) due = std::min(due, running.due.value_or(due));
  return due;
}

}  // namespace truce
