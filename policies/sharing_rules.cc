// Rules observer-without-share and deletion-protection.
//
// Spec observer-without-share: a declaration whose management policies are exactly [Observe] on a
// resource of another party is refused, unless its owner shares it with that party at level observe
// or attach. Spec deletion-protection: a DELETE of an object that does not terminate yet is refused
// while it, or anything composed below it, deletes with its end a resource that is marked as
// protected, that a holding share gives to another party, or that other parties observe.
// Parameters: none; both are off until `rules` names them.
// Vectors: tests/unit/admission_sharing_test.cc (agreements are no facts of an object).
#include "policies/sharing_rules.h"

#include <algorithm>
#include <string>

#include "policies/people.h"
#include "registry/ownership/sharing.h"

namespace truce {
namespace {

constexpr std::size_t kNameBytesMax = 256;

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kNameBytesMax) + '"'; }

std::string ResourceInWords(const Owner& owner) {
  return TypeForPeople(owner.identity.type) + " " + Quoted(owner.name);
}

void AddLink(const Owner& owner, const Wording& wording, Finding& finding) {
  if (wording.public_url.empty() || owner.id.empty()) return;
  finding.link = std::string(wording.public_url) + "/r/" + owner.id.text;
}

std::string WhoToAsk(const Owner& holder, const Wording& wording) {
  const bool named = wording.disclosure != Disclosure::kTaken && !holder.contact.empty();
  return named ? OneLine(holder.contact, kNameBytesMax) : std::string("the owner");
}

}  // namespace

Standing StandingOf(const UseFacts& facts, ShareLevel level) {
  const Agreement* share = ShareFor(facts.agreements, facts.party, level);
  if (share == nullptr) return Standing::kNone;
  if (!HoldsAt(*share, facts.now)) return Standing::kEnded;
  return HoldsAt(*share, facts.now + kShareNotice) ? Standing::kShared : Standing::kEndsSoon;
}

Finding ShareEnds(Rule rule, const UseFacts& facts, bool ended, const Wording& wording) {
  const Owner& holder = *facts.holder;
  const Agreement* share = ShareFor(facts.agreements, facts.party, ShareLevel::kObserve);
  const bool has_time = share != nullptr && share->until.has_value();
  const std::string when =
      (ended ? " ended on " : " ends on ") + (has_time ? FormatTimestamp(*share->until) : "?");
  const bool attaches = rule == Rule::kForeignAttachment;
  const std::string type = TypeForPeople(facts.use->identity.type);
  const std::string resource = ResourceInWords(holder);
  Finding out;
  out.rule = rule;
  out.mode = Mode::kWarn;
  out.resource = attaches ? type + " of " + resource : resource;
  out.key = facts.use->key;
  out.cause = attaches
                  ? "The share by which this " + type + " may write into " + resource + when + "."
                  : "The share by which " + ObjectForPeople(wording.object->slot) +
                        " may observe " + resource + when + ".";
  out.remedy = std::string(ended ? "It goes on as it is, but not when it is created anew"
                                 : "After that it goes on, but nothing new may rely on it") +
               "; ask the owner to share it for longer.";
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: the share of " + TypeForPeople(holder.identity.type) + " " +
                            OneLine(holder.name, 63) + when,
                        kWarningBytesMax);
  return out;
}

std::optional<Finding> ObserverWithoutShare(const UseFacts& facts, const Wording& wording) {
  const Owner& holder = *facts.holder;
  if (holder.root == *wording.root || holder.party == facts.party) return std::nullopt;
  const Standing standing = StandingOf(facts, ShareLevel::kObserve);
  if (standing == Standing::kShared) return std::nullopt;
  if (standing == Standing::kEndsSoon || (standing == Standing::kEnded && facts.existed)) {
    return ShareEnds(Rule::kObserverWithoutShare, facts, standing == Standing::kEnded, wording);
  }
  if (facts.existed) return std::nullopt;
  Finding out;
  out.rule = Rule::kObserverWithoutShare;
  out.resource = ResourceInWords(holder);
  out.key = facts.use->key;
  out.cause = ObjectForPeople(wording.object->slot) + " observes " + out.resource +
              " of another owner, who does not share it with " + ForPeople(facts.party) + ".";
  out.remedy = "Ask " + WhoToAsk(holder, wording) + " to share it with you at level observe.";
  AddLink(holder, wording, out);
  out.warning = OneLine("truce: " + TypeForPeople(holder.identity.type) + " " +
                            OneLine(holder.name, 63) + " is not shared with you",
                        kWarningBytesMax);
  return out;
}

std::optional<Finding> DeletionProtection(const DeletionFacts& facts, const Wording& wording) {
  const Owner& owner = *facts.owner;
  const std::string resource = ResourceInWords(owner);
  const std::string command = owner.identity.type + "/" + OneLine(owner.name, kNameBytesMax);
  Finding out;
  out.rule = Rule::kDeletionProtection;
  out.resource = resource;
  out.key = owner.key;
  const std::string begin = "The deletion of " + ObjectForPeople(wording.object->slot) +
                            " would delete " + resource + ", which is ";
  const auto holds = [&](const Agreement& each) {
    return each.kind == AgreementKind::kShare && HoldsAt(each, facts.now);
  };
  const auto share = std::find_if(facts.agreements.begin(), facts.agreements.end(), holds);
  const auto observers = std::count_if(facts.rows.begin(), facts.rows.end(), [&](const Row& row) {
    return !Manages(row) && PartyOf(row.root, *facts.parties) != owner.party;
  });
  if (const Agreement* mark = ProtectionIn(facts.agreements)) {
    out.cause = begin + "protected: " + OneLine(mark->reason, kNameBytesMax) + ".";
    out.remedy = "Take the protection away with `truce protect " + command + " --off`";
  } else if (share != facts.agreements.end()) {
    out.cause = begin + "shared with " + ForPeople(share->party) + ".";
    out.remedy = "End its shares (`truce share " + command + "` lists them)";
  } else if (observers > 0) {
    out.cause = begin + "observed by " + std::to_string(observers) +
                (observers == 1 ? " declaration" : " declarations") + " of others.";
    out.remedy = "Ask them to let go of it (`truce describe " + command + "` names them)";
  } else {
    return std::nullopt;
  }
  out.remedy += ", or delete with a policy that keeps the resource.";
  AddLink(owner, wording, out);
  out.warning = OneLine("truce: would delete " + TypeForPeople(owner.identity.type) + " " +
                            OneLine(owner.name, 63) + ", which is protected or in use",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
