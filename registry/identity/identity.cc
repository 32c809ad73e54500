#include "registry/identity/identity.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "registry/base/fingerprint.h"
#include "registry/identity/ack.h"
#include "registry/identity/draft.h"
#include "registry/identity/evidence.h"
#include "registry/identity/parts.h"
#include "registry/identity/uids.h"
#include "registry/identity/values.h"

namespace truce {
namespace {

// More references than any composite has; the rest of a hostile list is not read.
constexpr std::size_t kReferencesMax = 4096;
// Of an annotation whose value is a time ("2026-11-23T14:00:00Z").
constexpr std::size_t kMarkBytesMax = 64;
// ObjectFacts::account_fields of an object without ProviderConfig.
constexpr std::string_view kNoConfig = "none";

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// Reads {apiVersion, kind, namespace, name, uid} in an object of `cluster`; the named object lives
// in `ns` unless the reference says otherwise. Nothing where it names nothing.
std::optional<ObjectRef> ReadReference(Value reference, std::string_view cluster,
                                       std::string_view ns) {
  const auto text = [&](std::string_view name) { return StringOf(reference.Child(name)); };
  if (text("name").empty()) return std::nullopt;
  const bool tells_ns = reference.Child("namespace").exists();
  return ObjectRef{.group = std::string(GroupOf(text("apiVersion"))),
                   .kind = std::string(text("kind")),
                   .ns = std::string(tells_ns ? text("namespace") : ns),
                   .name = std::string(text("name")),
                   .uid = UidIn(cluster, text("uid"))};
}

void AddReferences(Value list, std::string_view cluster, std::string_view ns,
                   std::vector<ObjectRef>& references) {
  if (!list.is_array()) return;
  for (Value item = list.first(); item.exists(); item = list.next(item)) {
    if (references.size() >= kReferencesMax) return;
    if (auto reference = ReadReference(item, cluster, ns)) {
      references.push_back(*std::move(reference));
    }
  }
}

LineageFields ReadLineage(const ObjectView& view, std::string_view cluster) {
  LineageFields lineage;
  const Value owners = view.owner_references;
  if (owners.is_array()) {
    for (Value owner = owners.first(); owner.exists(); owner = owners.next(owner)) {
      if (!owner.Child("controller").is_true()) continue;
      // The API server lets an object have one controller at most.
      lineage.controller = ReadReference(owner, cluster, view.ns);
      break;
    }
  }
  lineage.claim = ReadClaimRef(view, cluster);
  lineage.composite = ReadReference(view.resource_ref, cluster, {});
  AddReferences(view.resource_refs, cluster, {}, lineage.resources);
  // A namespaced composite composes into its own namespace and does not repeat it.
  AddReferences(view.crossplane.Child("resourceRefs"), cluster, view.ns, lineage.resources);
  lineage.composed = !view.Annotation("crossplane.io/composition-resource-name").empty();
  lineage.label = view.Label("crossplane.io/composite");
  return lineage;
}

struct Condition {
  std::string_view status;
  std::string_view reason;
};

Condition ConditionOf(Value conditions, std::string_view type) {
  if (!conditions.is_array()) return {};
  for (Value item = conditions.first(); item.exists(); item = conditions.next(item)) {
    if (StringOf(item.Child("type")) != type) continue;
    return {StringOf(item.Child("status")), StringOf(item.Child("reason"))};
  }
  return {};
}

void ReadStatus(const ObjectView& view, ObjectFacts& facts) {
  const Condition ready = ConditionOf(view.conditions, "Ready");
  // Of a managed resource each of these is written only after AWS answered.
  facts.real = ready.status == "True" || !StringOf(view.at_provider.Child("arn")).empty() ||
               !StringOf(view.at_provider.Child("id")).empty();
  facts.deleting = ready.status == "False" && ready.reason == "Deleting" &&
                   ConditionOf(view.conditions, "Synced").status == "True";
}

std::string CreatedMarks(const ObjectView& view) {
  std::string marks;
  for (const std::string_view key :
       {"crossplane.io/external-create-pending", "crossplane.io/external-create-succeeded"}) {
    const std::string_view mark = view.Annotation(key);
    if (!mark.empty()) marks.append(mark.substr(0, kMarkBytesMax)).append(1, ' ');
  }
  return marks;
}

// By the provider's marks, in whole seconds, as it compares them itself
// (crossplane-runtime, pkg/meta/meta.go, ExternalCreateIncomplete).
bool IsCreationOpen(const ObjectView& view) {
  if (!view.terminating) return false;
  const auto deleted = ParseTimestamp(view.deleted);
  std::optional<Timestamp> pending;
  std::optional<Timestamp> outcome;  // what came of it
  const std::pair<std::string_view, std::optional<Timestamp>&> marks[] = {
      {"crossplane.io/external-create-pending", pending},
      {"crossplane.io/external-create-succeeded", outcome},
      {"crossplane.io/external-create-failed", outcome}};
  for (const auto& [key, last] : marks) {
    const std::string_view text = view.Annotation(key);
    if (text.empty()) continue;
    const auto at = ParseTimestamp(text);
    if (!at || (deleted && *at > *deleted)) return true;
    last = std::max(last, at);  // nothing is less than any
  }
  return pending && (!outcome || *pending > *outcome);
}

void ReadMetadata(const ObjectView& view, ObjectFacts& facts) {
  facts.uid = UidIn(facts.slot.cluster, view.uid);
  facts.terminating = view.terminating;
  facts.version = VersionNumber(view.resource_version);
  if (!view.created.empty()) facts.created = ParseTimestamp(view.created);
  if (view.finalizers.is_array()) {
    for (Value item = view.finalizers.first(); item.exists(); item = view.finalizers.next(item)) {
      if (facts.finalizers.size() >= kReferencesMax) break;
      facts.finalizers.emplace_back(StringOf(item));
    }
  }
}

std::string PresentableAnnotation(const ObjectView& view, std::string_view key) {
  const std::string_view text = view.Annotation(key);
  return Presentable(text) ? std::string(text) : std::string();
}

// The account, or what stands in for it, and beside it the other of both. `provisional_account`
// empty: the key needs none.
void PlaceAccount(std::string_view account, std::string_view observed,
                  std::string provisional_account, DeclaredResource& each) {
  std::string& placed = each.identity.account;
  if (provisional_account.empty()) {
    placed = account.empty() ? observed : account;
  } else if (account.empty()) {
    placed = std::move(provisional_account);
    each.further_account = observed;
    each.further_observed = !observed.empty();
  } else {
    placed = account;
    each.further_account = std::move(provisional_account);
  }
}

void ReadParts(const ObjectView& view, const KindEntry& kind, const PartContext& context,
               Draft& draft) {
  for (const KeyPart& part : kind.type->PartsFor(kind.flavour)) {
    draft.parts.push_back(ReadPart(part, view, context));
  }
  FillFromNames(draft.parts, context);
  LieWithParent(draft);
  // A bad value beside the key is dropped, never refused.
  std::vector<BadName> ignored;
  const PartContext beside{.type = context.type,
                           .catalogue = context.catalogue,
                           .bad_names = ignored,
                           .external = context.external,
                           .short_references = context.short_references};
  for (const KeyPart& part : kind.type->ExtraFor(kind.flavour)) {
    draft.extra.push_back(ReadPart(part, view, beside));
  }
}

void ReadRegion(const ObjectView& view, Flavour flavour, const PartContext& context, Draft& draft) {
  const std::vector<std::string>& path = context.type.RegionPathFor(flavour);
  TakeRegion(FieldOf(view, path), FieldName(view.fields[0].name, path) + " is not set", context,
             draft);
}

// See ObjectFacts::account_fields.
std::string_view AccountFieldsOf(const ProviderConfigName& config, const IdentityRules& rules) {
  if (!rules.account_fields) return {};
  const auto at = rules.account_fields->find(config);
  return at == rules.account_fields->end() ? kNoConfig : std::string_view(at->second);
}

// A status is weaker than spec and configuration: it adds a name, and takes none.
void NoteDisagreement(std::string_view account, bool own_field, const KindEntry& kind,
                      ObjectFacts& facts) {
  const FlavourSpec& flavour = SpecOf(kind.flavour);
  std::string& text = facts.account_disagreement;
  text.append(flavour.shown_by).append(" names account ");
  text.append(facts.shown_account);
  text.append(own_field                     ? ", its own field names "
              : flavour.config_is_namespace ? ", its namespace or the configuration of it names "
                                            : ", the configuration of its ProviderConfig names ");
  text.append(account);
}

struct OfKind {
  const KindEntry& kind;
  const AckObject* ack;  // the same object, where it is one of ACK; else null
};

void ReadManaged(ObjectView view, const OfKind& of, const IdentityRules& rules,
                 ObjectFacts& facts) {
  const auto& [kind, ack] = of;
  const TypeSpec& type = *kind.type;
  PartContext context{type,    *rules.catalogue,    facts.bad_names,
                      nullptr, &facts.name_finding, ack != nullptr};
  Draft draft(type);
  ResourceIdentity& place = draft.each.identity;
  draft.each.intent = ack == nullptr ? IntentOf(view, kind.flavour) : ack->intent();
  draft.each.sure = draft.each.sure && kind.sure;
  draft.each.late = type.Late(kind.flavour);
  if (ack == nullptr) {
    ReadRegion(view, kind.flavour, context, draft);
  } else {
    ack->ReadRegion(context, draft);
  }
  const ProviderConfigName config = ConfigOf(view, kind);
  facts.account_fields = AccountFieldsOf(config, rules);
  const OutsideEndpoint* const outside = EndpointOf(config, type, rules);
  // Whoever owns an endpoint outside of AWS writes whatever he likes into a status.
  if (outside != nullptr) view.at_provider = {};
  const std::string_view own_arn = OwnArn(view);
  facts.shown_account = ack == nullptr ? AccountOfArn(own_arn) : ack->account();
  const std::vector<std::string>& account_path = type.AccountPathFor(kind.flavour);
  const std::string_view field = FieldOf(view, account_path);
  const bool own_field = IsAccount(field);
  const std::string_view account = own_field ? field : ConfiguredAccount(view, config, rules);
  if (own_field || field.empty()) {
    const bool stands_in = field.empty() && type.KeyHasAccount();
    PlaceAccount(account, facts.shown_account,
                 stands_in ? ProvisionalAccountOf(config, rules.cluster) : std::string(),
                 draft.each);
  } else {
    draft.each.missing.push_back(FieldName(view.fields[0].name, account_path) +
                                 " names no account");
  }
  if (draft.each.further_observed) draft.own_arn = own_arn;
  // Before the parts: where it is an ARN or a URL some of them are what it tells.
  ExternalName external = ReadExternalName(view, type, place, account);
  if (external.reading) context.external = &*external.reading;
  ReadParts(view, kind, context, draft);
  const std::string& shown = facts.shown_account;
  if (!shown.empty() && !account.empty() && shown != account && shown != place.account) {
    NoteDisagreement(account, own_field, kind, facts);
  }
  std::optional<Draft> other = TakeExternalName(external, context, draft);
  if (!external.finding.empty()) facts.name_finding = std::move(external.finding);
  std::string status_finding = TakeStatus(view, external, draft);
  if (facts.name_finding.empty()) facts.name_finding = std::move(status_finding);
  // Last: external names are written there as AWS writes them.
  if (outside != nullptr && HasNameSpace(rules, *outside)) {
    place.partition = NameSpaceOf(*outside);
    if (other) other->each.identity.partition = place.partition;
  }
  AppendResources(draft, facts.resources, facts.bad_names);
  const auto is_anothers = [](const DeclaredResource& resource) {
    return resource.further_account.empty();
  };
  if (draft.each.further_observed && std::ranges::any_of(facts.resources, is_anothers)) {
    facts.account_disagreement.assign(SpecOf(kind.flavour).shown_by);
    facts.account_disagreement += " names another resource: " + Printable(draft.own_arn);
  }
  const auto is_shown = [&](const DeclaredResource& resource) {
    return !own_arn.empty() && resource.arn == own_arn;
  };
  if (!other && std::ranges::none_of(facts.resources, is_shown)) {
    facts.shown_key = ShownKey(view, draft);
  }
  if (other) AppendResources(*other, facts.resources, facts.bad_names);
}

// The resource that the object would create instead of adopting one, where it names another.
void ReadCreation(ObjectView view, const OfKind& of, const IdentityRules& rules,
                  ObjectFacts& facts) {
  of.ack->ApplyCreation(view);
  ObjectFacts created;
  ReadManaged(view, of, rules, created);
  for (DeclaredResource& resource : created.resources) {
    const bool is_another =
        !resource.names.empty() &&
        std::ranges::none_of(facts.resources, [&](const DeclaredResource& adopted) {
          return adopted.identity == resource.identity;
        });
    if (is_another) facts.resources.push_back(std::move(resource));
  }
  for (BadName& bad : created.bad_names) {
    const bool is_known = std::ranges::count(facts.bad_names, bad) > 0;
    if (!is_known) facts.bad_names.push_back(std::move(bad));
  }
}

void MarkObserved(ObjectFacts& facts) {
  for (DeclaredResource& resource : facts.resources) {
    for (DeclaredName& name : resource.names) name.observed = true;
  }
}

}  // namespace

std::optional<ObjectRef> ReadClaimRef(const ObjectView& view, std::string_view cluster) {
  return ReadReference(view.claim_ref, cluster, {});
}

ObjectFacts Identify(Value object, const GroupKind& kind, const IdentityRules& rules,
                     std::string_view default_ns) {
  const KindEntry* entry =
      rules.catalogue == nullptr ? nullptr : rules.catalogue->FindKind(kind.group, kind.kind);
  const bool has_namespace = entry == nullptr || SpecOf(entry->flavour).namespaced;
  ObjectView view = ViewObject(object);
  // An object in a request may leave it out: the API server takes it from the path.
  if (view.ns.empty() && has_namespace) view.ns = default_ns;
  ObjectFacts facts;
  facts.slot =
      Slot{rules.cluster, kind.group, kind.kind, std::string(view.ns), std::string(view.name)};
  ReadMetadata(view, facts);
  ReadStatus(view, facts);
  facts.lineage = ReadLineage(view, facts.slot.cluster);
  facts.created_marks = CreatedMarks(view);
  facts.creation_open = IsCreationOpen(view);
  std::optional<AckObject> ack;
  if (entry != nullptr && entry->flavour == Flavour::kAck) {
    const auto defaults = rules.defaults.find(ConfigOf(view, *entry));
    ack.emplace(object, *entry, defaults == rules.defaults.end() ? nullptr : &defaults->second);
    ack->Apply(view);
    facts.name_finding = ack->finding();
    facts.real = ack->is_managed();
    facts.deleting = false;
    facts.is_end_unknown = ack->is_end_unknown();
    facts.is_end_by_config = ack->is_end_by_config();
  }
  if (!view.external_name.empty()) {
    Fingerprint digest;
    digest.Add(view.external_name);
    facts.external_name = digest.value();
  }
  facts.composite = rules.composites.contains(kind);
  facts.contact = PresentableAnnotation(view, rules.contact_annotation);
  facts.transfer_to = PresentableAnnotation(view, "truce.dev/transfer-to");
  if (entry != nullptr) {
    facts.known_kind = true;
    facts.managed = true;
    ReadManaged(view, {*entry, ack ? &*ack : nullptr}, rules, facts);
    if (ack && ack->is_id_observed()) MarkObserved(facts);
    if (ack && ack->may_create()) ReadCreation(view, {*entry, &*ack}, rules, facts);
  } else if (const MappingRule* rule = rules.mappings.Find(kind.group, kind.kind, view.ns);
             rule != nullptr && rules.catalogue != nullptr) {
    facts.known_kind = true;
    MappedFacts mapped = ReadMapping(object, *rule, *rules.catalogue);
    facts.resources = std::move(mapped.resources);
    facts.bad_names = std::move(mapped.bad_names);
    facts.service = std::move(mapped.service);
  }
  if (facts.service.empty()) facts.service = ServiceOf(view, rules);
  return facts;
}

std::optional<std::uint64_t> VersionNumber(std::string_view version) {
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (error != std::errc() || end != version.data() + version.size()) return std::nullopt;
  return number;
}

PartyId PartyOf(const Slot& root) {
  if (root.ns.empty()) return PartyId{"slot:" + ToText(root)};
  return PartyId{"ns:" + root.cluster + '/' + root.ns};
}

PartyId Bound(const PartyId& party, const PartyRules& rules) {
  constexpr std::string_view kNamespace = "ns:";
  if (!party.text.starts_with(kNamespace)) return party;
  const auto service = rules.services.find(party.text.substr(kNamespace.size()));
  return service == rules.services.end() ? party : PartyId{"service:" + service->second};
}

bool OneParty(const PartyId& a, const PartyId& b, const PartyRules& rules) {
  return a == b || Bound(a, rules) == Bound(b, rules);
}

}  // namespace truce
