#include "registry/store/sqlite/signposts.h"

#include <algorithm>
#include <mutex>

namespace truce {
namespace {

// For so many commits a deleted row keeps its signpost: longer than short reads take, and little
// memory.
constexpr std::uint64_t kCommitsKept = 1000;

}  // namespace

std::optional<std::vector<std::int64_t>> Signposts::Find(std::string_view text,
                                                         std::uint64_t version) const {
  std::vector<std::int64_t> found;
  std::shared_lock lock(mutex_);
  if (version + kCommitsKept < version_) return std::nullopt;
  table_.Find(HashOf(text), [&](std::int64_t id) {
    if (std::find(found.begin(), found.end(), id) == found.end()) found.push_back(id);
    return false;
  });
  return found;
}

void Signposts::Add(std::string_view text, std::int64_t id) {
  const Entry entry(HashOf(text), id);
  std::unique_lock lock(mutex_);
  table_.Insert(entry.first, entry.second);
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
  table_.Insert(HashOf(text), id);
}

void Signposts::LoadVersion(std::uint64_t version) {
  std::unique_lock lock(mutex_);
  version_ = version;
}

// One of several equal entries: a row's id may serve again while its old signpost stands.
void Signposts::Erase(const Entry& entry) {
  table_.Erase(entry.first, [&](std::int64_t id) { return id == entry.second; });
}

}  // namespace truce
