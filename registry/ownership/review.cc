#include "registry/ownership/review.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "registry/base/assert.h"
#include "registry/base/name_table.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/grant.h"
#include "registry/ownership/ledger.h"
#include "registry/ownership/lineage.h"
#include "registry/ownership/names.h"
#include "registry/ownership/sight.h"

namespace truce {

std::string_view Name(ClashReason reason) {
  static constexpr NameTable<ClashReason::kTransferring> kWords("owned", "sibling", "orphaned",
                                                                "imported", "transferring");
  return kWords.Of(reason);
}

namespace {

// A reserved row older than this is worth a proof when it is in somebody's way.
constexpr std::chrono::seconds kProveAfter{60};

// Trusted callers have no limit, and their reservations are not counted.
bool IsLimited(const Requester& requester) {
  return !requester.composite_controller && !requester.provider && !requester.restorer;
}
// Keys equal but for the account are looked for among this many owners.
constexpr std::size_t kElsewhereMax = 8;

// One added pair (declared resource, intent) with its mode.
struct Pair {
  std::size_t index;  // in object.resources
  const DeclaredResource* resource;
  Mode mode;
  bool late;
};

std::string DigestOf(const std::vector<Pair>& pairs) {
  std::vector<std::string> lines;
  lines.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    std::string& line = lines.emplace_back(pair.resource->key().text);
    line.append(1, ' ').append(Name(pair.resource->intent)).append(1, '\n');
  }
  std::sort(lines.begin(), lines.end());
  std::string digest;
  for (const std::string& line : lines) digest += line;
  return digest;
}

// State of the decision while it goes through the pairs.
struct Case {
  const ReviewRequest& request;
  Ledger& ledger;
  const Object& object;  // placed
  const Grantee& grantee;
  const std::vector<Pair>& pairs;
  mutable std::string digest;  // empty until asked for: a plain denial needs none

  const std::string& Digest() const {
    if (digest.empty()) digest = DigestOf(pairs);
    return digest;
  }
};

// Late: only an UPDATE that adds an external name where there was none, to a kind of a
// provider-assigned family, by a provider.
bool IsLate(const ReviewRequest& request, const DeclaredResource& resource) {
  const bool may_bind = request.operation == Operation::kUpdate && request.requester.provider;
  if (!may_bind || !request.old_object) return false;
  if (!resource.late && !resource.bound) return false;
  return std::ranges::none_of(request.old_object->resources, [&](const DeclaredResource& old) {
    return old.identity.type == resource.identity.type &&
           (resource.late ? !old.key().empty() : old.bound);
  });
}

// The pairs that this request adds: all of a CREATE; of an UPDATE new keys and raised intents.
// Resources that the object holds move with it to another root, where they may (W3).
std::vector<Pair> AddedPairs(const ReviewRequest& request) {
  std::vector<Pair> added;
  for (std::size_t i = 0; i < request.object.resources.size(); ++i) {
    const DeclaredResource& resource = request.object.resources[i];
    // A partial declaration reserves nothing: its names depend on its missing parts.
    if (resource.key().empty() || resource.partial) continue;
    if (request.old_object) {
      const DeclaredResource* old = Declares(*request.old_object, resource.key());
      const bool same = old != nullptr && old->key() == resource.key() &&
                        std::ranges::all_of(resource.names, [&](const DeclaredName& name) {
                          return std::ranges::count(old->names, name) > 0;
                        });
      if (same && old->intent >= resource.intent) continue;
    }
    const Mode mode = i < request.modes.size() ? request.modes[i] : Mode::kEnforce;
    added.push_back({i, &resource, mode, IsLate(request, resource)});
  }
  return added;
}

// The same review came before and its row is there: it is allowed again, whatever the modes say
// now.
bool IsReplay(const Case& c, const ResourceId& id) {
  // The rows as they were before this review: its own reservations are no answer.
  const std::vector<Row> rows = c.ledger.facts().RowsOf(id);
  return std::ranges::any_of(rows, [&](const Row& row) {
    return row.id.uid == c.object.uid && row.id.state == RowState::kReserved &&
           row.review == c.request.uid && row.digest == c.Digest();
  });
}

// The obstacle between the pair and its grant.
struct Obstacle {
  std::optional<ClashReason> reason;
  std::string step;
  bool transfers = false;  // no obstacle: the successor takes over
  bool held = false;       // no obstacle: held before, as owner or beside it
};

bool IsRestored(const ReviewRequest& request) {
  return request.requester.restorer && request.operation == Operation::kCreate;
}

// The top of the owner's chain, where a restorer brings back its claim before the composite between
// them (R2).
std::optional<Object> TopOfClaim(const Case& c, const Owner& owner) {
  if (!IsRestored(c.request)) return std::nullopt;
  auto top = c.ledger.ObjectBySlot(owner.root);
  if (top && !AwaitsClaim(*top, c.object, c.ledger)) top.reset();
  return top;
}

// The owner's chain joins that of the object: the request brings the parent that its top names
// (W3).
bool BringsParent(const Case& c, const Owner& owner) {
  if (c.object.names.empty()) return false;  // the usual case: spares a read of the store
  const auto top = c.ledger.ObjectBySlot(owner.root);
  return top && (Joins(*top, c.object, c.ledger) || TopOfClaim(c, owner));
}

// The old object had the intent and named the resource literally: by all the names by which the new
// one means it, at least one (R1). A row alone does not count: it may be one that a weaker mode let
// in.
bool HeldBefore(const Case& c, const Pair& pair, const ResourceId& id) {
  if (!c.request.old_object) return false;
  const DeclaredResource& resource = *pair.resource;
  bool any = false;
  const auto held = [&](const KeyText& name, const KeyText& literally) {
    const auto named = c.ledger.Named(name);
    if (!named || named->resource != id) return true;
    any = true;
    const DeclaredResource* old = Declares(*c.request.old_object, literally);
    return old != nullptr && old->intent >= resource.intent;
  };
  return std::ranges::all_of(resource.names, [&](const auto& n) { return held(n.text, n.text); }) &&
         std::ranges::all_of(resource.pending_names,
                             [&](const auto& n) { return held(n, resource.key()); }) &&
         held(WithoutAccount(resource.key()).value_or(KeyText()), resource.key()) && any;
}

Obstacle FindObstacle(const Case& c, const Owner& owner) {
  // Nobody in the cluster is its party: only a release makes it anybody's.
  if (owner.record == Record::kImported) return {.reason = ClashReason::kImported};
  const bool is_record = owner.record != Record::kNone;
  const bool is_own =
      is_record ? IsForParty(owner, c.object, c.ledger) : owner.root == c.object.root;
  if (is_own || BringsParent(c, owner)) {
    const bool sibling = HasSibling(owner, c.object, c.request.object.managed, c.ledger);
    return sibling ? Obstacle{.reason = ClashReason::kSibling} : Obstacle{};
  }
  if (!NamesSuccessor(owner, c.object.root)) {
    return {.reason = is_record ? ClashReason::kOrphaned : ClashReason::kOwned};
  }
  std::string step;
  if (!is_record) step = MissingStep(c.ledger.RowsOf(owner.id), owner.root);
  if (step.empty()) return {.transfers = true};
  return {.reason = ClashReason::kTransferring, .step = std::move(step)};
}

// A living object was seen in the place of one that is to be created: the API server may answer
// 409.
bool IsPlaceTaken(const Case& c) {
  const auto there = c.ledger.ObjectBySlot(c.object.slot);
  if (!there || there->uid == c.object.uid) return false;
  return std::ranges::any_of(c.ledger.RowsOfUid(there->uid),
                             [](const Row& row) { return row.id.state == RowState::kSeen; });
}

// Adds the reserved row; `promised`: no other root's may be beside it. One that an earlier review
// of this object left, and that may still come true, is not weakened.
void Reserve(const Case& c, const Pair& pair, const ResourceId& id, bool promised = false) {
  Row row;
  row.id = {id, c.object.uid, RowState::kReserved};
  row.slot = c.object.slot;
  row.root = c.object.root;
  row.intent = pair.resource->intent;
  if (const auto earlier = c.ledger.FindRow(row.id))
    row.intent = std::max(row.intent, earlier->intent);
  row.terminating = c.request.object.terminating;
  row.managed = c.request.object.managed;
  row.identity = DeclaredIdentity(*pair.resource);
  row.review = c.request.uid;
  row.digest = c.Digest();
  if (c.request.old_object) row.base = c.request.old_object->version;
  if (!c.request.old_object && IsPlaceTaken(c)) row.base = 0;
  if (IsLimited(c.request.requester)) row.user = c.request.requester.user;
  row.created = c.request.object.created;
  // Its proof is due a TTL after this review, however long the object has been known: asked
  // earlier, the object would not have changed yet. Incumbency is kept by the seen row.
  row.at = c.ledger.now();
  if (promised) c.ledger.Promises(row.id);
  c.ledger.PutRow(std::move(row));
}

// Names every other owner of an equal key under another account, where either account is not known.
void FindElsewhere(const Case& c, const Pair& pair, Decision& decision) {
  const std::string shape = ShapeOf(pair.resource->key());
  if (shape.empty() || pair.mode == Mode::kOff) return;
  const bool unknown = !IsAccount(pair.resource->identity.account);
  for (Owner& other : c.ledger.facts().OwnersOfShape(shape, kElsewhereMax)) {
    const bool is_same = Declares(c.request.object, other.key) == pair.resource;
    if (is_same || other.root == c.object.root) continue;
    if (!unknown && IsAccount(other.identity.account)) continue;
    decision.elsewhere.push_back({.mode = Mode::kWarn,
                                  .resource = *pair.resource,
                                  .holder = std::move(other),
                                  .step = {},
                                  .same_party = false});
  }
}

// A resource that the pair's names find, and the obstacle between them.
struct Candidate {
  Candidate(ResourceMatch&& resource, const Ledger& ledger)
      : match(std::move(resource)), owner(ledger.OwnerOf(match.id)) {}

  ResourceMatch match;
  std::optional<Owner> owner;  // none: it is only observed
  Obstacle obstacle;
};

std::vector<Candidate> CandidatesOf(const Case& c, const Pair& pair) {
  std::vector<Candidate> candidates;
  for (ResourceMatch& match : MatchesAndPending(*pair.resource, c.ledger)) {
    Candidate& candidate = candidates.emplace_back(std::move(match), c.ledger);
    if (!candidate.owner) continue;
    candidate.obstacle = FindObstacle(c, *candidate.owner);
    if (candidate.obstacle.reason && HeldBefore(c, pair, candidate.match.id)) {
      candidate.obstacle = {.held = true};
    }
    // A resource that is about to move to another account is decided against, never joined (N6).
    if (candidate.match.pending && !candidate.obstacle.reason) candidates.pop_back();
  }
  return candidates;
}

// The owner of the candidate, merged with another resource by now or not; nothing: it is none any
// more.
std::optional<Owner> OwnerNow(const Case& c, const Pair& pair, const Candidate& candidate) {
  for (const ResourceMatch& match : MatchesOf(*pair.resource, c.ledger)) {
    if (match.id == candidate.match.id) return c.ledger.OwnerOf(match.id);
  }
  const auto former = c.ledger.Named(FormerIdName(candidate.match.id));
  return former ? c.ledger.OwnerOf(former->resource) : std::nullopt;
}

// Names first: two resources that are one must merge before the grant.
void Grant(const Case& c, const Pair& pair, const std::vector<Candidate>& candidates) {
  const ResourceId target = JoinNames(*pair.resource, c.object, c.ledger);
  if (!c.ledger.OwnerOf(target)) GrantNew(target, *pair.resource, c.grantee, c.ledger);
  for (const Candidate& candidate : candidates) {
    const auto owner = OwnerNow(c, pair, candidate);
    if (!owner || candidate.obstacle.reason || candidate.obstacle.held) continue;
    if (candidate.obstacle.transfers && owner->root != c.object.root) {
      GrantToSuccessor(*owner, *pair.resource, c.grantee, c.ledger);
    } else if (owner->record != Record::kNone) {
      GrantInPlace(*owner, *pair.resource, c.grantee, c.ledger);
    }
  }
  // I2 holds for enforced decisions: a weaker mode may let a manager in beside another one.
  const bool promised = pair.mode == Mode::kEnforce && !pair.late &&
                        std::ranges::none_of(candidates, [](const Candidate& candidate) {
                          return candidate.obstacle.reason || candidate.obstacle.held;
                        });
  const auto reserve = [&](const ResourceId& id) {
    // A row of its own root ends a record, also one that only warned.
    const auto owner = c.ledger.OwnerOf(id);
    if (owner && owner->root == c.object.root && IsForParty(*owner, c.object, c.ledger)) {
      GrantInPlace(*owner, *pair.resource, c.grantee, c.ledger);
    }
    Reserve(c, pair, id, promised);
  };
  reserve(target);
  for (const ResourceMatch& match : MatchesOf(*pair.resource, c.ledger)) {
    if (match.id != target) reserve(match.id);
  }
}

void ProposeProofs(const Case& c, const Owner& holder, Decision& decision) {
  if (!c.request.watched || holder.state != HolderState::kReserved ||
      holder.since + kProveAfter > c.ledger.now())
    return;
  for (const Row& row : c.ledger.RowsOf(holder.id)) {
    // Its object may never have come to be: a proof spares the newcomer the rest of the TTL.
    if (row.id.state == RowState::kReserved && row.at + kProveAfter <= c.ledger.now()) {
      decision.prove.push_back(row.id);
    }
  }
}

// Fills in the incumbent behind the holder. A root that declares the resource itself lives: only
// for one that does not is more read than the rows.
void NameIncumbent(const Case& c, Clash& clash) {
  const Owner& holder = clash.holder;
  std::optional<Row> best;
  bool root_declares = false;
  bool root_seen = false;
  const auto is_seen = [&](const Row& row) {
    return !c.request.watched || row.id.state == RowState::kSeen;
  };
  for (Row& row : c.ledger.RowsOf(holder.id)) {
    if (!Manages(row) || row.slot == c.object.slot) continue;
    const bool is_akin =
        clash.reason == ClashReason::kSibling &&
        (row.root == c.object.root || c.ledger.OneParty(PartyOf(row.root), holder.party));
    if (row.root != holder.root && !is_akin) continue;
    if (row.slot == holder.root) {
      root_declares = true;
      root_seen = root_seen || is_seen(row);
    }
    const auto worth = [](const Row& one) {
      return std::tuple(one.managed && !Passive(one), one.id.state == RowState::kSeen, one.intent);
    };
    if (!best || worth(*best) < worth(row)) best = std::move(row);
  }
  if (!best) return;
  clash.incumbent = Incumbent{.slot = best->slot,
                              .managed = best->managed,
                              .deletes = best->intent == Intent::kDeletes && !Passive(*best),
                              .seen = is_seen(*best)};
  clash.unseen = root_declares && !root_seen;
  if (root_declares || c.ledger.ObjectBySlot(holder.root)) return;
  const auto object = c.ledger.ObjectByUid(best->id.uid);
  clash.speaker = object ? SpeakerOf(*object, c.ledger).slot : best->slot;
  clash.unseen = clash.speaker == best->slot && !clash.incumbent->seen;
}

bool DecideObserver(const Case& c, const Pair& pair) {
  const std::vector<ResourceMatch> matches = MatchesOf(*pair.resource, c.ledger);
  const ResourceId id = matches.empty() ? ObserveNew(*pair.resource, c.ledger) : matches.front().id;
  if (IsReplay(c, id)) return false;
  Reserve(c, pair, id);  // a consumer needs no ownership
  return true;
}

// Returns false when the pair is a replay: nothing is written for it.
bool DecidePair(const Case& c, const Pair& pair, Decision& decision) {
  if (pair.resource->intent == Intent::kObserves) return DecideObserver(c, pair);
  std::vector<Candidate> candidates = CandidatesOf(c, pair);
  const bool replay =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        const auto& owner = candidate.owner;
        return owner && (owner->root == c.object.root || owner->contested) &&
               IsReplay(c, candidate.match.id);
      });
  // The API server repeats calls: the answer is the same, and nothing is written twice.
  if (replay) return false;
  const std::size_t denied_before = decision.denied.size();
  for (Candidate& candidate : candidates) {
    if (!candidate.obstacle.reason) continue;
    // Names known from a status alone deny nothing, since a writer of the status could take any
    // account's names (W5).
    const bool may_deny = !candidate.match.observed || c.ledger.parties().statuses_guarded;
    const bool denies = may_deny && pair.mode == Mode::kEnforce && !pair.late;
    // Filled in where it stays: to move one is to move some forty texts.
    Clash& clash = (denies ? decision.denied : decision.conflicts).emplace_back();
    clash.reason = *candidate.obstacle.reason;
    clash.mode = denies || pair.late ? pair.mode : std::min(pair.mode, Mode::kWarn);
    clash.resource = *pair.resource;
    clash.step = candidate.obstacle.step;
    clash.same_party = c.ledger.OneParty(candidate.owner->party, PartyOf(c.object.root));
    clash.late = pair.late;
    clash.holder = std::move(*candidate.owner);  // the owner is looked up anew before a grant
    NameIncumbent(c, clash);
    if (denies) {
      ProposeProofs(c, clash.holder, decision);
      continue;
    }
    AuditConflict(clash.holder, c.grantee, c.ledger);
    if (pair.mode == Mode::kOff) decision.conflicts.pop_back();
  }
  if (decision.denied.size() > denied_before) return true;  // all at once, or nothing
  // Free by all its names it may still be a known one, where nobody knows an account.
  if (candidates.empty()) FindElsewhere(c, pair, decision);
  Grant(c, pair, candidates);
  return true;
}

// Somebody else than a provider takes from the object the name of a resource that it managed.
bool GivesUpAName(const ReviewRequest& request) {
  if (!request.old_object || request.requester.provider) return false;
  const std::vector<DeclaredResource>& now = request.object.resources;
  return std::ranges::any_of(request.old_object->resources, [&](const DeclaredResource& before) {
    return before.intent != Intent::kObserves && !before.key().empty() &&
           std::ranges::none_of(
               now, [&](const DeclaredResource& each) { return each.key() == before.key(); });
  });
}

// Whether `range` holds `limit` reservations of kinds that are watched. Those of others are looked
// at only when the limit seems reached: one by one.
bool Holds(const Case& c, const ReservedRange& range, std::size_t limit) {
  const Facts& facts = c.ledger.facts();
  if (facts.CountReserved(range, {}, limit) < limit) return false;
  const std::set<GroupKind>* left_out = c.request.unwatched;
  return left_out == nullptr || left_out->empty() ||
         facts.CountReserved(range, *left_out, limit) >= limit;
}

// Too many unproved reservations in one namespace are an attack on names, or a broken client. Each
// costs lines of the audit log too, which this bounds. Asked when a row would be written: a denial
// pays for no count, and says whose the resource is.
ReservationLimit LimitReached(const Case& c) {
  const auto& [old, young] = c.request.limits;
  if (old == 0 || !IsLimited(c.request.requester)) return ReservationLimit::kNone;
  const Facts& facts = c.ledger.facts();
  // A renamed object leaves what it made: without end it could keep names from everybody.
  const bool is_rename = GivesUpAName(c.request);
  if (is_rename && c.ledger.OrphansOf(c.object.root).size() >= old) return ReservationLimit::kLeft;
  const ReservedRange all{.ns = c.object.slot.ns, .user = c.request.requester.user};
  // Mostly there are few, and one count is enough.
  if (facts.CountReserved(all, {}, std::min(old, young)) < std::min(old, young)) {
    return ReservationLimit::kNone;
  }
  ReservedRange before = all;
  ReservedRange since = all;
  before.before = since.from = c.ledger.now() - kProveAfter;
  if (Holds(c, before, old)) return ReservationLimit::kOld;
  return Holds(c, since, young) ? ReservationLimit::kYoung : ReservationLimit::kNone;
}

std::vector<BadName> NewBadNames(const ReviewRequest& request) {
  std::vector<BadName> added = request.object.bad_names;
  std::erase_if(added, [&](const BadName& name) {
    return request.old_object && std::ranges::count(request.old_object->bad_names, name) > 0;
  });
  return added;
}

Evidence EvidenceOf(const ReviewRequest& request) {
  if (!request.requester.composite_controller) return Evidence::kBothSides;
  // W2: its word counts for the link that it writes, not for one that it leaves as it is.
  const bool kept = request.old_object && LinkOf(*request.old_object) == LinkOf(request.object);
  return kept ? Evidence::kControllerKept : Evidence::kController;
}

// The provider's finalizer comes off a terminating object.
bool DropsFinalizer(const ReviewRequest& request) {
  return request.object.terminating && request.old_object &&
         HasProviderFinalizer(*request.old_object) && !HasProviderFinalizer(request.object);
}

// The provider, or a restorer, says that the resource is being made or was (E3).
bool TellsCreation(const ReviewRequest& request) {
  if (request.object.created_marks.empty()) return false;
  return !request.old_object || request.old_object->created_marks != request.object.created_marks;
}

// Marks the resources of `declared` that the object holds as real: a provider or a restorer says so
// by this review, or marks of creation were there before the object declared something else.
void MakeReal(const Case& c, const ObjectFacts& declared) {
  for (const DeclaredResource& resource : declared.resources) {
    if (resource.intent == Intent::kObserves) continue;
    for (const ResourceMatch& match : MatchesOf(resource, c.ledger)) {
      auto owner = c.ledger.OwnerOf(match.id);
      if (!owner || owner->root != c.object.root || owner->real) continue;
      owner->real = true;
      c.ledger.PutOwner(*std::move(owner));
    }
  }
}

// Chains that waited for this claim come under its root; once the composite is back it is their
// parent.
void GatherAwaiting(const Case& c) {
  for (const Pair& pair : c.pairs) {
    for (const ResourceMatch& match : MatchesOf(*pair.resource, c.ledger)) {
      const auto owner = c.ledger.OwnerOf(match.id);
      const auto top = owner ? TopOfClaim(c, *owner) : std::nullopt;
      if (top) MoveChain(*top, c.object.root, c.grantee.cause, c.ledger);
    }
  }
}

// Somebody else than a provider gave it another external name, or none.
bool Renames(const ReviewRequest& request) {
  return request.old_object && request.old_object->external_name != 0 &&
         request.old_object->external_name != request.object.external_name &&
         !request.requester.provider;
}

// E8: that a provider lets go of a terminating object is its word that the resource is not there,
// by the version that it read; not where it looked for another one, had to leave it, or makes it
// anew.
void NoteLettingGo(const Case& c) {
  const ReviewRequest& request = c.request;
  const bool by_provider = request.requester.provider && request.object.terminating;
  const bool lets_go = by_provider && DropsFinalizer(request);
  bool no_word = Renames(request) || (by_provider && TellsCreation(request));
  if (!no_word && !lets_go) return;
  for (const DeclaredResource& read : request.old_object->resources) {
    no_word = no_word || read.intent != Intent::kDeletes;
  }
  for (Row& row : c.ledger.RowsOfUid(c.object.uid)) {
    if (row.id.state != RowState::kSeen || row.base == Row::kNoWord) continue;
    row.base = no_word ? Row::kNoWord : request.old_object->version;
    c.ledger.PutRow(std::move(row));
  }
}

// R2: an object that a restorer brings back comes under the holder's root of record: in a slot that
// the chain had, or by the label of a composite that the holder's claim names and that is not there
// yet. Never beside another managed resource. Anybody else's CREATE in such a slot is refused (R3).
std::optional<Slot> RestoredUnder(const ReviewRequest& request, const Ledger& ledger) {
  const ObjectFacts& object = request.object;
  if (!IsRestored(request)) return std::nullopt;
  std::optional<Slot> root;
  for (const DeclaredResource& resource : object.resources) {
    for (const ResourceMatch& match : MatchesOf(resource, ledger)) {
      const auto owner = ledger.OwnerOf(match.id);
      // Of two owners' chains it would come back under one, and take the other's.
      if (!owner || owner->record == Record::kImported || (root && *root != owner->root)) {
        return std::nullopt;
      }
      const bool had = std::ranges::find(owner->left, object.slot) != owner->left.end();
      if (!had && !NamedByMissing(object, owner->root, ledger)) return std::nullopt;
      const bool beside = std::ranges::any_of(ledger.RowsOf(match.id), [&](const Row& row) {
        return Manages(row) && row.managed && row.id.uid != object.uid;  // not the review before
      });
      if (object.managed && beside) return std::nullopt;
      root = owner->root;
    }
  }
  return root;
}

// True when the update concerns neither keys, lineage, description nor evidence: nothing is read or
// written.
bool ChangesNothing(const ReviewRequest& request) {
  if (request.operation != Operation::kUpdate || !request.old_object) return false;
  const ObjectFacts& now = request.object;
  const ObjectFacts& old = *request.old_object;
  return now.lineage == old.lineage && now.service == old.service && now.contact == old.contact &&
         now.transfer_to == old.transfer_to && now.bad_names == old.bad_names &&
         now.created_marks == old.created_marks && !DropsFinalizer(request) && !Renames(request) &&
         AddedPairs(request).empty();
}

// The object's place, and the remembered writers of its marks.
Object ReviewedObject(const ReviewRequest& request, const std::optional<Object>& before,
                      const Ledger& ledger) {
  Object object = ObjectOf(request.object, EvidenceOf(request), before, ledger);
  if (!object.parent && !before) {
    if (auto root = RestoredUnder(request, ledger)) object.root = *std::move(root);
  }
  if (DropsFinalizer(request)) {
    // By anybody but the provider it says nothing of the resource (W7).
    object.stripped.reset();
    if (!request.requester.provider) object.stripped = request.old_object->version.value_or(0);
  }
  // Where a watcher is, the word that it shows counts: a forger of reviews cannot write there (W7).
  // An object that a restorer brings is old, and no news later (W6).
  if (!request.watched || IsRestored(request)) object.transfer_to = request.object.transfer_to;
  if (TellsCreation(request) && !request.requester.provider && !request.requester.restorer) {
    object.unproven_marks = request.object.created_marks;
  }
  // The marks of a renamed object are of resources under the former name.
  if (GivesUpAName(request)) object.unproven_marks = request.object.created_marks;
  return object;
}

}  // namespace

bool ActsAsProvider(const ReviewRequest& request) {
  const bool is_update = request.operation == Operation::kUpdate && request.object.managed;
  return is_update && (DropsFinalizer(request) || TellsCreation(request));
}

Decision Decide(const ReviewRequest& request, const Facts& facts, Timestamp now,
                const IdSource& ids) {
  Decision decision{.root = request.object.slot};
  if (request.operation == Operation::kDelete || ChangesNothing(request)) return decision;  // I10
  decision.bad_names = NewBadNames(request);
  if (!decision.bad_names.empty()) {
    decision.allowed = false;
    return decision;
  }
  static const PartyRules kNoParties;
  Ledger ledger(facts, now, ids, request.parties == nullptr ? kNoParties : *request.parties);
  std::optional<Object> before;  // a CREATE has none: its uid is fresh
  if (request.operation == Operation::kUpdate) before = ledger.ObjectByUid(request.object.uid);
  Object object = ReviewedObject(request, before, ledger);
  decision.root = object.root;
  std::string cause = "review " + request.uid.text;
  cause.append(1, ' ').append(Name(request.operation));
  const Grantee grantee{object, std::move(cause), request.requester.user, request.uid,
                        IsRestored(request)};
  const std::vector<Pair> pairs = AddedPairs(request);
  const Case c{request, ledger, object, grantee, pairs, {}};
  bool writes = false;
  for (const Pair& pair : pairs) {
    decision.added.push_back(pair.index);
    if (DecidePair(c, pair, decision)) writes = true;
  }
  if (decision.denied.empty() && writes) decision.limit = LimitReached(c);
  if (!decision.denied.empty() || decision.limit != ReservationLimit::kNone) {
    decision.allowed = false;
    decision.conflicts.clear();
    decision.elsewhere.clear();
    return decision;
  }
  PutPlaced(object, before, grantee.cause, ledger);
  AdoptNamed(object, ledger);
  GatherAwaiting(c);
  if (TellsCreation(request) && (request.requester.provider || request.requester.restorer)) {
    MakeReal(c, request.object);
  }
  if (GivesUpAName(request) && before && WasCreated(*request.old_object, *before)) {
    MakeReal(c, *request.old_object);
  }
  NoteLettingGo(c);
  if (!request.watched && !IsRestored(request)) {
    HearWord(object, request.old_object ? request.old_object->transfer_to : "", ledger);
  }
  decision.changes = ledger.Take();
  return decision;
}

Locks LocksOf(const ReviewRequest& request) {
  Locks locks;
  const auto add = [&](const ObjectFacts& object) {
    for (const DeclaredResource& resource : object.resources) {
      for (const DeclaredName& name : resource.names) locks.names.push_back(name.text);
      if (auto name = WithoutAccount(resource.key())) locks.names.push_back(*std::move(name));
      locks.names.insert(locks.names.end(), resource.pending_names.begin(),
                         resource.pending_names.end());
    }
    if (object.lineage.controller) locks.uids.push_back(object.lineage.controller->uid);
    if (object.lineage.claim) {
      const ObjectRef& claim = *object.lineage.claim;
      locks.slots.push_back({object.slot.cluster, claim.group, claim.kind, claim.ns, claim.name});
    }
  };
  add(request.object);
  if (request.old_object) add(*request.old_object);
  locks.uids.push_back(request.object.uid);
  locks.slots.push_back(request.object.slot);
  std::sort(locks.names.begin(), locks.names.end());
  locks.names.erase(std::unique(locks.names.begin(), locks.names.end()), locks.names.end());
  std::sort(locks.uids.begin(), locks.uids.end());
  std::sort(locks.slots.begin(), locks.slots.end());
  const std::vector<Pair> pairs = AddedPairs(request);
  for (const Pair& pair : pairs) {
    std::string shape = ShapeOf(pair.resource->key());
    if (shape.empty() || pair.mode == Mode::kOff) continue;
    locks.shapes.push_back({std::move(shape), kElsewhereMax});
  }
  const auto& [old, young] = request.limits;
  if (old != 0 && IsLimited(request.requester) && !pairs.empty()) {
    locks.reserved.push_back(
        {request.object.slot.ns, request.requester.user, std::min(old, young)});
  }
  return locks;
}

}  // namespace truce
