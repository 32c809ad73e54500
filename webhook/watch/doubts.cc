#include "webhook/watch/doubts.h"

#include <utility>

namespace truce {

void DoubtBoard::Doubt(const Slot& slot, std::string text) {
  board_.With([&](Board& board) {
    board.slots[slot] = std::move(text);
    any_.store(true, std::memory_order_release);
  });
}

void DoubtBoard::Settle(const Slot& slot) {
  if (!any_.load(std::memory_order_acquire)) return;
  board_.With([&](Board& board) {
    board.slots.erase(slot);
    any_.store(!board.slots.empty() || !board.kinds.empty(), std::memory_order_release);
  });
}

void DoubtBoard::DoubtKind(const GroupKind& kind, std::string text) {
  board_.With([&](Board& board) {
    if (text.empty()) {
      board.kinds.erase(kind);
    } else {
      board.kinds[kind] = std::move(text);
    }
    any_.store(!board.slots.empty() || !board.kinds.empty(), std::memory_order_release);
  });
}

DoubtBoard::Board DoubtBoard::Told() const {
  Board told;
  if (!any_.load(std::memory_order_acquire)) return told;
  board_.With([&](const Board& board) {
    for (const auto& slot : board.slots) {
      if (told.slots.size() < kToldMax) told.slots.insert(slot);
    }
    for (const auto& kind : board.kinds) {
      if (told.kinds.size() < kToldMax) told.kinds.insert(kind);
    }
  });
  return told;
}

void DoubtBoard::Take(Board board) {
  board_.With([&](Board& now) {
    now = std::move(board);
    any_.store(!now.slots.empty() || !now.kinds.empty(), std::memory_order_release);
  });
}

std::string DoubtBoard::DoubtOf(const Slot& slot) const {
  if (!any_.load(std::memory_order_acquire)) return {};
  return board_.With([&](const Board& board) -> std::string {
    if (const auto found = board.slots.find(slot); found != board.slots.end()) {
      return found->second;
    }
    const auto found = board.kinds.find(GroupKind{slot.group, slot.kind});
    return found == board.kinds.end() ? std::string() : found->second;
  });
}

std::size_t DoubtBoard::size() const {
  return board_.With([](const Board& board) { return board.slots.size() + board.kinds.size(); });
}

namespace {

template <typename Set, typename Item>
void InsertBounded(Set& set, const Item& item) {
  if (set.size() < ReviewInbox::kMax) set.insert(item);
}

}  // namespace

void ReviewInbox::Admitted(const GroupKind& kind) {
  contents_.With([&](Contents& contents) { InsertBounded(contents.admitted, kind); });
  any_.store(true, std::memory_order_release);
}

void ReviewInbox::Prove(const std::vector<RowId>& rows) {
  if (rows.empty()) return;
  contents_.With([&](Contents& contents) {
    for (const RowId& row : rows) InsertBounded(contents.prove, row);
  });
  any_.store(true, std::memory_order_release);
}

void ReviewInbox::Unknown(const Slot& slot) {
  contents_.With([&](Contents& contents) { InsertBounded(contents.unknown, slot); });
  any_.store(true, std::memory_order_release);
}

ReviewInbox::Contents ReviewInbox::Take() {
  if (!any_.exchange(false, std::memory_order_acq_rel)) return {};
  return contents_.With([](Contents& contents) { return std::exchange(contents, {}); });
}

}  // namespace truce
