#include "webhook/findings/event_queue.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "policies/finding.h"
#include "registry/base/fingerprint.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::string_view kCut = "…";
constexpr std::size_t kEventNameBytesMax = 253;

}  // namespace

std::string EventNote(const std::string& text, std::size_t bytes_max) {
  std::string out;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    const std::string joint = begin == 0 ? "" : "\n";
    // Each character takes at most eight bytes when it is shown escaped.
    const std::string whole = OneLine(line, line.size() * 8);
    const bool is_last = end == text.size();
    const std::size_t room = bytes_max - out.size();
    if (joint.size() + whole.size() + (is_last ? 0 : kCut.size()) > room) {
      if (begin == 0) return OneLine(line, bytes_max);
      return out + std::string(kCut);
    }
    out += joint + whole;
    begin = end + 1;
  }
  return out;
}

std::string EventName(const ObjectEvent& event) {
  Fingerprint content;
  content.Add(ToText(event.object));
  for (const std::string* part : {&event.uid.text, &event.reason, &event.note}) content.Add(*part);
  std::string name;
  for (const char c : event.object.name) {
    name += IsDnsCharacter(c) ? c : '-';
  }
  const std::string tail = ".truce-" + HexOf(content.value());
  name.resize(std::min(name.size(), kEventNameBytesMax - tail.size()));
  // Each label of a name begins and ends with a letter or digit.
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  while (!name.empty() && (name.front() == '.' || name.front() == '-')) name.erase(0, 1);
  return name.empty() ? tail.substr(1) : name + tail;
}

EventQueue::Share& EventQueue::ShareOf(const ObjectEvent& event, Timestamp now) {
  Share& share = shares_[event.root.empty() ? ToText(event.object) : event.root];
  if (now - share.since >= limits_.repeat_after) share = {share.queued, 0, now};
  return share;
}

EventQueue::Outcome EventQueue::Push(ObjectEvent event, Timestamp now) {
  event.note = EventNote(event.note, kEventNoteBytesMax);
  const std::string name = EventName(event);
  const auto said = said_.find(name);
  if (said != said_.end() && now - said->second < limits_.repeat_after) return Outcome::kRepeated;
  if (queue_.size() >= limits_.queued_max) return Outcome::kDropped;
  if (shares_.size() >= limits_.remembered_max) {
    std::erase_if(shares_, [&](const auto& entry) {
      const Share& share = entry.second;
      return share.queued == 0 && now - share.since >= limits_.repeat_after;
    });
    if (shares_.size() >= limits_.remembered_max) {
      std::erase_if(shares_, [](const auto& entry) { return entry.second.queued == 0; });
    }
  }
  Share& share = ShareOf(event, now);
  const bool is_full =
      share.queued >= limits_.queued_of_root_max || share.said >= limits_.said_of_root_max;
  if (is_full) return Outcome::kDropped;
  ++share.queued;
  ++share.said;
  if (said_.size() >= limits_.remembered_max) {
    std::erase_if(said_,
                  [&](const auto& entry) { return now - entry.second >= limits_.repeat_after; });
    // A repetition more is better than memory without end.
    if (said_.size() >= limits_.remembered_max) said_.clear();
  }
  said_[name] = now;
  queue_.push_back(std::move(event));
  return Outcome::kQueued;
}

double EventQueue::TokensAt(Timestamp now) const {
  if (!filled_) return limits_.burst;
  const double seconds = static_cast<double>((now - *filled_).count()) / 1000.0;
  // A clock that was set back gives nothing and takes nothing.
  return std::min(limits_.burst, tokens_ + std::max(0.0, seconds) * limits_.per_second);
}

std::optional<ObjectEvent> EventQueue::Take(Timestamp now) {
  const double tokens = TokensAt(now);
  if (queue_.empty() || tokens < 1) return std::nullopt;
  tokens_ = tokens - 1;
  filled_ = now;
  ObjectEvent event = std::move(queue_.front());
  queue_.pop_front();
  --ShareOf(event, now).queued;
  return event;
}

std::optional<std::chrono::milliseconds> EventQueue::WaitTime(Timestamp now) const {
  if (queue_.empty()) return std::nullopt;
  const double missing = 1 - TokensAt(now);
  if (missing <= 0) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(
      static_cast<std::chrono::milliseconds::rep>(missing * 1000 / limits_.per_second) + 1);
}

void EventQueue::PutBack(ObjectEvent event) {
  ++shares_[event.root.empty() ? ToText(event.object) : event.root].queued;
  queue_.push_front(std::move(event));
}

void EventQueue::Forget(const ObjectEvent& event) { said_.erase(EventName(event)); }

}  // namespace truce
