// What the cluster tells, for the API's callers; the handlers are those of cluster_routes.h and of
// the trial.
#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>

#include "webhook/api/cluster_routes.h"
#include "webhook/api/rest/operations.h"
#include "webhook/api/review_books.h"
#include "webhook/api/use_log.h"

namespace truce {
namespace {

// What an operation takes and needs.
struct ReportRule {
  std::string_view path;
  std::initializer_list<std::string_view> parameters;
  Permission permission;
  std::string_view use = {};   // in the audit log; empty: the handler writes its own line
  bool lists_cluster = false;  // costs much
};

constexpr Permission kReads = {"ownerships", "", "get", ""};

// Whoever starts a second list before the first one is there waits for two.
class Turn final {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken), has_(!taken.exchange(true)) {}
  ~Turn() {
    if (has_) taken_.store(false);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  bool has() const { return has_; }

 private:
  std::atomic<bool>& taken_;
  const bool has_;
};

const ReportRule& ReportRuleOf(std::string_view path) {
  static const std::array<ReportRule, 10> kRules = {{
      {"/api/v1/conflicts", {"limit", "cursor", "output"}, kReads, "conflicts"},
      {"/api/v1/coverage", {"output"}, kReads, "coverage"},
      {"/api/v1/baseline", {"output"}, kReads, "baseline", true},
      {"/api/v1/names", {"output"}, kReads, "names", true},
      {"/api/v1/trial", {"since"}, kReads, "trial"},
      {"/api/v1/recovery", {}, kReads, "recovery"},
      {"/api/v1/brake", {}, kReads, "brake"},
      {"/api/v1/recovery/start", {}, {"recovery", "", "update", ""}},
      {"/api/v1/recovery/finish", {}, {"recovery", "", "update", ""}},
      {"/api/v1/brake/release", {}, {"brake", "", "update", ""}},
  }};
  for (const ReportRule& rule : kRules) {
    if (rule.path == path) return rule;
  }
  // None is reachable by accident.
  static const ReportRule kNobody = {"", {}, {"", "", "", ""}};
  return kNobody;
}

}  // namespace

std::vector<HttpRoute> ClusterApiRoutes(const RestApi& rest, ClusterPorts ports,
                                        const TrialBook& trials, UseLog& uses) {
  std::vector<ClusterOperation> operations = ClusterOperations(ports);
  operations.push_back({"GET", "/api/v1/trial", [&trials](const HttpRequest& request, const auto&) {
                          return AnswerTrial(trials, request);
                        }});
  const auto listing = std::make_shared<std::atomic<bool>>(false);
  std::vector<HttpRoute> out;
  for (ClusterOperation& each : operations) {
    const ReportRule& rule = ReportRuleOf(each.path);
    const auto operation = [&rest, &uses, &rule, listing, handler = std::move(each.handler)](
                               RestCall& call) -> Result<HttpResponse> {
      TRUCE_RETURN_IF_ERROR(call.AllowOnly(rule.parameters));
      if (auto refusal = rest.Refuse(call, rule.permission)) return *std::move(refusal);
      std::optional<Turn> turn;
      if (rule.lists_cluster) turn.emplace(*listing);
      if (turn && !turn->has()) {
        return ProblemResponse(ProblemType::kTooManyRequests,
                               "another report that lists the cluster is being made");
      }
      const std::string actor = ActorOf(call.caller);
      HttpResponse response = handler(call.request, actor);
      if (rule.use.empty() || response.status != 200) return response;
      TRUCE_RETURN_IF_ERROR(uses.Note(actor, rule.use, call.deadline));
      return response;
    };
    out.push_back(rest.Authenticated(each.method, each.path, RouteMatch::kExact, operation));
  }
  return out;
}

}  // namespace truce
