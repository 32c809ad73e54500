// How the server that watches the cluster passes its view to the others: the setting "view",
// written after a change, and "view.mark", which shows that it still watches.
#ifndef TRUCE_WEBHOOK_SERVE_SHARED_VIEW_EXCHANGE_H_
#define TRUCE_WEBHOOK_SERVE_SHARED_VIEW_EXCHANGE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "registry/base/clock.h"
#include "registry/base/random_id.h"
#include "registry/base/result.h"
#include "webhook/serve/shared/cluster_view.h"

namespace truce {

class Store;

// The watching server's side. External synchronization.
class ViewPublisher final {
 public:
  // So often the mark alone is written.
  static constexpr std::chrono::seconds kMarkEvery{1};

  // Writes `told` where it differs from what was written last, else the mark when it is due.
  // Durable on return. Errors: those of the store; kConflict: another server watches.
  Result<void> Tell(Store& store, const ToldView& told, Deadline deadline);

 private:
  const std::string server_ = NewId();
  std::optional<std::string> written_;  // the text that the registry has
  std::uint64_t texts_ = 0;
  std::uint64_t marks_ = 0;
  Deadline mark_due_{};
};

// The side of the others. External synchronization.
class ViewReader final {
 public:
  // A view that could not be confirmed for so long calls nothing free: the server that watches
  // counts on that (Watcher::kOthersSee).
  static constexpr std::chrono::seconds kConfirmed{3};
  // Nor does the view of a server that has shown no sign for so long.
  static constexpr std::chrono::seconds kSign{60};

  // Reads again; to be called each second. True: the view is another one. A first one counts once
  // its server shows a sign: it may be one of long ago. Errors: those of the store.
  Result<bool> Read(const Store& store, Deadline now, Deadline deadline);
  // Nothing: there was none yet.
  const std::optional<ToldView>& latest() const { return latest_; }
  // Since the last sign of the server that watches.
  std::chrono::milliseconds age(Deadline now) const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - sign_);
  }

 private:
  std::optional<ToldView> latest_;  // its life is life_
  std::shared_ptr<ViewLife> life_ = std::make_shared<ViewLife>();
  std::string text_id_;
  std::optional<std::string> mark_;  // as read last
  Deadline sign_{};                  // when the mark was seen to change last
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_SHARED_VIEW_EXCHANGE_H_
