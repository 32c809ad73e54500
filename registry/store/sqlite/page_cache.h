// PageCache: SQLite's own cache of pages, but for what it does when a transaction ends.
#ifndef TRUCE_REGISTRY_STORE_SQLITE_PAGE_CACHE_H_
#define TRUCE_REGISTRY_STORE_SQLITE_PAGE_CACHE_H_

#include <algorithm>

namespace truce {

// A bound of the numbers in a set that is not kept itself: at least the highest, and the highest
// again after a higher one was added and removed. External synchronization.
class NumberBound {
 public:
  // The set has `number` now; it may have had it before.
  void Add(unsigned number) {
    if (number > top_) {
      below_top_ = top_;
      top_ = number;
    } else if (number < top_) {
      below_top_ = std::max(below_top_, number);
    }
  }
  // The set has `number` no more. A removal that is not told only makes the bound less tight.
  void Remove(unsigned number) {
    if (number == top_) top_ = below_top_;
  }
  // The set has no number from `limit`, at least 1, on.
  void Cut(unsigned limit) {
    top_ = std::min(top_, limit - 1);
    below_top_ = std::min(below_top_, limit - 1);
  }
  // False: the set has none from `limit` on.
  bool MayReach(unsigned limit) const { return top_ >= limit; }

 private:
  unsigned top_ = 0;        // no number is above it
  unsigned below_top_ = 0;  // none but top_ is above it
};

// When a transaction ends, SQLite drops the pages beyond the end of the database, and looks at
// every page it holds if one can be there. Its cache thinks so after every split of a B-tree, where
// a page bears a number far beyond the end for a moment: a walk through the whole cache at nearly
// each commit. A layer over the cache keeps a bound of the numbers in it that forgets such a
// moment.
//
// For all connections of the process that are opened from now on. Idempotent; thread-safe. Best
// effort: without effect when SQLite was in use before.
void LayerPageCache();

}  // namespace truce

#endif  // TRUCE_REGISTRY_STORE_SQLITE_PAGE_CACHE_H_
