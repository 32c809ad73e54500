// Detector throttled-api: AWS refuses calls of an account because there are too many.
//
// Seen in what providers write on their objects (throttled_call.h): a condition that is False, and
// Events that say the same. AWS counts by account, region, service and API, so one team's tag war,
// or its many objects, makes the calls of all others fail.
//
// One message is no finding: the SDK itself tries three times, and a provider comes back. It is
// found when two objects have it, when it came three times, or when it lasts for two minutes; it is
// over when no object has it and none has reported it for kThrottledQuiet. Mode warn; enforce while
// a tag war runs there.
#include <tuple>

#include "registry/identity/uids.h"
#include "registry/ownership/names.h"
#include "webhook/findings/examiner.h"
#include "webhook/findings/throttled_call.h"

namespace truce {
namespace {

constexpr std::chrono::minutes kThrottledQuiet{10};
constexpr std::chrono::minutes kThrottledStands{2};
constexpr std::size_t kThrottledTries = 3;
constexpr std::size_t kThrottledMax = 20000;  // of more objects those that said it last are known
constexpr std::size_t kPlacedAtOnce = 500;
constexpr std::size_t kNamedMax = 3;       // objects that a finding names
constexpr std::size_t kCarriedMax = 8;     // that a finding carries
constexpr std::size_t kSaidBytesMax = 64;  // of a service

// The same Events as those of tag wars, under the name of their other API: a kind is followed once.
const ServedKind& TroubleEventsKind() {
  static const ServedKind kKind{"events.k8s.io", "v1", "Event", "events", true};
  return kKind;
}
// Of all calls, observing is what a provider does most.
constexpr std::string_view kTroubleEventSelector = "reason=CannotObserveExternalResource";

// How many resources each namespace has of a service in an account: a provider asks AWS for each of
// them at every poll. By account and service, then namespace (empty: cluster-scoped roots).
using Callers = std::map<std::pair<std::string, std::string>, std::map<std::string, std::uint64_t>>;

// A tag war that runs, with where its resource lies.
struct LocatedWar {
  std::string resource;  // for people
  std::string service;   // first part of the type: "s3"
  std::string account;   // 12 digits, or empty: not known
  double writes_per_minute = 0;
  std::vector<Slot> fighters;
};

std::string ServiceOfType(std::string_view type) {
  return std::string(type.substr(0, std::min(type.find('/'), type.size())));
}

// "account 123456789012"; of a provisional account the ProviderConfig that it stands for.
std::string AccountForPeople(const std::string& account) {
  if (account.empty()) return "an account that is not known";
  if (!account.starts_with('?')) return "account " + account;
  const std::size_t slash = account.rfind('/');
  return "the account of ProviderConfig " +
         OneLine(std::string_view(account).substr(slash == std::string::npos ? 1 : slash + 1),
                 kShownBytesMax);
}

// "; of 520 resources there 412 are of namespace team-b"; empty: not known.
std::string MostResources(const std::string& account, const std::string& service,
                          const Callers& callers) {
  const auto found = callers.find({account, service});
  if (found == callers.end() || found->second.empty()) return {};
  std::uint64_t all = 0;
  for (const auto& [ns, count] : found->second) all += count;
  const auto& [ns, most] =
      *std::max_element(found->second.begin(), found->second.end(),
                        [](const auto& a, const auto& b) { return a.second < b.second; });
  return "; of " + Counted(all, "resource") + " there " + Counted(most, "is", "are") +
         (ns.empty() ? " of cluster-scoped objects" : " of namespace " + ns);
}

// Either may not be known.
bool MayBeOf(const LocatedWar& war, const std::string& account, const std::string& service) {
  const bool known = !account.empty() && !account.starts_with('?') && !war.account.empty();
  return (!known || war.account == account) && war.service == service;
}

LocatedWar Located(const TagWar& war, const Owner& owner) {
  LocatedWar out;
  out.resource =
      OneLine(TypeForPeople(owner.identity.type) + " \"" + owner.name + "\"", kShownBytesMax);
  out.service = ServiceOfType(owner.identity.type);
  if (!owner.identity.account.starts_with('?')) out.account = owner.identity.account;
  out.writes_per_minute = war.writes_per_minute;
  out.fighters = war.fighters;
  return out;
}

// Memory: about 500 bytes an object.
class ThrottledCalls final : public Examiner {
 public:
  std::vector<DetectorKind> Kinds(const std::string& /*webhook*/) const override {
    return {AlwaysFollowed(TroubleEventsKind(), std::string(kTroubleEventSelector))};
  }

  void OnSighted(const ObservedVersion& observed, Timestamp now) override;
  void OnGone(const Uid& uid, const Slot& /*slot*/) override { objects_.erase(uid); }
  // Events of a list are history.
  void OnKindState(const KindStatus& status) override {
    if (IsEvents(status.kind)) are_events_live_ = status.state == KindState::kWatched;
  }
  // An Event of core/v1 or events.k8s.io/v1.
  void OnOther(const OtherObject& other) override {
    if (!IsEvents(other.kind) || other.gone || !are_events_live_) return;
    Value object = other.object.Child("regarding");
    if (object.empty()) object = other.object.Child("involvedObject");
    Value text = other.object.Child("note");
    if (text.empty()) text = other.object.Child("message");
    const Uid uid = UidIn(other.cluster, object.Child("uid").text());
    if (uid.empty()) return;
    auto call = ReadThrottledCall(text.text());
    if (call) Note(uid, *std::move(call), other.at);
  }

  void BeginPass() override { counted_.clear(); }
  void OnOwner(const Owner& owner, const PassPlace& at) override {
    at.keep.push_back([this, account = owner.identity.account,
                       service = ServiceOfType(owner.identity.type), ns = owner.root.ns] {
      ++counted_[{account, service}][ns];
    });
  }
  void EndPass(const Examination& /*at*/) override { callers_ = std::move(counted_); }

  Result<void> Examine(const Examination& at) override;

 private:
  // Of one object, its last throttled call; kept while it is throttled and for kThrottledQuiet.
  struct Throttled {
    Slot slot;            // empty kind: not known where it lies
    std::string account;  // 12 digits, or "?<provisional account>"
    std::string service;  // of the type: "s3"
    ThrottledCall call;
    std::uint64_t tries = 0;
    Timestamp first{};
    Timestamp last{};
    bool stands = false;  // a condition says so now
  };
  using Group = std::vector<const Throttled*>;

  static bool IsEvents(const FollowedKind& kind) {
    return kind.group_kind() == GroupKind{TroubleEventsKind().group, TroubleEventsKind().kind};
  }
  Throttled& Note(const Uid& uid, ThrottledCall call, Timestamp now);
  // Events do not show the place of their objects. Sets that of `uid`; one that the registry does
  // not know is forgotten.
  void SetPlace(const Uid& uid, const std::optional<std::pair<Slot, Owner>>& place);
  static bool IsFound(const Group& group, Timestamp now);
  LiveFinding FindingOf(const Group& group, const std::vector<LocatedWar>& wars) const;
  // One for each account, service and API.
  std::vector<LiveFinding> Find(const std::vector<LocatedWar>& wars, Timestamp now);

  std::map<Uid, Throttled> objects_;
  bool are_events_live_ = false;
  Callers callers_;  // of the one who examines, as the next
  Callers counted_;
};

ThrottledCalls::Throttled& ThrottledCalls::Note(const Uid& uid, ThrottledCall call, Timestamp now) {
  // An Event and a condition tell of one try.
  constexpr std::chrono::milliseconds kOneTry{1000};
  if (objects_.size() >= kThrottledMax && !objects_.contains(uid)) {
    // Whoever was silent for longest is likeliest to be over it.
    const auto earlier = [](const auto& a, const auto& b) { return a.second.last < b.second.last; };
    objects_.erase(std::min_element(objects_.begin(), objects_.end(), earlier));
  }
  Throttled& entry = objects_[uid];
  const bool is_over = entry.tries > 0 && !entry.stands && now - entry.last > kThrottledQuiet;
  if (entry.tries == 0 || is_over) {
    entry.first = now;
    entry.tries = 1;
  } else if (now - entry.last > kOneTry) {
    ++entry.tries;
  }
  entry.last = now;
  entry.call = std::move(call);
  return entry;
}

void ThrottledCalls::OnSighted(const ObservedVersion& observed, Timestamp now) {
  const ObjectFacts& facts = observed.facts;
  if (observed.role != Role::kManaged || facts.uid.empty()) return;
  auto call = observed.trouble.empty() ? std::nullopt : ReadThrottledCall(observed.trouble);
  if (!call) {
    const auto known = objects_.find(facts.uid);
    // It may come back at the next look: it is over only after a while of silence.
    if (known != objects_.end()) known->second.stands = false;
    return;
  }
  Throttled& entry = Note(facts.uid, *std::move(call), now);
  entry.stands = true;
  entry.slot = facts.slot;
  entry.account = facts.shown_account;
  entry.service = facts.slot.group.substr(0, facts.slot.group.find('.'));
  if (facts.resources.empty()) return;
  const ResourceIdentity& identity = facts.resources.front().identity;
  if (entry.account.empty()) entry.account = identity.account;
  entry.service = ServiceOfType(identity.type);
}

void ThrottledCalls::SetPlace(const Uid& uid, const std::optional<std::pair<Slot, Owner>>& place) {
  const auto found = objects_.find(uid);
  if (found == objects_.end()) return;
  if (!place) {
    objects_.erase(found);
    return;
  }
  const auto& [slot, owner] = *place;
  found->second.slot = slot;
  found->second.account = owner.identity.account;
  found->second.service = ServiceOfType(owner.identity.type);
}

bool ThrottledCalls::IsFound(const Group& group, Timestamp now) {
  std::size_t tries = 0;
  for (const Throttled* each : group) {
    tries += each->tries;
    if (each->stands && now - each->first >= kThrottledStands) return true;
  }
  // A single try that AWS turns away is nothing: SDKs try again by themselves.
  return group.size() > 1 || tries >= kThrottledTries;
}

LiveFinding ThrottledCalls::FindingOf(const Group& group,
                                      const std::vector<LocatedWar>& wars) const {
  const Throttled& one = *group.front();
  const ThrottledCall& call = one.call;
  const std::string service =
      OneLine(call.service.empty() ? one.service : call.service, kSaidBytesMax);
  const std::string account = AccountForPeople(one.account);
  LiveFinding out;
  out.detector = Detector::kThrottledApi;
  out.subject = one.account + "/" + one.service + "/" + call.api;
  out.resource = (call.api.empty() ? "calls" : call.api) + " of " + service + " in " + account;
  out.cause = "AWS refuses " + out.resource + ": there are too many (" + call.code +
              "); whoever uses this account fails with them.";
  out.since = one.first;
  std::uint64_t tries = 0;
  for (const Throttled* each : group) {
    out.since = std::min(out.since, each->first);
    tries += each->tries;
    if (out.objects.size() < kCarriedMax) out.objects.push_back(each->slot);
  }
  out.evidence =
      Counted(group.size(), "object") + ", " + Counted(tries, "try", "tries") + " refused";
  std::string_view joint = "; most often ";
  for (std::size_t i = 0; i < std::min(group.size(), kNamedMax); ++i) {
    out.evidence.append(joint).append(ObjectForPeople(group[i]->slot)).append(" (");
    out.evidence.append(std::to_string(group[i]->tries)).append(")");
    joint = ", ";
  }
  out.evidence += MostResources(one.account, one.service, callers_);
  const LocatedWar* worst = nullptr;
  for (const LocatedWar& war : wars) {
    if (!MayBeOf(war, one.account, one.service)) continue;
    if (worst == nullptr || war.writes_per_minute > worst->writes_per_minute) worst = &war;
  }
  if (worst == nullptr) {
    out.mode = Mode::kWarn;
    out.remedy =
        "Have the providers ask less often (--poll, --max-reconcile-rate; for Upbound's the "
        "reconciliationPolicy of the ProviderConfig), or ask AWS for a higher rate; CloudWatch "
        "counts the calls by API in AWS/Usage.";
    return out;
  }
  out.mode = Mode::kEnforce;
  out.evidence += "; a tag war over " + worst->resource + " runs there";
  if (worst->writes_per_minute > 0) {
    out.evidence += ", " + RateForPeople(worst->writes_per_minute) + " writes a minute";
  }
  joint = ", by ";
  for (std::size_t i = 0; i < std::min(worst->fighters.size(), kNamedMax); ++i) {
    out.evidence.append(joint).append(
        ObjectBeside(worst->fighters[i], worst->fighters[i == 0 ? worst->fighters.size() - 1 : 0]));
    joint = " and ";
  }
  out.remedy =
      "End the tag war first: `truce conflicts` prints the steps. It writes and reads at "
      "each look of both, for nothing.";
  return out;
}

std::vector<LiveFinding> ThrottledCalls::Find(const std::vector<LocatedWar>& wars, Timestamp now) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (auto at = objects_.begin(); at != objects_.end();) {
    const Throttled& entry = at->second;
    if (!entry.stands && now - entry.last > kThrottledQuiet) {
      at = objects_.erase(at);
      continue;
    }
    // An Event names its object by uid alone; the object is looked up first.
    if (!entry.slot.kind.empty()) {
      groups[{entry.account, entry.service, entry.call.api}].push_back(&entry);
    }
    ++at;
  }
  std::vector<LiveFinding> out;
  for (auto& [name, group] : groups) {
    if (!IsFound(group, now)) continue;
    std::sort(group.begin(), group.end(), [](const Throttled* a, const Throttled* b) {
      return std::tie(b->tries, a->slot) < std::tie(a->tries, b->slot);
    });
    out.push_back(FindingOf(group, wars));
    out.back().evidence = OneLine(out.back().evidence, 4 * kShownBytesMax);
  }
  return out;
}

Result<void> ThrottledCalls::Examine(const Examination& at) {
  std::vector<Uid> unplaced;
  std::vector<TagWar> running;
  at.watched.With([&](const WatchedCluster& cluster) {
    running = cluster.wars;
    for (const auto& [uid, entry] : objects_) {
      if (unplaced.size() == kPlacedAtOnce) break;
      if (entry.slot.kind.empty()) unplaced.push_back(uid);
    }
  });
  std::vector<std::optional<std::pair<Slot, Owner>>> places;
  std::vector<LocatedWar> wars;
  const auto read = [&](const Facts& facts) {
    places.assign(unplaced.size(), std::nullopt);
    wars.clear();
    for (std::size_t i = 0; i < unplaced.size(); ++i) {
      for (const Row& row : facts.RowsOfUid(unplaced[i])) {
        const auto owner = facts.OwnerOf(row.id.resource);
        if (owner && !places[i]) places[i].emplace(row.slot, *owner);
      }
    }
    for (const TagWar& war : running) {
      if (const auto owner = OwnerByName(war.key, facts)) wars.push_back(Located(war, *owner));
    }
  };
  if (!unplaced.empty() || !running.empty()) {
    TRUCE_RETURN_IF_ERROR(at.store.Read(read, at.deadline));
  }
  at.report(Detector::kThrottledApi, at.watched.With([&](const auto&) {
    for (std::size_t i = 0; i < unplaced.size(); ++i) SetPlace(unplaced[i], places[i]);
    return Find(wars, at.now);
  }));
  return {};
}

}  // namespace

constinit const DetectorInfo kThrottledApiInfo{
    "throttled-api",
    Severity::kCritical,
    "AWS refuses calls of an account because there are too many.",
    "Conditions and Events of managed resources that hold an error code by which AWS throttles, in "
    "the form in which its SDKs write it: on two objects, three times, or for 2 minutes.",
    Make<ThrottledCalls>,
    "",
    NamesOthers::kInEvidence};

}  // namespace truce
