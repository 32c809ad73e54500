#include "registry/identity/external_name.h"

#include <algorithm>
#include <array>
#include <utility>

#include "registry/catalogue/normalise.h"
#include "registry/identity/characters.h"
#include "registry/identity/evidence.h"

namespace truce {
namespace {

// Of host names, where they differ from the commercial partition's (botocore,
// data/partitions.json).
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSuffixes = {{
    {"aws-cn", "amazonaws.com.cn"},
    {"aws-iso", "c2s.ic.gov"},
    {"aws-iso-b", "sc2s.sgov.gov"},
    {"aws-iso-e", "cloud.adc-e.uk"},
    {"aws-iso-f", "csp.hci.ic.gov"},
    {"aws-eusc", "amazonaws.eu"},
}};

std::string_view SuffixOf(std::string_view partition) {
  for (const auto& [name, suffix] : kSuffixes) {
    if (name == partition) return suffix;
  }
  return "amazonaws.com";
}

std::optional<NameReading> ReadForm(std::string_view text, const TypeSpec& type) {
  if (text.size() > kPartBytesMax) return std::nullopt;
  for (const NameForm& form : type.external_name) {
    if (auto reading = form.Read(text)) return reading;
  }
  return std::nullopt;
}

bool IsExternal(const KeyPart& part) {
  return part.source == KeyPart::Source::kExternalName ||
         part.source == KeyPart::Source::kAssignedExternalName;
}

bool KeyedByExternalName(const Draft& draft) {
  return std::any_of(draft.parts.begin(), draft.parts.end(),
                     [](const Reading& part) { return IsExternal(*part.part); });
}

// What the reading tells of the part, normalised; else its default. Empty: it tells nothing.
std::string ToldOf(const KeyPart& part, const NameReading& reading) {
  const std::string_view told = reading.Part(part.name);
  if (!told.empty()) return Normalise(part.normalisers, told);
  return part.list ? std::string() : part.default_value.value_or(std::string());
}

// The reading tells the whole key: whose resource it is, but for the account.
bool TellsAll(const Draft& draft, const NameReading& reading) {
  if (reading.parts.empty()) return false;
  return std::all_of(draft.parts.begin(), draft.parts.end(), [&](const Reading& read) {
    const KeyPart& part = *read.part;
    return !reading.Part(part.name).empty() || (!part.list && part.default_value.has_value());
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
  if (!reading.suffix.empty() && reading.suffix != SuffixOf(place.partition)) {
    return "another partition";
  }
  if (!reading.region.empty()) {
    const std::string_view partition = PartitionOf(reading.region);
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

// What all parts of the draft say, or nothing where one is not known or has several values.
bool SaysTheSame(const Draft& draft, const NameReading& reading) {
  return std::all_of(draft.parts.begin(), draft.parts.end(), [&](const Reading& part) {
    return part.elements.size() == 1 && part.elements.front().value == ToldOf(*part.part, reading);
  });
}

// Every part that the draft knows agrees with the reading.
bool MayBeTheSame(const Draft& draft, const NameReading& reading) {
  return std::all_of(draft.parts.begin(), draft.parts.end(), [&](const Reading& part) {
    return part.elements.empty() || (part.elements.size() == 1 &&
                                     part.elements.front().value == ToldOf(*part.part, reading));
  });
}

void FillParts(const NameReading& reading, const PartContext& context, Draft& draft) {
  for (Reading& part : draft.parts) {
    const std::string_view told = reading.Part(part.part->name);
    if (told.empty()) continue;
    part.elements.clear();
    part.reference.reset();
    part.missing.clear();
    const std::string wrong = AddElement(part, told, context);
    if (!wrong.empty()) part.missing = "the external name " + wrong;
  }
}

void TakeAccount(const NameReading& reading, bool observed, Draft& draft) {
  const bool stand_in = draft.place.account.starts_with('?');
  if (!stand_in || reading.account.empty() || !draft.type->KeyHasAccount()) return;
  draft.further_account = reading.account;
  draft.further_observed = observed;
}

// The text last: it may be long.
std::string Finding(std::string_view what, std::string_view problem, std::string_view text) {
  std::string finding(what);
  return finding.append(1, ' ').append(problem).append(": ").append(Printable(text));
}

constexpr std::string_view kExternalNameInWords = "external name";

}  // namespace

ExternalName ReadExternalName(const ObjectView& view, const TypeSpec& type,
                              const ResourceIdentity& place, std::string_view account) {
  ExternalName external;
  if (type.external_name.empty()) return external;
  external.text = view.Annotation("crossplane.io/external-name");
  if (external.text.empty()) return external;
  external.reading = ReadForm(external.text, type);
  if (!external.reading) {
    if (LooksLikeAddress(external.text)) {
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
      draft.bound = !same || !reading.account.empty();
      if (!same) FillParts(reading, context, draft);
      TakeAccount(reading, false, draft);
      return std::nullopt;
    }
    external.finding =
        Finding(kExternalNameInWords, "names another resource than the fields", external.text);
    if (KeyedByExternalName(draft)) return std::nullopt;
    Draft other = draft;
    other.bound = true;
    if (other.further_observed)
      other.further_account.clear();  // the status is of what the fields say
    other.further_observed = false;
    FillParts(reading, context, other);
    TakeAccount(reading, false, other);
    return other;
  }
  if (KeyedByExternalName(draft)) {
    if (SaysTheSame(draft, reading)) TakeAccount(reading, false, draft);
    return std::nullopt;
  }
  external.whole = reading.id.empty();
  if (external.whole && !LooksLikeAddress(external.text)) return std::nullopt;
  draft.id = {external.whole ? external.text : reading.id,
              external.whole || draft.type->id_in_partition, false};
  draft.bound = true;
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
    if (!reading || !Elsewhere(*reading, type, draft.place, {}).empty()) continue;
    if (TellsAll(draft, *reading)) {
      if (!SaysTheSame(draft, *reading)) continue;
      if (draft.further_account.empty()) TakeAccount(*reading, true, draft);
      const bool differs = IsAccount(draft.further_account) && !draft.further_observed &&
                           !reading->account.empty() && reading->account != draft.further_account;
      if (!differs) continue;
      return Finding("status.atProvider." + std::string(field),
                     "is in another account than the external name", text);
    }
    const bool whole = reading->id.empty();
    if (whole && !LooksLikeAddress(text)) continue;
    const std::string_view id = whole ? text : reading->id;
    if (draft.id.text.empty()) {
      draft.id = {id, whole || type.id_in_partition, true};
    } else if (draft.id.text != id && whole == external.whole && !draft.id.observed) {
      return Finding("status.atProvider." + std::string(field),
                     "is not what the external name names", text);
    }
  }
  return {};
}

}  // namespace truce
