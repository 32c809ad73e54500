#include "webhook/watch/review_inbox.h"

#include <utility>

namespace truce {
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
