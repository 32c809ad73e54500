#include "registry/store/sqlite/signposts.h"

#include <algorithm>
#include <functional>
#include <mutex>

namespace truce {
namespace {

constexpr std::size_t kPlacesMin = 64;
// For so many commits a deleted row keeps its signpost: longer than short reads take, and little
// memory.
constexpr std::uint64_t kCommitsKept = 1000;

std::uint32_t HashOf(std::string_view text) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(text));
}

}  // namespace

Signposts::Signposts() : mask_(kPlacesMin - 1), hashes_(kPlacesMin), ids_(kPlacesMin) {}

std::optional<std::vector<std::int64_t>> Signposts::Find(std::string_view text,
                                                         std::uint64_t version) const {
  const Hash hash = HashOf(text);
  std::vector<std::int64_t> found;
  std::shared_lock lock(mutex_);
  if (version + kCommitsKept < version_) return std::nullopt;
  for (std::size_t place = hash & mask_; ids_[place] != 0; place = (place + 1) & mask_) {
    const std::int64_t id = ids_[place];
    if (hashes_[place] != hash) continue;
    if (std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
  }
  return found;
}

void Signposts::Add(std::string_view text, std::int64_t id) {
  const Entry entry(HashOf(text), id);
  std::unique_lock lock(mutex_);
  Insert(entry);
  added_.push_back(entry);
}

void Signposts::Drop(std::string_view text, std::int64_t id) {
  std::unique_lock lock(mutex_);
  dropped_.emplace_back(HashOf(text), id);
}

void Signposts::Commit(std::uint64_t version) {
  std::unique_lock lock(mutex_);
  version_ = version;
  added_.clear();
  for (const Entry& entry : dropped_) leaving_.emplace_back(version, entry);
  dropped_.clear();
  while (!leaving_.empty() && leaving_.front().first + kCommitsKept < version) {
    Erase(leaving_.front().second);
    leaving_.pop_front();
  }
}

void Signposts::Rollback() {
  std::unique_lock lock(mutex_);
  for (const Entry& entry : added_) Erase(entry);
  added_.clear();
  dropped_.clear();
}

void Signposts::Load(std::string_view text, std::int64_t id) {
  std::unique_lock lock(mutex_);
  Insert({HashOf(text), id});
}

void Signposts::LoadVersion(std::uint64_t version) {
  std::unique_lock lock(mutex_);
  version_ = version;
}

void Signposts::Insert(Entry entry) {
  // At most 3 of 4 places are taken: probes stay short, and one of them is always free.
  if ((size_ + 1) * 4 > (mask_ + 1) * 3) Grow();
  std::size_t place = entry.first & mask_;
  while (ids_[place] != 0) place = (place + 1) & mask_;
  hashes_[place] = entry.first;
  ids_[place] = entry.second;
  ++size_;
}

// One of several equal entries: a row's id may serve again while its old signpost stands.
void Signposts::Erase(Entry entry) {
  std::size_t hole = entry.first & mask_;
  while (ids_[hole] != 0 && Entry(hashes_[hole], ids_[hole]) != entry) hole = (hole + 1) & mask_;
  if (ids_[hole] == 0) return;
  ids_[hole] = 0;
  --size_;
  // Followers that were pushed beyond the hole move back into it, so that a probe never ends too
  // early.
  for (std::size_t place = (hole + 1) & mask_; ids_[place] != 0; place = (place + 1) & mask_) {
    const std::size_t home = hashes_[place] & mask_;
    if (((place - home) & mask_) < ((place - hole) & mask_)) continue;
    hashes_[hole] = hashes_[place];
    ids_[hole] = ids_[place];
    ids_[place] = 0;
    hole = place;
  }
}

void Signposts::Grow() {
  const std::size_t places = (mask_ + 1) * 2;
  const std::vector<Hash> hashes = std::exchange(hashes_, std::vector<Hash>(places));
  const std::vector<std::int64_t> ids = std::exchange(ids_, std::vector<std::int64_t>(places));
  mask_ = places - 1;
  for (std::size_t old = 0; old < ids.size(); ++old) {
    if (ids[old] == 0) continue;
    std::size_t place = hashes[old] & mask_;
    while (ids_[place] != 0) place = (place + 1) & mask_;
    hashes_[place] = hashes[old];
    ids_[place] = ids[old];
  }
}

}  // namespace truce
