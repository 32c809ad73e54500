#include "webhook/watch/unresolved_holders.h"

#include <utility>

namespace truce {

void UnresolvedHolders::Add(const Slot& slot, std::string text) {
  holders_.With([&](Holders& holders) {
    holders.slots[slot] = std::move(text);
    any_.store(true, std::memory_order_release);
  });
}

void UnresolvedHolders::Remove(const Slot& slot) {
  if (!any_.load(std::memory_order_acquire)) return;
  holders_.With([&](Holders& holders) {
    holders.slots.erase(slot);
    any_.store(!holders.slots.empty() || !holders.kinds.empty(), std::memory_order_release);
  });
}

void UnresolvedHolders::SetKind(const GroupKind& kind, std::string text) {
  holders_.With([&](Holders& holders) {
    if (text.empty()) {
      holders.kinds.erase(kind);
    } else {
      holders.kinds[kind] = std::move(text);
    }
    any_.store(!holders.slots.empty() || !holders.kinds.empty(), std::memory_order_release);
  });
}

UnresolvedHolders::Holders UnresolvedHolders::All() const {
  Holders out;
  if (!any_.load(std::memory_order_acquire)) return out;
  holders_.With([&](const Holders& holders) {
    for (const auto& slot : holders.slots) {
      if (out.slots.size() < kMax) out.slots.insert(slot);
    }
    for (const auto& kind : holders.kinds) {
      if (out.kinds.size() < kMax) out.kinds.insert(kind);
    }
  });
  return out;
}

void UnresolvedHolders::Replace(Holders holders) {
  holders_.With([&](Holders& now) {
    now = std::move(holders);
    any_.store(!now.slots.empty() || !now.kinds.empty(), std::memory_order_release);
  });
}

std::string UnresolvedHolders::ReasonOf(const Slot& slot) const {
  if (!any_.load(std::memory_order_acquire)) return {};
  return holders_.With([&](const Holders& holders) -> std::string {
    if (const auto found = holders.slots.find(slot); found != holders.slots.end()) {
      return found->second;
    }
    const auto found = holders.kinds.find(GroupKind{slot.group, slot.kind});
    return found == holders.kinds.end() ? std::string() : found->second;
  });
}

std::size_t UnresolvedHolders::size() const {
  return holders_.With(
      [](const Holders& holders) { return holders.slots.size() + holders.kinds.size(); });
}

}  // namespace truce
