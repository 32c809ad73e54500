#include "webhook/api/latest_denials.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace truce {
namespace {

std::uint64_t HashOf(std::string_view text) { return std::hash<std::string_view>()(text); }

// Has the caches bring what will be written to.
void AskFor(const void* memory, std::size_t size) {
  constexpr std::size_t kLineBytes = 64;
  const auto* const bytes = static_cast<const char*>(memory);
  for (std::size_t at = 0; at < size; at += kLineBytes) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

void HashPlaces::Add(std::uint64_t hash, std::uint32_t number) {
  std::size_t at = hash % kCells;
  while (cells_[at].number != kNone) at = (at + 1) % kCells;
  cells_[at] = {TagOf(hash), number};
}

// What stands behind moves up, unless it would then stand before its place.
void HashPlaces::Remove(std::uint64_t hash, std::uint32_t number) {
  std::size_t hole = hash % kCells;
  while (cells_[hole].number != number) hole = (hole + 1) % kCells;
  for (std::size_t at = (hole + 1) % kCells; cells_[at].number != kNone; at = (at + 1) % kCells) {
    const std::size_t place = cells_[at].tag % kCells;
    if ((at - place) % kCells < (at - hole) % kCells) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = {};
}

void LatestDenials::Count(const Words& words, Timestamp now) {
  const std::uint64_t hash = HashOf(words[kId]);
  Prepare(words, hash);
  const std::uint32_t known = NumberOf(words[kId], hash);
  Entry* entry = nullptr;
  if (known == kNone) {
    entry = &Add(hash, now);
  } else {
    entry = &entries_[known];
    Words all = words;
    for (std::size_t word = kId; word <= kNs; ++word) all[word] = WordOf(*entry, word);
    Write(*entry, all);
    Unlink(*entry);
    PutInFront(known);
  }
  entry->last = now;
  ++entry->count;
}

void LatestDenials::Enter(const Denial& denial) {
  const Slot& root = denial.root;
  const Words words = {denial.id,       root.cluster, root.group,   root.kind,   root.ns,
                       root.name,       denial.group, denial.kind,  denial.ns,   denial.key.text,
                       denial.resource, denial.rule,  denial.cause, denial.name, denial.user};
  const std::uint64_t hash = HashOf(denial.id);
  Prepare(words, hash);
  const std::uint32_t known = NumberOf(denial.id, hash);
  if (known == kNone) {
    Entry& entry = Add(hash, denial.first);
    entry.last = denial.last;
    entry.count = denial.count;
    return;
  }
  Entry& entry = entries_[known];
  if (denial.last >= entry.last) {
    const std::uint32_t of = RootAtHand();
    Write(entry, words);
    ++roots_[of].count;
    LeaveRoot(std::exchange(entry.root, of));
    entry.last = denial.last;
  }
  Unlink(entry);
  PutInFront(known);
  entry.first = std::min(entry.first, denial.first);
  entry.count += denial.count;
}

std::vector<Denial> LatestDenials::Find(const KeyText* key, std::size_t count_max) const {
  std::vector<Denial> out;
  for (std::uint32_t at = first_; at != kNone && out.size() < count_max; at = entries_[at].older) {
    if (key == nullptr || WordOf(entries_[at], kKey) == key->text)
      out.push_back(Read(entries_[at]));
  }
  return out;
}

std::string_view LatestDenials::WordOf(const Entry& entry, std::size_t word) {
  const std::size_t begin = word == 0 ? 0 : entry.ends[word - 1];
  return std::string_view(entry.texts).substr(begin, entry.ends[word] - begin);
}

Denial LatestDenials::Read(const Entry& entry) {
  const auto text = [&](Word word) { return std::string(WordOf(entry, word)); };
  return {.id = text(kId),
          .key = {text(kKey)},
          .resource = text(kResource),
          .rule = text(kRule),
          .cause = text(kCause),
          .group = text(kGroup),
          .kind = text(kKind),
          .ns = text(kNs),
          .name = text(kName),
          .user = text(kUser),
          .first = entry.first,
          .last = entry.last,
          .count = entry.count,
          .root = {text(kRootCluster), text(kRootGroup), text(kRootKind), text(kRootNs),
                   text(kRootName)}};
}

std::uint32_t LatestDenials::NumberOf(std::string_view id, std::uint64_t hash) const {
  return by_id_.Find(hash, [&](std::uint32_t at) { return WordOf(entries_[at], kId) == id; });
}

void LatestDenials::Unlink(Entry& entry) {
  (entry.newer == kNone ? first_ : entries_[entry.newer].older) = entry.older;
  (entry.older == kNone ? last_ : entries_[entry.older].newer) = entry.newer;
}

void LatestDenials::PutInFront(std::uint32_t number) {
  Entry& entry = entries_[number];
  entry.newer = kNone;
  entry.older = first_;
  (first_ == kNone ? last_ : entries_[first_].newer) = number;
  first_ = number;
}

void LatestDenials::Prepare(const Words& words, std::uint64_t hash) {
  by_id_.Expect(hash);
  root_text_.clear();
  for (std::size_t word = kRootCluster; word <= kRootName; ++word) {
    root_text_.append(words[word]) += '/';
  }
  root_hash_ = HashOf(root_text_);
  by_root_.Expect(root_hash_);
  Pack(words);
}

void LatestDenials::Pack(const Words& words) {
  packed_.clear();
  for (std::size_t word = 0; word < kWordCount; ++word) {
    packed_.append(words[word]);
    packed_ends_[word] = static_cast<std::uint32_t>(packed_.size());
  }
}

void LatestDenials::TakePacked(Entry& entry) const {
  entry.texts.assign(packed_);
  entry.ends = packed_ends_;
}

void LatestDenials::Write(Entry& entry, const Words& words) {
  Pack(words);
  TakePacked(entry);
}

std::uint32_t LatestDenials::RootAtHand() {
  const std::uint32_t known =
      by_root_.Find(root_hash_, [&](std::uint32_t at) { return roots_[at].text == root_text_; });
  if (known != kNone) return known;
  by_root_.Prepare();
  if (free_root_ == kNone) {
    roots_.emplace_back();
    free_root_ = static_cast<std::uint32_t>(roots_.size() - 1);
  }
  Root& root = roots_[free_root_];
  root.text = root_text_;
  root.hash = root_hash_;
  const std::uint32_t number = std::exchange(free_root_, std::exchange(root.next, kNone));
  by_root_.Add(root_hash_, number);
  return number;
}

void LatestDenials::LeaveRoot(std::uint32_t number) {
  Root& root = roots_[number];
  if (--root.count > 0) return;
  by_root_.Remove(root.hash, number);
  root.next = std::exchange(free_root_, number);
}

std::uint32_t LatestDenials::Vacate(std::uint32_t root) {
  std::uint32_t number = kNone;
  if (roots_[root].count == kDenialsOfRoot) {
    number = last_;
    while (entries_[number].root != root) number = entries_[number].newer;
  } else if (entries_.size() == kDenialsKept) {
    number = last_;
  }
  if (number == kNone) {
    Entry fresh;
    fresh.texts.reserve(packed_.size());
    entries_.push_back(std::move(fresh));
    ++roots_[root].count;
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }
  Entry& gone = entries_[number];
  gone.texts.reserve(packed_.size());
  by_id_.Remove(gone.hash, number);
  Unlink(gone);
  ++roots_[root].count;
  LeaveRoot(gone.root);
  return number;
}

// Memory is taken before anything changes.
LatestDenials::Entry& LatestDenials::Add(std::uint64_t hash, Timestamp first) {
  by_id_.Prepare();
  const std::uint32_t root = RootAtHand();
  const std::uint32_t number = Vacate(root);
  Entry& entry = entries_[number];
  TakePacked(entry);
  entry.first = first;
  entry.count = 0;
  entry.hash = hash;
  entry.root = root;
  by_id_.Add(hash, number);
  PutInFront(number);
  Expect();
  return entry;
}

// The next refusal is far enough away for the memory to come meanwhile. Where the texts are stands
// in an entry, so of the one after the next it is asked for beforehand.
void LatestDenials::Expect() const {
  if (entries_.size() < kDenialsKept) return;
  const Entry& next = entries_[last_];
  AskFor(next.texts.data(), next.texts.size());
  by_id_.Expect(next.hash);
  AskFor(&roots_[next.root], sizeof(Root));
  if (next.newer != kNone) AskFor(&entries_[next.newer], sizeof(Entry));
}

}  // namespace truce
