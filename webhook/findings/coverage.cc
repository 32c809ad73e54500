#include "webhook/findings/coverage.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/finding.h"
#include "policies/people.h"
#include "policies/policy.h"
#include "policies/rule_case.h"
#include "registry/base/counted.h"
#include "registry/base/name_table.h"
#include "registry/base/text.h"
#include "webhook/findings/examiner.h"
#include "webhook/findings/findings_book.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

constexpr NameTable<GapReason::kWarnsOnly> kGapReasons("no-webhook", "no-rule", "xrd-group",
                                                       "excluded", "status-unguarded", "not-listed",
                                                       "unwatched", "unknown-kind", "no-mapping",
                                                       "account-unknown", "account-unbound",
                                                       "warns-only");

std::string KindText(const ServedKind& kind) {
  return OneLine(KindForPeople(kind.kind, kind.group), kShownBytesMax);
}

// The findings that need the objects of this role; nothing: another gap says so.
std::string_view FindsBy(Role role) {
  if (role == Role::kCompositeDefinition) return "the kinds of claims and composites";
  const bool is_bound = role == Role::kComposite || role == Role::kClaim;
  return is_bound ? "claims that share a composite and composites that Crossplane does not see"
                  : "";
}

class Coverage final {
 public:
  Coverage(const WatchedCluster& cluster, const Surroundings& around, Timestamp now)
      : cluster_(cluster), around_(around), policy_(*around.policy), now_(now) {
    if (cluster.configuration) {
      entries_ = DeclarationEntries(*cluster.configuration, around.webhook.paths);
    }
  }

  CoverageReport Run() {
    AddWebhook();
    for (const auto& [name, kind] : cluster_.kinds) {
      AddKind(kind.status, kind.objects.size(), FindsBy(kind.status.kind.role));
    }
    for (const auto& [name, other] : cluster_.others) AddKind(other.status, 0, other.finds);
    for (const auto& [name, served] : cluster_.served) {
      if (cluster_.kinds.contains(name)) continue;
      KindStatus status;
      status.kind.selection.kind = served;
      AddKind(status, 0, "");
    }
    for (const auto& [kind, until] : around_.unmapped) AddUnmapped(kind, until);
    AddXrdGroups();
    AddComposition();
    for (const auto& [name, kind] : cluster_.kinds) {
      if (kind.status.kind.role == Role::kClaim) AddClaim(name, kind);
    }
    for (const auto& [type, count] : weak_types_) {
      AddType(*policy_.catalogue->FindType(type.first), type.second, count);
    }
    for (const auto& [config, count] : cluster_.provisional_accounts) AddAccount(config, count);
    AddUnboundAccounts();
    SortGaps(report_.gaps);
    return std::move(report_);
  }

 private:
  void Add(CoverageGap gap) { report_.gaps.push_back(std::move(gap)); }

  void AddWebhook() {
    if (entries_.empty()) {
      Add({GapReason::kNoWebhook, around_.webhook.name,
           !cluster_.configuration ? "The ValidatingWebhookConfiguration does not exist: nothing "
                                     "is checked at admission."
                                   : "No webhook of the configuration calls Truce's path: "
                                     "nothing is checked at admission.",
           "Let the chart write the webhook configuration again.", 0});
      return;
    }
    for (const WebhookEntry* entry : entries_) {
      AddExclusions(*entry);
      if (SendsCreate(*entry)) report_.failure_policy = entry->failure_policy;
    }
    if (around_.webhook.status && around_.webhook.statuses_deny) return;
    const bool is_lax = around_.webhook.status.has_value();
    Add({GapReason::kStatusOpen, around_.webhook.name,
         std::string(is_lax ? "Configuration lets tenants change statuses (rule status-names)"
                            : "Changes of statuses do not come to Truce") +
             ": a name that is known from a status alone, such as one in an account that only an "
             "ARN shows, is answered with a warning.",
         is_lax ? "Take the mode and the exemptions of status-names back."
                : "Set the chart's value webhook.statusGuard.enabled, or install the entry and set "
                  "statusGuard to true.",
         0});
  }

  static bool SendsCreate(const WebhookEntry& entry) {
    return std::any_of(entry.rules.begin(), entry.rules.end(), [](const WebhookRule& rule) {
      return std::any_of(rule.operations.begin(), rule.operations.end(),
                         [](const std::string& each) { return each == "*" || each == "CREATE"; });
    });
  }

  // Without the namespaces that every installation leaves out, so that Truce hinders neither the
  // cluster nor itself; nothing when it leaves out no others.
  static std::optional<SelectorTerm> BeyondBuiltIn(SelectorTerm term, const WebhookEntry& entry) {
    if (!ExcludesByNameOnly(term)) return term;
    const std::string own = entry.service.substr(0, entry.service.find('/'));
    std::erase_if(term.values,
                  [&](const std::string& value) { return value == "kube-system" || value == own; });
    if (term.values.empty()) return std::nullopt;
    return term;
  }

  void AddExclusions(const WebhookEntry& entry) {
    const std::string subject = OneLine(entry.name, kShownBytesMax);
    for (const SelectorTerm& whole : entry.namespace_selector) {
      const auto found = BeyondBuiltIn(whole, entry);
      if (!found) continue;
      const SelectorTerm& term = *found;
      std::string text = term.key + " " + term.op;
      for (const std::string& value : term.values) text += " " + value;
      Add({GapReason::kExcluded, subject,
           "Objects in other namespaces than those selected are not checked: namespaceSelector " +
               OneLine(text, kShownBytesMax) + ".",
           "Take namespaces off the selector that hold declarations.", 0});
    }
    for (const SelectorTerm& term : entry.object_selector) {
      Add({GapReason::kExcluded, subject,
           "Only objects with certain labels are checked: objectSelector " +
               OneLine(term.key + " " + term.op, kShownBytesMax) + ".",
           "Remove objectSelector.", 0});
    }
    for (const auto& [name, expression] : entry.conditions) {
      // The one that every installation has leaves out nothing that could declare something.
      if (IsUpdateCondition(expression)) continue;
      Add({GapReason::kExcluded, subject,
           "Requests that do not meet match condition " + OneLine(name, kShownBytesMax) +
               " are not checked: " + OneLine(expression, kShownBytesMax),
           "Remove the condition unless the exclusion is meant.", 0});
    }
  }

  // Of conflicts of the type, whoever declares it.
  Mode ModeOf(const TypeSpec& type, bool sure) const {
    const ObjectFacts nobody;
    const RuleCase c{.policy = &policy_, .object = &nobody, .root = &nobody.slot, .now = now_};
    return ModeIn(c, Rule::kDuplicateOwnership, {.type = type.name, .sure = sure}).mode;
  }

  // False when reviews of the kind do not reach Truce; the gap is told, unless nothing reaches it.
  bool AddReach(const ServedKind& kind, std::uint64_t objects) {
    if (entries_.empty()) return false;
    const bool is_sent = IsSent(entries_, kind, "CREATE") && IsSent(entries_, kind, "UPDATE");
    if (is_sent) return true;
    Add({GapReason::kNoRule, KindText(kind),
         "The webhook's rules do not cover it: new declarations are found only by the watch, after "
         "they exist.",
         "Add " + OneLine(kind.plural + "." + kind.group, kShownBytesMax) +
             " to the rules of the webhook configuration.",
         objects});
    return false;
  }

  void AddKind(const KindStatus& status, std::uint64_t objects, std::string_view finds) {
    if (status.state == KindState::kFailing && status.since) {
      report_.failing_since =
          std::min(report_.failing_since.value_or(*status.since), *status.since);
    }
    const ServedKind& kind = status.kind.selection.kind;
    const bool is_unread = !status.problem.empty();
    const std::string problem = OneLine(status.problem, kShownBytesMax);
    const KindEntry* entry = policy_.catalogue->FindKind(kind.group, kind.kind);
    const bool is_mapped = !policy_.identity.mappings.Of(kind.group, kind.kind).empty();
    if (entry == nullptr && !is_mapped) {
      const bool is_unmapped = around_.unmapped.contains({kind.group, kind.kind});
      if (IsProviderKind(kind.group)) {
        Add({GapReason::kUnknownKind, KindText(kind),
             "The catalogue does not know this kind: its declarations are neither checked nor "
             "recorded.",
             "Add its type to a file and name it in the setting types.", objects});
      } else if (is_unread && objects > 0 && !is_unmapped) {
        Add({GapReason::kUnwatched, KindText(kind),
             "Its objects cannot be read, so nothing below them is proved or ended: " + problem,
             "Mend what the message says; what it declares counts for no cap meanwhile.", objects});
      } else if (is_unread && !finds.empty() && status.state != KindState::kUnserved) {
        Add({GapReason::kNotListed, KindText(kind),
             "Its objects cannot be listed, so " + std::string(finds) +
                 " are not found: " + problem,
             "Let Truce get, list and watch " +
                 OneLine(kind.plural + "." + kind.group, kShownBytesMax) + ".",
             0});
      }
      return;
    }
    ++report_.kinds;
    const bool is_sent = AddReach(kind, objects);
    if (is_unread) {
      Add({GapReason::kNotListed, KindText(kind),
           "Its objects cannot be listed, so what they declare is not known: " + problem,
           "Mend what the message says; until then names of its types are answered with a warning.",
           objects});
    }
    const bool is_sure = entry != nullptr && IsSure(*entry);
    const bool denies = entry == nullptr || ModeOf(*entry->type, is_sure) == Mode::kEnforce;
    if (!denies) weak_types_[{entry->type->name, is_sure}] += objects;
    if (is_sent && denies && !is_unread) ++report_.protected_kinds;
  }

  // Claims and composites are judged as such whether or not a rule maps them.
  void AddXrdGroups() {
    struct Group {
      std::vector<std::string> unsent;
      std::uint64_t objects = 0;
      bool is_unread = false;
    };
    std::map<std::string, Group> groups;
    for (const auto& [name, kind] : cluster_.kinds) {
      const KindStatus& status = kind.status;
      const bool is_defined =
          status.kind.role == Role::kComposite || status.kind.role == Role::kClaim;
      if (!is_defined || status.state == KindState::kUnserved) continue;
      Group& group = groups[name.group];
      group.is_unread = group.is_unread || !status.problem.empty();
      const ServedKind& served = status.kind.selection.kind;
      if (IsSent(entries_, served, "CREATE") && IsSent(entries_, served, "UPDATE")) continue;
      group.unsent.push_back(name.kind);
      group.objects += kind.objects.size();
    }
    for (auto& [name, group] : groups) {
      report_.xrd_groups.push_back(name);
      if (group.is_unread || !group.unsent.empty()) report_.missing_xrd_groups.push_back(name);
      // Of no webhook at all is told once.
      if (group.unsent.empty() || entries_.empty()) continue;
      std::sort(group.unsent.begin(), group.unsent.end());
      Add({GapReason::kXrdGroup, OneLine(name, kShownBytesMax),
           "The webhook's rules leave out this group of claims and composites (" +
               OneLine(Joined(group.unsent), kShownBytesMax) +
               "): a claim that binds somebody else's composite is found by the watch only.",
           "Add it to the chart's value webhook.xrdGroups; `truce doctor` prints the whole value.",
           group.objects});
    }
  }

  void AddComposition() {
    const auto composition = cluster_.served.find({"apiextensions.crossplane.io", "Composition"});
    if (composition == cluster_.served.end() || entries_.empty()) return;
    const std::string& path = Of(around_.webhook.paths, Endpoint::kCompositions);
    const auto& all = cluster_.configuration->entries;
    const bool is_sent = std::any_of(all.begin(), all.end(), [&](const WebhookEntry& entry) {
      return entry.path == path && IsSent({&entry}, composition->second, "UPDATE");
    });
    if (is_sent) return;
    Add({GapReason::kNoRule, KindText(composition->second),
         "Changes of Compositions do not come to Truce: nobody is warned of what one does to the "
         "composites that exist.",
         "Let the chart write the webhook configuration again.", 0});
  }

  void AddUnmapped(const GroupKind& kind, Timestamp until) {
    Add({GapReason::kUnwatched, OneLine(KindForPeople(kind.kind, kind.group), kShownBytesMax),
         "No mapping rule names it any more: what it declared stays on record, unread, until " +
             FormatTimestamp(until) + ", then it is left orphaned.",
         "Bring the mapping rule back, or wait (settleTime).", 0});
  }

  void AddClaim(const GroupKind& claim, const WatchedCluster::Kind& kind) {
    const auto found = policy_.claims.find(claim);
    const GroupKind composite = found == policy_.claims.end() ? GroupKind{} : found->second;
    const MappingRules& mappings = policy_.identity.mappings;
    const bool is_mapped = !mappings.Of(claim.group, claim.kind).empty() ||
                           !mappings.Of(composite.group, composite.kind).empty();
    if (is_mapped) return;
    Add({GapReason::kNoMapping, KindText(kind.status.kind.selection.kind),
         "No mapping says what this claim declares: a conflict is refused only when it is "
         "composed, and its author sees it in an Event.",
         "Add a rule for it to the setting mappings.", kind.objects.size()});
  }

  static bool IsSure(const KindEntry& kind) {
    return kind.sure && kind.type->certainty == Certainty::kResearched;
  }

  void AddType(const TypeSpec& type, bool is_sure, std::uint64_t objects) {
    const Mode mode = ModeOf(type, is_sure);
    const bool is_unsure = !is_sure;
    Add({GapReason::kWarnsOnly, type.name,
         "Conflicts of " + TypeForPeople(type.name) + " are not denied: mode " +
             std::string(Name(mode)) +
             (is_unsure ? ", because how far its names are unique is not researched." : "."),
         is_unsure ? "Set unsureTypeActions of " + type.name +
                         " to deny if you know its names to be unique."
                   : "Set its mode to enforce in typeModes, or the mode of all.",
         objects});
  }

  void AddAccount(const std::string& config, std::uint64_t count) {
    Add({GapReason::kAccountUnknown, ConfigForPeople(config),
         "Its AWS account is not known: equal names under another ProviderConfig only warn.",
         "Name its account in the setting providerConfigs.", count});
  }

  // Accounts of owned resources and of ProviderConfigs that accountParties, where it is in use,
  // binds to nobody.
  void AddUnboundAccounts() {
    if (policy_.account_parties.empty()) return;
    AccountCounts accounts = cluster_.accounts;
    for (const auto& [config, account] : policy_.identity.accounts) accounts.try_emplace(account);
    for (const auto& [account, count] : accounts) {
      if (policy_.account_parties.contains(account)) continue;
      Add({GapReason::kAccountUnbound, "account " + OneLine(account, kShownBytesMax),
           "accountParties binds it to nobody: whoever may make a ProviderConfig with a role of it "
           "can take names in it.",
           "Name in accountParties the namespaces that may declare in it.", count});
    }
  }

  const WatchedCluster& cluster_;
  const Surroundings& around_;
  const AdmissionPolicy& policy_;
  const Timestamp now_;
  std::vector<const WebhookEntry*> entries_;
  std::map<std::pair<std::string, bool>, std::uint64_t> weak_types_;  // and whether it is sure
  CoverageReport report_;
};

}  // namespace

std::string_view Name(GapReason reason) { return kGapReasons.Of(reason); }
std::optional<GapReason> GapReasonFromName(std::string_view name) { return kGapReasons.Find(name); }

bool IsProviderKind(std::string_view group) { return FindFlavour(group) != nullptr; }

void SortGaps(std::vector<CoverageGap>& gaps) {
  std::sort(gaps.begin(), gaps.end(), [](const CoverageGap& a, const CoverageGap& b) {
    return std::make_tuple(a.reason, a.objects == 0, std::string_view(a.subject)) <
           std::make_tuple(b.reason, b.objects == 0, std::string_view(b.subject));
  });
}

CoverageReport CoverageOf(const WatchedCluster& cluster, const Surroundings& around,
                          Timestamp now) {
  return Coverage(cluster, around, now).Run();
}

std::vector<LiveFinding> FindingsOf(const CoverageReport& report) {
  std::vector<LiveFinding> out;
  for (const CoverageGap& gap : report.gaps) {
    if (gap.reason == GapReason::kAccountUnknown) continue;
    LiveFinding finding{.detector = Detector::kNotCovered,
                        .subject = std::string(Name(gap.reason)) + "/" + gap.subject};
    if (gap.reason == GapReason::kExcluded) finding.subject += "/" + gap.why;
    const bool concerns = gap.objects > 0 || gap.reason == GapReason::kNoWebhook;
    finding.mode = concerns ? Mode::kWarn : Mode::kAudit;
    finding.resource = gap.subject;
    finding.cause = gap.why;
    finding.evidence = Counted(gap.objects, "object");
    finding.remedy = gap.remedy;
    out.push_back(std::move(finding));
  }
  return out;
}

namespace {

// Gaps that are wide open whatever the cluster holds now.
bool IsAlwaysShown(GapReason reason) {
  return reason == GapReason::kNoWebhook || reason == GapReason::kExcluded ||
         reason == GapReason::kStatusOpen || reason == GapReason::kNotListed ||
         reason == GapReason::kUnwatched;
}

// Gaps beside each other that one text is about.
bool IsSaidAlike(const CoverageGap& a, const CoverageGap& b) {
  return a.reason == b.reason && a.why == b.why && a.remedy == b.remedy;
}

void AppendReason(const CoverageGap& gap, std::string& out) {
  for (const auto& [label, text] : {std::pair("  Why     ", gap.why), {"  Remedy  ", gap.remedy}}) {
    out += label;
    AppendWrapped(OneLine(text, kMessageBytesMax), std::string_view(label).size(), out);
  }
}

}  // namespace

std::string CoverageText(const CoverageReport& report, bool all) {
  std::string out = std::to_string(report.protected_kinds) + " of " +
                    Counted(report.kinds, "kind that can declare resources is protected",
                            "kinds that can declare resources are protected") +
                    ".\n";
  std::uint64_t hidden = 0;
  const CoverageGap* before = nullptr;
  for (const CoverageGap& gap : report.gaps) {
    if (!all && gap.objects == 0 && !IsAlwaysShown(gap.reason)) {
      ++hidden;
      continue;
    }
    if (before == nullptr) out += "\nNOT PROTECTED\n";
    if (before == nullptr || !IsSaidAlike(*before, gap)) {
      if (before != nullptr) AppendReason(*before, out);
      out += "\n";
    }
    out.append(Name(gap.reason)).append("  ").append(OneLine(gap.subject, kShownBytesMax));
    out.append("  (").append(Counted(gap.objects, "object")).append(")\n");
    before = &gap;
  }
  if (before != nullptr) AppendReason(*before, out);
  if (hidden > 0) {
    out +=
        "\n" +
        Counted(hidden, "more gap concerns no object at present; `truce coverage --all` lists it",
                "more gaps concern no object at present; `truce coverage --all` lists them") +
        ".\n";
  }
  return out;
}

namespace {

class NotCovered final : public Examiner {
 public:
  Result<void> Examine(const Examination& at) override {
    EndPass(at);
    return {};
  }
  // Also with new numbers of accounts.
  void EndPass(const Examination& at) override {
    at.report(Detector::kNotCovered, at.watched.With([&](const WatchedCluster& cluster) {
      return FindingsOf(CoverageOf(cluster, at.around, at.now));
    }));
  }
};

}  // namespace

constinit const DetectorInfo kNotCoveredInfo{
    "not-covered", Severity::kWarning, "Something is not protected.",
    "What the API server serves and what objects declare, compared with the rules, the webhook "
    "configuration and what may be read; `truce coverage` shows the whole comparison.",
    Make<NotCovered>};

}  // namespace truce
