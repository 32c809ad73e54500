#include "registry/store/sqlite/known.h"

#include <mutex>
#include <utility>

#include "registry/store/tally.h"

namespace truce {

void NameChanges::Put(const ResourceName& name) {
  by_name_.insert_or_assign(name.name, &name);
  by_key_.emplace(name.key, &name);
}

void NameChanges::Drop(const KeyText& name) { by_name_.insert_or_assign(name, nullptr); }

void NameChanges::clear() {
  by_name_.clear();
  by_key_.clear();
}

std::vector<const ResourceName*> NameChanges::PutAt(const KeyText& key) const {
  std::vector<const ResourceName*> put;
  const auto [first, last] = by_key_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (by_name_.at(it->second->name) == it->second) put.push_back(it->second);
  }
  return put;
}

Result<void> Known::OwnerOf(const KeyText& key, std::optional<Owner>& owner,
                            std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return owners_.Find(key.text, owner);
}

Known::Presence Known::PresenceOf(const KeyText& key) const {
  std::shared_lock lock(mutex_);
  const bool has_owner = owners_.Contains(key.text);
  return {has_owner, has_owner || without_owner_.contains(key.text), version_};
}

std::optional<ResourceName> Known::FurtherName(const KeyText& name, std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return names_.Find(name.text);
}

std::vector<ResourceName> Known::FurtherNamesOf(const KeyText& key, std::uint64_t& version) const {
  std::shared_lock lock(mutex_);
  version = version_;
  return names_.OfKey(key.text);
}

StoreCounts Known::Counts() const {
  std::shared_lock lock(mutex_);
  StoreCounts counts = counts_;
  counts.conflicts = conflicts_.size();
  return counts;
}

void Known::Commit(const Written& written, std::uint64_t version) {
  std::unique_lock lock(mutex_);
  for (const auto& [key, change] : written.keys) Bring(key, change);
  for (const auto& [text, name] : written.names.by_name()) {
    name == nullptr ? names_.Erase(text.text) : names_.Put(*name);
  }
  version_ = version;
}

void Known::Bring(const KeyText& key, const KeyChange& change) {
  if (change.owner_changed) {
    if (const auto before = owners_.StateOf(key.text)) {
      CountOut(counts_, before->first, before->second);
    }
    if (change.owner != nullptr) {
      CountIn(counts_, change.owner->record, change.owner->state);
      owners_.Put(*change.owner);
    } else {
      owners_.Erase(key.text);
    }
  }
  if (change.has_rows && !owners_.Contains(key.text)) {
    without_owner_.insert(key.text);
  } else {
    without_owner_.erase(key.text);
  }
  if (change.conflicting) {
    conflicts_.insert(key.text);
  } else {
    conflicts_.erase(key.text);
  }
}

void Known::LoadOwner(const OwnerTexts& texts) {
  std::unique_lock lock(mutex_);
  CountIn(counts_, texts.record, texts.state);
  owners_.Put(texts);
}

void Known::LoadRowsWithoutOwner(std::string_view key) {
  std::unique_lock lock(mutex_);
  without_owner_.emplace(key);
}

void Known::LoadConflict(std::string_view key) {
  std::unique_lock lock(mutex_);
  conflicts_.emplace(key);
}

void Known::LoadName(const ResourceName& name) {
  std::unique_lock lock(mutex_);
  names_.Put(name);
}

void Known::LoadVersion(std::uint64_t version) {
  std::unique_lock lock(mutex_);
  version_ = version;
}

}  // namespace truce
