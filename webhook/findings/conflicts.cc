#include "webhook/findings/conflicts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "policies/finding.h"
#include "policies/people.h"
#include "registry/base/counted.h"
#include "registry/ownership/agreements.h"
#include "registry/store/store.h"
#include "webhook/findings/tag_war.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

ConflictObject ObjectOf(const Row& row) {
  return {.slot = row.slot,
          .uid = row.id.uid,
          .intent = row.intent,
          .seen = row.id.state == RowState::kSeen,
          .terminating = row.terminating,
          .managed = row.managed,
          .since = std::min(row.created.value_or(row.at), row.at)};
}

// The objects that manage the key, one per uid: of a reservation beside what was seen the latter.
std::map<Slot, std::vector<ConflictObject>> ManagersByRoot(const std::vector<Row>& rows) {
  std::map<Uid, std::pair<Slot, ConflictObject>> by_uid;
  for (const Row& row : rows) {
    if (!Manages(row)) continue;
    ConflictObject object = ObjectOf(row);
    const auto known = by_uid.find(row.id.uid);
    if (known != by_uid.end()) {
      object.seen = object.seen || known->second.second.seen;
      object.since = std::min(object.since, known->second.second.since);
    }
    by_uid[row.id.uid] = {row.root, std::move(object)};
  }
  std::map<Slot, std::vector<ConflictObject>> out;
  for (auto& [uid, entry] : by_uid) out[entry.first].push_back(std::move(entry.second));
  return out;
}

bool IsList(const Slot& root) { return !SourceOf(root).empty(); }

// Nothing of it is more than a reservation: it may be on its way, or never come.
bool IsUnseen(const ConflictSide& side) {
  return !side.objects.empty() && std::ranges::none_of(side.objects, &ConflictObject::seen);
}

ConflictSide SideOf(const Slot& root, std::vector<ConflictObject> objects, const Facts& facts) {
  ConflictSide side;
  side.root = root;
  std::sort(objects.begin(), objects.end(), [](const auto& a, const auto& b) {
    return std::tie(b.managed, a.slot, a.uid) < std::tie(a.managed, b.slot, b.uid);
  });
  side.since = objects.front().since;
  for (const ConflictObject& object : objects) side.since = std::min(side.since, object.since);
  const auto known = facts.ObjectBySlot(root);
  side.service = known ? known->service : std::string();
  side.contact = known ? known->contact : std::string();
  if (!known && !IsList(root)) side.speaker = SpeakerFor(root, objects.front().slot, facts);
  if (IsList(root)) {
    side.record = Record::kImported;
  } else {
    side.objects = std::move(objects);
  }
  return side;
}

ConflictSide RecordOf(const Owner& owner) {
  ConflictSide side;
  side.root = owner.root;
  side.record = owner.record;
  side.since = owner.since;
  return side;
}

// Two managed resources below one root are two sides; a claim and its managed resource are one.
std::vector<std::vector<ConflictObject>> Branches(std::vector<ConflictObject> objects) {
  std::set<Slot> managed;
  for (const ConflictObject& object : objects) {
    if (object.managed) managed.insert(object.slot);
  }
  std::vector<std::vector<ConflictObject>> out;
  if (managed.size() < 2) {
    out.push_back(std::move(objects));
    return out;
  }
  for (const Slot& slot : managed) {
    std::vector<ConflictObject> branch;
    std::copy_if(objects.begin(), objects.end(), std::back_inserter(branch),
                 [&](const ConflictObject& object) { return object.slot == slot; });
    out.push_back(std::move(branch));
  }
  return out;
}

void MarkIncumbent(Conflict& conflict) {
  const Owner& owner = conflict.owner;
  const auto rank = [&](const ConflictSide& side) {
    const bool of_owner = side.root == owner.root;
    const bool is_leaf =
        owner.leaf && !side.objects.empty() && side.objects.front().slot == *owner.leaf;
    return std::make_tuple(!of_owner, !is_leaf, side.since, side.root);
  };
  std::sort(conflict.sides.begin(), conflict.sides.end(),
            [&](const ConflictSide& a, const ConflictSide& b) { return rank(a) < rank(b); });
  if (conflict.sides.empty() || conflict.sides.front().root != owner.root) return;
  conflict.sides.front().incumbent = true;
  if (conflict.sides.front().service.empty()) conflict.sides.front().service = owner.service;
  if (conflict.sides.front().contact.empty()) conflict.sides.front().contact = owner.contact;
}

const Slot& SpeakerOf(const ConflictSide& side) {
  return side.speaker.name.empty() ? side.root : side.speaker;
}

// An object of `conflict`, told apart from the others.
std::string Shown(const Slot& slot, const Conflict& conflict) {
  const bool is_alike = std::ranges::any_of(conflict.sides, [&](const ConflictSide& side) {
    return OnlyGroupsDiffer(slot, SpeakerOf(side)) ||
           std::ranges::any_of(side.objects, [&](const ConflictObject& object) {
             return OnlyGroupsDiffer(slot, object.slot);
           });
  });
  return is_alike ? FullNameOf(slot) : ShortNameOf(slot);
}

std::string Shown(const ConflictSide& side, const Conflict& conflict) {
  return Shown(SpeakerOf(side), conflict);
}

// Since when there are two.
Timestamp Begin(const Conflict& conflict) {
  std::vector<Timestamp> begins;
  for (const ConflictSide& side : conflict.sides) begins.push_back(side.since);
  std::sort(begins.begin(), begins.end());
  return begins.size() < 2 ? Timestamp() : begins[1];
}

const ConflictObject* ManagedOf(const ConflictSide& side) {
  const bool has = !side.objects.empty() && side.objects.front().managed;
  return has ? &side.objects.front() : nullptr;
}

std::string ListInWords(const ConflictSide& side) { return "list " + Quoted(side.root.name); }

std::string Whose(const ConflictSide& side, const Conflict& conflict) {
  if (IsList(side.root)) return ListInWords(side);
  return side.service.empty() ? Shown(side, conflict) : "service \"" + Said(side.service) + '"';
}

// The first step: the choice of the side that keeps it. `conflict` has two sides or more.
std::string KeeperStep(const Conflict& conflict) {
  constexpr std::size_t kOffersMax = 3;  // a conflict of more is told in a text of bounded length
  const ConflictSide& keeper = conflict.sides.front();
  std::string out = "Decide who keeps it; as recorded, " + Whose(keeper, conflict) + " does.";
  std::map<Slot, const ConflictSide*> others;
  for (const ConflictSide& side : conflict.sides) {
    if (side.root != keeper.root) others.emplace(side.root, &side);
  }
  // Between branches of one root there is nothing to hand over.
  if (others.empty()) return out;
  const std::string release = "`" + OneLine(ReleaseCommand(conflict.owner), kCommandBytesMax) + "`";
  // Nobody is there who could name a successor.
  if (keeper.record != Record::kNone) {
    return out + " To let " +
           (others.size() == 1 ? Whose(*others.begin()->second, conflict)
                               : "the one that has managed it longest") +
           " have it instead, run " + release + ".";
  }
  std::string lists;
  std::string offers;
  std::size_t offered = 0;
  for (const auto& [root, side] : others) {
    if (side->record != Record::kNone) {
      lists += " To leave it to " + ListInWords(*side) + ", let " + Shown(keeper, conflict) +
               " only observe it, then run " + release + ".";
      continue;
    }
    if (offered++ >= kOffersMax) continue;
    offers += (offered == 1 ? " To hand it over to " : ", to ") + Shown(*side, conflict) +
              (offered > 1        ? " `"
               : IsUnseen(keeper) ? " instead, once " + Shown(keeper, conflict) + " is there, run `"
                                  : " instead, first run `") +
              OneLine(TransferCommand(SpeakerOf(keeper), root), kCommandBytesMax) + "`";
  }
  if (offered > kOffersMax) offers += ", and so on";
  if (offered > 0) {
    offers += "; then take the next steps with the objects of " + Shown(keeper, conflict) + ".";
  }
  return out + offers + lists;
}

// The steps that end one side's part.
void AddSteps(const ConflictSide& side, const Conflict& conflict, std::vector<std::string>& steps) {
  if (side.record != Record::kNone) {
    steps.push_back("Take it out of " + ListInWords(side) +
                    ", and import that list again with `--retire`.");
    return;
  }
  const ConflictObject* managed = ManagedOf(side);
  if (managed == nullptr) {
    steps.push_back("Give the resource another name in " + Shown(side, conflict) +
                    ": no managed resource of it is known yet.");
    return;
  }
  if (IsUnseen(side)) {
    steps.push_back("Take back " + Shown(managed->slot, conflict) +
                    " in Git: Truce has not seen it yet, and it may never come.");
    return;
  }
  const bool is_composed = SpeakerOf(side) != managed->slot;
  const bool is_by_policy = IsKeptByPolicy(managed->slot);
  const std::string object = Shown(managed->slot, conflict);
  std::string stop = "Make " + object;
  stop += is_by_policy ? " leave the resource when it goes: `"
                       : " only observe, so that it neither writes nor deletes: `";
  stop += OneLine(KeepCommand(managed->slot), kCommandBytesMax) + "`";
  if (is_composed) stop += " (when its Composition sets that field, set it there)";
  steps.push_back(stop + ".");
  // Of a claim the end is the end of all that it declares.
  const std::string end = is_composed ? "Take " + object + " out of " + Shown(side, conflict)
                                      : "Remove " + object + " from Git or delete it";
  steps.push_back(
      end + (is_by_policy ? ": it stays in AWS." : ": what only observes deletes nothing in AWS."));
}

}  // namespace

Slot SpeakerFor(const Slot& root, const Slot& below, const Facts& facts) {
  constexpr int kStepsMax = 16;
  if (facts.ObjectBySlot(root)) return root;
  auto at = facts.ObjectBySlot(below);
  for (int i = 0; i < kStepsMax && at && at->parent; ++i) {
    auto above = facts.ObjectBySlot(*at->parent);
    if (!above) break;
    at = std::move(above);
  }
  return at ? at->slot : root;
}

std::string ResourceForPeople(const Owner& owner) {
  std::string out = TypeForPeople(owner.identity.type);
  if (!owner.name.empty()) out += " " + Quoted(owner.name);
  return out;
}

LiveFinding FindingAbout(Detector detector, const Owner& owner) {
  return {.detector = detector,
          .subject = owner.key.text,
          .key = owner.key,
          .mode = Mode::kAudit,
          .resource = ResourceForPeople(owner),
          .since = owner.since};
}

Conflict ConflictAt(const Owner& owner, const Facts& facts) {
  Conflict conflict;
  conflict.owner = owner;
  conflict.resource = ResourceForPeople(owner);
  for (auto& [root, objects] : ManagersByRoot(facts.RowsOf(owner.id))) {
    for (std::vector<ConflictObject>& branch : Branches(std::move(objects))) {
      conflict.sides.push_back(SideOf(root, std::move(branch), facts));
    }
  }
  if (owner.record != Record::kNone) conflict.sides.push_back(RecordOf(owner));
  if (conflict.sides.size() < 2) conflict.sides.clear();
  MarkIncumbent(conflict);
  return conflict;
}

ConflictPage ConflictsAfter(const AllFacts& facts, const KeyText& after, std::size_t limit) {
  ConflictPage page;
  const std::vector<Owner> owners = facts.OwnersIn(OwnerList::kContested, after, limit);
  for (const Owner& owner : owners) {
    Conflict conflict = ConflictAt(owner, facts);
    if (!conflict.sides.empty()) page.conflicts.push_back(std::move(conflict));
  }
  if (owners.size() == limit && limit > 0) page.last = owners.back().key;
  return page;
}

Result<std::vector<Conflict>> AllConflicts(const Store& store, Deadline deadline) {
  constexpr std::size_t kReadAtOnce = 500;
  constexpr std::size_t kReadMax = 20000;
  std::vector<Conflict> out;
  KeyText after;
  do {
    ConflictPage page;
    const auto read = [&](const AllFacts& facts) {
      page = ConflictsAfter(facts, after, kReadAtOnce);
    };
    TRUCE_RETURN_IF_ERROR(store.Read(read, deadline));
    out.insert(out.end(), page.conflicts.begin(), page.conflicts.end());
    after = page.last;
  } while (!after.empty() && out.size() < kReadMax);
  return out;
}

std::string SideForPeople(const ConflictSide& side, const Conflict& conflict) {
  if (IsList(side.root)) {
    return ListInWords(side) + " of what is owned outside since " + FormatTimestamp(side.since);
  }
  std::string out = Shown(side, conflict);
  const std::string own = side.root.ns + "/" + side.root.name;
  if (!side.service.empty() && side.service != own && side.service != side.root.name) {
    out += " of service " + Quoted(side.service);
  }
  if (side.record != Record::kNone) out += ", which left it orphaned,";
  if (IsUnseen(side)) out += ", which Truce has not seen yet,";
  return out + " in cluster " + Quoted(side.root.cluster) + " since " + FormatTimestamp(side.since);
}

std::string DeletionEffect(const Conflict& conflict) {
  const auto deletes = [](const ConflictSide& side) {
    return std::any_of(side.objects.begin(), side.objects.end(), [](const ConflictObject& object) {
      return object.intent == Intent::kDeletes && object.dormant.empty();
    });
  };
  const auto count = std::count_if(conflict.sides.begin(), conflict.sides.end(), deletes);
  if (count == 0)
    return "No declaration deletes it, but each overwrites the settings of the other.";
  if (static_cast<std::size_t>(count) == conflict.sides.size()) {
    return count == 2 ? "Deleting either deletes the " + conflict.resource + " of both."
                      : "Deleting any of them deletes the " + conflict.resource + " of all.";
  }
  std::string out = "Deleting ";
  bool is_first = true;
  for (const ConflictSide& side : conflict.sides) {
    if (!deletes(side)) continue;
    if (!is_first) out += " or ";
    out += Shown(side, conflict);
    is_first = false;
  }
  return out + " deletes the " + conflict.resource + " of all.";
}

std::vector<std::string> ResolutionSteps(const Conflict& conflict) {
  std::vector<std::string> steps;
  if (conflict.sides.size() < 2) return {"Nothing to do: nobody else manages it."};
  steps.push_back(KeeperStep(conflict));
  for (std::size_t i = 1; i < conflict.sides.size(); ++i)
    AddSteps(conflict.sides[i], conflict, steps);
  steps.push_back(
      "Whoever gave it up and needs such a resource declares one under a name of its own.");
  return steps;
}

LiveFinding FindingOf(const Conflict& conflict) {
  LiveFinding finding{.detector = Detector::kOwnershipConflict,
                      .subject = conflict.owner.key.text,
                      .key = conflict.owner.key,
                      .resource = conflict.resource};
  finding.cause =
      conflict.resource + " is managed by " + std::to_string(conflict.sides.size()) + " owners: ";
  std::size_t records = 0;
  for (std::size_t i = 0; i < conflict.sides.size(); ++i) {
    const ConflictSide& side = conflict.sides[i];
    if (i > 0) finding.cause += "; ";
    finding.cause += SideForPeople(side, conflict);
    if (side.incumbent) finding.cause += " (owner of record)";
    // Of a record nothing is there that could be told.
    if (side.record != Record::kNone) {
      ++records;
      continue;
    }
    finding.objects.push_back(side.root);
    for (const ConflictObject& object : side.objects) finding.objects.push_back(object.slot);
  }
  finding.since = Begin(conflict);
  finding.cause += ". " + DeletionEffect(conflict);
  for (const ConflictSide& side : conflict.sides) {
    for (const ConflictObject& object : side.objects) {
      if (object.dormant.empty()) continue;
      finding.cause += " " + FullNameOf(object.slot) + " manages nothing for now (condition " +
                       std::string(object.dormant) +
                       "): its controller creates the resource anew once it is gone.";
    }
  }
  for (const std::string& step : ResolutionSteps(conflict)) {
    finding.remedy.append(finding.remedy.empty() ? "" : " ").append(step);
  }
  std::sort(finding.objects.begin(), finding.objects.end());
  finding.objects.erase(std::unique(finding.objects.begin(), finding.objects.end()),
                        finding.objects.end());
  finding.evidence = Counted(conflict.sides.size() - records, "managing declaration");
  if (records > 0) finding.evidence += " and " + Counted(records, "record");
  finding.evidence += " in the registry";
  return finding;
}

namespace {

std::string Who(const ConflictSide& side, const Conflict& conflict) {
  if (IsList(side.root)) return ListInWords(side);
  std::string out = Shown(side, conflict);
  if (!side.service.empty()) out += " (" + side.service + ")";
  return out;
}

std::string WarCell(const TagWar* war) {
  if (war == nullptr) return {};
  return war->writes_per_minute > 0 ? "running, " + RateForPeople(war->writes_per_minute) + "/min"
                                    : "running";
}

}  // namespace

std::string ConflictText(const Conflict& conflict, const TagWar* war) {
  std::string out = conflict.resource + "  " + conflict.owner.key.text + "\n";
  for (const ConflictSide& side : conflict.sides) {
    out +=
        "  " + SideForPeople(side, conflict) + (side.incumbent ? ", owner of record" : "") + "\n";
    for (const ConflictObject& object : side.objects) {
      out += "    " + ForPeople(object.slot) + " " + std::string(Name(object.intent)) +
             (object.terminating ? ", being deleted" : "") + (object.seen ? "" : ", reserved") +
             "\n";
    }
  }
  if (war != nullptr) {
    out += "  They overwrite each other now, since " + FormatTimestamp(war->since);
    if (war->writes_per_minute > 0) out += ", " + RateForPeople(war->writes_per_minute) + "/min";
    out += ".\n";
  }
  out += "  " + DeletionEffect(conflict) + "\n";
  std::size_t number = 0;
  for (const std::string& step : ResolutionSteps(conflict)) {
    out += "  " + std::to_string(++number) + ". " + step + "\n";
  }
  return out;
}

std::string ConflictsText(std::span<const Conflict> conflicts, std::span<const TagWar> wars,
                          bool wide) {
  if (conflicts.empty()) return "No conflicts: every resource has one owner.\n";
  std::vector<std::vector<std::string>> rows;
  for (const Conflict& conflict : conflicts) {
    std::string others;
    for (std::size_t i = 1; i < conflict.sides.size(); ++i) {
      others += (i > 1 ? ", " : "") + Who(conflict.sides[i], conflict);
    }
    rows.push_back({conflict.owner.identity.type, conflict.owner.name,
                    Who(conflict.sides.front(), conflict), others, FormatTimestamp(Begin(conflict)),
                    WarCell(WarAt(wars, conflict.owner.key))});
  }
  std::string out =
      TextTable({"TYPE", "NAME", "OWNER", "ALSO MANAGED BY", "SINCE", "TAG WAR"}, rows);
  if (!wide) return out;
  for (const Conflict& conflict : conflicts) {
    out += "\n" + ConflictText(conflict, WarAt(wars, conflict.owner.key));
  }
  return out;
}

}  // namespace truce
