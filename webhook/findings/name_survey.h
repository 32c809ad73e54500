// SurveyNames: lists what a cluster holds, takes the census of its names, and judges what it uses
// of others' resources.
#ifndef TRUCE_WEBHOOK_FINDINGS_NAME_SURVEY_H_
#define TRUCE_WEBHOOK_FINDINGS_NAME_SURVEY_H_

#include <memory>
#include <vector>

#include "policies/policy.h"
#include "registry/base/clock.h"
#include "webhook/findings/name_census.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/watch/kinds.h"

namespace truce {

class Store;

// References must outlive the call.
struct NameSurvey {
  ClusterApi& api;
  const Store& store;
  std::shared_ptr<const AdmissionPolicy> policy;  // never null
  std::vector<FollowedKind> kinds;                // to be listed
  Timestamp now{};
};

// Lists the kinds a page at a time, roots first, so that a resource counts for the service of the
// claim that asks for it. Nothing is kept between pages but counts, keys and listed violations.
// A kind that could not be listed before `deadline` is a problem in the report; so is a registry
// that does not answer. Blocks at most until `deadline` and the time of one page's judgement.
NameReport SurveyNames(const NameSurvey& survey, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_NAME_SURVEY_H_
