#include "tests/support/power_journal.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "registry/base/assert.h"

namespace truce::testing {
namespace {

constexpr std::size_t kSectorBytes = 512;

void Place(std::string& content, std::size_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

// Which sectors of one write are kept.
class Choice {
 public:
  Choice(Keep keep, std::mt19937_64& random) : keep_(keep), random_(random) {
    if (keep_ != Keep::kAnything) return;
    constexpr std::array kOthers = {Keep::kNothing, Keep::kHalf, Keep::kMost, Keep::kBeginning,
                                    Keep::kAll};
    keep_ = kOthers[random_() % kOthers.size()];
  }

  // The first `n` of `count` are kept whatever is random about the rest.
  std::size_t Beginning(std::size_t count) {
    return keep_ == Keep::kBeginning ? random_() % (count + 1) : 0;
  }

  bool Keeps() {
    switch (keep_) {
      case Keep::kAll: return true;
      case Keep::kHalf: return random_() % 2 == 0;
      case Keep::kMost: return random_() % 16 != 0;
      case Keep::kNothing:
      case Keep::kBeginning:
      case Keep::kAnything: return false;
    }
    return false;
  }

 private:
  Keep keep_;
  std::mt19937_64& random_;
};

}  // namespace

int PowerJournal::Make(const std::string& name) {
  const auto known = names_.find(name);
  if (known != names_.end()) return known->second;
  entries_.push_back({Step::kMake, files_++, 0, name, {}});
  Apply(entries_.back(), names_);
  return files_ - 1;
}

void PowerJournal::Remove(const std::string& name) {
  entries_.push_back({Step::kRemove, -1, 0, name, {}});
  Apply(entries_.back(), names_);
}

void PowerJournal::Rename(const std::string& from, const std::string& to) {
  entries_.push_back({Step::kRename, -1, 0, from, to});
  Apply(entries_.back(), names_);
}

void PowerJournal::Link(const std::string& from, const std::string& to) {
  entries_.push_back({Step::kLink, -1, 0, from, to});
  Apply(entries_.back(), names_);
}

void PowerJournal::SyncFolder() { entries_.push_back({Step::kSyncFolder, -1, 0, {}, {}}); }

void PowerJournal::Write(int file, std::size_t offset, std::string bytes) {
  entries_.push_back({Step::kWrite, file, offset, std::move(bytes), {}});
}

void PowerJournal::Truncate(int file, std::size_t size) {
  entries_.push_back({Step::kTruncate, file, size, {}, {}});
}

void PowerJournal::Sync(int file) { entries_.push_back({Step::kSync, file, 0, {}, {}}); }

void PowerJournal::LoseSync(int file) { entries_.push_back({Step::kLoseSync, file, 0, {}, {}}); }

void PowerJournal::Note(const std::string& what) {
  entries_.push_back({Step::kNote, -1, 0, what, {}});
}

void PowerJournal::Apply(const Entry& entry, Names& names) {
  switch (entry.step) {
    case Step::kMake: names[entry.text] = entry.file; return;
    case Step::kRemove: names.erase(entry.text); return;
    case Step::kLink: names[entry.to] = names.at(entry.text); return;
    case Step::kRename:
      names[entry.to] = names.at(entry.text);
      names.erase(entry.text);
      return;
    case Step::kSyncFolder:
    case Step::kWrite:
    case Step::kTruncate:
    case Step::kSync:
    case Step::kLoseSync:
    case Step::kNote: TRUCE_ASSERT(false);
  }
}

void PowerJournal::Apply(const Entry& entry, OnDisk& disk) {
  switch (entry.step) {
    case Step::kMake:
    case Step::kRemove:
    case Step::kRename:
    case Step::kLink: disk.pending_names.push_back(&entry); return;
    case Step::kSyncFolder:
      for (const Entry* name : std::exchange(disk.pending_names, {})) Apply(*name, disk.names);
      return;
    case Step::kWrite:
    case Step::kTruncate: disk.files[entry.file].pending.push_back(&entry); return;
    case Step::kSync: {
      std::mt19937_64 unused;
      Settle(disk.files[entry.file], Keep::kAll, unused);
      return;
    }
    case Step::kLoseSync: {
      // The same at each cut: it happened once.
      std::mt19937_64 random(entry.place + disk.files[entry.file].pending.size());
      Settle(disk.files[entry.file], Keep::kAnything, random);
      return;
    }
    case Step::kNote: return;
  }
}

// Nothing is pending any more: it is on the disk, or lost.
void PowerJournal::Settle(FileOnDisk& file, Keep keep, std::mt19937_64& random) {
  for (const Entry* entry : std::exchange(file.pending, {})) {
    Choice choice(keep, random);
    if (entry->step == Step::kTruncate) {
      if (choice.Keeps()) file.content.resize(entry->place);
      continue;
    }
    const std::string_view bytes = entry->text;
    // From one border of a sector to the next.
    const std::size_t sectors = bytes.size() / kSectorBytes + 2;
    const std::size_t beginning = choice.Beginning(sectors);
    std::size_t begin = 0;
    for (std::size_t sector = 0; begin < bytes.size(); ++sector) {
      const std::size_t border =
          (entry->place + begin) / kSectorBytes * kSectorBytes + kSectorBytes - entry->place;
      const std::size_t end = std::min(border, bytes.size());
      if (sector < beginning || choice.Keeps()) {
        Place(file.content, entry->place + begin, bytes.substr(begin, end - begin));
      }
      begin = end;
    }
    // Its size may be there without its bytes.
    const std::size_t size = entry->place + bytes.size();
    if (keep != Keep::kNothing && file.content.size() < size && random() % 2 == 0) {
      file.content.resize(size);
    }
  }
}

Remains PowerJournal::CutAt(std::size_t moment, Keep keep, std::mt19937_64& random) const {
  OnDisk disk;
  Remains remains;
  for (std::size_t i = 0; i < moment; ++i) {
    const Entry& entry = entries_.at(i);
    Apply(entry, disk);
    if (entry.step == Step::kNote) remains.notes.insert(entry.text);
  }
  std::size_t kept = random() % (disk.pending_names.size() + 1);
  if (keep == Keep::kNothing) kept = 0;
  if (keep == Keep::kAll) kept = disk.pending_names.size();
  for (std::size_t i = 0; i < kept; ++i) Apply(*disk.pending_names[i], disk.names);
  for (auto& [number, file] : disk.files) Settle(file, keep, random);
  for (const auto& [name, number] : disk.names) remains.files[name] = disk.files[number].content;
  return remains;
}

}  // namespace truce::testing
