#include "webhook/findings/webhook_configuration.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "policies/finding.h"
#include "policies/policy.h"
#include "webhook/findings/examiner.h"
#include "webhook/wire/base64.h"

namespace truce {

namespace {

constexpr std::size_t kSettingBytesMax = 200;
constexpr std::size_t kKindsNamedMax = 5;
constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
constexpr std::string_view kChart =
    "Let the chart write the configuration again (helm upgrade, or sync its application)";

std::vector<std::string> TextsOf(Value list) {
  std::vector<std::string> out;
  for (Value item = list.first(); item.exists(); item = list.next(item)) {
    out.emplace_back(item.text());
  }
  return out;
}

// The path of "https://host:port/path?query".
std::string PathOfUrl(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  const std::size_t begin = url.find('/', scheme + 3);
  if (begin == std::string_view::npos) return "/";
  return std::string(url.substr(begin, url.find('?', begin) - begin));
}

std::vector<SelectorTerm> SelectorOf(Value selector) {
  std::vector<SelectorTerm> out;
  const Value labels = selector.Child("matchLabels");
  for (Value label = labels.first(); label.exists(); label = labels.next(label)) {
    out.push_back({std::string(label.key()), "In", {std::string(label.text())}});
  }
  const Value terms = selector.Child("matchExpressions");
  for (Value term = terms.first(); term.exists(); term = terms.next(term)) {
    out.push_back({std::string(term.Child("key").text()),
                   std::string(term.Child("operator").text()), TextsOf(term.Child("values"))});
  }
  return out;
}

WebhookEntry EntryOf(Value webhook) {
  WebhookEntry out;
  out.name = webhook.Child("name").text();
  const Value client = webhook.Child("clientConfig");
  const Value service = client.Child("service");
  if (service.is_object()) {
    out.service = std::string(service.Child("namespace").text()) + "/" +
                  std::string(service.Child("name").text());
    const std::string_view port = service.Child("port").text();
    out.service.append(":").append(port.empty() ? "443" : port);
    const std::string_view path = service.Child("path").text();
    out.path = path.empty() ? "/" : path;
  } else {
    out.url = client.Child("url").text();
    out.path = PathOfUrl(out.url);
  }
  out.ca_bundle = DecodeBase64(std::string(client.Child("caBundle").text())).value_or("");
  out.failure_policy = webhook.Child("failurePolicy").text();
  out.match_policy = webhook.Child("matchPolicy").text();
  const Value rules = webhook.Child("rules");
  for (Value rule = rules.first(); rule.exists(); rule = rules.next(rule)) {
    out.rules.push_back({TextsOf(rule.Child("apiGroups")), TextsOf(rule.Child("apiVersions")),
                         TextsOf(rule.Child("resources")), TextsOf(rule.Child("operations")),
                         std::string(rule.Child("scope").text())});
  }
  const Value conditions = webhook.Child("matchConditions");
  for (Value condition = conditions.first(); condition.exists();
       condition = conditions.next(condition)) {
    out.conditions.emplace_back(condition.Child("name").text(),
                                condition.Child("expression").text());
  }
  out.namespace_selector = SelectorOf(webhook.Child("namespaceSelector"));
  out.object_selector = SelectorOf(webhook.Child("objectSelector"));
  return out;
}

bool Has(const std::vector<std::string>& texts, std::string_view wanted) {
  return std::find(texts.begin(), texts.end(), wanted) != texts.end();
}

bool Covers(const WebhookRule& rule, const ServedKind& kind, std::string_view operation) {
  const bool group = Has(rule.groups, "*") || Has(rule.groups, kind.group);
  const bool resource =
      Has(rule.resources, "*") || Has(rule.resources, "*/*") || Has(rule.resources, kind.plural);
  const bool does = Has(rule.operations, "*") || Has(rule.operations, operation);
  const std::string_view own = kind.namespaced ? "Namespaced" : "Cluster";
  const bool scope = rule.scope.empty() || rule.scope == "*" || rule.scope == own;
  return group && resource && does && scope;
}

// White space has no meaning in a condition outside its texts, and ours has no texts with any.
std::string Squeezed(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [](unsigned char c) { return std::isspace(c) == 0; });
  return out;
}

bool HasCondition(const WebhookEntry& entry, std::string_view squeezed) {
  return std::any_of(entry.conditions.begin(), entry.conditions.end(),
                     [&](const auto& each) { return Squeezed(each.second) == squeezed; });
}

bool IsForFinalizers(const WebhookEntry& entry) {
  return HasCondition(entry, Squeezed(kFinalizersCondition));
}

// Whether updates that do nothing but take finalizers off a terminating object pass its conditions.
bool SendsEnds(const WebhookEntry& entry) {
  return IsForFinalizers(entry) || !HasCondition(entry, Squeezed(kUpdateCondition));
}

// The server that an entry calls, without the path.
std::string ServerOf(const WebhookEntry& entry) {
  if (entry.url.empty()) return entry.service;
  return entry.url.substr(0, entry.url.find('/', entry.url.find("://") + 3));
}

std::string TermText(const SelectorTerm& term) {
  std::string out = term.key + " " + term.op;
  for (const std::string& value : term.values) out += " " + value;
  return OneLine(out, kSettingBytesMax);
}

// Collects the findings about one configuration.
class Check final {
 public:
  Check(const WebhookConfiguration* configuration, const ExpectedWebhook& expected)
      : configuration_(configuration), expected_(expected) {}

  std::vector<LiveFinding> Run() {
    if (configuration_ == nullptr) {
      Add("missing", Mode::kEnforce,
          "The ValidatingWebhookConfiguration \"" + Shown(expected_.name) +
              "\" does not exist: the API server asks Truce nothing.",
          std::string(kChart) + ", or name the right one in the setting webhookConfiguration.");
      return std::move(out_);
    }
    const auto entries = DeclarationEntries(*configuration_, expected_.paths);
    if (entries.empty()) {
      Add("path", Mode::kEnforce,
          "No webhook of the ValidatingWebhookConfiguration \"" + Shown(expected_.name) +
              "\" calls the path at which Truce answers reviews.",
          std::string(kChart) + "; a path with a secret must be the one of admissionSecretFile.");
      return std::move(out_);
    }
    for (const WebhookEntry* entry : entries) CheckEntry(*entry);
    CheckRules(entries);
    CheckDeletions(entries);
    CheckEnds(entries);
    if (!expected_.rival.empty()) {
      Add("fight", Mode::kEnforce,
          "Somebody else (field manager " + Shown(expected_.rival) +
              ") keeps writing authority or path of the ValidatingWebhookConfiguration \"" +
              Shown(expected_.name) +
              "\", which Truce writes itself: between its turns no review comes. Truce puts it "
              "right once a minute, no oftener.",
          "Keep the other one away: remove the annotation cert-manager.io/inject-ca-from, or let "
          "the tool that syncs ignore .webhooks[].clientConfig; or let it have them "
          "(certificates.mode other than selfManaged, admission.pathSecret).");
    }
    if (expected_.status) CheckStatuses();
    for (const WebhookEntry& entry : configuration_->entries) {
      if (entry.path == Of(expected_.paths, Endpoint::kCompositions)) CheckTrust(entry);
    }
    for (const ServedKind& kind : expected_.own_kinds) CheckOwnKind(kind, ServerOf(*entries[0]));
    return std::move(out_);
  }

 private:
  static std::string Shown(std::string_view text) { return OneLine(text, kSettingBytesMax); }

  static std::string Whose(const WebhookEntry& entry) {
    return "Webhook \"" + Shown(entry.name) + "\"";
  }

  void Add(const std::string& fault, Mode mode, std::string cause, std::string remedy) {
    LiveFinding finding{
        .detector = Detector::kWebhookConfiguration,
        .subject = expected_.name + "/" + fault,
        .mode = mode,
        .resource = "ValidatingWebhookConfiguration \"" + Shown(expected_.name) + "\""};
    finding.cause = std::move(cause);
    finding.remedy = std::move(remedy);
    finding.evidence =
        configuration_ == nullptr ? "it is not in the cluster" : "its present content";
    out_.push_back(std::move(finding));
  }

  void CheckTrust(const WebhookEntry& entry) {
    if (expected_.trusts == nullptr || expected_.trusts(entry.ca_bundle)) return;
    Add("ca-bundle/" + entry.name, Mode::kEnforce,
        Whose(entry) +
            (entry.ca_bundle.empty()
                 ? " has no CA bundle"
                 : " has a CA bundle that does not verify Truce's certificate") +
            ": every call of the API server fails before Truce sees it.",
        "Write the CA certificate that `truce config` names (default DIR/certs/ca.crt), base64, "
        "into clientConfig.caBundle.");
  }

  void CheckEntry(const WebhookEntry& entry) {
    const std::string whose = Whose(entry);
    const std::string fault = "/" + entry.name;
    CheckTrust(entry);
    if (!expected_.failure_policy.empty() && entry.failure_policy != expected_.failure_policy) {
      Add("failure-policy" + fault, Mode::kWarn,
          whose + " has failurePolicy " + Shown(entry.failure_policy) + ", not " +
              expected_.failure_policy + ".",
          std::string(kChart) + ".");
    }
    if (entry.match_policy == "Exact") {
      Add("match-policy" + fault, Mode::kWarn,
          whose + " has matchPolicy Exact: other versions of a kind may pass unseen.",
          "Set matchPolicy to Equivalent.");
    }
    CheckSecret(entry, whose);
    CheckConditions(entry, whose);
    CheckSelectors(entry, whose);
  }

  // The API server tells whoever's request fails which URL it could not reach.
  void CheckSecret(const WebhookEntry& entry, const std::string& whose) {
    const bool shows = expected_.secret_alone && entry.failure_policy == "Fail" &&
                       entry.path == Of(expected_.paths, Endpoint::kDeclarations);
    if (!shows) return;
    Add("secret-in-errors/" + entry.name, Mode::kWarn,
        whose +
            " has failurePolicy Fail and nothing but a secret in its path: while Truce cannot be "
            "reached the API server shows that secret to everybody whose request fails, and "
            "whoever has it writes reservations.",
        "Let the API server show a client certificate (admissionClientCA, admissionClientNames) or "
        "a token (admissionBearerFile), or set failurePolicy Ignore; or accept it: "
        "acceptSecretInErrors.");
  }

  void CheckConditions(const WebhookEntry& entry, const std::string& whose) {
    for (const auto& [name, expression] : entry.conditions) {
      if (IsUpdateCondition(expression)) continue;
      Add("condition/" + entry.name + "/" + name, Mode::kWarn,
          whose +
              " has a match condition that Truce does not know; what it leaves out is not "
              "protected: " +
              Shown(name) + ": " + Shown(expression),
          "Remove it unless it is one of your own exclusions.");
    }
  }

  void CheckSelectors(const WebhookEntry& entry, const std::string& whose) {
    for (const SelectorTerm& term : entry.namespace_selector) {
      if (ExcludesByNameOnly(term)) continue;
      Add("namespace-selector/" + entry.name, Mode::kWarn,
          whose + " selects namespaces by what their users may change: " + TermText(term) + ".",
          "Exclude namespaces by kubernetes.io/metadata.name with NotIn only.");
    }
    if (entry.object_selector.empty()) return;
    Add("object-selector/" + entry.name, Mode::kWarn,
        whose + " selects objects by labels, which their authors choose: " +
            TermText(entry.object_selector.front()) + ".",
        "Remove objectSelector.");
  }

  // The first of `kinds`, and how many more.
  static std::string Named(const std::vector<std::string>& kinds) {
    std::string named;
    for (std::size_t i = 0; i < std::min(kinds.size(), kKindsNamedMax); ++i) {
      named.append(i == 0 ? "" : ", ").append(kinds[i]);
    }
    if (kinds.size() <= kKindsNamedMax) return named;
    return named + " and " + std::to_string(kinds.size() - kKindsNamedMax) + " more";
  }

  void CheckRules(const std::vector<const WebhookEntry*>& entries) {
    for (const std::string_view operation : {"CREATE", "UPDATE", "DELETE"}) {
      std::vector<std::string> unsent;
      for (const ServedKind& kind : expected_.kinds) {
        if (!IsSent(entries, kind, operation)) unsent.push_back(kind.plural + "." + kind.group);
      }
      if (unsent.empty()) continue;
      const bool deletes = operation == "DELETE";
      Add("rule/" + std::string(operation), deletes ? Mode::kWarn : Mode::kEnforce,
          "No rule of the webhook sends " + std::string(operation) + " of " + Named(unsent) +
              " to Truce: " +
              (deletes ? "what is protected against deletion is not." : "they are not checked."),
          "Add their API groups to the rules of the webhook configuration (the chart's value of "
          "the "
          "watched groups).");
    }
  }

  void CheckDeletions(const std::vector<const WebhookEntry*>& entries) {
    for (const WebhookEntry* entry : entries) {
      const bool deletes =
          std::any_of(entry->rules.begin(), entry->rules.end(), [](const WebhookRule& rule) {
            return Has(rule.operations, "*") || Has(rule.operations, "DELETE");
          });
      if (!deletes || entry->failure_policy != "Fail") continue;
      Add("deletions/" + entry->name, Mode::kWarn,
          Whose(*entry) +
              " sends DELETE with failurePolicy Fail: while Truce does not answer nobody can "
              "delete anything.",
          "Send DELETE in an entry of its own with failurePolicy Ignore, as the chart does.");
    }
  }

  // Updates that take finalizers off what terminates: nobody may wait for Truce with them.
  void CheckEnds(const std::vector<const WebhookEntry*>& entries) {
    std::vector<const WebhookEntry*> senders;
    for (const WebhookEntry& entry : configuration_->entries) {
      if (entry.path != Of(expected_.paths, Endpoint::kDeclarations) || !SendsEnds(entry)) continue;
      if (!IsSentByAny({&entry}, "UPDATE")) continue;
      senders.push_back(&entry);
      if (IsForFinalizers(entry)) {
        CheckTrust(entry);
        CheckSecret(entry, Whose(entry));
        CheckSelectors(entry, Whose(entry));
      }
      if (entry.failure_policy != "Fail") continue;
      Add("finalizers/" + entry.name, Mode::kWarn,
          Whose(entry) +
              " sends updates that only take finalizers off what is deleted with failurePolicy "
              "Fail: while Truce does not answer, no deletion comes to its end, nor does that of a "
              "namespace.",
          "Send them in an entry of their own with failurePolicy Ignore, as the chart does.");
    }
    std::vector<std::string> unsent;
    for (const ServedKind& kind : expected_.kinds) {
      const bool is_sent = IsSent(senders, kind, "UPDATE") || !IsSent(entries, kind, "UPDATE");
      if (!is_sent) unsent.push_back(kind.plural + "." + kind.group);
    }
    if (unsent.empty()) return;
    Add("rule/finalizers", Mode::kWarn,
        "No entry of the webhook sends updates that only take finalizers off " + Named(unsent) +
            " to Truce: names of what is deleted stay orphaned.",
        std::string(kChart) + "; the entry is finalizers.truce.dev.");
  }

  bool IsSentByAny(const std::vector<const WebhookEntry*>& entries,
                   std::string_view operation) const {
    return std::any_of(expected_.kinds.begin(), expected_.kinds.end(),
                       [&](const ServedKind& kind) { return IsSent(entries, kind, operation); });
  }

  static bool CoversStatus(const WebhookRule& rule, const ServedKind& kind) {
    const auto names = [&](const std::string& resource) {
      return resource == "*/*" || resource == "*/status" || resource == kind.plural + "/*" ||
             resource == kind.plural + "/status";
    };
    WebhookRule whole = rule;
    whole.resources = {"*"};
    return std::any_of(rule.resources.begin(), rule.resources.end(), names) &&
           Covers(whole, kind, "UPDATE");
  }

  void CheckStatuses() {
    const std::string& path = Of(expected_.paths, Endpoint::kStatus);
    std::vector<const WebhookEntry*> asked;
    for (const WebhookEntry& entry : configuration_->entries) {
      if (entry.path == path) asked.push_back(&entry);
    }
    std::vector<std::string> unsent;
    for (const ServedKind& kind : expected_.status_kinds) {
      const bool is_sent = std::any_of(asked.begin(), asked.end(), [&](const auto* entry) {
        return std::any_of(entry->rules.begin(), entry->rules.end(),
                           [&](const WebhookRule& rule) { return CoversStatus(rule, kind); });
      });
      if (!is_sent) unsent.push_back(kind.plural + "." + kind.group);
    }
    if (!unsent.empty()) {
      Add("status/missing", Mode::kEnforce,
          "No webhook sends changes of the status of " + Named(unsent) +
              " to Truce, although statusGuard says so: whoever may write a status can take names "
              "with it.",
          std::string(kChart) + " with webhook.statusGuard.enabled, or set statusGuard to false.");
    }
    for (const WebhookEntry* entry : asked) {
      CheckTrust(*entry);
      CheckStatusConditions(*entry);
      CheckSelectors(*entry, Whose(*entry));
    }
  }

  void CheckStatusConditions(const WebhookEntry& entry) {
    std::vector<std::string> known;
    for (const auto& [name, expression] : *expected_.status) known.push_back(Squeezed(expression));
    for (const auto& [name, expression] : entry.conditions) {
      if (Has(known, Squeezed(expression))) continue;
      Add("condition/" + entry.name + "/" + name, Mode::kEnforce,
          Whose(entry) +
              " has a match condition that is not that of the settings providers and restorers; "
              "whoever it leaves out can take names with a status: " +
              Shown(name) + ": " + Shown(expression),
          std::string(kChart) + ".");
    }
  }

  // `server`: the one that the entries for declarations call.
  void CheckOwnKind(const ServedKind& kind, const std::string& server) {
    const bool is_check = kind.kind == "OwnershipCheck";
    const std::string fault = kind.plural;
    std::vector<const WebhookEntry*> asked;
    std::vector<const WebhookEntry*> elsewhere;
    for (const WebhookEntry& entry : configuration_->entries) {
      const bool sends =
          IsSent({&entry}, kind, "CREATE") && (is_check || IsSent({&entry}, kind, "UPDATE"));
      if (!sends) continue;
      const bool answers = entry.path == Of(expected_.paths, Endpoint::kChecks) ||
                           (!is_check && entry.path == Of(expected_.paths, Endpoint::kPolicies));
      const bool ours = answers && ServerOf(entry) == server;
      (ours ? asked : elsewhere).push_back(&entry);
    }
    const std::string unasked =
        is_check ? "every check before a deployment passes unchecked, its status unverified."
                 : "a bad one is stored, and refused in its status only.";
    if (asked.empty() && elsewhere.empty()) {
      Add(fault + "/missing", Mode::kWarn,
          "No webhook sends " + kind.kind + " objects to Truce: " + unasked,
          std::string(kChart) + (is_check ? ", with webhook.ownershipChecks.enabled." : "."));
    } else if (asked.empty()) {
      Add(fault + "/elsewhere", Mode::kEnforce,
          Whose(*elsewhere.front()) + " sends " + kind.kind +
              " objects elsewhere than to Truce's path for them: " +
              (is_check ? "no check before a deployment is Truce's." : unasked),
          std::string(kChart) + "; its path begins with " +
              std::string(PathOf(is_check ? Endpoint::kChecks : Endpoint::kPolicies)) +
              ", and each entry's path has a secret of its own.");
    }
    for (const WebhookEntry* entry : asked) CheckOwnEntry(*entry, is_check);
  }

  void CheckOwnEntry(const WebhookEntry& entry, bool is_check) {
    const auto noted = std::find(own_entries_.begin(), own_entries_.end(), &entry);
    if (noted != own_entries_.end()) return;
    own_entries_.push_back(&entry);
    CheckTrust(entry);
    CheckConditions(entry, Whose(entry));
    CheckSelectors(entry, Whose(entry));
    if (!is_check || entry.failure_policy != "Ignore") return;
    Add("failure-policy/" + entry.name, Mode::kEnforce,
        Whose(entry) +
            " has failurePolicy Ignore: while Truce does not answer, checks before deployments "
            "pass unchecked.",
        "Set its failurePolicy to Fail: it holds up nothing but the deployments that ask.");
  }

  const WebhookConfiguration* configuration_;
  const ExpectedWebhook& expected_;
  std::vector<const WebhookEntry*> own_entries_;  // looked at
  std::vector<LiveFinding> out_;
};

}  // namespace

std::optional<WebhookConfiguration> ReadWebhookConfiguration(Value object) {
  // Items of a list do not name their kind.
  const std::string_view kind = object.Child("kind").text();
  if (!kind.empty() && kind != "ValidatingWebhookConfiguration") return std::nullopt;
  WebhookConfiguration out;
  out.name = object.Child("metadata").Child("name").text();
  if (out.name.empty()) return std::nullopt;
  const Value webhooks = object.Child("webhooks");
  for (Value webhook = webhooks.first(); webhook.exists(); webhook = webhooks.next(webhook)) {
    out.entries.push_back(EntryOf(webhook));
  }
  return out;
}

std::vector<const WebhookEntry*> DeclarationEntries(const WebhookConfiguration& configuration,
                                                    const EndpointTexts& paths) {
  std::vector<const WebhookEntry*> out;
  for (const WebhookEntry& entry : configuration.entries) {
    const bool sends = entry.path == Of(paths, Endpoint::kDeclarations) ||
                       entry.path == Of(paths, Endpoint::kDeletions);
    if (sends && !IsForFinalizers(entry)) out.push_back(&entry);
  }
  return out;
}

bool IsSent(const std::vector<const WebhookEntry*>& entries, const ServedKind& kind,
            std::string_view operation) {
  return std::any_of(entries.begin(), entries.end(), [&](const WebhookEntry* entry) {
    return std::any_of(entry->rules.begin(), entry->rules.end(),
                       [&](const WebhookRule& rule) { return Covers(rule, kind, operation); });
  });
}

bool IsUpdateCondition(std::string_view expression) {
  const std::string shown = Squeezed(expression);
  const std::string present(kUpdateCondition);
  return shown == Squeezed(present) ||
         shown == Squeezed(present + " || (" + std::string(kFinalizersCondition) + ")");
}

bool ExcludesByNameOnly(const SelectorTerm& term) {
  return term.key == kNameLabel && term.op == "NotIn";
}

std::vector<LiveFinding> CheckWebhookConfiguration(const WebhookConfiguration* configuration,
                                                   const ExpectedWebhook& expected) {
  return Check(configuration, expected).Run();
}

bool KeepsDeletionsAway(const LiveFinding& finding) {
  const std::size_t slash = finding.subject.find('/');
  if (slash == std::string::npos) return false;
  const std::string fault = finding.subject.substr(slash + 1);
  return fault == "missing" || fault == "path" || fault == "rule/DELETE" ||
         fault.starts_with("ca-bundle/");
}

namespace {

class WebhookConfigurations final : public Examiner {
 public:
  std::vector<DetectorKind> Kinds(const std::string& webhook) const override {
    return {AlwaysFollowed(WebhookConfigurationKind(), "metadata.name=" + webhook)};
  }
  bool NeedsLists() const override { return false; }

  Result<void> Examine(const Examination& at) override {
    ExpectedWebhook expected = at.around.webhook;
    std::optional<WebhookConfiguration> configuration;
    const bool is_known = at.watched.With([&](const WatchedCluster& cluster) {
      for (const auto& [name, kind] : cluster.kinds) {
        const ServedKind& served = kind.status.kind.selection.kind;
        const bool is_managed = kind.status.kind.role == Role::kManaged;
        const bool declares =
            is_managed || !at.around.policy->identity.mappings.Of(name.group, name.kind).empty();
        if (declares) expected.kinds.push_back(served);
        if (is_managed) expected.status_kinds.push_back(served);
      }
      for (const char* kind : {"OwnershipCheck", "DeclarationMapping", "NamingPolicy"}) {
        const auto served = cluster.served.find({"truce.dev", kind});
        if (served != cluster.served.end()) expected.own_kinds.push_back(served->second);
      }
      configuration = cluster.configuration;
      return cluster.configuration_known;
    });
    if (!is_known) return {};
    at.report(Detector::kWebhookConfiguration,
              CheckWebhookConfiguration(configuration ? &*configuration : nullptr, expected));
    return {};
  }
};

}  // namespace

constinit const DetectorInfo kWebhookConfigurationInfo{
    "webhook-configuration", Severity::kCritical,
    "The API server does not ask Truce, or not everything it should.",
    "The ValidatingWebhookConfiguration as the watch shows it, compared entry by entry with what "
    "this server needs.",
    Make<WebhookConfigurations>};

}  // namespace truce
