// Rule duplicate-ownership: what the developer reads whose object was refused.
#include <algorithm>
#include <string>
#include <string_view>

#include "policies/people.h"
#include "policies/rules.h"
#include "registry/base/clock.h"

namespace truce {
namespace {

constexpr std::size_t kReasonBytesMax = 120;

constexpr std::size_t kUsualTextBytes = 320;

// What an object says, safe on one line.
void AppendSaid(std::string_view text, std::string& out) {
  AppendLine(text, kShownTextBytesMax, out);
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  AppendSaid(text, out);
  out += '"';
}

// The account, once known.
bool IsAccount(std::string_view account) { return !account.empty() && !account.starts_with('?'); }

// S3 bucket "prod-artifacts"; SQS queue "jobs" in account 123456789012, region eu-west-1.
std::string ResourceForPeople(const DeclaredResource& resource, const Wording& wording) {
  const ResourceIdentity& identity = resource.identity;
  std::string out;
  out.reserve(identity.type.size() + resource.name.size() + 16);
  AppendType(identity.type, out);
  if (!resource.name.empty()) {
    out += ' ';
    AppendQuoted(resource.name, out);
  }
  const TypeSpec* type = wording.catalogue->FindType(identity.type);
  if (type == nullptr) return out;
  std::string_view joint = " in ";
  if (type->KeyHasAccount() && IsAccount(identity.account)) {
    out += " in account ";
    AppendSaid(identity.account, out);
    joint = ", ";
  }
  if (type->KeyHasRegion() && !identity.region.empty()) {
    out.append(joint).append("region ");
    AppendSaid(identity.region, out);
  }
  return out;
}

// The words in which one clash may be told. Each sentence is put together in one piece of memory: a
// denial is mostly this text.
class Words final {
 public:
  Words(const Clash& clash, const Wording& wording) : clash_(clash), wording_(wording) {
    level_ = DisclosureOf(clash, wording.disclosure);
    resource_ = ResourceForPeople(clash.resource, wording);
    root_ = OneLine(ObjectForPeople(clash.holder.root), kShownTextBytesMax);
  }

  const std::string& resource() const { return resource_; }

  std::string Cause() const {
    std::string out;
    out.reserve(kUsualTextBytes);
    out += resource_;
    switch (clash_.reason) {
      case ClashReason::kSibling:
        out.append(" is declared twice under ").append(root_);
        out += ": two objects of one owner must not manage one resource.";
        return out;
      case ClashReason::kTransferring:
        out.append(" is offered to ").append(ObjectForPeople(*wording_.root)).append(", but ");
        out += root_;
        AppendWhere(out);
        out += " can still change or delete it.";
        return out;
      case ClashReason::kOwned:
      case ClashReason::kOrphaned:
      case ClashReason::kImported: break;
    }
    if (level_ == Disclosure::kTaken) {
      out += " is already taken.";
    } else if (clash_.reason == ClashReason::kOwned) {
      AppendOwned(out);
    } else if (clash_.reason == ClashReason::kOrphaned) {
      AppendOrphaned(out);
    } else {
      AppendImported(out);
    }
    return out;
  }

  std::string Remedy() const {
    std::string out;
    out.reserve(kUsualTextBytes);
    switch (clash_.reason) {
      case ClashReason::kSibling:
        out += "Remove one of the two, or give them different names.";
        break;
      case ClashReason::kTransferring:
        out += "Before it can move: ";
        AppendSaid(clash_.step, out);
        out += '.';
        break;
      case ClashReason::kOwned: AppendOwnedRemedy(out); break;
      case ClashReason::kOrphaned: AppendRelease("when it is known to be gone", out); break;
      case ClashReason::kImported: AppendRelease("when they have given it up", out); break;
    }
    return out;
  }

  std::string Warning() const {
    const Owner& holder = clash_.holder;
    std::string out;
    out.reserve(kUsualTextBytes);
    out += "truce: ";
    AppendType(clash_.resource.identity.type, out);
    out += ' ';
    AppendSaid(clash_.resource.name, out);
    out += " is already ";
    switch (level_) {
      case Disclosure::kTaken: out += "taken"; break;
      case Disclosure::kService: out.append("owned by service ").append(holder.service); break;
      case Disclosure::kFull:
        out.append("owned by ").append(root_);
        if (HasService()) out.append(" (").append(holder.service).append(")");
        break;
    }
    return OneLine(out, kWarningBytesMax);
  }

 private:
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

  void AppendWhere(std::string& out) const {
    out += " in cluster ";
    AppendQuoted(clash_.holder.root.cluster, out);
  }

  // service "a" (contact a@example.org)
  void AppendService(std::string& out) const {
    const Owner& holder = clash_.holder;
    out += "service ";
    AppendQuoted(holder.service, out);
    if (holder.contact.empty()) return;
    out += " (contact ";
    AppendSaid(holder.contact, out);
    out += ')';
  }

  std::string_view State() const {
    switch (clash_.holder.state) {
      case HolderState::kReserved: return ", reserved and not yet created";
      case HolderState::kTerminating: return ", now being deleted";
      case HolderState::kHeld: break;
    }
    return {};
  }

  void AppendOwned(std::string& out) const {
    out += " is owned by ";
    if (level_ == Disclosure::kService) {
      AppendService(out);
    } else {
      if (HasService() || !clash_.holder.contact.empty()) {
        AppendService(out);
        out += ", declared by ";
      }
      out += root_;
      AppendWhere(out);
      out.append(" since ").append(FormatTimestamp(clash_.holder.since));
    }
    out.append(State()).append(".");
  }

  void AppendOrphaned(std::string& out) const {
    const Owner& holder = clash_.holder;
    const bool full = level_ == Disclosure::kFull;
    out += " is orphaned and may still exist: ";
    if (full) {
      out += root_;
      AppendWhere(out);
      out += " of ";
    }
    AppendService(out);
    out += " declared it last";
    if (full && !holder.record_reason.empty()) {
      out += " (";
      AppendLine(holder.record_reason, kReasonBytesMax, out);
      out += ')';
    }
    if (full && !holder.successor.empty()) {
      out += " and offered it to ";
      AppendSaid(holder.successor, out);
    }
    out += '.';
  }

  void AppendImported(std::string& out) const {
    const Owner& holder = clash_.holder;
    out += " is managed outside Kubernetes by ";
    AppendService(out);
    if (level_ == Disclosure::kFull) {
      if (!holder.record_reason.empty()) {
        out += ", ";
        AppendLine(holder.record_reason, kReasonBytesMax, out);
      }
      out.append(", imported at ").append(FormatTimestamp(holder.since));
    }
    out += '.';
  }

  // Whom to ask.
  void AppendContact(std::string& out) const {
    const Owner& holder = clash_.holder;
    if (level_ == Disclosure::kTaken) {
      out += "your platform team";
    } else if (!holder.contact.empty()) {
      AppendSaid(holder.contact, out);
    } else if (HasService()) {
      out += "service ";
      AppendQuoted(holder.service, out);
    } else {
      out += "its owner";
    }
  }

  void AppendOwnedRemedy(std::string& out) const {
    const bool taken = level_ == Disclosure::kTaken;
    if (clash_.same_party) {
      out += "Both are yours: delete one of the two declarations, or move it with ";
      AppendTransfer(out);
      out.append(Observe()).append(".");
    } else if (!taken && clash_.holder.state == HolderState::kTerminating) {
      out += "Apply again when it is gone; or ";
      AppendRename(out);
      out += '.';
    } else {
      AppendRenameFirst(out);
      out += ", or ask ";
      AppendContact(out);
      if (taken) {
        out += " about it.";
        return;
      }
      out += " to hand it over with ";
      AppendTransfer(out);
      out.append(Observe()).append(".");
    }
  }

  void AppendTransfer(std::string& out) const {
    const Slot& root = *wording_.root;
    std::string way;
    if (root.group == "truce.dev") {  // A check: what will declare it is not known.
      way.append("`truce transfer ").append(clash_.resource.identity.type).append("/");
      way.append(clash_.resource.name).append(" --to ").append(root.ns).append("`");
      AppendSaid(way, out);
      return;
    }
    way.reserve(root.kind.size() + root.group.size() + root.ns.size() + root.name.size() + 48);
    way.append("annotation truce.dev/transfer-to: ").append(root.kind);
    // Cluster-scoped objects of one kind and name in two groups are strangers to each other.
    if (root.ns.empty() && !root.group.empty()) way.append(".").append(root.group);
    way.append("/").append(root.ns).append(root.ns.empty() ? "" : "/").append(root.name);
    way += " on ";
    AppendSaid(way, out);
    out += level_ == Disclosure::kFull ? std::string_view(root_) : "its declaration";
  }

  // Only a managed resource that somebody wrote by hand can be made to observe.
  std::string_view Observe() const {
    const ObjectFacts& object = *wording_.object;
    if (!object.managed || clash_.resource.mapped || *wording_.root != object.slot) return {};
    return "; to only read it, set spec.managementPolicies: [\"Observe\"]";
  }

  // At the begin of a sentence.
  void AppendRenameFirst(std::string& out) const {
    const std::size_t begin = out.size();
    AppendRename(out);
    out[begin] = static_cast<char>(out[begin] - 'a' + 'A');
  }

  void AppendRename(std::string& out) const {
    const bool named = IsNamed();
    out += named ? "choose another name" : "declare it for a resource of your own";
    if (*wording_.root != wording_.object->slot) {
      out += " in ";
      AppendSaid(ObjectForPeople(*wording_.root), out);
    }
    const std::string example = named ? Suggestion() : std::string();
    if (example.empty()) return;
    out += ", for example ";
    AppendQuoted(example, out);
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
    std::string out;
    if (name.size() + 1 + tail.size() > length_max) return out;
    out.reserve(name.size() + 1 + tail.size());
    return out.append(name).append("-").append(tail);
  }

  // Whom to ask, and what an operator can do `then`.
  void AppendRelease(std::string_view then, std::string& out) const {
    const std::string& name = clash_.resource.name;
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_./:").find(c) != std::string_view::npos;
    });
    AppendRenameFirst(out);
    out += ", or ask ";
    AppendContact(out);
    out.append(" for it; ")
        .append(then)
        .append(", an operator frees the name with `truce release ");
    out.append(clash_.resource.identity.type).append(" ");
    AppendSaid(plain ? std::string_view(name) : "NAME", out);
    out += " --reason TEXT`.";
  }

  const Clash& clash_;
  const Wording& wording_;
  Disclosure level_ = Disclosure::kFull;
  std::string resource_;
  std::string root_;
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
      TypeForPeople(clash.resource.identity.type) + " " + clash.resource.name, kShownTextBytesMax);
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
