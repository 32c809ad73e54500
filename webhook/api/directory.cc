#include "webhook/api/directory.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace truce {
namespace {

constexpr std::size_t kBucketsMin = 1024;
constexpr std::size_t kKeyBytesMax = std::size_t{1} << 19U;  // a key is a few hundred bytes

std::uint32_t HashOf(std::string_view text) {
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
}

}  // namespace

std::string_view Directory::KeyOf(const Entry& entry) const {
  const char* chunk = chunks_[entry.key_begin / kChunkBytes].get();
  return {chunk + entry.key_begin % kChunkBytes, entry.key_bytes};
}

Directory::Place Directory::Find(std::string_view key) const {
  if (buckets_[kByKey].empty()) return kNone;
  const std::uint32_t hash = HashOf(key);
  Place place = buckets_[kByKey][hash & (buckets_[kByKey].size() - 1)];
  while (place != kNone) {
    const Entry& entry = entries_[place];
    if (entry.hash[kByKey] == hash && KeyOf(entry) == key) return place;
    place = entry.next[kByKey];
  }
  return kNone;
}

void Directory::AddKey(std::string_view key, Entry& entry) {
  if (chunk_used_ + key.size() > kChunkBytes) {
    chunks_.push_back(std::make_unique<char[]>(kChunkBytes));
    chunk_used_ = 0;
  }
  std::memcpy(chunks_.back().get() + chunk_used_, key.data(), key.size());
  entry.key_begin = static_cast<std::uint32_t>((chunks_.size() - 1) * kChunkBytes + chunk_used_);
  entry.key_bytes = static_cast<std::uint32_t>(key.size());
  chunk_used_ += key.size();
  key_bytes_live_ += key.size();
}

std::uint32_t Directory::ServicePlace(const std::string& name) {
  const auto place = static_cast<std::uint32_t>(services_.size());
  const auto [found, is_new] = service_places_.try_emplace(name, place);
  if (is_new) services_.push_back({name, kNone, 0});
  return found->second;
}

void Directory::Put(const Owner& owner) {
  if (owner.key.text.size() > kKeyBytesMax) return;
  const std::array<std::uint32_t, kByCount> hash = {HashOf(owner.key.text), HashOf(owner.id.text),
                                                    HashOf(owner.name), HashOf(owner.arn)};
  const std::uint32_t service = ServicePlace(owner.service);
  Place place = Find(owner.key.text);
  if (place != kNone) {
    if (entries_[place].hash == hash && entries_[place].service == service) return;
    Unlink(place);
  } else {
    if (live_ >= buckets_[kByKey].size()) Grow();
    place = free_;
    if (place == kNone) {
      place = static_cast<Place>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[place].service;
    }
    AddKey(owner.key.text, entries_[place]);
    ++live_;
  }
  entries_[place].hash = hash;
  entries_[place].service = service;
  Link(place);
}

void Directory::Erase(const KeyText& key) {
  const Place place = Find(key.text);
  if (place == kNone) return;
  Unlink(place);
  key_bytes_live_ -= entries_[place].key_bytes;
  entries_[place].key_bytes = 0;
  entries_[place].service = free_;
  free_ = place;
  --live_;
  if (chunks_.size() * kChunkBytes > 4 * kChunkBytes + 2 * key_bytes_live_) CompactKeys();
}

void Directory::Link(Place place) {
  Entry& entry = entries_[place];
  for (std::size_t by = 0; by < kByCount; ++by) {
    Place& head = buckets_[by][entry.hash[by] & (buckets_[by].size() - 1)];
    entry.next[by] = head;
    head = place;
  }
  Service& service = services_[entry.service];
  entry.service_before = kNone;
  entry.service_next = service.first;
  if (service.first != kNone) entries_[service.first].service_before = place;
  service.first = place;
  ++service.keys;
}

void Directory::Unlink(Place place) {
  Entry& entry = entries_[place];
  for (std::size_t by = 0; by < kByCount; ++by) {
    Place* link = &buckets_[by][entry.hash[by] & (buckets_[by].size() - 1)];
    while (*link != place) link = &entries_[*link].next[by];
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

void Directory::Grow() {
  const std::size_t size = std::max(kBucketsMin, 2 * buckets_[kByKey].size());
  for (std::size_t by = 0; by < kByCount; ++by) {
    std::vector<Place> heads(size, kNone);
    for (const Place old_head : buckets_[by]) {
      Place place = old_head;
      while (place != kNone) {
        Place& head = heads[entries_[place].hash[by] & (size - 1)];
        const Place next = entries_[place].next[by];
        entries_[place].next[by] = head;
        head = place;
        place = next;
      }
    }
    buckets_[by] = std::move(heads);
  }
}

// Keys of entries that went leave holes; all living ones move together.
void Directory::CompactKeys() {
  const auto old_chunks = std::move(chunks_);
  chunks_.clear();
  chunk_used_ = kChunkBytes;
  key_bytes_live_ = 0;
  for (Entry& entry : entries_) {
    if (entry.key_bytes == 0) continue;
    const char* chunk = old_chunks[entry.key_begin / kChunkBytes].get();
    AddKey({chunk + entry.key_begin % kChunkBytes, entry.key_bytes}, entry);
  }
}

std::vector<KeyText> Directory::WithHash(By by, std::uint32_t hash, std::size_t limit) const {
  std::vector<KeyText> keys;
  if (buckets_[by].empty()) return keys;
  Place place = buckets_[by][hash & (buckets_[by].size() - 1)];
  while (place != kNone && keys.size() < limit) {
    const Entry& entry = entries_[place];
    if (entry.hash[by] == hash) keys.push_back({std::string(KeyOf(entry))});
    place = entry.next[by];
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<KeyText> Directory::WithId(const PublicId& id, std::size_t limit) const {
  return WithHash(kById, HashOf(id.text), limit);
}

std::vector<KeyText> Directory::WithName(std::string_view name, std::size_t limit) const {
  return WithHash(kByName, HashOf(name), limit);
}

std::vector<KeyText> Directory::WithArn(std::string_view arn, std::size_t limit) const {
  // Owners without ARN all have the same one, the empty one.
  if (arn.empty()) return {};
  return WithHash(kByArn, HashOf(arn), limit);
}

std::vector<KeyText> Directory::OfService(const std::string& service, const KeyText& after,
                                          std::size_t limit) const {
  const auto found = service_places_.find(service);
  if (found == service_places_.end() || limit == 0) return {};
  std::vector<std::string_view> first;  // a heap, the greatest in front
  for (Place place = services_[found->second].first; place != kNone;
       place = entries_[place].service_next) {
    const std::string_view key = KeyOf(entries_[place]);
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

std::vector<Directory::ServiceCount> Directory::Services(const std::string& after,
                                                         std::size_t limit) const {
  std::vector<ServiceCount> out;
  for (auto it = service_places_.upper_bound(after); it != service_places_.end(); ++it) {
    if (out.size() == limit) break;
    const Service& service = services_[it->second];
    if (service.keys > 0 && !service.name.empty()) out.push_back({service.name, service.keys});
  }
  return out;
}

std::size_t Directory::CountOf(const std::string& service) const {
  const auto found = service_places_.find(service);
  return found == service_places_.end() ? 0 : services_[found->second].keys;
}

}  // namespace truce
