#include "webhook/findings/throttling.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "policies/people.h"
#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "registry/identity/uids.h"

namespace truce {
namespace {

constexpr std::size_t kNamedMax = 3;       // objects that a finding names
constexpr std::size_t kCarriedMax = 8;     // that a finding carries
constexpr std::size_t kWordBytesMax = 64;  // of a service, an API, a code
constexpr std::size_t kMessageBytesRead = 4096;

struct ThrottlingCode {
  std::string code;   // as in the table
  std::string lower;  // the same in lower case
  std::string needs;  // in lower case; empty: nothing
};

const std::vector<ThrottlingCode>& Codes() {
  static const std::vector<ThrottlingCode> kCodes = [] {
    std::vector<ThrottlingCode> out;
    std::string_view text = ThrottlingText();
    bool is_header = true;
    while (!text.empty()) {
      std::string_view line = TakeUntil(text, '\n');
      if (line.empty() || line.starts_with('#')) continue;
      if (std::exchange(is_header, false)) continue;
      const std::string code(TakeUntil(line, '\t'));
      const std::string_view needs = TakeUntil(line, '\t');
      out.push_back({code, LowerOf(code), needs == "-" ? std::string() : LowerOf(needs)});
    }
    return out;
  }();
  return kCodes;
}

bool IsWordCharacter(char c) { return IsDnsCharacter(c) || c == '_'; }

// Where a code can stand: behind "api error ", or as AWS spells it, as a word of its own, before
// ": " (objects' names have no capitals).
bool StandsAsCode(std::string_view message, std::string_view lower, std::size_t at,
                  const ThrottlingCode& code) {
  constexpr std::string_view kBefore = "api error ";
  if (at > 0 && IsWordCharacter(lower[at - 1])) return false;
  const std::string_view after = lower.substr(at + code.lower.size());
  if (!after.empty() && IsWordCharacter(after.front())) return false;
  if (lower.substr(0, at).ends_with(kBefore)) return true;
  return after.starts_with(": ") && message.substr(at).starts_with(code.code);
}

const ThrottlingCode* CodeIn(std::string_view message, std::string_view lower) {
  for (const ThrottlingCode& code : Codes()) {
    if (!code.needs.empty() && lower.find(code.needs) == std::string_view::npos) continue;
    for (std::size_t at = lower.find(code.lower); at != std::string_view::npos;
         at = lower.find(code.lower, at + 1)) {
      if (StandsAsCode(message, lower, at, code)) return &code;
    }
  }
  return nullptr;
}

// "operation error EFS: DescribeFileSystemPolicy, exceeded …": the last one, which is the
// innermost.
void ReadOperation(std::string_view message, std::string_view lower, ThrottledCall& out) {
  constexpr std::string_view kBefore = "operation error ";
  const std::size_t at = lower.rfind(kBefore);
  if (at == std::string_view::npos) return;
  std::string_view rest = message.substr(at + kBefore.size());
  const std::string_view service = TakeUntil(rest, ':');
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const std::string_view api = rest.substr(0, rest.find_first_of(", \n"));
  if (service.size() > kWordBytesMax || api.size() > kWordBytesMax) return;
  out.service = OneLine(service, kWordBytesMax);
  out.api = OneLine(api, kWordBytesMax);
}

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

std::string Rate(double per_minute) {
  std::array<char, 32> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f", per_minute));
  return text.data();
}

// Either may not be known.
bool MayBeOf(const LocatedWar& war, const std::string& account, const std::string& service) {
  const bool known = !account.empty() && !account.starts_with('?') && !war.account.empty();
  return (!known || war.account == account) && war.service == service;
}

}  // namespace

std::optional<ThrottledCall> ReadThrottledCall(std::string_view message) {
  message = message.substr(0, kMessageBytesRead);
  const std::string lower = LowerOf(message);
  const ThrottlingCode* code = CodeIn(message, lower);
  if (code == nullptr) return std::nullopt;
  ThrottledCall out{code->code, {}, {}};
  ReadOperation(message, lower, out);
  return out;
}

std::optional<TroubleEvent> ReadTroubleEvent(Value event, std::string_view cluster) {
  Value object = event.Child("regarding");
  if (object.empty()) object = event.Child("involvedObject");
  Value text = event.Child("note");
  if (text.empty()) text = event.Child("message");
  TroubleEvent out;
  out.object = UidIn(cluster, object.Child("uid").text());
  out.message = text.text().substr(0, kMessageBytesRead);
  if (out.object.empty() || out.message.empty()) return std::nullopt;
  return out;
}

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

void CountCallers(std::span<const Owner> owners, Callers& callers) {
  for (const Owner& owner : owners) {
    ++callers[{owner.identity.account, ServiceOfType(owner.identity.type)}][owner.root.ns];
  }
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

std::optional<ThrottledPlace> PlaceOf(const Uid& uid, const Facts& facts) {
  for (const Row& row : facts.RowsOfUid(uid)) {
    const auto owner = facts.OwnerOf(row.id.resource);
    if (owner) return ThrottledPlace{row.slot, owner->identity.account, owner->identity.type};
  }
  return std::nullopt;
}

void ThrottledCalls::OnObject(const ObservedVersion& observed, Timestamp now) {
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

void ThrottledCalls::OnEvent(const TroubleEvent& event, Timestamp now) {
  auto call = ReadThrottledCall(event.message);
  if (call) Note(event.object, *std::move(call), now);
}

std::vector<Uid> ThrottledCalls::Unplaced(std::size_t limit) const {
  std::vector<Uid> out;
  for (const auto& [uid, entry] : objects_) {
    if (out.size() == limit) break;
    if (entry.slot.kind.empty()) out.push_back(uid);
  }
  return out;
}

void ThrottledCalls::SetPlace(const Uid& uid, const std::optional<ThrottledPlace>& place) {
  const auto found = objects_.find(uid);
  if (found == objects_.end()) return;
  if (!place) {
    objects_.erase(found);
    return;
  }
  found->second.slot = place->slot;
  found->second.account = place->account;
  found->second.service = ServiceOfType(place->type);
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

LiveFinding ThrottledCalls::FindingOf(const Group& group, std::span<const LocatedWar> wars,
                                      const Callers& callers) {
  const Throttled& one = *group.front();
  const ThrottledCall& call = one.call;
  const std::string service =
      OneLine(call.service.empty() ? one.service : call.service, kWordBytesMax);
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
  out.evidence += MostResources(one.account, one.service, callers);
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
    out.evidence += ", " + Rate(worst->writes_per_minute) + " writes a minute";
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

std::vector<LiveFinding> ThrottledCalls::Find(std::span<const LocatedWar> wars,
                                              const Callers& callers, Timestamp now) {
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  for (auto at = objects_.begin(); at != objects_.end();) {
    const Throttled& entry = at->second;
    if (!entry.stands && now - entry.last > kThrottledQuiet) {
      at = objects_.erase(at);
      continue;
    }
    // An Event names its object by uid alone; whose calls they are is looked up first.
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
    out.push_back(FindingOf(group, wars, callers));
    out.back().evidence = OneLine(out.back().evidence, 4 * kShownBytesMax);
  }
  return out;
}

}  // namespace truce
