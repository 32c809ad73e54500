#include "webhook/publish/truce_resources.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace truce {
namespace {

constexpr std::chrono::seconds kCallTime{10};
constexpr Deadline kNever = Deadline::max();

bool IsOlder(const OwnObject& a, const OwnObject& b) {
  return std::tie(a.created, a.kind.kind, a.ns, a.name) <
         std::tie(b.created, b.kind.kind, b.ns, b.name);
}

}  // namespace

TruceResources::TruceResources(OwnPorts ports, std::vector<OwnHandler*> handlers)
    : ports_(std::move(ports)),
      handlers_(std::move(handlers)),
      dirty_(handlers_.size(), false),
      due_(handlers_.size(), kNever),
      backoff_({}, handlers_.size()) {
  for (std::size_t i = 0; i < handlers_.size(); ++i) {
    for (ServedKind& kind : handlers_[i]->kinds()) {
      GroupKind name{kind.group, kind.kind};
      Kind entry;
      entry.kind = std::move(kind);
      entry.handler = i;
      kinds_.emplace(std::move(name), std::move(entry));
    }
  }
  worker_.Start();
}

std::vector<FollowedKind> TruceResources::kinds() const {
  std::vector<FollowedKind> out;
  for (const OwnHandler* handler : handlers_) {
    for (ServedKind& kind : handler->kinds()) {
      FollowedKind followed;
      followed.selection.kind = std::move(kind);
      followed.role = Role::kOther;
      followed.always = true;
      out.push_back(std::move(followed));
    }
  }
  return out;
}

TruceResources::Kind* TruceResources::Find(const GroupKind& kind) {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

void TruceResources::Refresh() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    dirty_.assign(dirty_.size(), true);
  }
  worker_.Wake();
}

void TruceResources::OnKindState(const KindStatus& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Kind* kind = Find(status.kind.group_kind());
    if (kind == nullptr) return;
    const bool lists = status.state == KindState::kListing || status.state == KindState::kRelisting;
    const bool complete = status.state == KindState::kWatched || status.state == KindState::kEmpty;
    if (lists && !std::exchange(kind->listing, true)) {
      for (auto& [name, entry] : kind->entries) entry.listed = false;
    }
    if (!complete || !std::exchange(kind->listing, false)) return;
    const std::size_t gone =
        std::erase_if(kind->entries, [](const auto& item) { return !item.second.listed; });
    const bool changed = std::exchange(kind->changed, false);
    const bool is_first = !std::exchange(kind->complete, true);
    if (gone == 0 && !changed && !is_first) return;
    dirty_[kind->handler] = true;
  }
  worker_.Wake();
}

void TruceResources::OnOther(const FollowedKind& kind, Value object, bool gone) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Kind* known = Find(kind.group_kind());
    if (known == nullptr) return;
    std::optional<OwnObject> seen = ReadOwnObject(kind.selection.kind, object);
    if (!seen) return;
    const ObjectName name{seen->ns, seen->name};
    const auto found = known->entries.find(name);
    if (gone) {
      if (found == known->entries.end()) return;
      known->entries.erase(found);
    } else if (found == known->entries.end()) {
      if (known->entries.size() >= kOwnObjectsMax) return;
      known->entries.emplace(name, Entry{std::move(*seen), ReadOwnCondition(object), {}, true});
    } else {
      Entry& entry = found->second;
      const bool same =
          entry.object.uid == seen->uid && entry.object.generation == seen->generation;
      entry.present = ReadOwnCondition(object);
      entry.listed = true;
      entry.object = std::move(*seen);
      if (same) return;
    }
    if (known->listing) {
      known->changed = true;
      return;
    }
    dirty_[known->handler] = true;
  }
  worker_.Wake();
}

std::optional<TruceResources::Work> TruceResources::NextWork(Deadline now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (std::size_t i = 0; i < handlers_.size(); ++i) {
    if (!dirty_[i] && due_[i] > now) continue;
    dirty_[i] = false;
    due_[i] = kNever;
    Work work{i, {}, true};
    for (const auto& [name, kind] : kinds_) {
      if (kind.handler != i) continue;
      work.complete = work.complete && kind.complete;
      for (const auto& [object, entry] : kind.entries) work.objects.push_back(entry.object);
    }
    std::sort(work.objects.begin(), work.objects.end(), IsOlder);
    return work;
  }
  return std::nullopt;
}

// One handler's objects after the other: a wake during one is heeded all the same.
Worker::Rest TruceResources::Turn() {
  while (!worker_.is_stopping()) {
    const std::optional<Work> work = NextWork(std::chrono::steady_clock::now());
    if (!work) break;
    Do(*work);
  }
  Deadline due = kNever;
  for (const Deadline one : due_) due = std::min(due, one);
  return {due};
}

void TruceResources::Do(const Work& work) {
  const bool is_leader = ports_.is_leader();
  if (!is_leader && !handlers_[work.handler]->is_for_all()) return;
  if (work.complete) handlers_[work.handler]->SetComplete();
  const std::vector<OwnVerdict> verdicts = handlers_[work.handler]->Take(work.objects);
  bool failed = false;
  for (std::size_t i = 0; i < std::min(verdicts.size(), work.objects.size()); ++i) {
    const OwnObject& object = work.objects[i];
    bool is_news = false;
    bool is_said = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      Kind* kind = Find({object.kind.group, object.kind.kind});
      const auto found = kind->entries.find({object.ns, object.name});
      if (found == kind->entries.end() || found->second.object.uid != object.uid) continue;
      Entry& entry = found->second;
      is_news = entry.reported != verdicts[i];
      entry.reported = verdicts[i];
      is_said = entry.present == OwnCondition{verdicts[i], object.generation};
    }
    const auto kind = verdicts[i].accepted ? OwnEvent::Kind::kTakenOver : OwnEvent::Kind::kRefused;
    if (is_news) ports_.on_event({kind, object.Label(), verdicts[i].message});
    if (is_leader && !is_said && !WriteStatus(object, verdicts[i])) failed = true;
  }
  if (!failed) backoff_.Reset();
  const auto wanted = handlers_[work.handler]->again();
  const Deadline now = std::chrono::steady_clock::now();
  Deadline due = wanted ? now + *wanted : kNever;
  if (failed) due = std::min(due, now + backoff_.Next());
  due_[work.handler] = due;
}

// False: it is to be tried again.
bool TruceResources::WriteStatus(const OwnObject& object, const OwnVerdict& verdict) {
  const ApiResult<std::string> answer = ports_.api.Patch(
      {object.kind, object.ns, object.name, "status"},
      OwnStatusPatch(verdict, object.generation, FormatTimestamp(ports_.clock.Now())),
      std::chrono::steady_clock::now() + kCallTime);
  if (answer.ok()) {
    Trouble(object, {});
    return true;
  }
  // It is gone: the watch says so.
  if (answer.error().kind == ApiErrorKind::kNoSuchObject) return true;
  Trouble(object, "its status cannot be written: " + answer.error().message);
  return false;
}

void TruceResources::Trouble(const OwnObject& object, const std::string& message) {
  if (message.empty() != in_trouble_) return;
  in_trouble_ = !message.empty();
  if (!in_trouble_) return;
  const std::string label = object.Label();
  ports_.on_event({OwnEvent::Kind::kTrouble, label, label + ": " + message});
}

}  // namespace truce
