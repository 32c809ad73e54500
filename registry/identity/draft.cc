#include "registry/identity/draft.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "registry/catalogue/normalise.h"
#include "registry/identity/evidence.h"
#include "registry/identity/values.h"

namespace truce {
namespace {

// In a part with KeyPart::self.
constexpr std::string_view kSelf = "self";

template <typename Identity>
auto* FindPart(Identity& identity, std::string_view name) {
  for (auto& [part, value] : identity.parts) {
    if (part == name) return &value;
  }
  return static_cast<decltype(&identity.parts.front().second)>(nullptr);
}

// The value of a placeholder of an ARN template; empty when it is not known.
std::string_view Placeholder(const DeclaredResource& resource, std::string_view name) {
  const ResourceIdentity& identity = resource.identity;
  // An ARN in a name space would be that of something in AWS.
  if (name == "partition" && IsNameSpace(identity.partition)) return {};
  if (name == "partition") return identity.partition;
  if (name == "region") return identity.region;
  if (name == "account") {
    // The account that is known, by whatever evidence.
    for (const std::string* account : {&resource.further_account, &identity.account}) {
      if (IsAccount(*account)) return *account;
    }
    return {};
  }
  const std::string* part = FindPart(identity, name);
  return part == nullptr ? std::string_view() : *part;
}

void FoldParts(const TypeSpec& spec, ResourceIdentity& identity) {
  for (const KeyPart& part : spec.parts) {
    if (!part.only && part.self.empty()) continue;
    std::string* value = FindPart(identity, part.name);
    const std::string* other = FindPart(identity, part.only ? part.only->part : part.self);
    if (value == nullptr || other == nullptr) continue;
    if (!part.only) {
      if (*value == *other) *value = kSelf;
      continue;
    }
    const std::vector<std::string>& counts = part.only->values;
    const bool is_read = std::find(counts.begin(), counts.end(), *other) != counts.end();
    if (!is_read) *value = part.default_value.value_or(std::string());
  }
}

std::string ArnOf(const DeclaredResource& resource, std::string_view arn_template) {
  std::string arn;
  std::string_view rest = arn_template;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    arn.append(rest.substr(0, open));
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    if (close == std::string_view::npos) return {};
    const std::string_view value = Placeholder(resource, rest.substr(open + 1, close - open - 1));
    // Half an ARN would be compared with what a status shows as if it were a whole one.
    if (value.empty()) return {};
    arn.append(value);
    rest.remove_prefix(close + 1);
  }
  return arn;
}

ResourceIdentity InFurtherAccount(const DeclaredResource& resource) {
  ResourceIdentity there = resource.identity;
  there.account = resource.further_account;
  return there;
}

// No part has this name: they begin with a letter.
constexpr std::string_view kIdPart = "@id";
constexpr std::string_view kIdField = "|@id=";
// Longer ids than any that AWS gives would only fill the memory.
constexpr std::size_t kIdBytesMax = 256;

void AddName(KeyText text, bool observed, DeclaredResource& resource) {
  const bool known = std::ranges::count(resource.names, text, &DeclaredName::text) > 0;
  if (!known && resource.names.size() < kDeclaredNamesMax) {
    resource.names.push_back({std::move(text), observed});
  }
}

void AddId(const Draft& draft, DeclaredResource& resource) {
  const AssignedId& id = draft.id;
  if (id.text.empty() || id.text.size() > kIdBytesMax || resource.identity.partition.empty())
    return;
  KeyText name = AssignedName(resource.identity, *draft.type, id);
  if (resource.names.empty()) {
    // The fields do not tell the resource yet; a status alone declares none.
    if (id.observed) return;
    if (resource.name.empty()) resource.name = id.text;
  }
  AddName(std::move(name), id.observed, resource);
  if (id.in_partition || resource.further_account.empty()) return;
  // The id counts within an account: it is declared under the account where that is known.
  AddName(AssignedName(InFurtherAccount(resource), *draft.type, id),
          id.observed || draft.each.further_observed, resource);
}

// Whether AWS may show `shown` for what is written `arn` from its parts: the same place, and the
// name as a piece of its own. Paths before it and suffixes that AWS adds are not known here.
bool MayBeOf(std::string_view arn, std::string_view shown) {
  if (arn == shown) return true;
  constexpr int kPlaceFields = 5;  // arn:partition:service:region:account:
  std::size_t end = 0;
  for (int field = 0; field < kPlaceFields; ++field) {
    end = arn.find(':', end);
    if (end == std::string_view::npos) return false;
    ++end;
  }
  if (shown.substr(0, end) != arn.substr(0, end)) return false;
  const std::string_view name = arn.substr(arn.find_last_of("/:") + 1);
  for (std::size_t at = shown.find(name, end); at != std::string_view::npos;
       at = shown.find(name, at + 1)) {
    const std::size_t after = at + name.size();
    const bool begins = std::string_view("/:").find(shown[at - 1]) != std::string_view::npos;
    const bool ends = after == shown.size() ||
                      std::string_view("/:-").find(shown[after]) != std::string_view::npos;
    if (begins && ends) return true;
  }
  return false;
}

// The names and the ARN, once the parts are there.
void FillNames(DeclaredResource& resource, const TypeSpec& spec) {
  FoldParts(spec, resource.identity);
  std::optional<KeyText> key;
  if (resource.missing.empty()) key = KeyOf(resource.identity, spec);
  if (key) {
    // Before the parts that the external name alone gave so far.
    std::erase_if(resource.names, [&](const DeclaredName& name) { return name.text == *key; });
    resource.names.insert(resource.names.begin(), {*key, false});
  }
  if (key && !resource.further_account.empty()) {
    std::optional<KeyText> name = KeyOf(InFurtherAccount(resource), spec);
    if (name) AddName(*std::move(name), resource.further_observed, resource);
  }
  resource.arn = ArnOf(resource, spec.arn_template);
}

// Where the status speaks of another resource, nothing that it tells is of this one; false then.
bool LeaveOthers(DeclaredResource& resource, std::string_view shown_arn) {
  const bool shown = resource.further_observed && !shown_arn.empty() && !resource.arn.empty();
  if (!shown || MayBeOf(resource.arn, shown_arn)) return true;
  resource.further_account.clear();
  resource.further_observed = false;
  std::erase_if(resource.names, [](const DeclaredName& name) { return name.observed; });
  resource.arn.clear();
  return false;
}

// The value for readers: as they wrote it, unless normalising changed more than its case.
std::string_view ForReaders(const Element& element) {
  return element.shown.size() == element.value.size() ? element.shown : element.value;
}

// Whether people call a resource of `spec` by the part: all are said, but of what lies in a zone
// its name in there alone (www.example.org).
bool IsSaid(const KeyPart& part, const TypeSpec& spec) {
  return !part.within.empty() ||
         std::none_of(spec.parts.begin(), spec.parts.end(),
                      [](const KeyPart& each) { return !each.within.empty(); });
}

void AddPart(const Draft& draft, const Reading& reading, const Element& element,
             DeclaredResource& resource) {
  resource.identity.parts.emplace_back(reading.part->name, element.value);
  resource.replaced = resource.replaced || reading.replaced;
  const std::string_view shown = ForReaders(element);
  if (shown.empty() || reading.part->source == KeyPart::Source::kConstant) return;
  if (!IsSaid(*reading.part, *draft.type)) return;
  if (!resource.name.empty()) resource.name.push_back('/');
  resource.name.append(shown);
}

// Appends a resource whose parts `add` gives.
template <typename AddParts>
void AppendOne(const Draft& draft, std::vector<DeclaredResource>& resources, const AddParts& add) {
  DeclaredResource& resource = resources.emplace_back(draft.each);
  add(resource);
  for (const Reading& reading : draft.extra) {
    if (reading.elements.size() != 1) continue;
    const Element& element = reading.elements.front();
    resource.identity.parts.emplace_back(reading.part->name, element.value);
    if (resource.name.empty()) resource.name = ForReaders(element);
  }
  if (!resource.name.empty() && !Presentable(resource.name)) {
    resource.name = Printable(resource.name);
  }
  FillNames(resource, *draft.type);
  LeaveOthers(resource, draft.own_arn);
  if (resource.further_observed && !resource.references.empty()) {
    resource.shown_arn = draft.own_arn;
  }
  resource.partial = resource.mapped && !resource.missing.empty();
}

// Appends the resource of which not all is known yet; only parts with a single value are.
void AppendUnknown(const Draft& draft, std::vector<DeclaredResource>& resources) {
  AppendOne(draft, resources, [&](DeclaredResource& resource) {
    for (const Reading& reading : draft.parts) {
      if (reading.elements.size() == 1) AddPart(draft, reading, reading.elements.front(), resource);
      if (!reading.missing.empty()) resource.missing.push_back(reading.missing);
      if (reading.reference.has_value()) resource.references.push_back(*reading.reference);
    }
  });
}

}  // namespace

Draft::Draft(const TypeSpec& spec) : type(&spec) {
  each.identity.type = spec.name;
  each.sure = spec.certainty == Certainty::kResearched;
}

void TakeRegion(std::string_view region, std::string missing, const PartContext& context,
                Draft& draft) {
  if (std::optional<std::string> reason = WhyBad(region, KeyAlphabet::kAscii)) {
    missing = "region " + *reason;
    context.bad_names.push_back(
        {context.type.name, "region", Printable(region), *std::move(reason)});
    region = {};
  }
  draft.each.identity.region = region;
  draft.each.identity.partition = PartitionOf(region).name;
  if (region.empty() && context.type.KeyHasRegion()) {
    draft.each.missing.push_back(std::move(missing));
  }
}

void AppendResources(const Draft& draft, std::vector<DeclaredResource>& resources,
                     std::vector<BadName>& bad_names) {
  std::size_t count = 1;
  bool unknown = false;
  const Reading* longest = nullptr;
  for (const Reading& reading : draft.parts) {
    // Each factor is at most kResourcesMax + 1, and the product is cut there: no overflow.
    count = std::min(count * reading.elements.size(), kResourcesMax + 1);
    unknown = unknown || !reading.missing.empty();
    if (longest == nullptr || reading.elements.size() > longest->elements.size()) {
      longest = &reading;
    }
  }
  const std::size_t first = resources.size();
  if (count > kResourcesMax) {
    std::string reason = "declares more than " + std::to_string(kResourcesMax) + " resources";
    // Some of them, and the rest would go unprotected without a word.
    AppendUnknown(draft, resources);
    resources.back().missing.push_back(longest->part->name + " " + reason);
    bad_names.push_back({draft.type->name, longest->part->name,
                         Printable(longest->elements.front().shown) + ", ...", std::move(reason)});
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    // The last part turns fastest.
    AppendOne(draft, resources, [&](DeclaredResource& resource) {
      std::size_t turns = count;
      for (const Reading& reading : draft.parts) {
        turns /= reading.elements.size();
        AddPart(draft, reading, reading.elements[i / turns % reading.elements.size()], resource);
      }
    });
  }
  if (unknown) AppendUnknown(draft, resources);
  if (draft.id.text.empty()) return;
  // Of several resources nobody can tell whose id it is: it stands by itself.
  if (resources.size() > first + 1) {
    AppendOne(draft, resources, [](const DeclaredResource& /*resource*/) {});
  }
  AddId(draft, resources.back());
}

void LieWithParent(Draft& draft) {
  const TypeSpec& type = *draft.type;
  if (type.scope != Scope::kParent || !type.KeyHasAccount() || draft.parts.empty()) return;
  const Reading& parent = draft.parts.front();
  if (parent.elements.size() != 1 || !parent.by_form) return;
  ResourceIdentity& place = draft.each.identity;
  if (!parent.by_form->region.empty() && !place.region.empty()) {
    place.region = parent.by_form->region;
    place.partition = PartitionOf(place.region).name;
  }
  if (parent.by_form->account.empty() || parent.by_form->account == place.account) return;
  place.account = parent.by_form->account;
  draft.each.further_account.clear();
  draft.each.further_observed = false;
}

KeyText AssignedName(const ResourceIdentity& place, const TypeSpec& spec, const AssignedId& id) {
  KeyText name{id.in_partition
                   ? PlaceText(spec.space, place.partition, {}, {})
                   : PlaceText(spec.space, place.partition, place.account, place.region)};
  AppendPart(name.text, kIdPart, id.text);
  return name;
}

bool IsAssignedName(const KeyText& name) {
  return name.text.find(kIdField) != std::string::npos;  // a bare | stands between fields only
}

std::optional<KeyText> KeyAnew(ResourceIdentity identity, const TypeSpec& spec) {
  for (const KeyPart& part : spec.parts) {
    if (part.default_value && FindPart(identity, part.name) == nullptr) {
      identity.parts.emplace_back(part.name, *part.default_value);
    }
  }
  FoldParts(spec, identity);
  return KeyOf(identity, spec);
}

std::optional<KeyText> KeyOf(const ResourceIdentity& identity, const TypeSpec& spec) {
  const bool has_account = spec.KeyHasAccount();
  const bool has_region = spec.KeyHasRegion();
  if (identity.partition.empty()) return std::nullopt;
  if (has_account && identity.account.empty()) return std::nullopt;
  if (has_region && identity.region.empty()) return std::nullopt;
  KeyText key{PlaceText(spec.space, identity.partition,
                        has_account ? identity.account : std::string_view(),
                        has_region ? identity.region : std::string_view())};
  for (const KeyPart& part : spec.parts) {
    const std::string* value = FindPart(identity, part.name);
    if (value == nullptr) return std::nullopt;
    AppendPart(key.text, part.name, *value);
  }
  return key;
}

namespace {

// Adds the part where the catalogue has it: rows and owners compare identities as they are.
void InsertPart(DeclaredResource& resource, const KeyPart& part, std::string_view value,
                const TypeSpec& spec) {
  auto& parts = resource.identity.parts;
  const auto follows = [&](const std::pair<std::string, std::string>& present) {
    const auto named = [&](const KeyPart& each) { return each.name == present.first; };
    const auto at = std::find_if(spec.parts.begin(), spec.parts.end(), named);
    return at == spec.parts.end() || &*at > &part;  // what stands beside the key comes last
  };
  const auto at = std::find_if(parts.begin(), parts.end(), follows);
  const bool first = at == parts.begin();
  parts.emplace(at, part.name, Normalise(part.normalisers, value));
  if (!IsSaid(part, spec)) return;
  const std::string text(value);
  std::string& name = resource.name;
  name = name.empty() ? text : first ? text + "/" + name : name + "/" + text;
}

}  // namespace

bool Resolve(DeclaredResource& resource, const Reference& reference, std::string_view value,
             const TypeSpec& spec) {
  const auto at = std::find(resource.references.begin(), resource.references.end(), reference);
  const auto part = std::find_if(spec.parts.begin(), spec.parts.end(), [&](const KeyPart& other) {
    return other.name == reference.part;
  });
  if (at == resource.references.end() || part == spec.parts.end() || value.empty()) return true;
  std::erase_if(resource.missing,
                [&](const std::string& text) { return text.starts_with(reference.path + " "); });
  resource.references.erase(at);
  InsertPart(resource, *part, value, spec);
  FillNames(resource, spec);
  return LeaveOthers(resource, resource.shown_arn);
}

void Restore(DeclaredResource& resource, std::string_view name, const TypeSpec& spec) {
  const auto part = std::find_if(spec.parts.begin(), spec.parts.end(), IsExternalName);
  std::string* const value =
      part == spec.parts.end() ? nullptr : FindPart(resource.identity, part->name);
  if (value == nullptr || *value == name) return;
  *value = name;
  resource.name = name;
  std::erase_if(resource.names,
                [](const DeclaredName& other) { return !IsAssignedName(other.text); });
  FillNames(resource, spec);
}

void AddZoneSpelling(DeclaredResource& resource, const KeyPart& within, std::string_view zone,
                     const TypeSpec& spec) {
  if (resource.key().empty() || IsAssignedName(resource.key()) || zone.empty()) return;
  ResourceIdentity other = resource.identity;
  for (auto& [part, value] : other.parts) {
    if (part != within.name || value == zone) continue;
    if (value.size() > zone.size() && value.ends_with(zone) &&
        value[value.size() - zone.size() - 1] == '.') {
      value.resize(value.size() - zone.size() - 1);
    } else {
      value.append(1, '.').append(zone);
    }
  }
  if (std::optional<KeyText> name = KeyOf(other, spec)) {
    AddName(std::move(*name), false, resource);
  }
}

ResourceIdentity DeclaredIdentity(const DeclaredResource& resource) {
  ResourceIdentity declared = resource.identity;
  if (resource.further_account.starts_with('?')) declared.account = resource.further_account;
  return declared;
}

std::optional<KeyText> ParentKeyOf(const ResourceIdentity& identity, const TypeSpec& spec,
                                   const Catalogue& catalogue) {
  if (!spec.attachment.has_value() || spec.attachment->links.empty()) return std::nullopt;
  const TypeSpec* parent = catalogue.FindType(spec.attachment->parent);
  if (parent == nullptr) return std::nullopt;
  ResourceIdentity owner{parent->name, identity.partition, identity.account, identity.region, {}};
  for (const Attachment::Link& link : spec.attachment->links) {
    const std::string* value = FindPart(identity, link.own_part);
    if (value == nullptr) return std::nullopt;
    if (const auto place = ReadArnPlace(*value)) {
      if (!place->region.empty()) owner.region = place->region;
      if (!place->account.empty()) owner.account = place->account;
    }
    owner.parts.emplace_back(link.parent_part, Normalise(link.normalisers, *value));
  }
  return KeyOf(owner, *parent);
}

namespace {

bool KeyedByExternalName(const Draft& draft) {
  return std::any_of(draft.parts.begin(), draft.parts.end(),
                     [](const Reading& part) { return IsExternalName(*part.part); });
}

// The reading tells the whole key, but for the account.
bool TellsAll(const Draft& draft, const NameReading& reading) {
  return !reading.parts.empty() &&
         std::all_of(draft.parts.begin(), draft.parts.end(), [&](const Reading& part) {
           return PartValue(*part.part, reading).has_value();
         });
}

// Where the reading lies, if not at `place`, as the end of a sentence; empty: it may lie there.
std::string_view Elsewhere(const NameReading& reading, const TypeSpec& type,
                           const ResourceIdentity& place, std::string_view account) {
  // Without a region the partition is not known.
  const bool placed = !place.region.empty();
  if (placed && !reading.partition.empty() && reading.partition != place.partition) {
    return "another partition";
  }
  if (!reading.suffix.empty() && reading.suffix != PartitionOf(place.region).suffix) {
    return "another partition";
  }
  if (!reading.region.empty()) {
    const std::string_view partition = PartitionOf(reading.region).name;
    if (!reading.partition.empty() && reading.partition != partition) return "no partition";
    if (placed && !type.region_path.empty() && reading.region != place.region) {
      return "another region";
    }
  }
  if (!reading.account.empty() && !account.empty() && reading.account != account) {
    return "another account";
  }
  return {};
}

// Every part that the draft knows agrees with the reading.
bool MayBeTheSame(const Draft& draft, const NameReading& reading) {
  return std::ranges::all_of(draft.parts, [&](const Reading& part) {
    return part.elements.empty() ||
           (part.elements.size() == 1 &&
            part.elements.front().value == PartValue(*part.part, reading).value_or(""));
  });
}

// The same, and the draft knows every part.
bool SaysTheSame(const Draft& draft, const NameReading& reading) {
  const auto is_known = [](const Reading& part) { return !part.elements.empty(); };
  return std::ranges::all_of(draft.parts, is_known) && MayBeTheSame(draft, reading);
}

void FillParts(const NameReading& reading, const PartContext& context, Draft& draft) {
  for (Reading& part : draft.parts) {
    const std::string_view text = reading.Part(part.part->name);
    if (text.empty()) continue;
    part.elements.clear();
    part.reference.reset();
    part.missing.clear();
    const std::string wrong = AddElement(part, text, context);
    if (!wrong.empty()) part.missing = "the external name " + wrong;
  }
}

void TakeAccount(const NameReading& reading, bool observed, Draft& draft) {
  const bool provisional_account = draft.each.identity.account.starts_with('?');
  if (!provisional_account || reading.account.empty() || !draft.type->KeyHasAccount()) return;
  draft.each.further_account = reading.account;
  draft.each.further_observed = observed;
}

// The text last: it may be long.
std::string Finding(std::string_view what, std::string_view problem, std::string_view text) {
  std::string finding(what);
  return finding.append(1, ' ').append(problem).append(": ").append(Printable(text));
}

constexpr std::string_view kExternalNameInWords = "external name";

}  // namespace

std::optional<AssignedId> IdIn(std::string_view text, const NameReading& reading,
                               const TypeSpec& type) {
  const bool whole = reading.id.empty();
  if (whole && !LooksLikeAddress(text)) return std::nullopt;
  return AssignedId{.text = whole ? text : reading.id,
                    .whole = whole,
                    .in_partition = whole || type.id_in_partition};
}

KeyText ShownKey(const ObjectView& view, const Draft& draft) {
  const TypeSpec& type = *draft.type;
  const auto read = [&](std::string_view text) -> std::optional<NameReading> {
    auto reading = ReadForm(text, type);
    if (reading && TellsAll(draft, *reading)) return reading;
    reading = ReadTemplate(text, type);
    return reading && TellsAll(draft, *reading) ? reading : std::nullopt;
  };
  // The id first: an ARN may leave out how a name begins.
  for (const std::string_view field : {"id", "url", "arn"}) {
    const std::string_view text = StringOf(view.at_provider.Child(field));
    const auto reading = text.empty() ? std::nullopt : read(text);
    if (!reading) continue;
    if (MayBeTheSame(draft, *reading)) return {};
    ResourceIdentity shown = draft.each.identity;
    if (!type.KeyHasAccount()) shown.account.clear();
    if (!reading->account.empty()) shown.account = reading->account;
    if (!reading->region.empty()) shown.region = reading->region;
    if (!reading->partition.empty()) shown.partition = reading->partition;
    for (const KeyPart& part : type.parts) {
      shown.parts.emplace_back(part.name, PartValue(part, *reading).value_or(""));
    }
    return KeyOf(shown, type).value_or(KeyText{});
  }
  return {};
}

ExternalName ReadExternalName(const ObjectView& view, const TypeSpec& type,
                              const ResourceIdentity& place, std::string_view account) {
  ExternalName external;
  if (type.external_name.empty()) return external;
  external.text = view.external_name;
  if (external.text.empty()) return external;
  external.reading = ReadForm(external.text, type);
  if (!external.reading) {
    if (LooksLikeAddress(external.text) || type.Late(Flavour::kUpjetCluster)) {
      external.finding = Finding(kExternalNameInWords, "is none of " + type.name, external.text);
    }
    return external;
  }
  const std::string_view elsewhere = Elsewhere(*external.reading, type, place, account);
  if (elsewhere.empty()) return external;
  external.finding =
      Finding(kExternalNameInWords, "lies in " + std::string(elsewhere), external.text);
  external.reading.reset();
  return external;
}

std::optional<Draft> TakeExternalName(ExternalName& external, const PartContext& context,
                                      Draft& draft) {
  if (!external.reading) return std::nullopt;
  const NameReading& reading = *external.reading;
  if (TellsAll(draft, reading)) {
    const bool same = SaysTheSame(draft, reading);
    if (same || MayBeTheSame(draft, reading)) {
      draft.each.bound = !same || !reading.account.empty();
      if (!same) FillParts(reading, context, draft);
      TakeAccount(reading, false, draft);
      return std::nullopt;
    }
    external.finding =
        Finding(kExternalNameInWords, "names another resource than the fields", external.text);
    // The fields were read from that very name: it tells no second resource.
    if (KeyedByExternalName(draft)) return std::nullopt;
    Draft other = draft;
    other.each.bound = true;
    // The status is of what the fields say.
    if (other.each.further_observed) other.each.further_account.clear();
    other.each.further_observed = false;
    FillParts(reading, context, other);
    TakeAccount(reading, false, other);
    return other;
  }
  if (KeyedByExternalName(draft) && (draft.each.late || !reading.parts.empty())) {
    if (SaysTheSame(draft, reading)) TakeAccount(reading, false, draft);
  } else if (const auto id = IdIn(external.text, reading, *draft.type)) {
    draft.id = *id;
    draft.each.bound = true;
  }
  return std::nullopt;
}

std::string TakeStatus(const ObjectView& view, const ExternalName& external, Draft& draft) {
  const TypeSpec& type = *draft.type;
  if (type.external_name.empty() || view.at_provider.empty()) return {};
  if (KeyedByExternalName(draft)) return {};
  for (const std::string_view field : {"arn", "id", "url"}) {
    const std::string_view text = StringOf(view.at_provider.Child(field));
    if (text.empty() || text == external.text) continue;
    const auto reading = ReadForm(text, type);
    // In whichever account: that is what it may tell, and where it disagrees it is a finding.
    if (!reading || !Elsewhere(*reading, type, draft.each.identity, {}).empty()) continue;
    std::string_view problem;
    if (TellsAll(draft, *reading)) {
      // A status fills no part of a key: whoever may write it would choose what the object owns.
      if (!SaysTheSame(draft, *reading)) continue;
      const DeclaredResource& each = draft.each;
      if (each.further_account.empty()) TakeAccount(*reading, true, draft);
      const bool differs = IsAccount(each.further_account) && !each.further_observed &&
                           !reading->account.empty() && reading->account != each.further_account;
      if (differs) problem = "is in another account than the external name";
    } else if (const auto id = IdIn(text, *reading, type)) {
      if (draft.id.text.empty()) {
        draft.id = *id;
        draft.id.observed = true;
      } else if (draft.id.text != id->text && draft.id.whole == id->whole && !draft.id.observed) {
        problem = "is not what the external name names";
      }
    }
    if (!problem.empty()) return Finding("status.atProvider." + std::string(field), problem, text);
  }
  return {};
}

}  // namespace truce
