// Rule duplicate-ownership: what the developer reads whose object was refused.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include "policies/people.h"
#include "policies/rules.h"
#include "registry/base/clock.h"

namespace truce {
namespace {

constexpr std::size_t kNameBytesMax = 256;  // of anything an object says
constexpr std::size_t kReasonBytesMax = 120;

// The parts in one piece of memory: a text of many takes its room once.
std::string Join(std::initializer_list<std::string_view> parts) {
  std::size_t bytes = 0;
  for (const std::string_view part : parts) bytes += part.size();
  std::string out;
  out.reserve(bytes);
  for (const std::string_view part : parts) out += part;
  return out;
}

std::string Quoted(std::string_view text) {
  return Join({"\"", OneLine(text, kNameBytesMax), "\""});
}

// The account, once known.
bool IsAccount(std::string_view account) { return !account.empty() && !account.starts_with('?'); }

// S3 bucket "prod-artifacts"; SQS queue "jobs" in account 123456789012, region eu-west-1.
std::string ResourceForPeople(const DeclaredResource& resource, const Wording& wording) {
  const ResourceIdentity& identity = resource.identity;
  std::string out = TypeForPeople(identity.type);
  if (!resource.name.empty()) {
    out = Join({out, " \"", OneLine(resource.name, kNameBytesMax), "\""});
  }
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
    level_ = DisclosureOf(clash, wording.disclosure);
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
    std::string out = Join({"truce: ", TypeForPeople(clash_.resource.identity.type), " ",
                            OneLine(clash_.resource.name, kNameBytesMax), " is already "});
    if (level_ == Disclosure::kTaken) return OneLine(out + "taken", kWarningBytesMax);
    if (level_ == Disclosure::kService) {
      return OneLine(out + "owned by service " + holder.service, kWarningBytesMax);
    }
    const bool named = HasService();
    out = Join({out, "owned by ", ObjectForPeople(holder.root), named ? " (" : "",
                named ? std::string_view(holder.service) : std::string_view(), named ? ")" : ""});
    return OneLine(out, kWarningBytesMax);
  }

 private:
  std::string Taken() const { return resource_ + " is already taken."; }

  std::string Root() const { return OneLine(ObjectForPeople(clash_.holder.root), kNameBytesMax); }

  // A root without labels is its own service; naming it twice helps nobody.
  bool HasService() const {
    const Owner& holder = clash_.holder;
    std::string_view name = holder.service;
    if (name.starts_with(holder.root.ns) && name.substr(holder.root.ns.size()).starts_with('/') &&
        name.substr(holder.root.ns.size() + 1) == holder.root.name) {
      return false;
    }
    return !name.empty() && name != holder.root.name;
  }

  std::string Where() const {
    return Join({" in cluster \"", OneLine(clash_.holder.root.cluster, kNameBytesMax), "\""});
  }

  // service "a" (contact a@example.org)
  std::string Service() const {
    const Owner& holder = clash_.holder;
    const std::string service = OneLine(holder.service, kNameBytesMax);
    if (holder.contact.empty()) return Join({"service \"", service, "\""});
    return Join(
        {"service \"", service, "\" (contact ", OneLine(holder.contact, kNameBytesMax), ")"});
  }

  std::string_view State() const {
    switch (clash_.holder.state) {
      case HolderState::kReserved: return ", reserved and not yet created";
      case HolderState::kTerminating: return ", now being deleted";
      case HolderState::kHeld: break;
    }
    return {};
  }

  std::string Owned() const {
    if (level_ == Disclosure::kService) {
      return Join({resource_, " is owned by ", Service(), State(), "."});
    }
    const bool told = HasService() || !clash_.holder.contact.empty();
    return Join({resource_, " is owned by ", told ? Service() : std::string(),
                 told ? ", declared by " : "", Root(), Where(), " since ",
                 FormatTimestamp(clash_.holder.since), State(), "."});
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
      return Join({"Both are yours: delete one of the two declarations, or move it with ",
                   Transfer(), Observe(), "."});
    }
    if (level_ != Disclosure::kTaken && clash_.holder.state == HolderState::kTerminating) {
      return "Apply again when it is gone; or " + RenameInSentence() + ".";
    }
    if (level_ == Disclosure::kTaken) return Rename() + ", or ask " + Contact() + " about it.";
    return Join(
        {Rename(), ", or ask ", Contact(), " to hand it over with ", Transfer(), Observe(), "."});
  }

  std::string Transfer() const {
    const Slot& root = *wording_.root;
    if (root.group == "truce.dev") {  // A check: what will declare it is not known.
      return OneLine(Join({"`truce transfer ", clash_.resource.identity.type, "/",
                           clash_.resource.name, " --to ", root.ns, "`"}),
                     kNameBytesMax);
    }
    // Cluster-scoped objects of one kind and name in two groups are strangers to each other.
    const std::string kind =
        root.ns.empty() && !root.group.empty() ? root.kind + "." + root.group : root.kind;
    const std::string out = Join({"annotation truce.dev/transfer-to: ", kind, "/", root.ns,
                                  root.ns.empty() ? "" : "/", root.name, " on "});
    return Join({OneLine(out, kNameBytesMax),
                 level_ == Disclosure::kFull ? Root() : std::string("its declaration")});
  }

  // Only a managed resource that somebody wrote by hand can be made to observe.
  std::string_view Observe() const {
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
    const std::string example = Suggestion();
    if (example.empty()) return "choose another name" + in;
    return Join(
        {"choose another name", in, ", for example \"", OneLine(example, kNameBytesMax), "\""});
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
        !std::all_of(tail.begin(), tail.end(), plain) ||
        (name.ends_with(tail) &&
         std::string_view(name).substr(0, name.size() - tail.size()).ends_with('-'))) {
      return {};
    }
    const TypeSpec* type = wording_.catalogue->FindType(clash_.resource.identity.type);
    const std::size_t length_max =
        type->name_rule.max_length == 0 ? kUsualLengthMax : type->name_rule.max_length;
    return name.size() + 1 + tail.size() <= length_max ? Join({name, "-", tail}) : std::string();
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

Disclosure DisclosureOf(const Clash& clash, Disclosure configured) {
  // Who was chosen as successor, or acts for the owner, may know everything of it.
  const bool akin = clash.same_party || clash.reason == ClashReason::kSibling ||
                    clash.reason == ClashReason::kTransferring;
  return akin ? Disclosure::kFull : configured;
}

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
  out.at_most = Mode::kWarn;
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
