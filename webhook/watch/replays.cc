#include "webhook/watch/replays.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "registry/identity/evidence.h"
#include "registry/identity/uids.h"
#include "webhook/watch/kinds.h"

namespace truce {

std::string ToText(const WatchPositions& positions) {
  std::string text;
  for (const auto& [kind, at] : positions) {
    const std::string settled = at.settled ? " " + std::to_string(*at.settled) : std::string();
    AppendKindLine(kind, at.version + settled, text);
  }
  return text;
}

WatchPositions PositionsFromText(std::string_view text) {
  WatchPositions positions;
  for (const auto& [kind, value] : KindLines(text)) {
    const std::size_t space = value.find(' ');
    WatchPosition& position = positions[kind];
    position.version = value.substr(0, space);
    if (space != value.npos) position.settled = VersionNumber(value.substr(space + 1));
  }
  return positions;
}

void Replays::Begin(Moment now, WatchQuery query, const UnlistedObjects& objects) {
  patience_end_ = std::max(patience_end_, now + kPatience);
  const ServedKind& kind = query.selection.kind;
  std::map<std::string, bool, std::less<>> waiting;
  for (const auto& [uid, waits] : objects) waiting.emplace(MetadataUid(uid), waits);
  running_[query.id] = {std::move(waiting), {{kind.group, kind.kind}, {}}};
  query.timeout = kWatch;
  watches_.push_back(std::move(query));
}

bool Replays::Events(WatchId id, const std::vector<WatchEvent>& events) {
  const auto at = running_.find(id);
  if (at == running_.end()) return false;
  Running& running = at->second;
  for (const WatchEvent& event : events) {
    if (event.type == WatchEvent::Type::kBookmark) continue;
    const Result<Document> document = reader_.Read(event.object);
    if (!document.ok()) continue;
    const Value metadata = document.value().root().Child("metadata");
    const auto object = running.objects.find(StringOf(metadata.Child("uid")));
    if (object == running.objects.end()) continue;
    running.told.events.push_back(event);
    if (event.type == WatchEvent::Type::kDeleted) object->second = false;
  }
  const bool waits = std::any_of(running.objects.begin(), running.objects.end(),
                                 [](const auto& object) { return object.second; });
  if (waits) return true;
  stops_.push_back(id);
  End(at);
  return true;
}

bool Replays::Ended(WatchId id) {
  const auto at = running_.find(id);
  if (at == running_.end()) return false;
  End(at);
  return true;
}

void Replays::End(std::map<WatchId, Running>::iterator at) {
  told_.push_back(std::move(at->second.told));
  running_.erase(at);
}

bool Replays::IsOver(Moment now) {
  if (now < patience_end_) return running_.empty();
  while (!running_.empty()) {
    stops_.push_back(running_.begin()->first);
    End(running_.begin());
  }
  return true;
}

std::optional<Moment> Replays::Due() const {
  if (running_.empty()) return std::nullopt;
  return patience_end_;
}

}  // namespace truce
