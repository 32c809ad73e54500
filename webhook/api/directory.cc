#include "webhook/api/directory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "registry/base/text.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

// What an owner lacks is not linked: all that lack it would share a chain.
constexpr std::uint32_t kNothing = 0;

std::uint32_t HashOf(std::string_view text) {
  if (text.empty()) return kNothing;
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  return std::max(static_cast<std::uint32_t>(hash ^ (hash >> 32U)), kNothing + 1);
}

// The bucket from which one more is split, when there are `buckets`.
std::size_t SplitBy(std::size_t buckets) { return buckets - std::bit_floor(buckets); }

}  // namespace

Directory::Directory() {
  for (std::deque<Index>& heads : buckets_) heads.push_back(kNone);
}

std::string_view Directory::KeyOf(const Entry& entry) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, entry.key.get(), sizeof(bytes));
  return {entry.key.get() + sizeof(bytes), bytes};
}

std::uint32_t Directory::HashBy(std::size_t by, const Entry& entry) {
  return by == kByKey ? HashOf(KeyOf(entry)) : entry.hash[by];
}

// Linear hashing: buckets that the last doubling has not reached yet are still part of the one
// that they will be split from.
std::size_t Directory::BucketOf(std::uint32_t hash) const {
  const std::size_t count = buckets_[kByKey].size();
  const std::size_t mask = std::bit_ceil(count) - 1;
  const std::size_t bucket = hash & mask;
  return bucket < count ? bucket : hash & (mask >> 1U);
}

void Directory::AddBucket() {
  const std::size_t added = buckets_[kByKey].size();
  const std::size_t split = SplitBy(added);
  for (std::deque<Index>& heads : buckets_) heads.push_back(kNone);
  for (std::size_t by = 0; by < kByCount; ++by) {
    Index index = std::exchange(buckets_[by][split], kNone);
    while (index != kNone) {
      Entry& entry = entries_[index];
      Index& head = buckets_[by][BucketOf(HashBy(by, entry))];
      const Index next = std::exchange(entry.next[by], head);
      head = std::exchange(index, next);
    }
  }
}

Directory::Index Directory::Find(std::string_view key, std::uint32_t hash) const {
  Index index = buckets_[kByKey][BucketOf(hash)];
  while (index != kNone && KeyOf(entries_[index]) != key) index = entries_[index].next[kByKey];
  return index;
}

Directory::Index Directory::TakeEntry(std::string_view key) {
  Index index = free_;
  if (index == kNone) {
    index = static_cast<Index>(entries_.size());
    entries_.emplace_back();
  } else {
    free_ = entries_[index].service;
  }
  Entry& entry = entries_[index];
  const auto bytes = static_cast<std::uint32_t>(key.size());
  entry.key = std::make_unique_for_overwrite<char[]>(sizeof(bytes) + bytes);
  std::memcpy(entry.key.get(), &bytes, sizeof(bytes));
  key.copy(entry.key.get() + sizeof(bytes), bytes);
  return index;
}

std::uint32_t Directory::ServiceIndex(std::string_view name) {
  const auto found = service_indices_.find(name);
  if (found != service_indices_.end()) return found->second;
  const auto index = static_cast<std::uint32_t>(services_.size());
  const Service& added = services_.emplace_back(Service{std::string(name), kNone, 0});
  services_by_name_.emplace(added.name, index);
  service_indices_.emplace(added.name, index);
  return index;
}

Directory::Item::Item(const Owner& owner)
    : key(owner.key),
      hash{HashOf(owner.id.text), HashOf(LowerOf(owner.name)), HashOf(owner.arn),
           HashOf(owner.key.text)},
      service(owner.service),
      ns(owner.root.ns),
      leaf_ns(owner.leaf ? owner.leaf->ns : std::string()) {}

void Directory::Put(const Item& item) {
  const Hashes hash = {item.hash[kById], item.hash[kByName], item.hash[kByArn]};
  NoteNamespace(item.ns);
  NoteNamespace(item.leaf_ns);
  const std::uint32_t service = ServiceIndex(item.service);
  Index index = Find(item.key.text, item.hash[kByKey]);
  if (index != kNone) {
    // Most changes of an owner touch nothing by which it is found.
    if (entries_[index].hash == hash && entries_[index].service == service) return;
    Unlink(index);
  } else {
    if (live_ >= buckets_[kByKey].size()) AddBucket();
    index = TakeEntry(item.key.text);
    ++live_;
  }
  entries_[index].hash = hash;
  entries_[index].service = service;
  Link(index);
}

// Each loop asks for what the one before it, by now, has brought.
void Directory::Expect(std::span<const Item* const> items) const {
  std::vector<std::pair<std::size_t, std::size_t>> heads;
  heads.reserve(2 * kByCount * items.size());
  const std::size_t count = buckets_[kByKey].size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t split = SplitBy(count + i);  // a new key splits a bucket
    for (std::size_t by = 0; by < kByCount; ++by) {
      heads.emplace_back(by, BucketOf(items[i]->hash[by]));
      if (split < count) heads.emplace_back(by, split);
    }
  }
  for (const auto& [by, bucket] : heads) __builtin_prefetch(&buckets_[by][bucket]);
  for (const auto& [by, bucket] : heads) {
    const Index first = buckets_[by][bucket];
    if (first != kNone) __builtin_prefetch(&entries_[first]);
  }
  for (const auto& [by, bucket] : heads) {
    const Index first = by == kByKey ? buckets_[by][bucket] : kNone;
    if (first != kNone) __builtin_prefetch(entries_[first].key.get());
  }
}

void Directory::NoteNamespace(const std::string& ns) {
  if (ns.empty() || namespaces_.size() >= OwnerFinder::kNamespacesMax) return;
  namespaces_.insert(ns);
}

void Directory::Erase(const KeyText& key) {
  const Index index = Find(key.text, HashOf(key.text));
  if (index == kNone) return;
  Unlink(index);
  entries_[index].key.reset();
  entries_[index].service = free_;
  free_ = index;
  --live_;
}

void Directory::Link(Index index) {
  Entry& entry = entries_[index];
  for (std::size_t by = 0; by < kByCount; ++by) {
    const std::uint32_t hash = HashBy(by, entry);
    if (hash == kNothing) continue;
    Index& head = buckets_[by][BucketOf(hash)];
    entry.next[by] = std::exchange(head, index);
  }
  Service& service = services_[entry.service];
  entry.service_before = kNone;
  entry.service_next = service.first;
  if (service.first != kNone) entries_[service.first].service_before = index;
  service.first = index;
  ++service.keys;
}

void Directory::Unlink(Index index) {
  Entry& entry = entries_[index];
  for (std::size_t by = 0; by < kByCount; ++by) {
    const std::uint32_t hash = HashBy(by, entry);
    if (hash == kNothing) continue;
    Index* link = &buckets_[by][BucketOf(hash)];
    while (*link != index) link = &entries_[*link].next[by];
    *link = entry.next[by];
  }
  Service& service = services_[entry.service];
  if (entry.service_before == kNone) {
    service.first = entry.service_next;
  } else {
    entries_[entry.service_before].service_next = entry.service_next;
  }
  if (entry.service_next != kNone)
    entries_[entry.service_next].service_before = entry.service_before;
  --service.keys;
}

std::vector<KeyText> Directory::WithHash(By by, std::uint32_t hash, std::size_t limit) const {
  std::vector<KeyText> keys;
  if (hash == kNothing) return keys;
  Index index = buckets_[by][BucketOf(hash)];
  while (index != kNone && keys.size() < limit) {
    const Entry& entry = entries_[index];
    if (entry.hash[by] == hash) keys.push_back({std::string(KeyOf(entry))});
    index = entry.next[by];
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<KeyText> Directory::WithId(const PublicId& id, std::size_t limit) const {
  return WithHash(kById, HashOf(id.text), limit);
}

std::vector<KeyText> Directory::WithName(std::string_view name, std::size_t limit) const {
  return WithHash(kByName, HashOf(LowerOf(name)), limit);
}

std::vector<KeyText> Directory::WithArn(std::string_view arn, std::size_t limit) const {
  return WithHash(kByArn, HashOf(arn), limit);
}

std::vector<KeyText> Directory::OfService(const std::string& service, const KeyText& after,
                                          std::size_t limit) const {
  const auto found = service_indices_.find(service);
  if (found == service_indices_.end() || limit == 0) return {};
  // The chain has no order, and may be that of a million keys.
  std::vector<std::string_view> first;  // a heap, the greatest in front
  for (Index index = services_[found->second].first; index != kNone;
       index = entries_[index].service_next) {
    const std::string_view key = KeyOf(entries_[index]);
    if (key <= after.text) continue;
    if (first.size() == limit) {
      if (key >= first.front()) continue;
      std::pop_heap(first.begin(), first.end());
      first.pop_back();
    }
    first.push_back(key);
    std::push_heap(first.begin(), first.end());
  }
  std::sort_heap(first.begin(), first.end());
  std::vector<KeyText> keys;
  keys.reserve(first.size());
  for (const std::string_view key : first) keys.push_back({std::string(key)});
  return keys;
}

std::vector<ServiceCount> Directory::Services(const std::string& after, std::size_t limit) const {
  std::vector<ServiceCount> out;
  for (auto it = services_by_name_.upper_bound(after); it != services_by_name_.end(); ++it) {
    if (out.size() == limit) break;
    const Service& service = services_[it->second];
    if (service.keys > 0 && !service.name.empty()) out.push_back({service.name, service.keys});
  }
  return out;
}

}  // namespace truce
