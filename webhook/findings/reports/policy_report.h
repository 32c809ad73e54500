// Findings as the reports that Policy Reporter, Kyverno's tools and others read: PolicyReport and
// ClusterPolicyReport of wgpolicyk8s.io/v1alpha2, or Report and ClusterReport of
// openreports.io/v1alpha1, which have the same fields.
//
// One report named "truce" for each namespace that a finding concerns, and one of the cluster for
// what concerns the installation or objects without namespace.
#ifndef TRUCE_WEBHOOK_FINDINGS_REPORTS_POLICY_REPORT_H_
#define TRUCE_WEBHOOK_FINDINGS_REPORTS_POLICY_REPORT_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/findings/findings_book.h"
#include "webhook/kube/cluster_api.h"

namespace truce {

struct ReportKinds {
  ServedKind namespaced;
  ServedKind cluster;

  bool operator==(const ReportKinds&) const = default;
};
// Those of API group `group`; empty: wgpolicyk8s.io where it is served, else openreports.io, so
// that no finding is reported twice. Nothing: the API server does not serve both kinds.
std::optional<ReportKinds> ReportKindsOf(std::string_view group,
                                         const std::vector<ServedKind>& served);

// Name of each report object.
inline constexpr std::string_view kReportName = "truce";

// The worst findings of a namespace; one result more says how many there are besides.
inline constexpr std::size_t kReportResultsMax = 100;
// Namespaces that get a report, by name; the cluster's report says how many got none.
inline constexpr std::size_t kReportNamespacesMax = 500;

// Data of reports beside the findings.
struct ReportContext {
  // The version in which a kind is served; nothing: it is not followed.
  std::function<std::optional<ServedKind>(const GroupKind&)> kind_of;
  bool discreet = false;  // owners are not named to everybody (I8)
};

// `results` and `summary` as JSON, by namespace; empty: the cluster's. Equal for equal findings:
// what changes from look to look (the evidence) is left out.
std::map<std::string, std::string> ReportsOf(const std::vector<LiveFinding>& findings,
                                             const ReportContext& context);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_REPORTS_POLICY_REPORT_H_
