#include "registry/catalogue/catalogue.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <utility>

#include "registry/base/fingerprint.h"
#include "registry/base/name_table.h"
#include "registry/base/text.h"
#include "registry/catalogue/row_parser.h"

namespace truce {
namespace {

using KindName = std::pair<std::string_view, std::string_view>;

struct KindNameHash {
  std::size_t operator()(const KindName& name) const {
    constexpr std::size_t kOdd = 0x9e3779b97f4a7c15ULL;
    const std::hash<std::string_view> hash;
    return hash(name.first) * kOdd ^ hash(name.second);
  }
};

void AddNumber(std::size_t number, Fingerprint& fingerprint) {
  fingerprint.Add(std::to_string(number));
}

void AddPath(const std::vector<std::string>& path, Fingerprint& fingerprint) {
  // Or the end of one list and the begin of the next could change places unseen.
  AddNumber(path.size(), fingerprint);
  for (const std::string& step : path) fingerprint.Add(step);
}

void AddParts(const std::vector<KeyPart>& parts, Fingerprint& fingerprint) {
  AddNumber(parts.size(), fingerprint);
  for (const KeyPart& part : parts) {
    fingerprint.Add(part.name);
    AddNumber(static_cast<std::size_t>(part.source), fingerprint);
    AddNumber(part.paths.size(), fingerprint);
    for (const auto& path : part.paths) AddPath(path, fingerprint);
    // An empty default is a value; without one the part is unknown.
    fingerprint.Add(part.default_value ? "default" : "no default");
    fingerprint.Add(part.default_value.value_or(""));
    fingerprint.Add(part.list ? "list" : "one");
    fingerprint.Add(part.within);
    fingerprint.Add(part.refers_to);
    fingerprint.Add(part.form_of);
    fingerprint.Add(part.self);
    fingerprint.Add(part.only ? part.only->part : std::string());
    if (part.only) AddPath(part.only->values, fingerprint);
    AddNumber(part.normalisers.size(), fingerprint);
    for (const Normaliser& normaliser : part.normalisers) fingerprint.Add(Text(normaliser));
  }
}

bool ByName(const TypeSpec& a, const TypeSpec& b) { return a.name < b.name; }

// The built-in files are sorted already: to move their rows would take as long as to read them.
void SortByName(std::vector<TypeSpec>& types) {
  if (!std::is_sorted(types.begin(), types.end(), ByName)) {
    std::stable_sort(types.begin(), types.end(), ByName);
  }
}

std::string VersionOf(std::span<const TypeSpec> types) {
  Fingerprint fingerprint;
  for (const TypeSpec& spec : types) {
    fingerprint.Add(spec.name);
    fingerprint.Add(spec.space);
    AddNumber(spec.kinds.size(), fingerprint);
    for (const KindSpec& kind : spec.kinds) {
      fingerprint.Add(kind.group);
      fingerprint.Add(kind.kind);
    }
    fingerprint.Add(spec.KeyHasAccount() ? "account" : "no account");
    fingerprint.Add(spec.KeyHasRegion() ? "region" : "no region");
    AddPath(spec.region_path, fingerprint);
    AddPath(spec.community_region_path, fingerprint);
    AddPath(spec.account_path, fingerprint);
    AddPath(spec.ack_account_path, fingerprint);
    AddParts(spec.parts, fingerprint);
    AddParts(spec.community_parts, fingerprint);
    AddParts(spec.ack_parts, fingerprint);
    AddPath(spec.ack_id, fingerprint);
    AddNumber(spec.external_name.size(), fingerprint);
    for (const NameForm& form : spec.external_name) fingerprint.Add(form.text());
    fingerprint.Add(spec.id_in_partition ? "id in partition" : "id in scope");
  }
  return HexOf(fingerprint.value());
}

constexpr NameTable<Scope::kAssignedId> kScopes("partition", "account", "account+region", "parent",
                                                "assigned-id");
constexpr NameTable<Certainty::kRule> kCertainties("researched", "judged", "rule");

}  // namespace

std::string_view Name(Scope scope) { return kScopes.Of(scope); }

std::optional<Scope> ScopeFromName(std::string_view name) { return kScopes.Find(name); }

std::string_view Name(Certainty certainty) { return kCertainties.Of(certainty); }

std::optional<Certainty> CertaintyFromName(std::string_view name) {
  return kCertainties.Find(name);
}

bool TypeSpec::KeyHasAccount() const {
  if (scope == Scope::kParent) return !parent_in_partition;
  if (scope == Scope::kAssignedId) return !id_in_partition;
  return scope != Scope::kPartition;
}

bool TypeSpec::KeyHasRegion() const {
  return KeyHasAccount() && scope != Scope::kAccount && !region_path.empty();
}

bool TypeSpec::Late(Flavour flavour) const {
  const std::vector<KeyPart>& key = PartsFor(flavour);
  return std::any_of(key.begin(), key.end(), [](const KeyPart& part) {
    return part.source == KeyPart::Source::kAssignedExternalName;
  });
}

const std::vector<KeyPart>& TypeSpec::PartsFor(Flavour flavour) const {
  if (flavour == Flavour::kAck) return ack_parts;
  return flavour == Flavour::kCommunity && !community_parts.empty() ? community_parts : parts;
}

const std::vector<KeyPart>& TypeSpec::ExtraFor(Flavour flavour) const {
  if (flavour == Flavour::kAck) return ack_extra;
  return flavour == Flavour::kCommunity && !community_extra.empty() ? community_extra : extra;
}

const std::vector<std::string>& TypeSpec::RegionPathFor(Flavour flavour) const {
  return flavour == Flavour::kCommunity ? community_region_path : region_path;
}

const std::vector<std::string>& TypeSpec::AccountPathFor(Flavour flavour) const {
  return flavour == Flavour::kAck ? ack_account_path : account_path;
}

std::string_view TypeSpec::Service() const {
  return std::string_view(name).substr(0, name.find('/'));
}

struct Catalogue::Index {
  std::vector<TypeSpec> types;  // sorted by name; the maps point into it
  std::unordered_map<std::string_view, const TypeSpec*> by_name;
  std::unordered_map<KindName, KindEntry, KindNameHash> by_kind;
  std::string version;
};

Catalogue::Catalogue(std::shared_ptr<const Index> index) : index_(std::move(index)) {}

Result<Catalogue> Catalogue::Build(std::vector<TypeSpec> types) {
  SortByName(types);
  TRUCE_RETURN_IF_ERROR(CheckTypes(types));
  auto index = std::make_shared<Index>();
  index->types = std::move(types);
  index->version = VersionOf(index->types);
  index->by_name.reserve(index->types.size());
  index->by_kind.reserve(index->types.size() * 3);
  for (const TypeSpec& spec : index->types) {
    index->by_name.emplace(spec.name, &spec);
    for (const KindSpec& kind : spec.kinds) {
      index->by_kind.emplace(KindName(kind.group, kind.kind),
                             KindEntry{kind.group, kind.kind, kind.flavour, &spec, kind.sure});
    }
  }
  return Catalogue(std::move(index));
}

Result<Catalogue> Catalogue::Parse(std::string_view text, std::string_view file_name) {
  TRUCE_ASSIGN_OR_RETURN(std::vector<TypeSpec> types, ParseTypes(text, file_name, {}));
  return Build(std::move(types));
}

namespace {

// Whoever adds such a type must say which forms its external name takes.
bool NeedsForms(const TypeSpec& type) {
  return type.certainty == Certainty::kResearched || type.family == "provider-assigned" ||
         type.Late(Flavour::kUpjetCluster);
}

}  // namespace

Result<Catalogue> Catalogue::Parse(const CatalogueFile& types, const CatalogueFile& names) {
  TRUCE_ASSIGN_OR_RETURN(std::vector<TypeSpec> all, ParseTypes(types.text, types.name, {}));
  SortByName(all);
  TRUCE_ASSIGN_OR_RETURN(std::vector<TypeSpec> rows, ParseTypes(names.text, names.name, all));
  SortByName(rows);
  for (const TypeSpec& type : all) {
    if (!NeedsForms(type)) continue;
    if (std::binary_search(rows.begin(), rows.end(), type, ByName)) continue;
    return InvalidArgument(std::string(names.name) + ": " + type.name +
                           " has no row; write - as its external_name if nothing is known of it");
  }
  for (TypeSpec& row : rows) {
    const auto at = std::lower_bound(all.begin(), all.end(), row, ByName);
    if (at == all.end() || at->name != row.name) {
      return InvalidArgument(row.origin + ": there is no type " + InQuotes(row.name));
    }
    // People look for the row that describes the type.
    row.origin = std::move(at->origin);
    *at = std::move(row);
  }
  return Build(std::move(all));
}

Result<Catalogue> Catalogue::WithOverrides(std::string_view text,
                                           std::string_view file_name) const {
  TRUCE_ASSIGN_OR_RETURN(std::vector<TypeSpec> rows, ParseTypes(text, file_name, types()));
  const auto replaced = [&](const TypeSpec& spec) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const TypeSpec& row) { return row.name == spec.name; });
  };
  std::vector<TypeSpec> all;
  for (const TypeSpec& spec : types()) {
    if (!replaced(spec)) all.push_back(spec);
  }
  all.insert(all.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
  Result<Catalogue> built = Build(std::move(all));
  if (!built.ok() && !built.error().message.starts_with(file_name)) {
    // A row elsewhere is named as faulty, but it was sound before these rows came.
    const std::string context = std::string(file_name) + ": does not fit the other types";
    return std::move(built).error().Within(context);
  }
  return built;
}

const KindEntry* Catalogue::FindKind(std::string_view group, std::string_view kind) const {
  const auto found = index_->by_kind.find(KindName(group, kind));
  return found == index_->by_kind.end() ? nullptr : &found->second;
}

const TypeSpec* Catalogue::FindType(std::string_view name) const {
  const auto found = index_->by_name.find(name);
  return found == index_->by_name.end() ? nullptr : found->second;
}

std::span<const TypeSpec> Catalogue::types() const { return index_->types; }

const std::string& Catalogue::version() const { return index_->version; }

}  // namespace truce
