// ReviewNews: facts from the reviews of one server that only the leader of the cluster's servers,
// the one that watches, can use.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_REVIEW_NEWS_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_REVIEW_NEWS_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "registry/base/guarded.h"
#include "registry/identity/values.h"
#include "webhook/findings/watched_cluster.h"
#include "webhook/watch/doubts.h"

namespace truce {

// A value. Bounded: at most kMax of each kind; what does not fit is left to proof and polling.
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

nlohmann::json ToJson(const ReviewNews& news);
// The readable parts of it: losing some does no harm.
ReviewNews NewsFromJson(const nlohmann::json& json);

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

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_REVIEW_NEWS_H_
