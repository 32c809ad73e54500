// RepeatedRefusals: resources that composite controllers are refused again and again.
//
// Crossplane 1.x tries a refused composed resource again at once, under a new random name, for as
// long as it is refused: 8 to 23 times a second, 0.6 core of the API server. From the third
// identical refusal within a minute on it is *standing*: its answers come late, and rule
// rerolled-names looks at the updates of its composite.
#ifndef TRUCE_WEBHOOK_ADMISSION_REPEATED_REFUSALS_H_
#define TRUCE_WEBHOOK_ADMISSION_REPEATED_REFUSALS_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "policies/finding.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/identity/identity.h"

namespace truce {

struct ReviewCase;

// Whether two refusals are the same: the root, the refused kind, rules and resources. A resource
// whose name is that of its object is another one at each try where that name is made up, so there
// only its kind counts.
struct RefusalTopic {
  std::uint64_t text = 0;

  bool operator==(const RefusalTopic&) const = default;
};
RefusalTopic TopicOf(const Slot& root, const ObjectFacts& object,
                     std::span<const Finding> findings);

// One refusal of a composed resource, at the time of the call.
struct ComposedRefusal {
  const ObjectRef& composite;  // its controller
  const Slot& object;          // that was refused
  RefusalTopic topic;
  const ReviewCase& asked;  // the refused question, to be asked again
};

// A standing refusal.
struct StandingRefusal {
  RefusalTopic topic;
  GroupKind kind;                           // of the refused objects
  std::vector<std::string> names;           // under which it was tried, the last ones
  std::shared_ptr<const ReviewCase> asked;  // the last try; null: too large, or too many are kept
  // Another try is due: the composite changed in something else since the last one, or that is
  // kTryAgain ago, and unseen parts of the composition may have changed.
  bool try_due = false;
};

inline constexpr std::size_t kRepetitionsFree = 3;  // identical ones that nobody waits for
inline constexpr std::chrono::seconds kRepetitionWindow{60};
// Twice a minute at most: a composition reads more than its composite (environments, extra
// resources), and other resources of that composite are only looked after when a try passes.
inline constexpr std::chrono::seconds kTryAgain{40};
// Composite controllers wait for a minute at most between two tries.
inline constexpr std::chrono::minutes kRefusalForgotten{10};
inline constexpr std::size_t kComposites = 2048;       // remembered; the one tried longest ago goes
inline constexpr std::size_t kTopicsOfComposite = 32;  // likewise
inline constexpr std::size_t kNamesOfTopic = 4;        // likewise
// Tries that are kept to be asked again, and the declarations of one: about 4 KiB each.
inline constexpr std::size_t kAskedMax = 4096;
inline constexpr std::size_t kAskedResourcesMax = 4;

// In memory only. Thread-safe; never blocks.
class RepeatedRefusals final {
 public:
  struct Repetition {
    std::uint64_t count = 0;  // this one included
    bool stands = false;      // it is one more after kRepetitionsFree
  };
  Repetition Note(const ComposedRefusal& refusal, Timestamp now);

  // False: nothing was refused to any composite controller, ever. As cheap as reading a number.
  bool any() const { return any_.load(std::memory_order_relaxed); }
  bool IsKnown(const Uid& composite) const;
  // The standing refusals of resources of `composite`.
  std::vector<StandingRefusal> StandingOf(const Uid& composite, Timestamp now);

  // The composite changed in something else than names of refused resources.
  void NoteChange(const Uid& composite);
  // A try that was due passes, or another one was kept back.
  void NotePassed(const Uid& composite);
  std::uint64_t NoteKeptBack(const Uid& composite, Timestamp now);
  // It would not be refused any more.
  void Forget(const Uid& composite, RefusalTopic topic);

 private:
  struct Topic {
    RefusalTopic topic;
    GroupKind kind;
    std::list<std::string> names;
    std::list<Timestamp> recent;  // the last kRepetitionsFree
    std::shared_ptr<const ReviewCase> asked;
    std::uint64_t count = 0;
    bool stands = false;
    Timestamp last{};
  };
  struct Composite {
    Uid uid;
    bool changed = false;
    std::uint64_t kept_back = 0;
    Timestamp last{};
    std::list<Topic> topics;  // the latest first
  };
  struct Book {
    std::list<Composite> composites;  // the latest first
    std::unordered_map<std::string, std::list<Composite>::iterator> by_uid;
  };

  static Composite* Find(Book& book, const Uid& uid);
  static Composite& Touch(Book& book, const Uid& uid);
  static Topic& Touch(Composite& composite, RefusalTopic topic);
  std::shared_ptr<const ReviewCase> Keep(const ReviewCase& asked) const;

  std::atomic<bool> any_{false};
  // Of all that are kept, wherever: each counts itself out.
  std::shared_ptr<std::atomic<std::size_t>> asked_ = std::make_shared<std::atomic<std::size_t>>(0);
  Guarded<Book> book_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_ADMISSION_REPEATED_REFUSALS_H_
