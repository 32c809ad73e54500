#include "registry/identity/evidence.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "registry/base/text.h"
#include "registry/identity/ack.h"
#include "registry/identity/parts.h"
#include "registry/identity/values.h"

namespace truce {

namespace {

constexpr std::string_view kExternalNamePlace = "annotation crossplane.io/external-name";
constexpr std::string_view kExternalName = "crossplane.io/external-name";

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
  const Value metadata = object.Child("metadata");
  view.name = StringOf(metadata.Child("name"));
  view.ns = StringOf(metadata.Child("namespace"));
  view.uid = StringOf(metadata.Child("uid"));
  view.resource_version = StringOf(metadata.Child("resourceVersion"));
  view.created = StringOf(metadata.Child("creationTimestamp"));
  view.labels = metadata.Child("labels");
  view.annotations = metadata.Child("annotations");
  view.owner_references = metadata.Child("ownerReferences");
  view.finalizers = metadata.Child("finalizers");
  const Value deleted = metadata.Child("deletionTimestamp");
  view.terminating = !deleted.empty();
  view.deleted = StringOf(deleted);
  const Value spec = object.Child("spec");
  view.fields = {Section{"spec.forProvider", spec.Child("forProvider")},
                 Section{"spec.initProvider", spec.Child("initProvider")}};
  view.external_name = view.Annotation(kExternalName);
  view.external_name_place = kExternalNamePlace;
  view.provider_config = spec.Child("providerConfigRef");
  view.management_policies = spec.Child("managementPolicies");
  view.management_policy = StringOf(spec.Child("managementPolicy"));
  view.deletion_policy = StringOf(spec.Child("deletionPolicy"));
  view.claim_ref = spec.Child("claimRef");
  view.resource_ref = spec.Child("resourceRef");
  view.resource_refs = spec.Child("resourceRefs");
  view.crossplane = spec.Child("crossplane");
  const Value status = object.Child("status");
  view.at_provider = status.Child("atProvider");
  view.conditions = status.Child("conditions");
  return view;
}

namespace {

constexpr std::size_t kAccountDigits = 12;
constexpr int kArnFieldsBeforeAccount = 4;
constexpr std::size_t kNameBytesMax = 253;  // no Kubernetes object has a longer name

bool HasOneSlash(std::string_view text) { return std::count(text.begin(), text.end(), '/') == 1; }

// All but what could end a part of a provisional account.
constexpr ByteSet kPlainInAccount = [] {
  ByteSet set{};
  set.fill(true);
  set['/'] = set['%'] = false;
  return set;
}();

// The application of `app:group/Kind:namespace/name`; empty when the text has another form.
std::string_view ArgoApplication(std::string_view tracking_id) {
  const std::string_view application = TakeUntil(tracking_id, ':');
  const std::string_view kind = TakeUntil(tracking_id, ':');
  return HasOneSlash(kind) && HasOneSlash(tracking_id) ? application : std::string_view();
}

// The mark that names the service of an object.
struct ServiceMark {
  std::string_view name;  // empty: nothing does
  std::string_view place;
  std::string_view key;
};

ServiceMark MarkOfService(const ObjectView& view, const IdentityRules& rules) {
  constexpr std::string_view kTrackingId = "argocd.argoproj.io/tracking-id";
  constexpr std::string_view kRelease = "meta.helm.sh/release-name";
  ServiceMark mark;
  const auto add = [&](std::string_view place, std::string_view key, std::string_view name) {
    if (mark.name.empty() && Presentable(name)) mark = {name, place, key};
  };
  // An operator's label first: it was chosen to name services, the others only happen to.
  for (const std::string& label : rules.service_labels) add("label", label, view.Label(label));
  add("annotation", kTrackingId, ArgoApplication(view.Annotation(kTrackingId)));
  for (const std::string_view label :
       {"argocd.argoproj.io/instance", "app.kubernetes.io/part-of", "app.kubernetes.io/instance"}) {
    add("label", label, view.Label(label));
  }
  add("annotation", kRelease, view.Annotation(kRelease));
  return mark;
}

}  // namespace

std::string_view OwnArn(const ObjectView& view) { return StringOf(view.at_provider.Child("arn")); }

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
  const ServiceMark mark = MarkOfService(ViewObject(object), rules);
  if (mark.name.empty() || mark.name != facts.service) return {};
  return std::string(mark.place).append(" ").append(mark.key);
}

Intent IntentOf(const ObjectView& view, Flavour flavour) {
  const bool namespaced = SpecOf(flavour).namespaced;
  bool observe = false;
  bool remove = false;
  bool all = false;
  bool other = false;
  const Value list = view.management_policies;
  const std::size_t count = list.is_array() ? list.size() : 0;
  for (Value action = list.first(); count > 0 && action.exists(); action = list.next(action)) {
    const std::string_view text = StringOf(action);
    (text == "Observe" ? observe : text == "Delete" ? remove : text == "*" ? all : other) = true;
  }
  // An empty list pauses the object, which goes on owning: it counts as the default.
  if (count == 0) all = true;
  if (observe && !remove && !all && !other) return Intent::kObserves;
  // The single policy of older providers counts only where the list that replaced it is not set.
  if (!namespaced && list.empty()) {
    if (view.management_policy == "ObserveOnly") return Intent::kObserves;
    if (view.management_policy == "OrphanOnDelete") return Intent::kManages;
  }
  // An explicit Delete wins over the deletion policy, which namespaced kinds do not have.
  const bool orphan = !namespaced && view.deletion_policy == "Orphan";
  return remove || (all && !orphan) ? Intent::kDeletes : Intent::kManages;
}

const Partition& PartitionOf(std::string_view region) {
  // From the end: the prefix of the first fits every region.
  return *std::find_if(kPartitions.rbegin(), kPartitions.rend(), [&](const Partition& partition) {
    return region.starts_with(partition.regions);
  });
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
  for (int field = 0; field < kArnFieldsBeforeAccount; ++field) TakeUntil(arn, ':');
  const std::string_view account = TakeUntil(arn, ':');
  return IsAccount(account) ? account : std::string_view();
}

ProviderConfigName ConfigOf(const ObjectView& view, const KindEntry& kind) {
  const FlavourSpec& flavour = SpecOf(kind.flavour);
  if (flavour.config_is_namespace) {
    return {{}, std::string(flavour.config_kind), {}, std::string(view.ns)};
  }
  const Value reference = view.provider_config;
  // The provider takes "default" where the object names none: two objects of one ProviderConfig
  // must have one provisional account, also where only one names it.
  ProviderConfigName config{
      std::string(flavour.ConfigGroup()), std::string(flavour.config_kind), {}, "default"};
  if (const std::string_view name = StringOf(reference.Child("name")); !name.empty()) {
    config.name = name.substr(0, kNameBytesMax);
  }
  const std::string_view own = flavour.own_config_kind;
  if (!own.empty() && StringOf(reference.Child("kind")) == own) {
    config.kind = own;
    config.ns = view.ns;
  }
  return config;
}

const OutsideEndpoint* EndpointOf(const ProviderConfigName& config, const TypeSpec& type,
                                  const IdentityRules& rules) {
  const auto at = rules.outside.find(config);
  if (at == rules.outside.end()) return nullptr;
  const OutsideEndpoint& endpoint = at->second;
  const bool goes_there =
      endpoint.services.empty() || endpoint.services.contains(std::string(type.Service()));
  return goes_there ? &endpoint : nullptr;
}

std::string_view ConfiguredAccount(const ObjectView& view, const ProviderConfigName& config,
                                   const IdentityRules& rules) {
  if (rules.accounts.empty()) return {};
  // The watch may tell late of a version from before the edit: it was for the former account.
  if (const auto former = rules.former.find(config); former != rules.former.end()) {
    const std::optional<std::uint64_t> version = VersionNumber(view.resource_version);
    if (version && *version <= former->second.until) return former->second.account;
  }
  const auto at = rules.accounts.find(config);
  return at == rules.accounts.end() ? std::string_view() : std::string_view(at->second);
}

std::string ProvisionalAccountOf(const ProviderConfigName& config, std::string_view cluster) {
  std::string text = "?";
  text.append(cluster);
  // The object's free text comes last, and what could end a part is encoded, so that no two
  // ProviderConfigs have one provisional account.
  for (const std::string* part : {&config.group, &config.kind, &config.ns, &config.name}) {
    AppendPercentEncoded<kPlainInAccount>(*part, text.append(1, '/'));
  }
  return text;
}

namespace {

// The first one of every type (OwnArn), the others of some (draft.h, TakeStatus).
constexpr std::array<std::string_view, 3> kNameFields = {
    "status.atProvider.arn", "status.atProvider.id", "status.atProvider.url"};

}  // namespace

std::string ChangedNameField(Value object, Value old_object, const KindEntry& kind) {
  if (kind.flavour == Flavour::kAck) return AckChangedNameField(object, old_object, kind);
  const Value present = object.Child("status").Child("atProvider");
  const Value before = old_object.Child("status").Child("atProvider");
  const std::vector<KeyPart>& parts = kind.type->PartsFor(kind.flavour);
  const bool tells_more =
      !kind.type->external_name.empty() && std::none_of(parts.begin(), parts.end(), IsExternalName);
  const std::size_t count = tells_more ? kNameFields.size() : 1;
  for (const std::string_view path : std::span(kNameFields).first(count)) {
    const std::string_view name = path.substr(path.rfind('.') + 1);
    const Value is = present.Child(name);
    const Value was = before.Child(name);
    if (is.empty() != was.empty() || (!is.empty() && !is.Equals(was))) return std::string(path);
  }
  return {};
}

}  // namespace truce
