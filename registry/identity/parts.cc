#include "registry/identity/parts.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "registry/base/text.h"
#include "registry/catalogue/normalise.h"
#include "registry/identity/values.h"

namespace truce {
namespace {

constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53: doubles below it are exact

bool Absent(Value value) {
  switch (value.kind()) {
    case Document::Kind::kMissing:
    case Document::Kind::kNull: return true;
    case Document::Kind::kBool: return !value.is_true();
    case Document::Kind::kNumber: return false;
    case Document::Kind::kString: return value.text().empty();
    case Document::Kind::kArray:
    case Document::Kind::kObject: return !value.first().exists();
  }
  return true;
}

// 443.0 and 4.43e2 are the number 443, which a manifest may spell either way.
std::string Spelled(Value value) {
  const std::string_view text = value.text();
  if (value.kind() != Document::Kind::kNumber || text.find_first_of(".eE") == std::string::npos) {
    return std::string(text);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() &&
                     number > -kExactIntegerMax && number < kExactIntegerMax &&
                     number == static_cast<double>(static_cast<std::int64_t>(number));
  return whole ? std::to_string(static_cast<std::int64_t>(number)) : std::string(text);
}

// The object that holds the last member of `path`; missing when the way does not exist.
Value HolderOf(Value provider, std::span<const std::string> path) {
  Value holder = provider.At(path.first(path.size() - 1));
  // Older versions of a kind write a block of Terraform as a list of one, newer ones as an object.
  return holder.is_array() && holder.size() == 1 ? holder.first() : holder;
}

// The beginning of a reference of ACK: "vpc" of vpcID, "securityGroup" of securityGroupIDs.
std::string_view ShortName(std::string_view field) {
  for (const std::string_view end : {"IDs", "ARNs", "Names", "ID", "ARN", "Name"}) {
    if (field.size() > end.size() && field.ends_with(end)) {
      return field.substr(0, field.size() - end.size());
    }
  }
  return field;
}

// The reference that stands for `field`: `<field>Ref`, `<field>Refs` or `<field>Selector`, where a
// plural field's references are named in the singular (subnetIds: subnetIdRefs).
Value ReferenceFor(Value holder, std::string_view field, bool is_short) {
  if (!holder.is_object()) return {};
  if (is_short) field = ShortName(field);
  const std::string_view singular =
      field.ends_with('s') ? field.substr(0, field.size() - 1) : field;
  for (Value member = holder.first(); member.exists(); member = holder.next(member)) {
    std::string_view key = member.key();
    if (!key.starts_with(singular) || member.empty()) continue;
    key.remove_prefix(key.starts_with(field) ? field.size() : singular.size());
    if (key == "Ref" || key == "Refs" || key == "Selector") return member;
  }
  return {};
}

void NoteReference(Reading& reading, Value member, std::string_view section,
                   std::span<const std::string> path) {
  Reference& reference = reading.reference.emplace();
  reference.part = reading.part->name;
  reference.type = reading.part->refers_to;
  reference.path = FieldName(section, path.first(path.size() - 1));
  reference.path.append(1, '.').append(member.key());
  Value target = member;
  if (target.is_array() && target.size() == 1) target = target.first();
  if (const Value from = target.Child("from"); from.is_object()) target = from;
  reference.name = StringOf(target.Child("name"));
  reference.ns = StringOf(target.Child("namespace"));
  reading.missing = reference.path + " is not resolved yet";
}

// Whether AWS's rule for names of `type` allows nothing but ASCII in what `part` holds. The rule
// may be that of a value beside the key, which is the same text as it was spelt.
bool RuleIsAscii(const TypeSpec& type, const KeyPart& part) {
  const NameRule& rule = type.name_rule;
  if (rule.part.empty() || !MatchesAsciiOnly(rule.regex)) return false;
  if (rule.part == part.name) return true;
  const auto ruled = [&](const KeyPart& other) {
    return other.name == rule.part && SameSource(other, part);
  };
  return std::ranges::any_of(type.extra, ruled) ||
         std::ranges::any_of(type.community_extra, ruled) ||
         std::ranges::any_of(type.ack_extra, ruled);
}

KeyAlphabet AlphabetOf(const KeyPart& part, const PartContext& context) {
  if (part.source == KeyPart::Source::kAssignedExternalName) return KeyAlphabet::kAscii;
  if (RuleIsAscii(context.type, part)) return KeyAlphabet::kAscii;
  const TypeSpec* named =
      part.refers_to.empty() ? nullptr : context.catalogue.FindType(part.refers_to);
  const bool ascii =
      named != nullptr && named->parts.size() == 1 && RuleIsAscii(*named, named->parts.front());
  return ascii ? KeyAlphabet::kAscii : KeyAlphabet::kUnicode;
}

std::string AddValue(Reading& reading, Value value, const PartContext& context) {
  if (value.kind() != Document::Kind::kNumber) {
    return AddElement(reading, ScalarOf(value), context);
  }
  const std::size_t before = reading.elements.size();
  std::string wrong = AddElement(reading, Spelled(value), context);
  reading.by_form.reset();  // the spelling ends here
  if (reading.elements.size() > before) reading.elements.back().shown = value.text();
  return wrong;
}

// Adds the value at `path` of the section of a spec. True when the section decides: a value, or a
// reference to come.
bool ReadSection(Reading& reading, const Section& section, std::span<const std::string> path,
                 const PartContext& context) {
  if (section.value.empty()) return false;
  const Value holder = HolderOf(section.value, path);
  const Value value = holder.Child(path.back());
  if (Absent(value)) {
    const Value member = ReferenceFor(holder, path.back(), context.short_references);
    if (member.exists()) NoteReference(reading, member, section.name, path);
    return member.exists();
  }
  const auto add = [&](Value item) {
    const std::string wrong = AddValue(reading, item, context);
    if (wrong.empty()) return;
    reading.missing = FieldName(section.name, path) + " " + wrong;
  };
  if (!value.is_array() || (!reading.part->list && value.size() > 1)) {
    add(value);
    return true;
  }
  for (Value item = value.first(); item.exists(); item = value.next(item)) {
    // One more than an object may declare is enough to refuse it.
    if (reading.elements.size() > kResourcesMax) break;
    add(item);
  }
  return true;
}

bool TakeDefault(Reading& reading) {
  const KeyPart& part = *reading.part;
  if (!part.default_value.has_value()) return false;
  reading.elements.push_back({*part.default_value, *part.default_value});
  reading.by_default = true;
  return true;
}

void ReadField(Reading& reading, const ObjectView& view, const PartContext& context) {
  const KeyPart& part = *reading.part;
  bool decided = false;
  for (const std::vector<std::string>& path : part.paths) {
    // forProvider wins, also with a reference: the provider writes what it resolves there.
    const bool found = ReadSection(reading, view.fields[0], path, context) ||
                       ReadSection(reading, view.fields[1], path, context);
    decided = decided || found;
    // Each of several fields may hold some of a list, but a single value stands in one of them.
    if (found && !part.list) return;
  }
  if (decided || TakeDefault(reading) || part.paths.empty()) return;
  std::vector<std::string> fields;
  for (const std::vector<std::string>& path : part.paths) {
    fields.push_back(FieldName(view.fields[0].name, path));
  }
  reading.missing = Joined(fields, " or ") + " is not set";
}

}  // namespace

bool IsExternalName(const KeyPart& part) {
  return part.source == KeyPart::Source::kExternalName ||
         part.source == KeyPart::Source::kAssignedExternalName;
}

bool SameSource(const KeyPart& a, const KeyPart& b) {
  return a.source == b.source && a.paths == b.paths;
}

std::string_view ScalarOf(Value value) {
  const bool composite = value.is_array() || value.is_object();
  return composite || Absent(value) ? std::string_view() : value.text();
}

std::string_view FieldOf(const ObjectView& view, const std::vector<std::string>& path) {
  if (path.empty()) return {};
  for (const Section& section : view.fields) {
    if (section.value.empty()) continue;
    const Value value = HolderOf(section.value, path).Child(path.back());
    if (!Absent(value)) return ScalarOf(value);
  }
  return {};
}

std::string FieldName(std::string_view section, std::span<const std::string> path) {
  std::string name(section);
  for (const std::string& step : path) name.append(1, '.').append(step);
  return name;
}

std::optional<NameReading> ReadForm(std::string_view text, const TypeSpec& type) {
  if (text.size() > kPartBytesMax) return std::nullopt;
  for (const NameForm& form : type.external_name) {
    if (auto reading = form.Read(text)) return reading;
  }
  return std::nullopt;
}

std::optional<NameReading> ReadTemplate(std::string_view text, const TypeSpec& type) {
  if (type.arn_template.empty() || !text.starts_with("arn:")) return std::nullopt;
  const Result<NameForm> form = NameForm::Parse(type.arn_template);
  if (!form.ok()) return std::nullopt;
  auto reading = form.value().Read(text);
  if (!reading) return reading;
  // The form ends here, and the type goes on: the names are parts of its template.
  const std::string_view names = type.arn_template;
  for (auto& [name, value] : reading->parts) name = names.substr(names.find(name), name.size());
  return reading;
}

std::optional<std::string> PartValue(const KeyPart& part, const NameReading& reading) {
  const std::string_view text = reading.Part(part.name);
  if (!text.empty()) return Normalise(part.normalisers, text);
  return part.list ? std::nullopt : part.default_value;
}

std::optional<NameReading> ReadArnPlace(std::string_view text) {
  constexpr std::ptrdiff_t kColons = 5;  // arn:partition:service:region:account:
  if (!text.starts_with("arn:")) return std::nullopt;
  if (std::count(text.begin(), text.end(), ':') < kColons) return std::nullopt;
  NameReading place;
  TakeUntil(text, ':');
  place.partition = TakeUntil(text, ':');
  TakeUntil(text, ':');
  place.region = TakeUntil(text, ':');
  const std::string_view account = TakeUntil(text, ':');
  if (IsAccount(account)) place.account = account;
  return place;
}

namespace {

bool IsKeyedById(const TypeSpec& type) {
  return type.Late(Flavour::kUpjetCluster) && !type.external_name.empty();
}

// Of a name that is written with its place, or with what goes along with it, leaves the name in
// `raw`. False: it must have a form, and has none.
bool TakeNameAlone(Reading& reading, std::string_view& raw, const PartContext& context) {
  const KeyPart& part = *reading.part;
  reading.by_form.reset();
  const TypeSpec* type =
      context.catalogue.FindType(part.form_of.empty() ? part.refers_to : part.form_of);
  if (type != nullptr) reading.by_form = ReadForm(raw, *type);
  if (!reading.by_form) {
    const bool must = type != nullptr && (!part.form_of.empty() ||
                                          (!context.type.KeyHasAccount() && IsKeyedById(*type)));
    reading.by_form = ReadArnPlace(raw);
    return !must;
  }
  const std::string_view name =
      part.form_of.empty() ? reading.by_form->Part(type->parts.front().name) : reading.by_form->id;
  if (!name.empty()) raw = name;
  return true;
}

}  // namespace

void FillFromNames(std::vector<Reading>& parts, const PartContext& context) {
  for (const Reading& from : parts) {
    if (!from.by_form) continue;
    for (const auto& [name, value] : from.by_form->parts) {
      for (Reading& to : parts) {
        if (&to == &from || to.part->name != name || !to.by_default) continue;
        to.elements.clear();
        to.by_default = false;
        if (!AddElement(to, value, context).empty()) to.missing = name;
      }
    }
  }
}

std::string AddElement(Reading& reading, std::string_view raw, const PartContext& context) {
  const KeyPart& part = *reading.part;
  if (raw.empty()) return "is not a single value";
  // Which alphabet the type allows takes a look at patterns; nearly all names are plain.
  std::optional<std::string> reason = WhyBad(raw, KeyAlphabet::kAscii);
  if (reason.has_value() && AlphabetOf(part, context) == KeyAlphabet::kUnicode) {
    reason = WhyBad(raw, KeyAlphabet::kUnicode);
  }
  if (reason.has_value()) {
    context.bad_names.push_back({context.type.name, part.name, Printable(raw), *reason});
    return std::move(*reason);
  }
  if (!TakeNameAlone(reading, raw, context)) {
    std::string wrong = "is no id of " + (part.form_of.empty() ? part.refers_to : part.form_of);
    if (context.finding != nullptr) {
      *context.finding = part.name + " " + wrong + ": " + Printable(raw);
    }
    return wrong;
  }
  std::string value =
      part.normalisers.empty() ? std::string(raw) : Normalise(part.normalisers, raw);
  if (value.empty()) return "names nothing";
  // A name that stands twice in one list is one resource, not a conflict of the object with itself.
  const auto same = [&value](const Element& element) { return element.value == value; };
  if (std::none_of(reading.elements.begin(), reading.elements.end(), same)) {
    reading.elements.push_back({std::move(value), raw});
  }
  return {};
}

namespace {

// Replaces an external name that is an ARN or a URL by the part that it tells, also for a value
// beside the key that is the same text.
std::string_view PartOfAddress(const KeyPart& part, const PartContext& context) {
  for (const KeyPart& other : context.type.parts) {
    if (SameSource(other, part)) return context.external->Part(other.name);
  }
  return context.external->Part(part.name);
}

void ReadExternalName(Reading& reading, const ObjectView& view, const PartContext& context) {
  const KeyPart& part = *reading.part;
  const bool assigned = part.source == KeyPart::Source::kAssignedExternalName;
  std::string_view where = view.external_name_place;
  std::string_view name = view.external_name;
  if (name.empty() && !assigned) {
    // The provider writes it into the annotation before it creates anything: the name is known.
    name = view.name;
    where = "metadata.name";
  } else if (context.external != nullptr) {
    // The part alone of an ARN or a URL.
    if (const std::string_view addressed = PartOfAddress(part, context); !addressed.empty()) {
      name = addressed;
    } else if (!assigned && !context.external->id.empty()) {
      name = view.name;
      reading.replaced = true;
      where = "metadata.name";
    } else if (!assigned && context.external->parts.empty()) {
      reading.missing.assign(where).append(" names what lies in no account");
      return;
    }
  }
  if (!name.empty()) {
    std::string wrong = AddElement(reading, name, context);
    // Any other text would be an id over all accounts.
    const bool has_form = context.external != nullptr || context.type.external_name.empty();
    if (wrong.empty() && assigned && !has_form) {
      reading.elements.clear();
      wrong = "is no id of " + context.type.name;
    }
    if (!wrong.empty()) reading.missing.assign(where).append(1, ' ').append(wrong);
  } else if (!TakeDefault(reading)) {
    reading.missing.assign(where).append(assigned ? " is assigned by the provider, later"
                                                  : " is not set");
  }
}

}  // namespace

Reading ReadText(const KeyPart& part, std::string_view text, std::string missing,
                 const PartContext& context) {
  Reading reading;
  reading.part = &part;
  if (!text.empty()) {
    const std::string wrong = AddElement(reading, text, context);
    if (!wrong.empty()) reading.missing = part.name + " " + wrong;
  } else if (!TakeDefault(reading)) {
    reading.missing = std::move(missing);
  }
  return reading;
}

Reading ReadPart(const KeyPart& part, const ObjectView& view, const PartContext& context) {
  Reading reading;
  reading.part = &part;
  switch (part.source) {
    case KeyPart::Source::kExternalName:
    case KeyPart::Source::kAssignedExternalName: ReadExternalName(reading, view, context); break;
    case KeyPart::Source::kField: ReadField(reading, view, context); break;
    case KeyPart::Source::kConstant: TakeDefault(reading); break;
  }
  return reading;
}

}  // namespace truce
