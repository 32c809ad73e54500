// Which Events are written on which objects: about findings, refused composed resources and a
// refused configuration.
//
// Crossplane tells a refusal only to the composite, and with 422 only in an Event; the claim, which
// is all that its author and Argo CD look at, never shows it. So the claim gets one too.
#ifndef TRUCE_WEBHOOK_FINDINGS_OBJECT_EVENTS_H_
#define TRUCE_WEBHOOK_FINDINGS_OBJECT_EVENTS_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "policies/review_record.h"
#include "registry/base/clock.h"
#include "registry/identity/identity.h"
#include "registry/ownership/terms.h"
#include "registry/store/store.h"
#include "webhook/findings/event_writer.h"
#include "webhook/findings/findings_book.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

struct Object;

// Knowledge of objects. Thread-safe; `store` must outlive it. Looking up may block for some
// seconds; without an answer of the registry by then an object is not known.
struct KnownObjects {
  const Store& store;
  std::function<std::optional<ServedKind>(const GroupKind&)> kind_of;  // as it is served

  std::optional<Object> BySlot(const Slot& slot) const;
  std::optional<Object> ByUid(const Uid& uid) const;
};

// A composed resource that was refused.
struct Refusal {
  std::string cluster;
  std::string kind;     // of the refused object: "Bucket"
  ObjectRef composite;  // its controller
  std::string text;     // of the denial; the first line is complete in itself
  std::string root;     // whose share of the room it takes
};

// A Warning Event, reason OwnershipRefused, for the composite and everything above it up to the
// claim; none for what is not known by name.
std::vector<ObjectEvent> EventsOf(const Refusal& refusal, const KnownObjects& objects);

// The Events of a finding that appeared or changed: one for each object concerned, at most eight.
// None for findings that concern the installation rather than an object. `discreet`: owners are not
// named to everybody (I8).
std::vector<ObjectEvent> EventsOf(const LiveFinding& finding, const KnownObjects& objects,
                                  bool discreet);

// Makes Events of reviews. Thread-safe; never blocks.
class ReviewEvents : public ReviewSink {
 public:
  // `objects` and `writer` must outlive the sink, and `objects` what `writer` still has to do.
  ReviewEvents(std::string cluster, const KnownObjects& objects, EventWriter& writer)
      : cluster_(std::move(cluster)), objects_(objects), writer_(writer) {}

 protected:
  const std::string cluster_;
  const KnownObjects& objects_;
  EventWriter& writer_;
};

// Turns refusals of composed resources into Events. Dry runs are left out.
class RefusalEvents final : public ReviewEvents {
 public:
  using ReviewEvents::ReviewEvents;
  void OnReview(const ReviewRecord& record) override;
};

// Turns every other refusal of an object with a namespace into a Warning Event there, reason
// OwnershipRefused, under the object's name: whoever looks at a namespace sees what was refused in
// it, and to whom it belongs as far as the refused user was told. A namespace has its share of the
// room. Dry runs, and objects that name nothing yet, are left out.
class DenialEvents final : public ReviewEvents {
 public:
  using ReviewEvents::ReviewEvents;
  void OnReview(const ReviewRecord& record) override;
};

// The Event that tells of a changed configuration which Truce refused: a Warning, reason
// ConfigurationRefused, on the ValidatingWebhookConfiguration `webhook`: of what belongs to Truce
// it is what every installation has. Asks the API server for its uid, without which `kubectl
// describe` does not show the Event; goes without when that does not answer.
ObjectEvent ConfigurationRefusedEvent(const std::string& webhook, const std::string& problem,
                                      ClusterApi& api, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_OBJECT_EVENTS_H_
