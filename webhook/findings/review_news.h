// ReviewNews: facts from the reviews of one server that only the leader of the cluster's servers,
// the one that watches, can use. They wait for it in the table "review_news".
#ifndef TRUCE_WEBHOOK_FINDINGS_REVIEW_NEWS_H_
#define TRUCE_WEBHOOK_FINDINGS_REVIEW_NEWS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/identity/values.h"
#include "registry/ownership/table.h"
#include "webhook/findings/watched_cluster.h"
#include "webhook/watch/review_inbox.h"

namespace truce {

class Store;

// A value. Bounded: at most kMax of each kind; news that do not fit are left to proof and polling.
struct ReviewNews {
  static constexpr std::size_t kMax = 10'000;

  ReviewInbox::Contents reviews;
  std::set<Slot> deletions;  // that composite controllers asked for
  std::set<Uid> checks;      // OwnershipChecks whose creation was reviewed and not refused
  std::set<ProviderAct> provider_acts;  // of users that no setting names

  bool empty() const {
    return reviews.empty() && deletions.empty() && checks.empty() && provider_acts.empty();
  }
  // Takes over what `more` has besides.
  void Add(const ReviewNews& more);
};

// One item of them.
struct NewsItem {
  enum class Sort : std::uint8_t { kAdmitted, kProve, kUnknown, kDeletion, kCheck, kProviderAct };
  Sort sort = Sort::kCheck;
  std::string about;  // kind, id of a resource, user
  std::string group;  // of a kind
  Uid uid;
  bool seen = false;  // state of the row to prove
  std::string slot;
};
std::string_view Name(NewsItem::Sort sort);
std::optional<NewsItem::Sort> NewsSortFromName(std::string_view name);
template <>
struct ColumnForm<NewsItem::Sort> : WordColumn<NewsItem::Sort, NewsSortFromName> {};
inline constexpr auto kReviewNewsTable = MakeTable<NewsItem>(
    "review_news", 6, StoredColumn("sort", &NewsItem::sort),
    StoredColumn("about", &NewsItem::about), StoredColumn("group", &NewsItem::group),
    StoredColumn("uid", &NewsItem::uid), StoredColumn("seen", &NewsItem::seen),
    StoredColumn("slot", &NewsItem::slot));

// Adds `news` to the table; those that do not fit, because nobody takes them, are dropped. Errors:
// those of the store.
Result<void> TellNews(Store& store, const ReviewNews& news, Deadline deadline);
// The leader's: takes everything out. Errors: those of the store; kConflict: another server leads.
Result<ReviewNews> TakeNews(Store& store, Deadline deadline);

// Where a server that is not the leader collects them. Thread-safe; never blocks for long.
class NewsBox final {
 public:
  void DeletionAsked(const Slot& slot);
  void CheckAdmitted(const Uid& uid);
  void ProviderActed(const ProviderAct& act);
  // News that could not be passed on.
  void PutBack(const ReviewNews& news);
  // Takes everything out.
  ReviewNews Take();

 private:
  Guarded<ReviewNews> news_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_REVIEW_NEWS_H_
