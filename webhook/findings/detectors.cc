#include "webhook/findings/detectors.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "policies/policy.h"
#include "registry/base/text.h"
#include "registry/ownership/names.h"
#include "webhook/findings/concerned.h"
#include "webhook/findings/tag_war.h"

namespace truce {
namespace {

constexpr std::size_t kPage = 500;
constexpr std::chrono::seconds kConcernedTime{5};
// More conflicts than this are read with the passes only.
constexpr std::size_t kConflictsEachTime = 1000;

const ServedKind& EventsKind() {
  static const ServedKind kKind{"", "v1", "Event", "events", true};
  return kKind;
}

const GroupKind& CompositionKind() {
  static const GroupKind kKind{"apiextensions.crossplane.io", "Composition"};
  return kKind;
}

// The same Events under the name of their other API: a kind is followed once.
const ServedKind& TroubleEventsKind() {
  static const ServedKind kKind{"events.k8s.io", "v1", "Event", "events", true};
  return kKind;
}

bool IsKind(const FollowedKind& kind, const ServedKind& wanted) {
  return kind.selection.kind.group == wanted.group && kind.selection.kind.kind == wanted.kind;
}

FollowedKind Always(ServedKind kind, std::string field_selector) {
  FollowedKind followed;
  followed.selection.kind = std::move(kind);
  followed.selection.field_selector = std::move(field_selector);
  followed.role = Role::kOther;
  followed.always = true;
  return followed;
}

// What is not found while objects of the kind cannot be read; nothing when there is none.
std::string_view WatchedFor(const KindStatus& status) {
  if (status.state == KindState::kUnserved) return "";
  const Role role = status.kind.role;
  if (role == Role::kOther) return "Usages that are left behind";
  if (role == Role::kCompositeDefinition) return "the kinds of claims and composites";
  const bool is_bound = role == Role::kComposite || role == Role::kClaim;
  return is_bound ? "claims that share a composite and composites that Crossplane does not see"
                  : "";
}

std::optional<Timestamp> FailingSince(const KindStatus& status) {
  return status.state == KindState::kFailing ? status.since : std::nullopt;
}

// Kinds of which all objects are known.
template <typename Kinds>
std::set<GroupKind> ReadableOf(const Kinds& kinds) {
  std::set<GroupKind> out;
  for (const auto& [kind, facts] : kinds) {
    const KindStatus& status = facts.status;
    const bool is_out = status.state == KindState::kFailing || status.state == KindState::kUnserved;
    if (status.listed && !is_out) out.insert(kind);
  }
  return out;
}

bool NamesSomething(const LiveFinding& finding) {
  return !finding.key.empty() || !finding.objects.empty();
}

// A list of the kind is complete.
bool IsListed(KindState state) {
  return state == KindState::kWatched || state == KindState::kEmpty;
}

}  // namespace

std::vector<FollowedKind> DetectorKinds(const std::string& name) {
  return {
      Always(EventsKind(), std::string(kUpdateEventSelector)),
      Always(TroubleEventsKind(), std::string(kTroubleEventSelector)),
      Always(WebhookConfigurationKind(), "metadata.name=" + name),
      Always({"apiextensions.crossplane.io", "v1beta1", "Usage", "usages", false}, ""),
      Always({"protection.crossplane.io", "v1beta1", "Usage", "usages", true}, ""),
      Always({"protection.crossplane.io", "v1beta1", "ClusterUsage", "clusterusages", false}, "")};
}

Detectors::Detectors(DetectorPorts ports) : ports_(ports) {}
Detectors::~Detectors() = default;

void Detectors::OnSighted(const ObservedVersion& observed) {
  const Timestamp now = ports_.clock.Now();
  const ObjectFacts& facts = observed.facts;
  known_.With([&](Known& known) {
    const auto kind = known.kinds.find(GroupKindOf(facts.slot));
    if (kind != known.kinds.end()) {
      kind->second.objects.insert(std::hash<std::string>()(facts.uid.text));
    }
    known.disagreements.OnObject(facts, now);
    known.marks.OnObject(observed);
    known.unseen.OnObject(observed, now);
    known.throttled.OnObject(observed, now);
    known.unread.OnRead(facts.slot);
    if (observed.role != Role::kManaged) return;
    std::optional<std::uint64_t> tags;
    if (observed.has_tags) tags = observed.tags_digest;
    known.wars.OnObject(facts.uid, observed.generation, tags, now);
  });
}

void Detectors::OnGone(const Uid& uid, const Slot& slot) {
  known_.With([&](Known& known) {
    known.disagreements.OnGone(uid);
    known.marks.OnGone(uid);
    known.unseen.OnGone(uid);
    known.throttled.OnGone(uid);
    known.deletions.OnGone(slot);
    known.unread.OnRead(slot);
    const auto kind = known.kinds.find(GroupKindOf(slot));
    if (kind == known.kinds.end()) return;
    kind->second.objects.erase(std::hash<std::string>()(uid.text));
  });
}

void Detectors::OnKindState(const KindStatus& status) {
  known_.With([&](Known& known) {
    if (IsKind(status.kind, EventsKind())) known.events_live = status.state == KindState::kWatched;
    if (IsKind(status.kind, TroubleEventsKind())) {
      known.troubles_live = status.state == KindState::kWatched;
    }
    if (IsKind(status.kind, WebhookConfigurationKind())) {
      if (IsListed(status.state)) {
        if (!known.configuration_listed) known.configuration.reset();
        known.configuration_known = true;
        // What the watch brings from now on counts; a later list begins anew.
      } else if (status.state == KindState::kListing || status.state == KindState::kRelisting) {
        known.configuration_listed = false;
      }
    }
    if (const GroupKind kind = status.kind.group_kind(); IsUsageKind(kind)) {
      known.usages.OnGap(kind, status.gap);
      if (status.state == KindState::kUnserved) known.usages.Forget(kind);
      known.usage_kinds[kind] = status;
    }
    const bool begins =
        status.state == KindState::kListing || status.state == KindState::kRelisting;
    if (begins || status.state == KindState::kUnserved) {
      known.unread.Forget(status.kind.group_kind());
    }
    if (status.kind.role == Role::kOther) return;
    if (status.state == KindState::kUnserved) known.disagreements.Forget(status.kind.group_kind());
    known.kinds[status.kind.group_kind()].status = status;
  });
}

void Detectors::OnOther(const FollowedKind& kind, Value object, bool gone) {
  const Timestamp now = ports_.clock.Now();
  if (IsKind(kind, EventsKind())) {
    const auto event = gone
                           ? std::nullopt
                           : ReadUpdateEvent(object, ports_.host.Around().policy->identity.cluster);
    if (!event) return;
    known_.With([&](Known& known) { known.wars.OnEvent(*event, !known.events_live, now); });
    return;
  }
  if (IsKind(kind, TroubleEventsKind())) {
    const auto event =
        gone ? std::nullopt
             : ReadTroubleEvent(object, ports_.host.Around().policy->identity.cluster);
    if (!event) return;
    known_.With([&](Known& known) {
      if (known.troubles_live) known.throttled.OnEvent(*event, now);
    });
    return;
  }
  if (const GroupKind named = kind.group_kind(); IsUsageKind(named)) {
    // Some versions of Crossplane write each Usage eight times a second: what is not needed is not
    // asked.
    const bool is_deleted = !object.Child("metadata").Child("deletionTimestamp").empty();
    UsageSeen usage = ReadUsage(
        object, named, is_deleted ? ports_.host.Around().policy->identity.cluster : std::string());
    known_.With([&](Known& known) { known.usages.OnUsage(std::move(usage), gone, now); });
    return;
  }
  if (!IsKind(kind, WebhookConfigurationKind())) return;
  auto configuration = ReadWebhookConfiguration(object);
  if (!configuration) return;
  const std::string name = ports_.host.Around().webhook.name;
  if (configuration->name != name) return;
  known_.With([&](Known& known) {
    known.configuration_listed = !gone;
    known.configuration.reset();
    if (!gone) known.configuration = std::move(*configuration);
  });
}

void Detectors::OnUnread(const FollowedKind& kind, const UnreadObject& object, bool gone) {
  const Timestamp now = ports_.clock.Now();
  const GroupKind named = kind.group_kind();
  const Slot slot{ports_.host.Around().policy->identity.cluster, named.group, named.kind, object.ns,
                  object.name};
  known_.With([&](Known& known) {
    if (gone) {
      known.unread.OnRead(slot);
    } else {
      known.unread.OnUnread(slot, object.why, now);
    }
  });
}

void Detectors::OnProviderAct(const ProviderAct& act) {
  const Timestamp now = ports_.clock.Now();
  known_.With([&](Known& known) { known.unmatched.OnAct(act, now); });
}

void Detectors::OnDeletionAsked(const Slot& slot) {
  const Timestamp now = ports_.clock.Now();
  known_.With([&](Known& known) { known.deletions.OnDeletion(slot, now); });
}

void Detectors::SetServed(std::vector<ServedKind> kinds) {
  std::map<GroupKind, ServedKind> served;
  for (ServedKind& kind : kinds) {
    GroupKind name{kind.group, kind.kind};
    served.insert_or_assign(std::move(name), std::move(kind));
  }
  known_.With([&](Known& known) { known.served = std::move(served); });
}

void Detectors::SetReady(std::chrono::milliseconds took) {
  known_.With([&](Known& known) { known.ready = took; });
}

// Best effort: what cannot be looked up now is told to those only who may read everything.
void Detectors::AddWhomTheyConcern(std::vector<LiveFinding>& found) const {
  const Deadline deadline = std::chrono::steady_clock::now() + kConcernedTime;
  for (std::size_t begin = 0; begin < found.size(); begin += kPage) {
    const std::size_t end = std::min(found.size(), begin + kPage);
    const bool asks = std::any_of(found.begin() + static_cast<std::ptrdiff_t>(begin),
                                  found.begin() + static_cast<std::ptrdiff_t>(end), NamesSomething);
    if (!asks) continue;
    const auto look = [&](const Facts& facts) {
      for (std::size_t i = begin; i < end; ++i) AddConcerned(found[i], facts);
    };
    if (ports_.store.Read(look, deadline).ok()) continue;
    // Half of whom it concerns would look like all of them.
    for (std::size_t i = begin; i < end; ++i) {
      found[i].namespaces.clear();
      found[i].services.clear();
    }
  }
}

void Detectors::Report(Detector detector, std::vector<LiveFinding> found) {
  AddWhomTheyConcern(found);
  const auto changes = ports_.book.Replace(detector, std::move(found), ports_.clock.Now());
  for (const FindingChange& change : changes) ports_.host.OnChange(change);
}

Result<void> Detectors::PassOverObjects(const GroupKind& kind, Role role, Deadline deadline,
                                        Pass& pass) const {
  const Slot slot{ports_.host.Around().policy->identity.cluster, kind.group, kind.kind, "", ""};
  std::string after;
  do {
    std::vector<UnreferencedObject> unreferenced;
    std::vector<Adoption> adoptions;
    ClaimBindings::Present bindings;
    std::string next;
    const auto read = [&](const AllFacts& facts) {
      ObjectPage page = facts.ObjectsOfKind(slot, after, kPage);
      unreferenced.clear();
      adoptions.clear();
      bindings = {};
      for (const Object& object : page.objects) {
        if (role == Role::kClaim) {
          if (auto found = StaleClaimOf(object, facts)) bindings.stale.push_back(*std::move(found));
        } else if (role == Role::kComposite) {
          auto found = UnansweredCompositeOf(object, facts);
          if (found) bindings.unanswered.push_back(*std::move(found));
        }
        if (auto found = Unreferenced(object, facts)) unreferenced.push_back(*std::move(found));
        if (auto found = AdoptionNotFollowed(object, facts)) adoptions.push_back(*std::move(found));
      }
      next = std::move(page.next);
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(read, deadline));
    if (role == Role::kManaged) {
      pass.unreferenced.insert(pass.unreferenced.end(), unreferenced.begin(), unreferenced.end());
    }
    pass.adoptions.insert(pass.adoptions.end(), adoptions.begin(), adoptions.end());
    pass.bindings.stale.insert(pass.bindings.stale.end(), bindings.stale.begin(),
                               bindings.stale.end());
    pass.bindings.unanswered.insert(pass.bindings.unanswered.end(), bindings.unanswered.begin(),
                                    bindings.unanswered.end());
    after = std::move(next);
  } while (!after.empty());
  return {};
}

Result<Detectors::Pass> Detectors::PassOver(const AdmissionPolicy& policy,
                                            Deadline deadline) const {
  Pass pass;
  KeyText after;
  std::vector<Owner> owners;
  std::vector<LiveFinding> attachments;
  std::vector<LiveFinding> never_real;
  do {
    const auto read = [&](const AllFacts& facts) {
      owners = facts.OwnersIn(OwnerList::kAll, after, kPage);
      attachments = FindForeignAttachments(owners, policy, facts, ports_.clock.Now());
      never_real = FindNeverReal(owners, facts, ports_.clock.Now());
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(read, deadline));
    const auto add = [](std::vector<LiveFinding>& to, std::vector<LiveFinding> found) {
      to.insert(to.end(), found.begin(), found.end());
    };
    add(pass.orphaned, FindOrphaned(owners));
    add(pass.attachments, attachments);
    add(pass.never_real, never_real);
    CountProvisionalAccounts(owners, pass.accounts);
    CountAccounts(owners, pass.known_accounts);
    CountMoved(owners, pass.moves);
    CountCallers(owners, pass.callers);
    if (!owners.empty()) after = owners.back().key;
  } while (owners.size() == kPage);
  std::map<GroupKind, Role> kinds;
  known_.With([&](const Known& known) {
    for (const auto& [kind, facts] : known.kinds) {
      if (!facts.objects.empty()) kinds[kind] = facts.status.kind.role;
    }
  });
  for (const auto& [kind, role] : kinds) {
    TRUCE_RETURN_IF_ERROR(PassOverObjects(kind, role, deadline, pass));
  }
  return pass;
}

Result<void> Detectors::ExamineConflicts(Deadline deadline) {
  const Timestamp now = ports_.clock.Now();
  const bool is_due =
      !conflicts_at_ || conflicts_ <= kConflictsEachTime || now - *conflicts_at_ >= kPassEvery;
  if (is_due) {
    TRUCE_ASSIGN_OR_RETURN(const std::vector<Conflict> conflicts,
                           AllConflicts(ports_.store, deadline));
    conflicts_ = conflicts.size();
    conflicts_at_ = now;
    std::vector<LiveFinding> found;
    for (const Conflict& conflict : conflicts) found.push_back(FindingOf(conflict));
    known_.With([&](Known& known) { known.wars.SetConflicts(conflicts); });
    Report(Detector::kOwnershipConflict, std::move(found));
  }
  Report(Detector::kTagWar, known_.With([&](Known& known) { return known.wars.Find(now); }));
  return {};
}

Result<void> Detectors::ExamineNames(Deadline deadline) {
  const std::vector<LiveFinding> found =
      known_.With([](const Known& known) { return known.disagreements.Find(); });
  std::vector<LiveFinding> named = found;
  const auto read = [&](const Facts& facts) {
    named = found;
    NameOwners(named, facts);
  };
  if (!found.empty()) TRUCE_RETURN_IF_ERROR(ports_.store.Read(read, deadline));
  Report(Detector::kNamesDisagree, std::move(named));
  return {};
}

Result<void> Detectors::ExamineUsages(Deadline deadline) {
  const Timestamp now = ports_.clock.Now();
  const std::vector<UsageSeen> lasting =
      known_.With([&](const Known& known) { return known.usages.Lasting(now); });
  const std::vector<Slot> repeated =
      known_.With([&](Known& known) { return known.deletions.Repeated(now); });
  std::vector<StaleUsage> stale;
  std::vector<Object> asked;  // that are to be deleted again and again
  if (!lasting.empty()) {
    const auto read = [&](const Facts& facts) {
      stale.clear();
      asked.clear();
      for (const UsageSeen& usage : lasting) {
        if (auto found = StaleUsageOf(usage, facts)) stale.push_back(*std::move(found));
      }
      for (const Slot& slot : repeated) {
        if (auto object = facts.ObjectBySlot(slot)) asked.push_back(*std::move(object));
      }
    };
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(read, deadline));
  }
  std::vector<LiveFinding> found;
  std::vector<LiveFinding> blocked;
  known_.With([&](const Known& known) {
    const std::set<GroupKind> readable = ReadableOf(known.kinds);
    const auto lives = [&](const Object& object) {
      return readable.contains(GroupKindOf(object.slot)) && !known.marks.IsTerminating(object.uid);
    };
    std::erase_if(stale, [&](const StaleUsage& one) {
      return !lives(one.user) || (one.composite && !lives(*one.composite));
    });
    for (const StaleUsage& one : stale) found.push_back(FindingOf(one));
    for (const Object& object : asked) {
      if (!lives(object) || !known.marks.IsInUse(object.uid)) continue;
      auto usages = AllLeftBehind(known.usages.UsagesOf(object.slot), stale);
      if (!usages.empty()) blocked.push_back(FindingOf(BlockedDeletion{object, std::move(usages)}));
    }
  });
  Report(Detector::kStaleUsage, std::move(found));
  Report(Detector::kDeletionBlocked, std::move(blocked));
  return {};
}

Result<void> Detectors::ExamineThrottling(Deadline deadline) {
  constexpr std::size_t kPlacedAtOnce = 500;
  std::vector<Uid> unplaced;
  std::vector<TagWar> running;
  known_.With([&](const Known& known) {
    unplaced = known.throttled.Unplaced(kPlacedAtOnce);
    running = known.wars.Known();
  });
  std::vector<std::optional<ThrottledPlace>> places;
  std::vector<LocatedWar> wars;
  const auto read = [&](const Facts& facts) {
    places.clear();
    wars.clear();
    for (const Uid& uid : unplaced) places.push_back(PlaceOf(uid, facts));
    for (const TagWar& war : running) {
      if (const auto owner = OwnerByName(war.key, facts)) wars.push_back(Located(war, *owner));
    }
  };
  if (!unplaced.empty() || !running.empty()) {
    TRUCE_RETURN_IF_ERROR(ports_.store.Read(read, deadline));
  }
  const Timestamp now = ports_.clock.Now();
  Report(Detector::kThrottledApi, known_.With([&](Known& known) {
    for (std::size_t i = 0; i < unplaced.size(); ++i)
      known.throttled.SetPlace(unplaced[i], places[i]);
    return known.throttled.Find(wars, callers_, now);
  }));
  return {};
}

void Detectors::AddKindsToSend(const Surroundings& around, ExpectedWebhook& expected) const {
  known_.With([&](const Known& known) {
    for (const auto& [kind, facts] : known.kinds) {
      const bool is_managed = facts.status.kind.role == Role::kManaged;
      const bool declares =
          is_managed || !around.policy->identity.mappings.Of(kind.group, kind.kind).empty();
      if (declares) expected.kinds.push_back(facts.status.kind.selection.kind);
      if (is_managed) expected.status_kinds.push_back(facts.status.kind.selection.kind);
    }
  });
}

void Detectors::ExamineWebhook(const Surroundings& around) {
  ExpectedWebhook expected = around.webhook;
  AddKindsToSend(around, expected);
  std::optional<WebhookConfiguration> configuration;
  const bool is_known = known_.With([&](const Known& known) {
    configuration = known.configuration;
    for (const char* kind : {"OwnershipCheck", "DeclarationMapping", "NamingPolicy"}) {
      const auto served = known.served.find({"truce.dev", kind});
      if (served != known.served.end()) expected.own_kinds.push_back(served->second);
    }
    return known.configuration_known;
  });
  if (!is_known) return;
  Report(Detector::kWebhookConfiguration,
         CheckWebhookConfiguration(configuration ? &*configuration : nullptr, expected));
}

Result<void> Detectors::Examine(Deadline deadline) {
  const Surroundings around = ports_.host.Around();
  ExamineWebhook(around);
  if (!known_.With([](const Known& known) { return known.ready.has_value(); })) return {};
  TRUCE_RETURN_IF_ERROR(ExamineConflicts(deadline));
  TRUCE_RETURN_IF_ERROR(ExamineUsages(deadline));
  TRUCE_RETURN_IF_ERROR(ExamineThrottling(deadline));
  TRUCE_RETURN_IF_ERROR(ExamineNames(deadline));
  Report(Detector::kUnreadObject,
         known_.With([](const Known& known) { return known.unread.Find(); }));
  Report(Detector::kUnmatchedProvider,
         known_.With([&](Known& known) { return known.unmatched.Find(around.policy->providers); }));
  const Timestamp now = ports_.clock.Now();
  Report(Detector::kCompositeNotSeen, known_.With([&](Known& known) {
    return known.unseen.Find(ReadableOf(known.kinds), now);
  }));
  if (pass_at_ && now >= *pass_at_ && now - *pass_at_ < kPassEvery) {
    // Reads nothing of the registry, and a webhook that was just installed must not be called
    // missing for minutes.
    Report(Detector::kNotCovered, FindingsOf(CoverageOf(around)));
    return {};
  }
  TRUCE_ASSIGN_OR_RETURN(Pass pass, PassOver(*around.policy, deadline));
  pass_at_ = now;
  ClaimBindings::Found bindings;
  known_.With([&](Known& known) {
    bindings = bindings_.Find(pass.bindings, known.marks, ReadableOf(known.kinds), now);
    known.accounts = pass.accounts;
    known.known_accounts = pass.known_accounts;
  });
  callers_ = std::move(pass.callers);
  Report(Detector::kOrphanedOwnership, std::move(pass.orphaned));
  Report(Detector::kNeverReal, std::move(pass.never_real));
  Report(Detector::kForeignAttachment, std::move(pass.attachments));
  Report(Detector::kAccountUnknown, FindUnknownAccounts(pass.accounts));
  Report(Detector::kProviderConfigMoved, FindMoved(pass.moves));
  Report(Detector::kOutsideEndpoint, FindOutside(around.policy->identity));
  Report(Detector::kAdoptionNotFollowed, FindAdoptions(pass.adoptions));
  Report(Detector::kClaimTwice, std::move(bindings.twice));
  Report(Detector::kClaimStale, std::move(bindings.stale));
  Report(Detector::kUnreferencedResource, unreferenced_.Find(pass.unreferenced, now));
  Report(Detector::kNotCovered, FindingsOf(CoverageOf(around)));
  return {};
}

CoverageReport Detectors::CoverageOf(const Surroundings& around) const {
  std::vector<CoverageKind> kinds;
  std::vector<CoverageClaim> claims;
  std::vector<CoverageKind> defined;
  CoverageFacts facts;
  const AdmissionPolicy& policy = *around.policy;
  facts.policy = &policy;
  facts.now = ports_.clock.Now();
  facts.expected = around.webhook;
  facts.unmapped = around.unmapped;
  std::optional<WebhookConfiguration> configuration;
  known_.With([&](const Known& known) {
    for (const auto& [name, kind] : known.kinds) {
      const ServedKind& served = kind.status.kind.selection.kind;
      const std::uint64_t objects = kind.objects.size();
      if (kind.status.kind.role == Role::kClaim) {
        const auto composite = policy.claims.find(name);
        claims.push_back(
            {served, composite == policy.claims.end() ? GroupKind{} : composite->second, objects});
      }
      kinds.push_back({served, objects, kind.status.problem, WatchedFor(kind.status),
                       FailingSince(kind.status)});
      const Role role = kind.status.kind.role;
      const bool is_defined = role == Role::kComposite || role == Role::kClaim;
      if (is_defined && kind.status.state != KindState::kUnserved) defined.push_back(kinds.back());
    }
    if (const auto served = known.served.find(CompositionKind()); served != known.served.end()) {
      facts.composition = served->second;
    }
    for (const auto& [name, status] : known.usage_kinds) {
      kinds.push_back({status.kind.selection.kind, 0, status.problem, WatchedFor(status),
                       FailingSince(status)});
    }
    for (const auto& [name, served] : known.served) {
      if (!known.kinds.contains(name)) kinds.push_back({served, 0, ""});
    }
    configuration = known.configuration;
    facts.accounts = known.accounts;
    if (!policy.account_parties.empty()) facts.unbound_accounts = known.known_accounts;
  });
  if (!policy.account_parties.empty()) {
    for (const auto& [config, account] : policy.identity.accounts) {
      facts.unbound_accounts.try_emplace(account);
    }
    std::erase_if(facts.unbound_accounts,
                  [&](const auto& each) { return policy.account_parties.contains(each.first); });
  }
  facts.kinds = kinds;
  facts.claims = claims;
  facts.defined = defined;
  facts.webhook = configuration ? &*configuration : nullptr;
  return MakeCoverage(facts);
}

CoverageReport Detectors::Coverage() const { return CoverageOf(ports_.host.Around()); }

std::vector<TagWar> Detectors::Wars() const {
  return known_.With([](const Known& known) { return known.wars.Known(); });
}

std::vector<FollowedKind> Detectors::KindsWithObjects() const {
  std::vector<FollowedKind> kinds;
  known_.With([&](const Known& known) {
    for (const auto& [kind, facts] : known.kinds) {
      const bool may_have = !facts.objects.empty() || !facts.status.listed;
      if (may_have && facts.status.state != KindState::kUnserved) {
        kinds.push_back(facts.status.kind);
      }
    }
  });
  return kinds;
}

Result<BaselineReport> Detectors::Baseline(Deadline deadline) const {
  BaselineReport report = Watched();
  TRUCE_ASSIGN_OR_RETURN(report.conflicts, AllConflicts(ports_.store, deadline));
  report.cluster = ports_.host.Around().policy->identity.cluster;
  report.at = ports_.clock.Now();
  report.counts = ports_.store.Counts();
  return report;
}

BaselineReport Detectors::Watched() const {
  BaselineReport report;
  known_.With([&](const Known& known) {
    report.complete = known.ready.has_value();
    report.took = known.ready.value_or(std::chrono::milliseconds(0));
    report.wars = known.wars.Known();
    for (const auto& [kind, facts] : known.kinds) {
      ++report.kinds;
      report.objects += facts.objects.size();
      if (!facts.status.problem.empty()) {
        report.problems.push_back({KindForPeople(kind.kind, kind.group), facts.status.problem});
      }
    }
  });
  return report;
}

}  // namespace truce
