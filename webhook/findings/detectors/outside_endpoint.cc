// Detector outside-endpoint: ProviderConfigs whose endpoint is not AWS's. Mode warn: a host that
// leads to AWS all the same would evade every rule.
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "webhook/findings/examiner.h"

namespace truce {
namespace {

class EndpointsOutside final : public Examiner {
 public:
  void EndPass(const Examination& at) override {
    const IdentityRules& rules = at.around.policy->identity;
    std::vector<LiveFinding> found;
    for (const auto& [config, endpoint] : rules.outside) {
      const Slot slot{rules.cluster, config.group, config.kind, config.ns, config.name};
      LiveFinding finding{.detector = Detector::kOutsideEndpoint,
                          .subject = ToText(slot),
                          .resource = FullNameOf(slot)};
      const std::string host = OneLine(endpoint.host, kShownBytesMax);
      finding.cause = "Requests of " + finding.resource + " go to " + host + ", which is not AWS.";
      if (!endpoint.services.empty()) {
        finding.evidence = OneLine("those of " + Joined(endpoint.services), kShownBytesMax) + "; ";
      }
      const bool is_apart = HasNameSpace(rules, endpoint);
      finding.evidence += is_apart ? "a name space of its own, compared with nothing in AWS"
                                   : "counts as AWS: outsideEndpoints does not name it";
      if (is_apart && !rules.mappings.all().empty()) {
        finding.evidence +=
            "; what mappings read counts as AWS all the same, since they name no "
            "ProviderConfig: leave its namespaces out of theirs";
      }
      finding.remedy = is_apart
                           ? "If " + host +
                                 " leads to AWS, as a proxy does, leave it out of setting "
                                 "outsideEndpoints: then every rule holds for what is declared "
                                 "there."
                           : "If " + host +
                                 " is an emulator or a store of your own, name it in setting "
                                 "outsideEndpoints: then no name there is refused for one in AWS.";
      found.push_back(std::move(finding));
    }
    at.report(Detector::kOutsideEndpoint, std::move(found));
  }
};

}  // namespace

constinit const DetectorInfo kOutsideEndpointInfo{
    "outside-endpoint", Severity::kWarning,
    "A ProviderConfig sends its requests to another endpoint than AWS's.",
    "Field spec.endpoint of the ProviderConfig, as the watch showed it last. What it declares "
    "there is compared with nothing in AWS, unless setting outsideEndpoints leaves its host out.",
    Make<EndpointsOutside>};

}  // namespace truce
