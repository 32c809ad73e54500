// Rule duplicate-ownership: what the developer reads whose object was refused.
#include <algorithm>
#include <string>
#include <string_view>

#include "policies/people.h"
#include "policies/rules.h"
#include "registry/base/clock.h"

namespace truce {
namespace {

constexpr std::size_t kNameBytesMax = 256;  // of anything an object says
constexpr std::size_t kReasonBytesMax = 120;

std::string Quoted(std::string_view text) { return '"' + OneLine(text, kNameBytesMax) + '"'; }

// The account, once known.
bool IsAccount(std::string_view account) { return !account.empty() && !account.starts_with('?'); }

// S3 bucket "prod-artifacts"; SQS queue "jobs" in account 123456789012, region eu-west-1.
std::string ResourceForPeople(const DeclaredResource& resource, const Wording& wording) {
  const ResourceIdentity& identity = resource.identity;
  std::string out = TypeForPeople(identity.type);
  if (!resource.name.empty()) out += " " + Quoted(resource.name);
  const TypeSpec* type = wording.catalogue->FindType(identity.type);
  if (type == nullptr) return out;
  std::string_view joint = " in ";
  if (type->KeyHasAccount() && IsAccount(identity.account)) {
    out += " in account " + OneLine(identity.account, kNameBytesMax);
    joint = ", ";
  }
  if (type->KeyHasRegion() && !identity.region.empty()) {
    out += joint;
    out += "region " + OneLine(identity.region, kNameBytesMax);
  }
  return out;
}

// The words in which one clash may be told.
class Words final {
 public:
  Words(const Clash& clash, const Wording& wording) : clash_(clash), wording_(wording) {
    // Who was chosen as successor, or acts for the owner, may know everything of it.
    const bool akin = clash.same_party || clash.reason == ClashReason::kSibling ||
                      clash.reason == ClashReason::kTransferring;
    level_ = akin ? Disclosure::kFull : wording.disclosure;
    resource_ = ResourceForPeople(clash.resource, wording);
  }

  const std::string& resource() const { return resource_; }

  std::string Cause() const {
    switch (clash_.reason) {
      case ClashReason::kOwned: return level_ == Disclosure::kTaken ? Taken() : Owned();
      case ClashReason::kSibling:
        return resource_ + " is declared twice under " + Root() +
               ": two objects of one owner must not manage one resource.";
      case ClashReason::kOrphaned: return level_ == Disclosure::kTaken ? Taken() : Orphaned();
      case ClashReason::kImported: return level_ == Disclosure::kTaken ? Taken() : Imported();
      case ClashReason::kTransferring:
        return resource_ + " is offered to " + ObjectForPeople(*wording_.root) + ", but " + Root() +
               Where() + " can still change or delete it.";
    }
    return Taken();
  }

  std::string Remedy() const {
    switch (clash_.reason) {
      case ClashReason::kSibling: return "Remove one of the two, or give them different names.";
      case ClashReason::kTransferring:
        return "Before it can move: " + OneLine(clash_.step, kNameBytesMax) + ".";
      case ClashReason::kOwned: return OwnedRemedy();
      case ClashReason::kOrphaned:
        return Rename() + ", or ask " + Contact() +
               " for it; when it is known to be gone, an "
               "operator frees the name with `" +
               ReleaseCommand() + "`.";
      case ClashReason::kImported:
        return Rename() + ", or ask " + Contact() +
               " for it; when they have given it up, an "
               "operator frees the name with `" +
               ReleaseCommand() + "`.";
    }
    return Rename() + ".";
  }

  std::string Warning() const {
    const Owner& holder = clash_.holder;
    std::string out = "truce: " + TypeForPeople(clash_.resource.identity.type) + " " +
                      OneLine(clash_.resource.name, kNameBytesMax) + " is already ";
    if (level_ == Disclosure::kTaken) return OneLine(out + "taken", kWarningBytesMax);
    out += "owned by ";
    if (level_ == Disclosure::kService) {
      return OneLine(out + "service " + holder.service, kWarningBytesMax);
    }
    out += ObjectForPeople(holder.root);
    if (HasService()) out += " (" + holder.service + ")";
    return OneLine(out, kWarningBytesMax);
  }

 private:
  std::string Taken() const { return resource_ + " is already taken."; }

  std::string Root() const { return OneLine(ObjectForPeople(clash_.holder.root), kNameBytesMax); }

  // A root without labels is its own service; naming it twice helps nobody.
  bool HasService() const {
    const Owner& holder = clash_.holder;
    const std::string own = holder.root.ns + "/" + holder.root.name;
    return !holder.service.empty() && holder.service != own && holder.service != holder.root.name;
  }

  std::string Where() const { return " in cluster " + Quoted(clash_.holder.root.cluster); }

  // service "a" (contact a@example.org)
  std::string Service() const {
    const Owner& holder = clash_.holder;
    std::string out = "service " + Quoted(holder.service);
    if (!holder.contact.empty()) {
      out += " (contact " + OneLine(holder.contact, kNameBytesMax) + ")";
    }
    return out;
  }

  std::string State() const {
    switch (clash_.holder.state) {
      case HolderState::kReserved: return ", reserved and not yet created";
      case HolderState::kTerminating: return ", now being deleted";
      case HolderState::kHeld: break;
    }
    return {};
  }

  std::string Owned() const {
    if (level_ == Disclosure::kService) {
      return resource_ + " is owned by " + Service() + State() + ".";
    }
    const std::string root =
        Root() + Where() + " since " + FormatTimestamp(clash_.holder.since) + State() + ".";
    if (!HasService() && clash_.holder.contact.empty()) return resource_ + " is owned by " + root;
    return resource_ + " is owned by " + Service() + ", declared by " + root;
  }

  std::string Orphaned() const {
    const Owner& holder = clash_.holder;
    std::string out = resource_ + " is orphaned and may still exist: ";
    out += level_ == Disclosure::kFull ? Root() + Where() + " of " + Service() : Service();
    out += " declared it last";
    if (level_ == Disclosure::kFull && !holder.record_reason.empty()) {
      out += " (" + OneLine(holder.record_reason, kReasonBytesMax) + ")";
    }
    if (level_ == Disclosure::kFull && !holder.successor.empty()) {
      out += " and offered it to " + OneLine(holder.successor, kNameBytesMax);
    }
    return out + ".";
  }

  std::string Imported() const {
    const Owner& holder = clash_.holder;
    std::string out = resource_ + " is managed outside Kubernetes by " + Service();
    if (level_ == Disclosure::kFull) {
      if (!holder.record_reason.empty()) {
        out += ", " + OneLine(holder.record_reason, kReasonBytesMax);
      }
      out += ", imported at " + FormatTimestamp(holder.since);
    }
    return out + ".";
  }

  // Whom to ask.
  std::string Contact() const {
    const Owner& holder = clash_.holder;
    if (level_ == Disclosure::kTaken) return "your platform team";
    if (!holder.contact.empty()) return OneLine(holder.contact, kNameBytesMax);
    return HasService() ? "service " + Quoted(holder.service) : "its owner";
  }

  std::string OwnedRemedy() const {
    if (clash_.same_party) {
      return "Both are yours: delete one of the two declarations, or move it with " + Transfer() +
             Observe() + ".";
    }
    if (level_ != Disclosure::kTaken && clash_.holder.state == HolderState::kTerminating) {
      return "Apply again when it is gone; or " + RenameInSentence() + ".";
    }
    if (level_ == Disclosure::kTaken) return Rename() + ", or ask " + Contact() + " about it.";
    return Rename() + ", or ask " + Contact() + " to hand it over with " + Transfer() + Observe() +
           ".";
  }

  std::string Transfer() const {
    const Slot& root = *wording_.root;
    std::string out = "annotation truce.dev/transfer-to: " + root.kind + "/";
    if (!root.ns.empty()) out += root.ns + "/";
    out += root.name + " on ";
    return OneLine(out, kNameBytesMax) +
           (level_ == Disclosure::kFull ? Root() : std::string("its declaration"));
  }

  // Only a managed resource that somebody wrote by hand can be made to observe.
  std::string Observe() const {
    const ObjectFacts& object = *wording_.object;
    if (!object.managed || clash_.resource.mapped || *wording_.root != object.slot) return {};
    return "; to only read it, set spec.managementPolicies: [\"Observe\"]";
  }

  std::string Rename() const {
    std::string out = RenameInSentence();
    out.front() = static_cast<char>(out.front() - 'a' + 'A');
    return out;
  }

  std::string RenameInSentence() const {
    const std::string in = *wording_.root == wording_.object->slot
                               ? std::string()
                               : " in " + OneLine(ObjectForPeople(*wording_.root), kNameBytesMax);
    if (!IsNamed()) return "declare it for a resource of your own" + in;
    std::string out = "choose another name" + in;
    const std::string example = Suggestion();
    if (!example.empty()) out += ", for example " + Quoted(example);
    return out;
  }

  // The declaration gives the resource its name; it does not point at one by an id or a parent.
  bool IsNamed() const {
    const TypeSpec* type = wording_.catalogue->FindType(clash_.resource.identity.type);
    if (type == nullptr || type->attachment || type->scope == Scope::kAssignedId) return false;
    return std::any_of(type->parts.begin(), type->parts.end(), [](const KeyPart& part) {
      return part.refers_to.empty() && part.source != KeyPart::Source::kConstant &&
             part.source != KeyPart::Source::kAssignedExternalName;
    });
  }

  // The name with the asking service behind it, where AWS surely allows that.
  std::string Suggestion() const {
    constexpr std::size_t kUsualLengthMax = 63;
    const ObjectFacts& object = *wording_.object;
    const bool plain_service = object.service.find('/') == std::string::npos;
    const std::string& tail = plain_service ? object.service : wording_.root->ns;
    const std::string& name = clash_.resource.name;
    const auto plain = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (tail.empty() || name.empty() || !std::all_of(name.begin(), name.end(), plain) ||
        !std::all_of(tail.begin(), tail.end(), plain) || name.ends_with("-" + tail)) {
      return {};
    }
    const TypeSpec* type = wording_.catalogue->FindType(clash_.resource.identity.type);
    const std::size_t length_max =
        type->name_rule.max_length == 0 ? kUsualLengthMax : type->name_rule.max_length;
    std::string out = name + "-" + tail;
    return out.size() <= length_max ? out : std::string();
  }

  std::string ReleaseCommand() const {
    const std::string& name = clash_.resource.name;
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./:").find(c) != std::string_view::npos;
    });
    const std::string shown = plain ? OneLine(name, kNameBytesMax) : "NAME";
    return "truce release " + clash_.resource.identity.type + " " + shown + " --reason TEXT";
  }

  const Clash& clash_;
  const Wording& wording_;
  Disclosure level_ = Disclosure::kFull;
  std::string resource_;
};

std::string LinkTo(const Owner& holder, const Wording& wording) {
  if (wording.public_url.empty() || holder.id.empty()) return {};
  return std::string(wording.public_url) + "/r/" + holder.id.text;
}

}  // namespace

Finding DuplicateOwnership(const Clash& clash, const Wording& wording) {
  const Words words(clash, wording);
  Finding out;
  out.rule = Rule::kDuplicateOwnership;
  out.mode = clash.mode;
  out.resource = words.resource();
  out.cause = words.Cause();
  out.remedy = words.Remedy();
  out.link = LinkTo(clash.holder, wording);
  out.warning = words.Warning();
  out.key = clash.resource.key;
  return out;
}

Finding PerhapsElsewhere(const Clash& clash, const Wording& wording) {
  Finding out = DuplicateOwnership(clash, wording);
  out.mode = Mode::kWarn;
  const std::string resource = OneLine(
      TypeForPeople(clash.resource.identity.type) + " " + clash.resource.name, kNameBytesMax);
  out.cause = "Perhaps the same resource in another account: " + out.cause;
  out.remedy = "Tell Truce the account of the ProviderConfig (providerConfigs).";
  std::string who = "another declaration";
  if (wording.disclosure == Disclosure::kFull || clash.same_party) {
    who = ObjectForPeople(clash.holder.root);
  }
  out.warning = OneLine("truce: " + resource + " may be the one of " + who + ": account not known",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
