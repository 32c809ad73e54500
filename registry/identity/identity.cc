#include "registry/identity/identity.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "registry/base/fingerprint.h"
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

std::string_view GroupOf(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

// Of the object that refers: where what it names lives, unless it says otherwise.
struct Here {
  std::string_view cluster;
  std::string_view ns;
};

// Reads {apiVersion, kind, namespace, name, uid}.
ObjectRef ReadReference(Value reference, const Here& here) {
  ObjectRef ref;
  ref.ns = here.ns;
  for (Value field = reference.first(); field.exists(); field = reference.next(field)) {
    const std::string_view key = field.key();
    const std::string_view text = StringOf(field);
    if (key == "apiVersion") {
      ref.group = GroupOf(text);
    } else if (key == "kind") {
      ref.kind = text;
    } else if (key == "namespace") {
      ref.ns = text;
    } else if (key == "name") {
      ref.name = text;
    } else if (key == "uid") {
      ref.uid = UidIn(here.cluster, text);
    }
  }
  return ref;
}

void AddReferences(Value list, const Here& here, std::vector<ObjectRef>& references) {
  if (!list.is_array()) return;
  for (Value item = list.first(); item.exists(); item = list.next(item)) {
    if (references.size() >= kReferencesMax) return;
    ObjectRef reference = ReadReference(item, here);
    if (!reference.name.empty()) references.push_back(std::move(reference));
  }
}

LineageFields ReadLineage(const ObjectView& view, std::string_view cluster) {
  LineageFields lineage;
  const Value owners = view.owner_references;
  if (owners.is_array()) {
    for (Value owner = owners.first(); owner.exists(); owner = owners.next(owner)) {
      if (!owner.Child("controller").is_true()) continue;
      // The API server lets an object have one controller at most.
      lineage.controller = ReadReference(owner, {cluster, view.ns});
      break;
    }
  }
  lineage.claim = ReadClaimRef(view, cluster);
  if (view.resource_ref.is_object()) {
    ObjectRef composite = ReadReference(view.resource_ref, {cluster, {}});
    if (!composite.name.empty()) lineage.composite = std::move(composite);
  }
  AddReferences(view.resource_refs, {cluster, {}}, lineage.resources);
  // A namespaced composite composes into its own namespace and does not repeat it.
  AddReferences(view.crossplane.Child("resourceRefs"), {cluster, view.ns}, lineage.resources);
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

std::uint64_t FingerprintOf(std::string_view text) {
  Fingerprint fingerprint;
  fingerprint.Add(text);
  return fingerprint.value();
}

// By the provider's marks, in whole seconds, as it compares them itself
// (crossplane-runtime, pkg/meta/meta.go, ExternalCreateIncomplete).
bool IsCreationOpen(const ObjectView& view) {
  if (!view.terminating) return false;
  const auto deleted = ParseTimestamp(view.deleted);
  std::optional<Timestamp> pending;
  std::optional<Timestamp> told;  // what came of it
  const std::pair<std::string_view, std::optional<Timestamp>&> marks[] = {
      {"crossplane.io/external-create-pending", pending},
      {"crossplane.io/external-create-succeeded", told},
      {"crossplane.io/external-create-failed", told}};
  for (const auto& [key, last] : marks) {
    const std::string_view text = view.Annotation(key);
    if (text.empty()) continue;
    const auto at = ParseTimestamp(text);
    if (!at || (deleted && *at > *deleted)) return true;
    last = std::max(last, at);  // nothing is less than any
  }
  return pending && (!told || *pending > *told);
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

// The region, unless it is no text that a region could be: then a bad name.
std::string_view CheckedRegion(std::string_view region, const PartContext& context) {
  std::optional<std::string> reason = WhyBad(region, KeyAlphabet::kAscii);
  if (!reason.has_value()) return region;
  context.bad_names.push_back({context.type.name, "region", Printable(region), std::move(*reason)});
  return {};
}

// The account, or what stands in for it, and beside it the other of both. `provisional_account`
// empty: the key needs none.
void PlaceAccount(AccountEvidence account, std::string provisional_account, Draft& draft) {
  if (account.foreign) return;
  draft.place.account = std::move(account.account);
  if (!provisional_account.empty()) {
    if (draft.place.account.empty()) {
      draft.place.account = std::move(provisional_account);
      draft.further_account = std::move(account.observed);
      draft.further_observed = !draft.further_account.empty();
    } else {
      draft.further_account = std::move(provisional_account);
    }
  } else if (draft.place.account.empty()) {
    draft.place.account = std::move(account.observed);
  }
}

void ReadParts(const ObjectView& view, const KindEntry& kind, const PartContext& context,
               Draft& draft) {
  const std::vector<KeyPart>& parts = kind.type->PartsFor(kind.flavour);
  draft.parts.reserve(parts.size());
  for (const KeyPart& part : parts) draft.parts.push_back(ReadPart(part, view, context));
  FillFromNames(draft.parts, context);
  LieWithParent(draft);
  // What stands beside the key is dropped when it is bad, never refused.
  std::vector<BadName> ignored;
  const PartContext beside{context.type, context.catalogue, ignored, context.external};
  const std::vector<KeyPart>& extra = kind.type->ExtraFor(kind.flavour);
  draft.extra.reserve(extra.size());
  for (const KeyPart& part : extra) draft.extra.push_back(ReadPart(part, view, beside));
}

void ReadManaged(const ObjectView& view, const KindEntry& kind, const IdentityRules& rules,
                 ObjectFacts& facts) {
  const TypeSpec& type = *kind.type;
  std::string part_finding;
  PartContext context{type, *rules.catalogue, facts.bad_names, nullptr, &part_finding};
  Draft draft;
  draft.type = &type;
  draft.intent = IntentOf(view, kind.flavour);
  draft.late = type.Late(kind.flavour);
  draft.place.type = type.name;
  const std::vector<std::string>& region_path = type.RegionPathFor(kind.flavour);
  draft.place.region = CheckedRegion(FieldOf(view, region_path), context);
  draft.place.partition = PartitionOf(draft.place.region);
  if (draft.place.region.empty() && type.KeyHasRegion()) {
    draft.missing.push_back(FieldName("forProvider", region_path) + " is not set");
  }
  const OutsideEndpoint* const outside = EndpointOf(view, kind, rules);
  AccountEvidence account = AccountOf(view, kind, rules);
  // Whoever owns an endpoint outside of AWS writes whatever account he likes.
  if (outside != nullptr) account.observed.clear();
  if (account.foreign) {
    draft.missing.push_back(FieldName("forProvider", type.account_path) + " names no account");
  }
  // Before the parts: where it is an ARN or a URL some of them are what it tells.
  ExternalName external = ReadExternalName(view, type, draft.place, account.account);
  if (external.reading) context.external = &*external.reading;
  if (outside == nullptr) facts.account_disagreement = std::move(account.disagreement);
  const bool stands_in = !account.foreign && !account.own_field && type.KeyHasAccount();
  PlaceAccount(std::move(account),
               stands_in ? ProvisionalAccountOf(view, kind, rules) : std::string(), draft);
  if (draft.further_observed) draft.own_arn = OwnArn(view);
  if (outside == nullptr) facts.shown_account = AccountOfArn(OwnArn(view));
  facts.account_fields = AccountFieldsOf(view, kind, rules);
  ReadParts(view, kind, context, draft);
  if (facts.shown_account == draft.place.account) facts.account_disagreement.clear();
  std::optional<Draft> other = TakeExternalName(external, context, draft);
  facts.name_finding = std::move(external.finding);
  if (facts.name_finding.empty()) facts.name_finding = std::move(part_finding);
  std::string shown = outside != nullptr ? std::string() : TakeStatus(view, external, draft);
  if (facts.name_finding.empty()) facts.name_finding = std::move(shown);
  // Last: external names are written there as AWS writes them.
  if (outside != nullptr && HasNameSpace(rules, *outside)) {
    draft.place.partition = NameSpaceOf(*outside);
    if (other) other->place.partition = draft.place.partition;
  }
  const std::size_t first = facts.resources.size();
  AppendResources(draft, facts.resources, facts.bad_names);
  for (std::size_t i = first; i < facts.resources.size(); ++i) {
    const DeclaredResource& resource = facts.resources[i];
    if (!draft.further_observed || !resource.further_account.empty()) continue;
    facts.account_disagreement =
        "status.atProvider.arn names another resource: " + Printable(draft.own_arn);
  }
  const std::string_view shown_arn = OwnArn(view);
  const auto is_shown = [&](const DeclaredResource& resource) {
    return !shown_arn.empty() && resource.arn == shown_arn;
  };
  if (outside == nullptr && !other && std::ranges::none_of(facts.resources, is_shown)) {
    facts.shown_key = ShownKey(view, draft);
  }
  if (other) AppendResources(*other, facts.resources, facts.bad_names);
}

}  // namespace

std::optional<ObjectRef> ReadClaimRef(const ObjectView& view, std::string_view cluster) {
  if (!view.claim_ref.is_object()) return std::nullopt;
  ObjectRef claim = ReadReference(view.claim_ref, {cluster, {}});
  return claim.name.empty() ? std::nullopt : std::optional(std::move(claim));
}

ObjectFacts Identify(Value object, const GroupKind& kind, const IdentityRules& rules,
                     std::string_view default_ns) {
  const KindEntry* entry =
      rules.catalogue == nullptr ? nullptr : rules.catalogue->FindKind(kind.group, kind.kind);
  const bool has_namespace = entry == nullptr || entry->flavour == Flavour::kUpjetNamespaced;
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
  const std::string_view external = view.Annotation("crossplane.io/external-name");
  if (!external.empty()) facts.external_name = FingerprintOf(external);
  facts.composite = rules.composites.contains(kind);
  facts.contact = PresentableAnnotation(view, rules.contact_annotation);
  facts.transfer_to = PresentableAnnotation(view, "truce.dev/transfer-to");
  if (entry != nullptr) {
    facts.known_kind = true;
    facts.managed = true;
    ReadManaged(view, *entry, rules, facts);
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
