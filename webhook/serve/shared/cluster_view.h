// ClusterView: the facts about the cluster that reviews need, and the text in which the server that
// watches the cluster passes them to the others.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_VIEW_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_VIEW_H_

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "registry/base/clock.h"
#include "registry/identity/values.h"
#include "webhook/watch/doubts.h"
#include "webhook/watch/watcher.h"

namespace truce {

// Until when a server may call a key free by another server's view. Thread-safe.
class ViewLife final {
 public:
  void Extend(Deadline until) { until_.store(until, std::memory_order_relaxed); }
  bool IsOver(Deadline now) const { return now >= until_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Deadline> until_{Deadline::min()};
};

// A value.
struct ClusterView {
  bool ready = false;  // every kind was attempted once
  LearnedIdentity learned;
  std::string recovery;  // not empty: recovery mode, and why
  // Types with a served kind that was not listed yet: whether a key is free is not known. True: not
  // for longer than the grace, so that it is only warned of.
  std::map<std::string, bool> unlisted;
  // Kinds that cannot be read now (Watcher::Unwatched), and of them those without mapping rule.
  std::set<GroupKind> unwatched;
  std::map<GroupKind, Timestamp> unmapped;
  bool is_told = false;                       // by another server, which leads
  std::shared_ptr<const ViewLife> life = {};  // null: the registry has no other servers

  bool operator==(const ClusterView&) const = default;
};

// A view as the server that watches sends it to the others; a value.
struct ToldView {
  ClusterView view;  // ready, its own
  std::map<GroupKind, Timestamp> unseen;
  DoubtBoard::Board doubts;

  bool operator==(const ToldView&) const = default;
};
std::string ToText(const ToldView& told);
// Nothing: it is no such text, or one of another version that lacks something.
std::optional<ToldView> ToldViewFromText(std::string_view text);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_CLUSTER_VIEW_H_
