#include "webhook/watch/quorum_reads.h"

#include <algorithm>
#include <utility>

namespace truce {
namespace {

constexpr BackoffOptions kWaits{std::chrono::seconds{1}, std::chrono::seconds{60}};
// The end of an object waits for it.
constexpr BackoffOptions kConfigWaits{std::chrono::milliseconds{200}, std::chrono::seconds{5}};

void OvertakeRead(QuorumRead& read) {
  read.overtaken = read.under_way;
  read.answer.reset();
}

}  // namespace

ListQuery GetWanted::query() const {
  ListQuery query;
  query.selection.kind = kind;
  query.selection.ns = slot.ns;
  query.selection.field_selector = "metadata.name=" + slot.name;
  query.limit = 0;
  return query;
}

QuorumRead* QuorumReads::Of(const Slot& slot) {
  const KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_);
  if (kind == nullptr || slot.cluster != store_.cluster()) return nullptr;
  if (QuorumRead* read = Find(slot)) return read;
  return &reads_.try_emplace(slot, GetWanted{kind->followed.selection.kind, slot}, kWaits, ++seeds_)
              .first->second;
}

QuorumRead& QuorumReads::OfConfig(const GetWanted& config) {
  if (QuorumRead* read = Find(config.slot)) return *read;
  QuorumRead& read = reads_.try_emplace(config.slot, config, kConfigWaits, ++seeds_).first->second;
  read.of_config = true;
  return read;
}

QuorumRead* QuorumReads::Find(const Slot& slot) {
  const auto found = reads_.find(slot);
  return found == reads_.end() ? nullptr : &found->second;
}

QuorumRead* QuorumReads::LookFor(const Uid& uid, const Slot& slot) {
  QuorumRead* read = Of(slot);
  if (read == nullptr) return nullptr;
  read->missing.insert(uid);
  read->answer.reset();
  return read;
}

void QuorumReads::Overtake(const Slot& slot) {
  if (QuorumRead* read = Find(slot)) OvertakeRead(*read);
}

void QuorumReads::Overtake(const GroupKind& kind) {
  for (auto& [slot, read] : reads_) {
    if (IsOf(slot, kind)) OvertakeRead(read);
  }
}

void QuorumReads::Drop(const GroupKind& kind) {
  std::erase_if(reads_, [&](const auto& read) { return IsOf(read.first, kind); });
}

bool QuorumReads::MayGet(const Slot& slot, const QuorumRead& read) const {
  if (read.under_way || read.answer) return false;
  const KindHistory* kind = HistoryOf(GroupKindOf(slot), kinds_);
  return read.of_config || (kind != nullptr && !kind->blind());
}

std::vector<GetWanted> QuorumReads::Gets(Moment now, std::size_t count) {
  std::vector<GetWanted> wanted;
  for (auto& [slot, read] : reads_) {
    if (wanted.size() >= count) break;
    if (read.due > now || !MayGet(slot, read)) continue;
    read.under_way = true;
    read.overtaken = false;
    if (!read.of_config) read.get.kind = kinds_.at(GroupKindOf(slot)).followed.selection.kind;
    wanted.push_back(read.get);
  }
  return wanted;
}

std::optional<Moment> QuorumReads::GetDue() const {
  std::optional<Moment> due;
  for (const auto& [slot, read] : reads_) {
    if (MayGet(slot, read) && (!due || read.due < *due)) due = read.due;
  }
  return due;
}

// Nothing: it cannot be read.
std::optional<QuorumRead::Answer> QuorumReads::Read(Moment now, const QuorumRead& read,
                                                    const ListPage& page) {
  QuorumRead::Answer answer{nullptr, VersionNumber(page.resource_version), now};
  if (read.of_config) answer.version.reset();
  if (page.objects.empty()) return answer;
  const Result<Document> document = reader_.Read(page.objects.front());
  if (!document.ok()) return std::nullopt;
  const Value object = document.value().root();
  if (read.of_config) {
    answer.version = VersionNumber(StringOf(object.Child("metadata").Child("resourceVersion")));
    return answer.version ? std::optional(answer) : std::nullopt;
  }
  const FollowedKind& kind = kinds_.at(GroupKindOf(read.get.slot)).followed;
  answer.object = std::make_shared<const ObservedVersion>(
      ReadObservedVersion(object, kind, store_.rules().identity));
  const ObjectFacts& facts = answer.object->facts;
  if (facts.uid.empty() || facts.slot != read.get.slot) return std::nullopt;
  return answer;
}

QuorumRead* QuorumReads::Got(Moment now, const GetWanted& get, const ApiResult<ListPage>& answer) {
  QuorumRead* read = Find(get.slot);
  if (read == nullptr || (!read->under_way && !read->answer)) return nullptr;
  read->under_way = false;
  read->answer = answer.ok() ? Read(now, *read, answer.value()) : std::nullopt;
  const LifeStep step = StepOf(*read, now);
  if (step != LifeStep::kAskAtOnce && step != LifeStep::kAskAgain) return read;
  read->due = step == LifeStep::kAskAtOnce ? now : now + read->backoff.Next();
  read->answer.reset();
  return nullptr;
}

LifeStep QuorumReads::StepOf(const QuorumRead& read, Moment now) const {
  Life life;
  life.overtaken = read.overtaken;
  if (!read.answer) return NextStep(LifeEvidence::kReadFailed, life);
  life.rows = read.rows.empty() ? Life::Rows::kNone : Life::Rows::kReserved;
  life.read = read.answer->version;
  life.late = now - read.answer->at > kPassPatience;
  if (const KindHistory* kind = HistoryOf(GroupKindOf(read.get.slot), kinds_)) {
    life.passed = kind->passed;
    life.gap = kind->gap;
    life.blind = kind->blind();
    if (const ObservedVersion* object = read.answer->object.get()) {
      const KindHistory::Version* known = kind->Find(object->facts.uid);
      life.found = true;
      life.version = object->facts.version;
      if (known != nullptr) life.newest = known->number;
    }
  }
  return NextStep(LifeEvidence::kRead, life);
}

std::vector<std::pair<Slot, LifeStep>> QuorumReads::Answered(const GroupKind& kind,
                                                             Moment now) const {
  std::vector<std::pair<Slot, LifeStep>> answered;
  for (const auto& [slot, read] : reads_) {
    if (!IsOf(slot, kind) || !read.answer) continue;
    const LifeStep step = StepOf(read, now);
    if (step != LifeStep::kAwaitWatch) answered.emplace_back(slot, step);
  }
  return answered;
}

std::set<GroupKind> QuorumReads::Waiting() const {
  std::set<GroupKind> kinds;
  for (const auto& [slot, read] : reads_) {
    if (read.answer) kinds.insert(GroupKindOf(slot));
  }
  return kinds;
}

}  // namespace truce
