// Detector webhook-configuration: whether the API server really asks Truce. Reads a
// ValidatingWebhookConfiguration and compares it with the demands below. Pure.
#ifndef TRUCE_WEBHOOK_FINDINGS_WEBHOOK_CONFIGURATION_H_
#define TRUCE_WEBHOOK_FINDINGS_WEBHOOK_CONFIGURATION_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/document.h"
#include "webhook/findings/findings_book.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/wire/endpoints.h"

namespace truce {

// Whether `expression` is kUpdateCondition, white space apart, or that of versions before there was
// an entry for finalizers, which sends what that one sends, too.
bool IsUpdateCondition(std::string_view expression);

struct WebhookRule {
  std::vector<std::string> groups;  // "*" = all
  std::vector<std::string> versions;
  std::vector<std::string> resources;   // "buckets", "*", "*/*", "buckets/status"
  std::vector<std::string> operations;  // "CREATE", "*"
  std::string scope;                    // "Cluster", "Namespaced", "*"; empty = "*"
};

struct SelectorTerm {
  std::string key;
  std::string op;  // "In", "NotIn", "Exists", "DoesNotExist"
  std::vector<std::string> values;

  bool operator==(const SelectorTerm&) const = default;
};

struct WebhookEntry {
  std::string name;     // "declarations.truce.dev"
  std::string service;  // "namespace/name:port"; empty when `url` is used
  std::string url;
  std::string path;       // of the service or the url
  std::string ca_bundle;  // PEM, decoded; empty: none
  std::string failure_policy;
  std::string match_policy;
  std::vector<WebhookRule> rules;
  std::vector<std::pair<std::string, std::string>> conditions;  // name, expression
  std::vector<SelectorTerm> namespace_selector;
  std::vector<SelectorTerm> object_selector;
};

struct WebhookConfiguration {
  std::string name;
  std::vector<WebhookEntry> entries;
};

// Nothing when `object` names another kind, or itself not.
std::optional<WebhookConfiguration> ReadWebhookConfiguration(Value object);

// The demands on it.
struct ExpectedWebhook {
  std::string name = "truce";  // metadata.name; the setting webhookConfiguration
  EndpointTexts paths;         // where reviews are answered, with their secrets; never shown
  // Nothing but these secrets shows that reviews are the API server's, and nobody has accepted
  // (setting acceptSecretInErrors) that it prints them.
  bool secret_alone = false;
  std::vector<ServedKind> kinds;  // whose CREATE, UPDATE and DELETE must come to Truce
  // Those of truce.dev that the API server serves; their operations that must come to Truce:
  // OwnershipCheck CREATE, DeclarationMapping and NamingPolicy CREATE and UPDATE.
  std::vector<ServedKind> own_kinds;
  // Conditions (name, expression) of the entry for changes of statuses; nothing: the setting
  // statusGuard is off, and there need be none.
  std::optional<std::vector<std::pair<std::string, std::string>>> status;
  bool statuses_deny = true;             // rule status-names is not made laxer
  std::vector<ServedKind> status_kinds;  // whose changes of status must come to Truce
  std::string failure_policy;            // "Ignore", "Fail"; empty: either
  std::string rival;  // who keeps writing what Truce writes itself; empty: nobody does
  // Whether API servers that trust this PEM bundle trust our serving certificate; null: not
  // checked.
  std::function<bool(std::string_view)> trusts;
};

// Entries that send declarations or their deletions to Truce; not that for finalizers, which is for
// updates that declare nothing.
std::vector<const WebhookEntry*> DeclarationEntries(const WebhookConfiguration& configuration,
                                                    const EndpointTexts& paths);

// Whether one of `entries` sends `operation` ("CREATE") of `kind` to Truce, selectors and
// conditions apart.
bool IsSent(const std::vector<const WebhookEntry*>& entries, const ServedKind& kind,
            std::string_view operation);

// Whether `term` leaves out nothing but namespaces by their immutable name.
bool ExcludesByNameOnly(const SelectorTerm& term);

// Everything that is wrong, a finding each (subject "<configuration>/<fault>"): missing; no entry
// for the path; no or wrong CA bundle; kinds without rule; match policy too narrow; a condition
// that is not IsUpdateCondition (none at all only costs calls); selectors by labels; another
// failure policy; Fail where a failing call prints a secret that writes; deletions, and the updates
// by which they end, that fail with Truce or are not sent; own kinds that are not sent, sent
// elsewhere, or OwnershipChecks that pass while Truce is away; changes of statuses that are not
// sent, or left out for users that the settings do not name. Null: it does not exist.
std::vector<LiveFinding> CheckWebhookConfiguration(const WebhookConfiguration* configuration,
                                                   const ExpectedWebhook& expected);

// Whether `finding`, one of those, says that deletions of known resources do not reach Truce.
bool KeepsDeletionsAway(const LiveFinding& finding);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_WEBHOOK_CONFIGURATION_H_
