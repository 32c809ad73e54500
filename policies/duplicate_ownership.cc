// Rule duplicate-ownership: the text for the developer of a refused object.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "policies/name_rules.h"
#include "policies/people.h"
#include "policies/rules.h"
#include "registry/base/clock.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"

namespace truce {
namespace {

constexpr std::size_t kReasonBytesMax = 120;
constexpr std::size_t kDateBytes = 10;  // of a timestamp

constexpr std::size_t kUsualTextBytes = 320;
constexpr std::string_view kUnseen = ", which Truce has not seen yet";

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  AppendSaid(text, out);
  out += '"';
}

// The manager of resources that a source of imports names, as people call it: "terraform:network" →
// Terraform. Empty: the source does not say it.
std::string_view ManagerOf(std::string_view source) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kManagers = {{
      {"ansible", "Ansible"},
      {"cdk", "the AWS CDK"},
      {"cloudformation", "CloudFormation"},
      {"opentofu", "OpenTofu"},
      {"pulumi", "Pulumi"},
      {"terraform", "Terraform"},
  }};
  const std::string_view tool = source.substr(0, source.find(':'));
  const auto found = std::find_if(kManagers.begin(), kManagers.end(),
                                  [&](const auto& entry) { return entry.first == tool; });
  return found == kManagers.end() ? std::string_view() : found->second;
}

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
  if (IsNameSpace(identity.partition)) {
    out += " at endpoint ";
    AppendSaid(std::string_view(identity.partition).substr(1), out);
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

// The declaration gives the resource its name; it does not point at one by an id or a parent.
bool IsNamed(const DeclaredResource& resource, const Wording& wording) {
  const TypeSpec* type = wording.catalogue->FindType(resource.identity.type);
  if (type == nullptr || type->attachment || type->scope == Scope::kAssignedId) return false;
  return std::any_of(type->parts.begin(), type->parts.end(), [](const KeyPart& part) {
    return part.refers_to.empty() && part.source != KeyPart::Source::kConstant &&
           part.source != KeyPart::Source::kAssignedExternalName;
  });
}

// The words for one clash, as far as the reader may know. Each sentence is put together in one
// piece of memory: a denial is mostly this text.
class Words final {
 public:
  Words(const Clash& clash, const Wording& wording) : clash_(clash), wording_(wording) {
    level_ = DisclosureOf(clash, wording.disclosure);
    resource_ = ResourceForPeople(clash.resource, wording);
    speaker_ = clash.speaker.name.empty() ? &clash.holder.root : &clash.speaker;
    root_ = OneLine(ObjectBeside(*speaker_, *wording.root), kShownTextBytesMax);
  }

  const std::string& resource() const { return resource_; }

  std::string Cause() const {
    std::string out;
    out.reserve(kUsualTextBytes);
    out += resource_;
    switch (clash_.reason) {
      case ClashReason::kSibling:
        out.append(" is declared twice under ").append(root_);
        if (clash_.incumbent) out.append(", also by ").append(Other());
        if (clash_.incumbent && !clash_.incumbent->seen) out += kUnseen;
        out += ": only one object may manage a resource.";
        return out;
      case ClashReason::kTransferring:
        out.append(" is offered to ").append(ObjectBeside(*wording_.root, *speaker_));
        out += ", but ";
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
      case ClashReason::kSibling: AppendSiblingRemedy(out); break;
      case ClashReason::kTransferring:
        out += "Before it can move: ";
        AppendLine(clash_.step, kShownTextBytesMax, out);
        out += '.';
        break;
      case ClashReason::kOwned: AppendOwnedRemedy(out); break;
      case ClashReason::kOrphaned: AppendRelease("If it is gone", out); break;
      case ClashReason::kImported:
        if (clash_.holder.until) {
          AppendWait(out);
        } else {
          AppendRelease("If they have given it up", out);
        }
        break;
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
    switch (level_) {
      case Disclosure::kTaken: out += " belongs to somebody else"; break;
      case Disclosure::kService: out.append(" belongs to service ").append(holder.service); break;
      case Disclosure::kFull:
        if (clash_.reason == ClashReason::kImported) {
          AppendManaged(out);
        } else {
          out.append(" belongs to ").append(root_);
        }
        if (HasService()) out.append(" (").append(holder.service).append(")");
        break;
    }
    const bool is_fight =
        clash_.reason == ClashReason::kOwned || clash_.reason == ClashReason::kSibling;
    if (is_fight) out += "; both will fight over it";
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

  // Only where it is not the reader's own: all else about a holder is for `truce describe`.
  void AppendWhere(std::string& out) const {
    const std::string& cluster = clash_.holder.root.cluster;
    if (cluster.empty() || cluster == wording_.root->cluster) return;
    out += " in cluster ";
    AppendQuoted(cluster, out);
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
      if (clash_.unseen) out += kUnseen;
    }
    if (clash_.holder.state == HolderState::kTerminating) out += ", which is being deleted";
    out += '.';
    if (clash_.in_own && !clash_.same_party) out += " It writes into a resource of yours.";
  }

  void AppendOrphaned(std::string& out) const {
    const Owner& holder = clash_.holder;
    const bool full = level_ == Disclosure::kFull;
    const std::string resource = std::exchange(out, "Nobody declares ");
    out.append(resource).append(" any more, but it may still exist in AWS: ");
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

  // The manager of an imported resource, as far as the reader may know.
  void AppendManaged(std::string& out) const {
    const bool full = level_ == Disclosure::kFull;
    const std::string_view manager = full ? ManagerOf(SourceOf(clash_.holder)) : std::string_view();
    out.append(clash_.holder.until ? " is reserved " : " is managed ");
    out.append(manager.empty() ? "outside Kubernetes" : "by ").append(manager);
  }

  void AppendImported(std::string& out) const {
    const Owner& holder = clash_.holder;
    const bool full = level_ == Disclosure::kFull;
    AppendManaged(out);
    if (full && !holder.record_reason.empty()) {
      out += " (source ";
      AppendLine(holder.record_reason, kReasonBytesMax, out);
      out += ')';
    }
    if (!holder.service.empty()) {
      out += " for ";
      AppendService(out);
    }
    if (holder.until) {
      out.append(", until ").append(FormatTimestamp(*holder.until));
    } else if (full) {
      out.append(", imported ").append(FormatTimestamp(holder.since).substr(0, kDateBytes));
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

  // The incumbent, with the group that may be all that tells it from the object that was refused.
  std::string Other() const {
    return OneLine(ForPeople(clash_.incumbent->slot), kShownTextBytesMax);
  }

  // A reserved object cannot be annotated before it is there.
  void AppendOnceThere(std::string& out) const {
    if (clash_.unseen && level_ == Disclosure::kFull) {
      out.append(", once ").append(root_).append(" is there");
    }
    out += ": ";
  }

  std::string Kind() const { return KindForPeople(clash_.resource.identity.type); }

  // Written by hand, and but for its kind the same object as the holder: somebody may be moving
  // from one provider to another, or into a namespace.
  bool IsMoveToNewKind() const {
    const Slot& root = *wording_.root;
    return level_ == Disclosure::kFull && !clash_.unseen && wording_.object->managed &&
           root == wording_.object->slot && root.name == speaker_->name &&
           std::tie(root.group, root.kind) != std::tie(speaker_->group, speaker_->kind) &&
           wording_.catalogue->FindKind(speaker_->group, speaker_->kind) != nullptr;
  }

  // How the same party goes on under another kind.
  void AppendNewKind(std::string& out) const {
    out += "If it is yours, under a new kind: ";
    if (clash_.holder.record != Record::kNone) {
      out += "an operator hands it over, ";
      AppendLine(ForcedTransfer(), kCommandBytesMax, out);
      out += '.';
      return;
    }
    out += "run ";
    AppendTransfer(out);
    if (!clash_.incumbent || clash_.incumbent->deletes) {
      out.append(", set ").append(KeepingField(*speaker_)).append(" on ").append(root_);
      out += ", delete that one";
    } else {
      out.append(", delete ").append(root_);
    }
    out += " and apply this one again.";
  }

  void AppendSiblingRemedy(std::string& out) const {
    const auto& incumbent = clash_.incumbent;
    if (!incumbent || !incumbent->managed || !incumbent->seen) {
      out +=
          "Keep one of the two; before the other goes, set spec.managementPolicies: "
          "[\"Observe\"] on it, which leaves the ";
      out.append(Kind()).append(" as it is.");
    } else if (!incumbent->deletes) {
      out.append("Remove ").append(Other()).append(", which leaves the ").append(Kind());
      out += " as it is; then this one manages it.";
    } else {
      out.append("Removing ").append(Other()).append(" now deletes the ").append(Kind());
      out.append(": first set ").append(KeepingField(incumbent->slot)).append(" on it.");
    }
  }

  // Two declarations of one party: how the elder one goes and leaves the resource. Ends before the
  // command that hands it over.
  void AppendOwnRemedy(std::string& out) const {
    out += "Both are yours: ";
    const auto& incumbent = clash_.incumbent;
    // Of a claim the end is the end of all that it declares.
    const bool is_by_hand = incumbent && incumbent->managed && incumbent->slot == *speaker_;
    if (!incumbent || !incumbent->seen) {
      out += "keep one of the two declarations, or ";
    } else if (is_by_hand && !incumbent->deletes) {
      out.append("delete ").append(root_).append(", which leaves the ").append(Kind());
      out += " as it is, or ";
    } else if (is_by_hand) {
      out.append("first set ").append(KeepingField(*speaker_)).append(" on ").append(root_);
      out.append(" (deleting it now deletes the ").append(Kind());
      out += "), then delete it, or ";
    } else if (incumbent->deletes) {
      out.append("deleting ").append(root_).append(" deletes the ").append(Kind());
      out += ", so ";
    }
    out += "hand it over";
    AppendOnceThere(out);
  }

  void AppendOwnedRemedy(std::string& out) const {
    const bool taken = level_ == Disclosure::kTaken;
    if (clash_.same_party) {
      AppendOwnRemedy(out);
      AppendTransfer(out);
    } else if (clash_.in_own && clash_.holder.state != HolderState::kTerminating) {
      out += "Only one may write it. Ask ";
      AppendContact(out);
      out += " to hand it over";
      AppendOnceThere(out);
      AppendTransfer(out);
      out.append(". If nobody answers, an operator runs: ");
      AppendLine(ForcedTransfer(), kCommandBytesMax, out);
    } else if (!taken && clash_.holder.state == HolderState::kTerminating) {
      out += "Apply again when it is gone, or ";
      AppendRename(out);
      out += '.';
      return;
    } else if (taken) {
      AppendRenameFirst(out);
      out += ", or ask your platform team about it.";
      return;
    } else if (IsMoveToNewKind()) {
      AppendNewKind(out);
      out += " Otherwise ";
      AppendRename(out);
    } else if (!SourceOf(*wording_.root).empty()) {
      // No object of the cluster hands over to a list.
      AppendRenameFirst(out);
      out += ", or ask ";
      AppendContact(out);
      out += " to give it up.";
      return;
    } else {
      AppendRenameFirst(out);
      out += ". To take it over, ask ";
      AppendContact(out);
      const bool is_command = level_ == Disclosure::kFull || IsCheck();
      out += is_command ? " to run" : " to annotate its declaration";
      AppendOnceThere(out);
      AppendTransfer(out);
    }
    out.append(Observe());
  }

  // It is called what the declaration calls it. Else, where an id or an ARN tells that both are
  // one, the name of the declaration may be somebody else's.
  bool IsSameName() const {
    const Owner& holder = clash_.holder;
    const DeclaredResource& resource = clash_.resource;
    return holder.name == resource.name && holder.identity.type == resource.identity.type;
  }

  // A check: the object that will declare the resource is not known.
  bool IsCheck() const { return wording_.root->group == "truce.dev"; }

  // The command with which the holder hands it over, or the annotation where it must not be named.
  void AppendTransfer(std::string& out) const {
    const Owner& holder = clash_.holder;
    std::string way;
    way.reserve(kUsualTextBytes);  // it is in most denials
    way += '`';
    if (IsCheck()) {
      way.append("truce transfer ").append(IsSameName() ? WordOf(holder) : holder.id.text);
      way.append(" --to ").append(wording_.root->ns);
      const std::string& cluster = wording_.root->cluster;
      if (cluster != holder.root.cluster && IsPlainWord(cluster)) {
        way.append(" --to-cluster ").append(cluster);
      }
      way.append(" --reason '…'`");
      AppendLine(way, kCommandBytesMax, out);
      return;
    }
    const Slot& successor = *wording_.root;
    if (level_ == Disclosure::kFull) {
      AppendTransferCommand(*speaker_, successor, way);
    } else {
      way += TransferAnnotation(*speaker_, successor);
    }
    AppendLine(way.append("`"), kCommandBytesMax, out);
  }

  // `truce transfer s3/BucketPolicy/files --to team-a --successor … --force --reason '…'`
  std::string ForcedTransfer() const {
    const Owner& holder = clash_.holder;
    return ForcedTransferCommand(IsSameName() ? WordOf(holder) : holder.id.text, *wording_.root);
  }

  // Only a managed resource that somebody wrote by hand can be made to observe.
  std::string Observe() const {
    const ObjectFacts& object = *wording_.object;
    if (!object.managed || clash_.resource.mapped || *wording_.root != object.slot) return {};
    const FlavourSpec& flavour = FlavourFor(object.slot.group);
    return ". To only read it, set " + std::string(flavour.observing) + ".";
  }

  // As the first word of a sentence.
  void AppendRenameFirst(std::string& out) const {
    const std::size_t begin = out.size();
    AppendRename(out);
    out[begin] = static_cast<char>(out[begin] - 'a' + 'A');
  }

  void AppendRename(std::string& out) const {
    const bool named = IsNamed(clash_.resource, wording_);
    out += named ? "choose another name" : "declare it for a resource of your own";
    if (*wording_.root != wording_.object->slot) {
      out += " in ";
      AppendSaid(ObjectForPeople(*wording_.root), out);
    }
    if (!named || wording_.other_name.empty()) return;
    out += ", for example ";
    AppendQuoted(wording_.other_name, out);
  }

  // A reserved resource is free at its time, unless it is created.
  void AppendWait(std::string& out) const {
    AppendRenameFirst(out);
    out += ", or ask ";
    AppendContact(out);
    out += " for it. Unless it is imported by then, the name is free at that time.";
  }

  // The person to ask, and an operator's act `when`.
  void AppendRelease(std::string_view when, std::string& out) const {
    if (IsMoveToNewKind()) {
      AppendNewKind(out);
      out += " Otherwise ";
      AppendRename(out);
    } else {
      AppendRenameFirst(out);
    }
    out += ", or ask ";
    AppendContact(out);
    out.append(" for it. ").append(when).append(", an operator frees the name: ");
    const Owner& holder = clash_.holder;
    const std::string command = IsSameName() ? ReleaseCommand(holder) : ReleaseCommand(holder.id);
    AppendLine("`" + command + "`", kCommandBytesMax, out);
  }

  const Clash& clash_;
  const Wording& wording_;
  Disclosure level_ = Disclosure::kFull;
  const Slot* speaker_ = nullptr;
  std::string resource_;
  std::string root_;
};

std::string LinkTo(const Owner& holder, const Wording& wording) {
  if (wording.public_url.empty() || holder.id.empty()) return {};
  return std::string(wording.public_url) + "/r/" + holder.id.text;
}

}  // namespace

std::string_view Name(Disclosure disclosure) {
  switch (disclosure) {
    case Disclosure::kFull: return "full";
    case Disclosure::kService: return "service";
    case Disclosure::kTaken: return "taken";
  }
  return "";
}

Disclosure DisclosureOf(const Clash& clash, Disclosure configured) {
  // A chosen successor, or somebody who acts for the owner, may know everything of it. So may the
  // owner of the resource into which it is written.
  const bool akin = clash.same_party || clash.in_own || clash.reason == ClashReason::kSibling ||
                    clash.reason == ClashReason::kTransferring;
  return akin ? Disclosure::kFull : configured;
}

bool HasMadeUpName(const ObjectFacts& object) {
  const auto& controller = object.lineage.controller;
  const std::string_view name = object.slot.name;
  return controller && !controller->name.empty() && name.starts_with(controller->name) &&
         name.substr(controller->name.size()).starts_with('-');
}

std::string OtherName(const DeclaredResource& resource, const Wording& wording) {
  if (!IsNamed(resource, wording)) return {};
  constexpr std::size_t kUsualLengthMax = 63;
  const ObjectFacts& object = *wording.object;
  std::string_view tail = wording.service;
  if (*wording.root == object.slot) tail = DeclaredService(object);
  if (tail.empty() || tail.find('/') != std::string_view::npos) tail = wording.root->ns;
  const std::string& name = resource.name;
  if (name == object.slot.name && HasMadeUpName(object)) return {};
  const auto plain = [](char c) { return IsLowerOrDigit(c) || c == '-'; };
  if (tail.empty() || name.empty() || !std::all_of(name.begin(), name.end(), plain) ||
      !std::all_of(tail.begin(), tail.end(), plain) ||
      (name.ends_with(tail) &&
       std::string_view(name).substr(0, name.size() - tail.size()).ends_with('-'))) {
    return {};
  }
  const TypeSpec* type = wording.catalogue->FindType(resource.identity.type);
  const std::size_t length_max =
      type->name_rule.max_length == 0 ? kUsualLengthMax : type->name_rule.max_length;
  std::string out;
  if (name.size() + 1 + tail.size() > length_max) return out;
  out.reserve(name.size() + 1 + tail.size());
  return out.append(name).append("-").append(tail);
}

Finding DuplicateOwnership(const Clash& clash, const Wording& wording) {
  const Words words(clash, wording);
  Finding out{.rule = Rule::kDuplicateOwnership, .mode = clash.mode};
  out.resource = words.resource();
  out.cause = words.Cause();
  out.remedy = words.Remedy();
  out.link = LinkTo(clash.holder, wording);
  out.warning = words.Warning();
  out.key = clash.resource.key();
  return out;
}

Finding PerhapsElsewhere(const Clash& clash, const Wording& wording) {
  Finding out = DuplicateOwnership(clash, wording);
  out.mode = Mode::kWarn;
  out.at_most = Mode::kWarn;
  const std::string resource = OneLine(
      TypeForPeople(clash.resource.identity.type) + " " + clash.resource.name, kShownTextBytesMax);
  out.cause =
      "Truce cannot tell whether this is the same resource, because the AWS account of a "
      "ProviderConfig is unknown: " +
      out.cause;
  out.remedy =
      "Platform team: tell Truce the AWS account of the ProviderConfig (setting providerConfigs).";
  std::string who = "another declaration";
  if (wording.disclosure == Disclosure::kFull || clash.same_party) {
    who = ObjectBeside(clash.holder.root, *wording.root);
  }
  out.warning = OneLine("truce: " + resource + " may be the one of " + who + ": account not known",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
