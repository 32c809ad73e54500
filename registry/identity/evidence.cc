#include "registry/identity/evidence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "registry/base/text.h"
#include "registry/identity/parts.h"
#include "registry/identity/values.h"

namespace truce {
namespace {

void ViewMetadata(Value metadata, ObjectView& view) {
  if (!metadata.is_object()) return;
  for (Value field = metadata.first(); field.exists(); field = metadata.next(field)) {
    const std::string_view key = field.key();
    if (key == "name") {
      view.name = StringOf(field);
    } else if (key == "namespace") {
      view.ns = StringOf(field);
    } else if (key == "uid") {
      view.uid = StringOf(field);
    } else if (key == "labels") {
      view.labels = field;
    } else if (key == "annotations") {
      view.annotations = field;
    } else if (key == "resourceVersion") {
      view.resource_version = StringOf(field);
    } else if (key == "creationTimestamp") {
      view.created = StringOf(field);
    } else if (key == "deletionTimestamp") {
      view.terminating = !field.empty();
      view.deleted = StringOf(field);
    } else if (key == "ownerReferences") {
      view.owner_references = field;
    } else if (key == "finalizers") {
      view.finalizers = field;
    }
  }
}

void ViewSpec(Value spec, ObjectView& view) {
  if (!spec.is_object()) return;
  for (Value field = spec.first(); field.exists(); field = spec.next(field)) {
    const std::string_view key = field.key();
    if (key == "forProvider") {
      view.for_provider = field;
    } else if (key == "initProvider") {
      view.init_provider = field;
    } else if (key == "providerConfigRef") {
      view.provider_config = field;
    } else if (key == "managementPolicies") {
      view.management_policies = field;
    } else if (key == "managementPolicy") {
      view.management_policy = StringOf(field);
    } else if (key == "deletionPolicy") {
      view.deletion_policy = StringOf(field);
    } else if (key == "claimRef") {
      view.claim_ref = field;
    } else if (key == "resourceRef") {
      view.resource_ref = field;
    } else if (key == "resourceRefs") {
      view.resource_refs = field;
    } else if (key == "crossplane") {
      view.crossplane = field;
    }
  }
}

}  // namespace

std::string_view StringOf(Value value) {
  return value.is_string() ? value.text() : std::string_view();
}

std::string_view ObjectView::Annotation(std::string_view key) const {
  return StringOf(annotations.Child(key));
}

std::string_view ObjectView::Label(std::string_view key) const {
  return StringOf(labels.Child(key));
}

ObjectView ViewObject(Value object) {
  ObjectView view;
  if (!object.is_object()) return view;
  for (Value field = object.first(); field.exists(); field = object.next(field)) {
    if (field.key() == "metadata") {
      ViewMetadata(field, view);
    } else if (field.key() == "spec") {
      ViewSpec(field, view);
    } else if (field.key() == "status") {
      view.at_provider = field.Child("atProvider");
      view.conditions = field.Child("conditions");
    }
  }
  return view;
}

namespace {

constexpr std::size_t kAccountDigits = 12;
constexpr int kArnFieldsBeforeAccount = 4;
constexpr std::size_t kNameBytesMax = 253;  // no Kubernetes object has a longer name

// Regions of partitions other than "aws" are told by these prefixes (botocore,
// data/partitions.json).
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kPartitions = {{
    {"cn-", "aws-cn"},
    {"us-gov-", "aws-us-gov"},
    {"us-iso-", "aws-iso"},
    {"us-isob-", "aws-iso-b"},
    {"eu-isoe-", "aws-iso-e"},
    {"us-isof-", "aws-iso-f"},
    {"eu-isof-", "aws-iso-f"},
    {"eusc-", "aws-eusc"},
}};

// Takes the text before the next `separator` off `rest`; all of it when there is none.
std::string_view Take(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return taken;
}

bool HasOneSlash(std::string_view text) { return std::count(text.begin(), text.end(), '/') == 1; }

// The policies as a set, by the values that matter.
struct Policies {
  bool observe = false;
  bool remove = false;
  bool all = false;
  bool other = false;

  bool OnlyObserve() const { return observe && !remove && !all && !other; }
  bool OnlyAll() const { return all && !observe && !remove && !other; }
};

Policies ReadPolicies(Value list) {
  Policies policies;
  if (list.is_array()) {
    for (Value action = list.first(); action.exists(); action = list.next(action)) {
      const std::string_view text = StringOf(action);
      (text == "Observe"  ? policies.observe
       : text == "Delete" ? policies.remove
       : text == "*"      ? policies.all
                          : policies.other) = true;
    }
  }
  const bool none = !policies.observe && !policies.remove && !policies.all && !policies.other;
  // An empty list pauses the object, which goes on owning: it counts as the default.
  if (none) policies.all = true;
  return policies;
}

// "aws.upbound.io" of "s3.aws.upbound.io": the group of the ProviderConfig.
std::string_view ProviderGroup(std::string_view group) {
  const std::size_t dot = group.find('.');
  return dot == std::string_view::npos ? group : group.substr(dot + 1);
}

struct ProviderConfigView {
  std::string_view group;
  std::string_view kind;
  std::string_view ns;
  std::string_view name;
};

ProviderConfigView ProviderConfigOf(const ObjectView& view, const KindEntry& kind) {
  const bool namespaced = kind.flavour == Flavour::kUpjetNamespaced;
  // What the provider takes where the object says nothing: two objects of one ProviderConfig,
  // one of which does not name it, must have one provisional account.
  ProviderConfigView config{ProviderGroup(kind.group), "ProviderConfig", {}, "default"};
  if (const std::string_view name = StringOf(view.provider_config.Child("name")); !name.empty()) {
    config.name = name.substr(0, kNameBytesMax);
  }
  if (!namespaced) return config;
  config.kind = "ClusterProviderConfig";
  if (StringOf(view.provider_config.Child("kind")) == "ProviderConfig") {
    config.kind = "ProviderConfig";
    config.ns = view.ns;
  }
  return config;
}

// The object's free text comes last, and what could end a part is encoded, so that no two
// ProviderConfigs have one provisional account.
void AppendProvisionalAccountPart(std::string& text, std::string_view part) {
  text.push_back('/');
  for (const char c : part) {
    if (c == '/') {
      text += "%2F";
    } else if (c == '%') {
      text += "%25";
    } else {
      text.push_back(c);
    }
  }
}

// What names the service of an object.
struct ServiceMark {
  std::string_view name;  // empty: nothing does
  std::string_view place;
  std::string_view key;
};

ServiceMark MarkOfService(const ObjectView& view, const IdentityRules& rules) {
  constexpr std::string_view kTrackingId = "argocd.argoproj.io/tracking-id";
  constexpr std::string_view kRelease = "meta.helm.sh/release-name";
  constexpr std::string_view kLabel = "label";
  constexpr std::string_view kAnnotation = "annotation";
  constexpr std::array<std::string_view, 3> kLabels = {
      "argocd.argoproj.io/instance", "app.kubernetes.io/part-of", "app.kubernetes.io/instance"};
  // An operator's label first: it was chosen to name services, the others only happen to.
  for (const std::string& label : rules.service_labels) {
    if (const std::string_view name = view.Label(label); Presentable(name)) {
      return {name, kLabel, label};
    }
  }
  if (const std::string_view name = ArgoApplication(view.Annotation(kTrackingId));
      Presentable(name)) {
    return {name, kAnnotation, kTrackingId};
  }
  for (const std::string_view label : kLabels) {
    if (const std::string_view name = view.Label(label); Presentable(name)) {
      return {name, kLabel, label};
    }
  }
  if (const std::string_view name = view.Annotation(kRelease); Presentable(name)) {
    return {name, kAnnotation, kRelease};
  }
  return {};
}

}  // namespace

std::string_view OwnArn(const ObjectView& view) { return StringOf(view.at_provider.Child("arn")); }

std::string_view ArgoApplication(std::string_view tracking_id) {
  std::string_view rest = tracking_id;
  const std::string_view application = Take(rest, ':');
  const std::string_view kind = Take(rest, ':');
  return HasOneSlash(kind) && HasOneSlash(rest) ? application : std::string_view();
}

std::string ServiceOf(const ObjectView& view, const IdentityRules& rules) {
  const ServiceMark mark = MarkOfService(view, rules);
  if (!mark.name.empty()) return std::string(mark.name);
  std::string name;
  if (!view.ns.empty()) name.append(view.ns).append(1, '/');
  return name.append(view.name);
}

std::string ServiceSourceOf(Value object, const ObjectFacts& facts, const IdentityRules& rules) {
  const Slot& slot = facts.slot;
  const MappingRule* rule =
      facts.managed ? nullptr : rules.mappings.Find(slot.group, slot.kind, slot.ns);
  if (rule != nullptr && rule->service.has_value()) {
    for (const FieldPath::Match& match : rule->service->Find(object)) {
      if (ScalarOf(match.value) == facts.service) return "field " + rule->service->text();
    }
  }
  const Value metadata = object.Child("metadata");
  ObjectView view;
  view.labels = metadata.Child("labels");
  view.annotations = metadata.Child("annotations");
  const ServiceMark mark = MarkOfService(view, rules);
  if (mark.name.empty() || mark.name != facts.service) return {};
  return std::string(mark.place).append(" ").append(mark.key);
}

Intent IntentOf(const ObjectView& view, Flavour flavour) {
  const Policies policies = ReadPolicies(view.management_policies);
  if (policies.OnlyObserve()) return Intent::kObserves;
  if (flavour == Flavour::kUpjetNamespaced) {
    // These kinds have no deletionPolicy: the list alone tells.
    return policies.remove || policies.all ? Intent::kDeletes : Intent::kManages;
  }
  if (view.management_policies.empty()) {
    // The single policy of older providers counts only where the list that replaced it is not set.
    if (view.management_policy == "ObserveOnly") return Intent::kObserves;
    if (view.management_policy == "OrphanOnDelete") return Intent::kManages;
  }
  const bool orphan = view.deletion_policy == "Orphan";
  if (!orphan && (policies.remove || policies.all)) return Intent::kDeletes;
  // An explicit list wins over the deletion policy.
  if (!policies.OnlyAll() && policies.remove) return Intent::kDeletes;
  return Intent::kManages;
}

std::string_view PartitionOf(std::string_view region) {
  for (const auto& [prefix, partition] : kPartitions) {
    if (region.starts_with(prefix)) return partition;
  }
  return "aws";
}

std::string NameSpaceOf(const OutsideEndpoint& endpoint) { return "@" + endpoint.host; }

bool IsNameSpace(std::string_view partition) { return partition.starts_with('@'); }

bool HasNameSpace(const IdentityRules& rules, const OutsideEndpoint& endpoint) {
  return std::ranges::any_of(rules.name_spaces, [&](const std::string& pattern) {
    return MatchesGlob(endpoint.host, pattern);
  });
}

bool IsAccount(std::string_view text) { return text.size() == kAccountDigits && AllDigits(text); }

std::string_view AccountOfArn(std::string_view arn) {
  if (!arn.starts_with("arn:")) return {};
  std::string_view rest = arn;
  for (int field = 0; field < kArnFieldsBeforeAccount; ++field) Take(rest, ':');
  const std::string_view account = Take(rest, ':');
  return IsAccount(account) ? account : std::string_view();
}

namespace {

ProviderConfigName NameOf(const ProviderConfigView& config) {
  return {std::string(config.group), std::string(config.kind), std::string(config.ns),
          std::string(config.name)};
}

}  // namespace

std::optional<ProviderConfigName> ConfigOf(const ObjectView& view, const GroupKind& kind,
                                           const Catalogue& catalogue) {
  const KindEntry* entry = catalogue.FindKind(kind.group, kind.kind);
  if (entry == nullptr) return std::nullopt;
  return NameOf(ProviderConfigOf(view, *entry));
}

std::string AccountFieldsOf(const ObjectView& view, const KindEntry& kind,
                            const IdentityRules& rules) {
  if (!rules.account_fields) return {};
  const auto at = rules.account_fields->find(NameOf(ProviderConfigOf(view, kind)));
  return at == rules.account_fields->end() ? "none" : at->second;
}

const OutsideEndpoint* EndpointOf(const ObjectView& view, const KindEntry& kind,
                                  const IdentityRules& rules) {
  if (rules.outside.empty()) return nullptr;
  const auto at = rules.outside.find(NameOf(ProviderConfigOf(view, kind)));
  if (at == rules.outside.end()) return nullptr;
  const OutsideEndpoint& endpoint = at->second;
  const std::string& type = kind.type->name;
  const bool goes_there =
      endpoint.services.empty() || endpoint.services.contains(type.substr(0, type.find('/')));
  return goes_there ? &endpoint : nullptr;
}

namespace {

bool IsUpTo(std::string_view version, std::uint64_t until) {
  const std::optional<std::uint64_t> number = VersionNumber(version);
  return number && *number <= until;
}

}  // namespace

AccountEvidence AccountOf(const ObjectView& view, const KindEntry& kind,
                          const IdentityRules& rules) {
  AccountEvidence evidence;
  std::string_view source = "its own field";
  if (const std::string_view field = FieldOf(view, kind.type->account_path); !field.empty()) {
    evidence.foreign = !IsAccount(field);
    if (!evidence.foreign) evidence.account = field;
    evidence.own_field = !evidence.foreign;
  }
  if (evidence.account.empty() && !rules.accounts.empty()) {
    const ProviderConfigName config = NameOf(ProviderConfigOf(view, kind));
    const auto at = rules.accounts.find(config);
    if (at != rules.accounts.end()) evidence.account = at->second;
    // The watch may tell late of a version from before the edit: it was for the former account.
    const auto former = rules.former.find(config);
    if (former != rules.former.end() && IsUpTo(view.resource_version, former->second.until)) {
      evidence.account = former->second.account;
    }
    source = "the configuration of its ProviderConfig";
  }
  const std::string_view own = AccountOfArn(OwnArn(view));
  if (own.empty() || own == evidence.account) return evidence;
  // A status is weaker than spec and configuration: it adds a name, and takes none.
  if (evidence.account.empty()) {
    evidence.observed = own;
    return evidence;
  }
  evidence.disagreement.append("status.atProvider.arn names account ").append(own);
  evidence.disagreement.append(", ").append(source).append(" names ").append(evidence.account);
  return evidence;
}

std::string ProvisionalAccountOf(const ObjectView& view, const KindEntry& kind,
                                 const IdentityRules& rules) {
  const ProviderConfigView config = ProviderConfigOf(view, kind);
  std::string text;
  text.reserve(96);
  text.append(1, '?').append(rules.cluster);
  for (const std::string_view part : {config.group, config.kind, config.ns, config.name}) {
    AppendProvisionalAccountPart(text, part);
  }
  return text;
}

namespace {

struct NameField {
  std::string_view path;  // for people
  std::string_view name;  // below status.atProvider
};

// The first one of every type (OwnArn), the others of some (draft.h, TakeStatus).
constexpr std::array<NameField, 3> kNameFields = {{{"status.atProvider.arn", "arn"},
                                                   {"status.atProvider.id", "id"},
                                                   {"status.atProvider.url", "url"}}};

}  // namespace

std::string_view ChangedNameField(Value object, Value old_object, const KindEntry& kind) {
  const Value present = object.Child("status").Child("atProvider");
  const Value before = old_object.Child("status").Child("atProvider");
  const std::vector<KeyPart>& parts = kind.type->PartsFor(kind.flavour);
  const bool tells_more =
      !kind.type->external_name.empty() && std::none_of(parts.begin(), parts.end(), IsExternalName);
  const std::size_t count = tells_more ? kNameFields.size() : 1;
  for (const NameField& field : std::span(kNameFields).first(count)) {
    const Value is = present.Child(field.name);
    const Value was = before.Child(field.name);
    if (is.empty() != was.empty() || (!is.empty() && !is.Equals(was))) return field.path;
  }
  return {};
}

}  // namespace truce
