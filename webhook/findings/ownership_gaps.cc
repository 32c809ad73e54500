#include "webhook/findings/ownership_gaps.h"

#include <optional>
#include <string>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/base/counted.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "registry/identity/values.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/names.h"
#include "webhook/findings/conflicts.h"

namespace truce {
namespace {

std::string Root(const Owner& owner) { return OneLine(ForPeople(owner.root), kShownBytesMax); }

LiveFinding Begin(Detector detector, const Owner& owner) {
  return {.detector = detector,
          .subject = owner.key.text,
          .key = owner.key,
          .mode = Mode::kAudit,
          .resource = ResourceForPeople(owner),
          .since = owner.since};
}

// A row of the owner's chain whose object was seen: of a managed resource before another.
std::optional<Row> SeenManager(const Owner& owner, const Facts& facts) {
  std::optional<Row> best;
  for (Row& row : facts.RowsOf(owner.id)) {
    if (!Manages(row) || row.root != owner.root || row.id.state != RowState::kSeen) continue;
    if (!best || (row.managed && !best->managed)) best = std::move(row);
  }
  return best;
}

}  // namespace

std::vector<LiveFinding> FindOrphaned(std::span<const Owner> owners) {
  std::vector<LiveFinding> out;
  for (const Owner& owner : owners) {
    const bool is_orphan =
        owner.record == Record::kOrphaned || owner.record == Record::kTransferring;
    if (!is_orphan) continue;
    LiveFinding finding = Begin(Detector::kOrphanedOwnership, owner);
    finding.cause = finding.resource +
                    " may still exist in AWS, but nothing declares it any more; " + Root(owner) +
                    " did last.";
    finding.evidence = owner.record_reason.empty() ? "its last declaration ended without proof"
                                                   : OneLine(owner.record_reason, kShownBytesMax);
    if (!owner.successor.empty()) {
      finding.evidence += "; offered to " + OneLine(owner.successor, kShownBytesMax);
    }
    finding.remedy = "Declare it again from " + Root(owner) +
                     " or its namespace, or, when it is known to be gone, free the name with `" +
                     ReleaseCommand(owner) + "`.";
    out.push_back(std::move(finding));
  }
  return out;
}

std::vector<LiveFinding> FindNeverReal(std::span<const Owner> owners, const Facts& facts,
                                       Timestamp now) {
  std::vector<LiveFinding> out;
  for (const Owner& owner : owners) {
    if (owner.record != Record::kNone || owner.real) continue;
    const bool is_reserved = owner.state == HolderState::kReserved;
    const auto allowed = is_reserved ? std::chrono::milliseconds(kReservedTooLong)
                                     : std::chrono::milliseconds(kNeverRealAfter);
    if (now - owner.since < allowed) continue;
    LiveFinding finding = Begin(Detector::kNeverReal, owner);
    if (is_reserved) {
      finding.cause = finding.resource + " is reserved for " + Root(owner) +
                      ", but its object could neither be found nor be ruled out.";
      finding.remedy =
          "Look whether the API server answers for that kind; an operator frees the name with `" +
          ReleaseCommand(owner) + "`.";
    } else {
      const auto seen = SeenManager(owner, facts);
      const std::string speaker = OneLine(
          ForPeople(SpeakerFor(owner.root, seen ? seen->slot : owner.root, facts)), kShownBytesMax);
      finding.cause = finding.resource + " is declared by " + speaker +
                      ", but never became ready and never showed an ARN or id.";
      finding.remedy = "Look at the conditions of " + speaker +
                       " and of what it composes. Before you delete what is not needed, set " +
                       (seen && seen->managed
                            ? KeepingField(seen->slot) + " on " + ForPeople(seen->slot)
                            : "spec.managementPolicies: [\"Observe\"] on its managed resource") +
                       ": it may have adopted what exists in AWS.";
    }
    finding.evidence = "since " + FormatTimestamp(owner.since);
    out.push_back(std::move(finding));
  }
  return out;
}

std::vector<LiveFinding> FindOutside(const IdentityRules& rules) {
  std::vector<LiveFinding> out;
  for (const auto& [config, endpoint] : rules.outside) {
    const Slot slot{rules.cluster, config.group, config.kind, config.ns, config.name};
    LiveFinding finding{.detector = Detector::kOutsideEndpoint,
                        .subject = ToText(slot),
                        .resource = OneLine(ForPeople(slot), kShownBytesMax)};
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
                               "outsideEndpoints: then every rule holds for what is declared there."
                         : "If " + host +
                               " is an emulator or a store of your own, name it in setting "
                               "outsideEndpoints: then no name there is refused for one in AWS.";
    out.push_back(std::move(finding));
  }
  return out;
}

void CountProvisionalAccounts(std::span<const Owner> owners,
                              ProvisionalAccounts& provisional_accounts) {
  for (const Owner& owner : owners) {
    // It leads to no account of AWS.
    if (IsNameSpace(owner.identity.partition)) continue;
    const std::string& account = owner.identity.account;
    // A key that holds no account needs none: nobody is let in because it is not known.
    const bool in_key = owner.key.text.find('?') != std::string::npos;
    if (in_key && account.starts_with('?')) ++provisional_accounts[account.substr(1)];
  }
}

void CountAccounts(std::span<const Owner> owners, Accounted& accounts) {
  for (const Owner& owner : owners) {
    const std::string& account = owner.identity.account;
    if (!account.empty() && !account.starts_with('?')) ++accounts[account];
  }
}

void CountMoved(std::span<const Owner> owners, Moves& moves) {
  for (const Owner& owner : owners) {
    if (owner.record != Record::kOrphaned && owner.record != Record::kTransferring) continue;
    const auto moved = ReadMovedReason(owner.record_reason);
    if (!moved || !IsAccount(owner.identity.account)) continue;
    ++moves[{moved->from.substr(1), owner.identity.account, moved->to}];
  }
}

std::string ConfigForPeople(const std::string& config) {
  const std::optional<Slot> slot = SlotFromText(config);
  return OneLine(slot ? ForPeople(*slot) : "ProviderConfig " + config, kShownBytesMax);
}

std::vector<LiveFinding> FindMoved(const Moves& moves) {
  std::vector<LiveFinding> out;
  for (const auto& [move, count] : moves) {
    LiveFinding finding{.detector = Detector::kProviderConfigMoved,
                        .subject = move.config + " " + move.from + " " + move.to,
                        .resource = ConfigForPeople(move.config)};
    finding.cause = finding.resource + " led to AWS account " + move.from +
                    " and leads to account " + move.to +
                    " now. What it managed before may still exist in account " + move.from +
                    ", and stays with its owners.";
    finding.evidence =
        Counted(count, "resource is", "resources are") + " orphaned in account " + move.from;
    finding.remedy = "If the move was a mistake, point the ProviderConfig back to account " +
                     move.from +
                     ". Else the owners declare what they still need through another "
                     "ProviderConfig of that account; find the rest with `truce list --state "
                     "orphaned`, ask each owner whether it may go, and free the names of what is "
                     "gone from AWS with `truce release`.";
    out.push_back(std::move(finding));
  }
  return out;
}

std::vector<LiveFinding> FindUnknownAccounts(const ProvisionalAccounts& provisional_accounts) {
  std::vector<LiveFinding> out;
  for (const auto& [config, count] : provisional_accounts) {
    LiveFinding finding{.detector = Detector::kAccountUnknown,
                        .subject = config,
                        .resource = ConfigForPeople(config)};
    finding.cause = "The AWS account of " + finding.resource +
                    " is not known: the same name declared through another ProviderConfig of the "
                    "same account only warns.";
    finding.evidence = Counted(count, "resource");
    finding.remedy =
        "Name its account in the setting providerConfigs, or give it a role ARN that Truce can "
        "read.";
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace truce
