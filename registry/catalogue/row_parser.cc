#include "registry/catalogue/row_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "registry/base/counted.h"
#include "registry/base/result.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kTextBytesMax = 8U << 20U;  // twenty times the built-in file
constexpr std::size_t kLineBytesMax = 16U << 10U;
constexpr std::size_t kRowsMax = 20'000;
constexpr std::size_t kPartsMax = 16;
constexpr std::string_view kNone = "-";
constexpr std::string_view kUpjetKinds = "@upjet";

// `text` cut at every `separator`: n separators make n + 1 pieces, none is dropped.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    pieces.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

// [A-Za-z][A-Za-z0-9]*: a part, a field, a kind.
bool IsIdentifier(std::string_view text) {
  return !text.empty() && !IsDigit(text.front()) && std::all_of(text.begin(), text.end(), IsAlnum);
}

// service/Name: the service in lower case; a space may also write its name with hyphens.
bool IsTypeName(std::string_view text, bool hyphens) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  const std::string_view service = text.substr(0, slash);
  const std::string_view name = text.substr(slash + 1);
  return std::all_of(service.begin(), service.end(), IsLowerOrDigit) &&
         std::all_of(name.begin(), name.end(),
                     [hyphens](char c) { return IsAlnum(c) || (hyphens && c == '-'); });
}

Result<std::vector<std::string>> ParsePath(std::string_view text) {
  std::vector<std::string> path;
  for (const std::string_view step : Split(text, '.')) {
    // ACK writes type_ for a field whose name Go keeps for itself.
    const bool is_escaped = step.ends_with('_');
    if (!IsIdentifier(step.substr(0, step.size() - (is_escaped ? 1 : 0)))) {
      return InvalidArgument(InQuotes(text) +
                             " is not a field path; write field names joined by dots, below "
                             "spec.forProvider, or of ACK's kinds below spec");
    }
    path.emplace_back(step);
  }
  return path;
}

Result<void> ParseType(std::string_view cell, TypeSpec& spec) {
  if (!IsTypeName(cell, false)) {
    return InvalidArgument(InQuotes(cell) + " is not a type; write service/Kind, as in s3/Bucket");
  }
  spec.name = cell;
  return {};
}

std::string AllGroupEnds() {
  std::vector<std::string> ends;
  for (const FlavourSpec& flavour : Flavours()) ends.emplace_back(flavour.groups);
  return Joined(ends);
}

bool IsGroup(std::string_view group) {
  return std::all_of(group.begin(), group.end(), IsDnsCharacter);
}

Result<void> ParseKinds(std::string_view cell, TypeSpec& spec) {
  spec.kinds.clear();
  for (std::string_view word : Split(cell, ' ')) {
    if (word == kUpjetKinds) {
      const std::string service(spec.Service());
      const std::string kind = spec.name.substr(service.size() + 1);
      for (const Flavour flavour : {Flavour::kUpjetCluster, Flavour::kUpjetNamespaced}) {
        spec.kinds.push_back({service + std::string(SpecOf(flavour).groups), kind, flavour});
      }
      continue;
    }
    const bool is_sure = !word.ends_with('?');
    if (!is_sure) word.remove_suffix(1);
    const std::size_t dot = word.find('.');
    if (dot == std::string_view::npos || !IsIdentifier(word.substr(0, dot)) ||
        !IsGroup(word.substr(dot + 1))) {
      return InvalidArgument(InQuotes(word) +
                             " is not a kind; write Kind.group, or @upjet for this kind in "
                             "both upjet groups, with one space between");
    }
    const std::string_view group = word.substr(dot + 1);
    const FlavourSpec* const flavour = FindFlavour(group);
    if (flavour == nullptr) {
      return InvalidArgument("group " + InQuotes(group) + " ends in none of " + AllGroupEnds());
    }
    spec.kinds.push_back(
        {std::string(group), std::string(word.substr(0, dot)), flavour->flavour, is_sure});
  }
  return {};
}

Result<void> ParseScope(std::string_view cell, TypeSpec& spec) {
  spec.parent_in_partition = cell == "parent@partition";
  if (spec.parent_in_partition) cell = "parent";
  const std::optional<Scope> scope = ScopeFromName(cell);
  if (!scope) {
    return InvalidArgument(InQuotes(cell) +
                           " is not a scope; write partition, account, account+region, parent, "
                           "parent@partition or assigned-id");
  }
  spec.scope = *scope;
  return {};
}

Result<void> ParseCertainty(std::string_view cell, TypeSpec& spec) {
  const std::optional<Certainty> certainty = CertaintyFromName(cell);
  if (!certainty) {
    return InvalidArgument(InQuotes(cell) +
                           " is not a certainty; write researched, judged or rule");
  }
  spec.certainty = *certainty;
  return {};
}

Result<void> ParseRegion(std::string_view cell, TypeSpec& spec) {
  spec.region_path.clear();
  spec.community_region_path.clear();
  if (cell == kNone) return {};
  const std::vector<std::string_view> paths = Split(cell, '|');
  if (paths.size() > 2) return InvalidArgument("at most two paths: upjet|community");
  TRUCE_ASSIGN_OR_RETURN(spec.region_path, ParsePath(paths.front()));
  // The one path where there is no other.
  TRUCE_ASSIGN_OR_RETURN(spec.community_region_path, ParsePath(paths.back()));
  return {};
}

Result<void> ParseAccount(std::string_view cell, TypeSpec& spec) {
  spec.account_path.clear();
  spec.ack_account_path.clear();
  if (cell == kNone) return {};
  const std::vector<std::string_view> paths = Split(cell, '|');
  if (paths.size() > 2) return InvalidArgument("at most two paths: Crossplane's|ACK's");
  TRUCE_ASSIGN_OR_RETURN(spec.account_path, ParsePath(paths.front()));
  // The one path where there is no other.
  TRUCE_ASSIGN_OR_RETURN(spec.ack_account_path, ParsePath(paths.back()));
  return {};
}

Result<void> ParseSource(std::string_view text, KeyPart& part) {
  if (text == "@external-name") {
    part.source = KeyPart::Source::kExternalName;
    return {};
  }
  if (text == "@assigned") {
    part.source = KeyPart::Source::kAssignedExternalName;
    return {};
  }
  if (text == "@constant") {
    part.source = KeyPart::Source::kConstant;
    return {};
  }
  part.source = KeyPart::Source::kField;
  for (const std::string_view path : Split(text, '|')) {
    TRUCE_ASSIGN_OR_RETURN(std::vector<std::string> steps, ParsePath(path));
    part.paths.push_back(std::move(steps));
  }
  return {};
}

Result<void> ParseCondition(std::string_view text, KeyPart& part) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return InvalidArgument(InQuotes(text) + " is no condition; write only:PART=VALUE+VALUE");
  }
  KeyPart::Condition& only = part.only.emplace();
  only.part = text.substr(0, equals);
  for (const std::string_view value : Split(text.substr(equals + 1), '+')) {
    only.values.emplace_back(value);
  }
  return {};
}

Result<void> ParseOption(std::string_view option, KeyPart& part) {
  if (option == "list") {
    part.list = true;
  } else if (option.starts_with("default:")) {
    part.default_value = option.substr(option.find(':') + 1);
  } else if (option.starts_with("ref:")) {
    part.refers_to = option.substr(option.find(':') + 1);
    if (!IsTypeName(part.refers_to, false)) {
      return InvalidArgument(InQuotes(option) + " does not name a type; write ref:service/Kind");
    }
  } else if (option.starts_with("form-of:")) {
    part.form_of = option.substr(option.find(':') + 1);
  } else if (option.starts_with("within:")) {
    part.within = option.substr(option.find(':') + 1);
  } else if (option.starts_with("self:")) {
    part.self = option.substr(option.find(':') + 1);
  } else if (option.starts_with("only:")) {
    return ParseCondition(option.substr(option.find(':') + 1), part);
  } else if (const std::optional<Normaliser> normaliser = ParseNormaliser(option)) {
    part.normalisers.push_back(*normaliser);
  } else {
    return InvalidArgument(
        InQuotes(option) +
        " is not an option; write list, default:VALUE, ref:TYPE, form-of:TYPE, within:PART, "
        "only:PART=VALUE+VALUE, self:PART, lower, dns, basename, arn-resource, secret-name, cidr, "
        "strip-account, object-key, strip-prefix:X, strip-suffix:X, until:X, add-prefix:X or "
        "map:FROM>TO");
  }
  return {};
}

Result<KeyPart> ParsePart(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ',');
  const std::size_t equals = words.front().find('=');
  KeyPart part;
  part.name = words.front().substr(0, equals);
  if (!IsIdentifier(part.name)) {
    return InvalidArgument(InQuotes(part.name) +
                           " is not the name of a part; write letters and digits, as in "
                           "name=@external-name");
  }
  const bool has_source = equals != std::string_view::npos;
  TRUCE_RETURN_IF_ERROR(
      ParseSource(has_source ? words.front().substr(equals + 1) : words.front(), part));
  for (std::size_t i = 1; i < words.size(); ++i) {
    TRUCE_RETURN_IF_ERROR(ParseOption(words[i], part));
  }
  if (part.source == KeyPart::Source::kConstant && !part.default_value) {
    return InvalidArgument(InQuotes(part.name) +
                           " is @constant without a value; add default:VALUE");
  }
  if (part.list && part.source != KeyPart::Source::kField) {
    return InvalidArgument(InQuotes(part.name) + " is a list of something that is not a field");
  }
  return part;
}

Result<std::vector<KeyPart>> ParseParts(std::string_view cell) {
  std::vector<KeyPart> parts;
  if (cell == kNone) return parts;
  for (const std::string_view text : Split(cell, ';')) {
    TRUCE_ASSIGN_OR_RETURN(KeyPart part, ParsePart(text));
    const bool twice = std::any_of(parts.begin(), parts.end(),
                                   [&](const KeyPart& other) { return other.name == part.name; });
    if (twice) return InvalidArgument("part " + InQuotes(part.name) + " is there twice");
    parts.push_back(std::move(part));
  }
  if (parts.size() > kPartsMax) return InvalidArgument("more than 16 parts");
  return parts;
}

Result<void> ParseKeyParts(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.parts, ParseParts(cell));
  return {};
}

Result<void> ParseCommunityParts(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.community_parts, ParseParts(cell));
  return {};
}

Result<void> ParseExtra(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.extra, ParseParts(cell));
  return {};
}

Result<void> ParseCommunityExtra(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.community_extra, ParseParts(cell));
  return {};
}

Result<void> ParseAckParts(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.ack_parts, ParseParts(cell));
  return {};
}

Result<void> ParseAckExtra(std::string_view cell, TypeSpec& spec) {
  TRUCE_ASSIGN_OR_RETURN(spec.ack_extra, ParseParts(cell));
  return {};
}

Result<void> ParseAckId(std::string_view cell, TypeSpec& spec) {
  spec.ack_id.clear();
  if (cell == kNone) return {};
  TRUCE_ASSIGN_OR_RETURN(spec.ack_id, ParsePath(cell));
  return {};
}

Result<void> ParseSpace(std::string_view cell, TypeSpec& spec) {
  spec.space = cell == kNone ? spec.name : std::string(cell);
  if (!IsTypeName(spec.space, true)) {
    return InvalidArgument(InQuotes(cell) +
                           " is not a space; write - for the type's own, or service/name");
  }
  return {};
}

Result<void> ParseArn(std::string_view cell, TypeSpec& spec) {
  spec.arn_template.clear();
  if (cell == kNone) return {};
  if (!cell.starts_with("arn:{partition}:")) {
    return InvalidArgument("an ARN template begins with arn:{partition}:");
  }
  spec.arn_template = cell;
  return {};
}

Result<void> ParseExternalName(std::string_view cell, TypeSpec& spec) {
  spec.external_name.clear();
  if (cell == kNone) return {};
  for (const std::string_view word : Split(cell, ' ')) {
    Result<NameForm> form = NameForm::Parse(word);
    if (!form.ok()) return std::move(form).error().Within(InQuotes(word));
    spec.external_name.push_back(std::move(form).value());
  }
  return {};
}

Result<void> ParseIdScope(std::string_view cell, TypeSpec& spec) {
  spec.id_in_partition = cell == "partition";
  if (spec.id_in_partition || cell == kNone) return {};
  return InvalidArgument(InQuotes(cell) +
                         " is not a scope of an id; write partition, or - for that of the key");
}

bool FitsAnyForm(std::string_view text, const TypeSpec& spec) {
  return std::any_of(spec.external_name.begin(), spec.external_name.end(),
                     [&](const NameForm& form) { return form.Read(text).has_value(); });
}

// Nothing is kept of the examples: they prove the forms of the same row.
template <bool Fits>
Result<void> CheckForms(std::string_view cell, TypeSpec& spec) {
  if (cell == kNone) {
    if (spec.external_name.empty()) return {};
    return InvalidArgument("a form is proved by a text that has it, and by one that has not");
  }
  for (const std::string_view word : Split(cell, ' ')) {
    if (FitsAnyForm(word, spec) == Fits) continue;
    return InvalidArgument(InQuotes(word) + (Fits ? " has none of" : " has one of") +
                           " the forms of column external_name, which must stand before");
  }
  return {};
}

Result<Attachment::Link> ParseLink(std::string_view text) {
  const std::vector<std::string_view> words = Split(text, ',');
  const std::size_t equals = words.front().find('=');
  if (equals == std::string_view::npos) {
    return InvalidArgument(InQuotes(text) + " is not a link; write PARENT_PART=OWN_PART");
  }
  Attachment::Link link{std::string(words.front().substr(0, equals)),
                        std::string(words.front().substr(equals + 1)),
                        {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::optional<Normaliser> normaliser = ParseNormaliser(words[i]);
    if (!normaliser) return InvalidArgument(InQuotes(words[i]) + " is not a normaliser");
    link.normalisers.push_back(*normaliser);
  }
  return link;
}

Result<void> ParseAttachment(std::string_view cell, TypeSpec& spec) {
  spec.attachment.reset();
  if (cell == kNone) return {};
  const std::vector<std::string_view> words = Split(cell, ' ');
  if (words.size() < 2 || words.size() > 3) {
    return InvalidArgument("write PARENT MODE [LINKS], as in: s3/Bucket exclusive name=bucket");
  }
  Attachment attachment;
  attachment.parent = words[0];
  if (attachment.parent != "account" && attachment.parent != "*" &&
      !IsTypeName(attachment.parent, false)) {
    return InvalidArgument(InQuotes(words[0]) + " is not a parent; write a type, account or *");
  }
  if (words[1] != "exclusive" && words[1] != "additive") {
    return InvalidArgument(InQuotes(words[1]) + " is not a mode; write exclusive or additive");
  }
  attachment.mode =
      words[1] == "exclusive" ? Attachment::Mode::kExclusive : Attachment::Mode::kAdditive;
  if (words.size() == 3) {
    for (const std::string_view text : Split(words[2], ';')) {
      TRUCE_ASSIGN_OR_RETURN(Attachment::Link link, ParseLink(text));
      attachment.links.push_back(std::move(link));
    }
  }
  spec.attachment = std::move(attachment);
  return {};
}

Result<void> ParseLength(std::string_view cell, std::size_t& length) {
  length = 0;
  if (cell == kNone) return {};
  const char* const end = cell.data() + cell.size();
  const auto [rest, error] = std::from_chars(cell.data(), end, length);
  if (error != std::errc() || rest != end) {
    return InvalidArgument(InQuotes(cell) + " is not a length; write a number of bytes, or -");
  }
  return {};
}

Result<void> ParseNameMin(std::string_view cell, TypeSpec& spec) {
  return ParseLength(cell, spec.name_rule.min_length);
}

Result<void> ParseNameMax(std::string_view cell, TypeSpec& spec) {
  return ParseLength(cell, spec.name_rule.max_length);
}

// A column that is kept as it stands.
template <std::string TypeSpec::*Member>
Result<void> KeepText(std::string_view cell, TypeSpec& spec) {
  spec.*Member = cell == kNone ? std::string_view() : cell;
  return {};
}

template <std::string NameRule::*Member>
Result<void> KeepRule(std::string_view cell, TypeSpec& spec) {
  spec.name_rule.*Member = cell == kNone ? std::string_view() : cell;
  return {};
}

struct Column {
  std::string_view name;
  bool needed;  // of a type that is not known yet
  Result<void> (*parse)(std::string_view cell, TypeSpec& spec);
};

// `type` first: the others may use it. The order of the file's columns is free after that.
constexpr std::array kColumns = {
    Column{"type", true, ParseType},
    Column{"kinds", true, ParseKinds},
    Column{"scope", true, ParseScope},
    Column{"certainty", true, ParseCertainty},
    Column{"region", false, ParseRegion},
    Column{"account", false, ParseAccount},
    Column{"parts", true, ParseKeyParts},
    Column{"community_parts", false, ParseCommunityParts},
    Column{"extra", false, ParseExtra},
    Column{"community_extra", false, ParseCommunityExtra},
    Column{"ack_parts", false, ParseAckParts},
    Column{"ack_extra", false, ParseAckExtra},
    Column{"ack_id", false, ParseAckId},
    Column{"space", false, ParseSpace},
    Column{"arn", false, ParseArn},
    Column{"external_name", false, ParseExternalName},
    Column{"id_scope", false, ParseIdScope},
    Column{"example", false, CheckForms<true>},
    Column{"counterexample", false, CheckForms<false>},
    Column{"attachment", false, ParseAttachment},
    Column{"name_part", false, KeepRule<&NameRule::part>},
    Column{"name_regex", false, KeepRule<&NameRule::regex>},
    Column{"name_min", false, ParseNameMin},
    Column{"name_max", false, ParseNameMax},
    Column{"name_rule", false, KeepRule<&NameRule::extra_rule>},
    Column{"family", false, KeepText<&TypeSpec::family>},
    Column{"quota", false, KeepText<&TypeSpec::default_quota>},
    Column{"if_exists", false, KeepText<&TypeSpec::if_already_exists>},
    Column{"note", false, KeepText<&TypeSpec::note>},
};

using Header = std::vector<const Column*>;

Result<Header> ParseHeader(std::string_view line) {
  Header header;
  for (const std::string_view name : Split(line, '\t')) {
    const auto* const column = std::find_if(kColumns.begin(), kColumns.end(),
                                            [&](const Column& c) { return c.name == name; });
    if (column == kColumns.end()) {
      return InvalidArgument("header: " + InQuotes(name) +
                             " is not a column; the first row that is not a comment "
                             "names the columns, with one tab between");
    }
    if (std::find(header.begin(), header.end(), column) != header.end()) {
      return InvalidArgument("header: column " + InQuotes(name) + " is there twice");
    }
    header.push_back(column);
  }
  if (header.front() != kColumns.data())
    return InvalidArgument("header: the first column must be type");
  return header;
}

Result<void> CheckBytes(std::string_view line) {
  if (line.size() > kLineBytesMax) return InvalidArgument("line: longer than 16384 bytes");
  for (const char c : line) {
    // A name of a field with a look-alike letter would never be found in any object.
    if (c != '\t' && (c < ' ' || c > '~')) {
      return InvalidArgument("line: only printable ASCII and tabs are allowed");
    }
  }
  return {};
}

Result<void> CheckNeeded(const Header& header) {
  for (const Column& column : kColumns) {
    if (column.needed && std::find(header.begin(), header.end(), &column) == header.end()) {
      return InvalidArgument(std::string(column.name) +
                             ": a new type needs the columns type, kinds, scope, "
                             "certainty and parts");
    }
  }
  return {};
}

const TypeSpec* FindByName(std::span<const TypeSpec> types, std::string_view name) {
  const auto found = std::lower_bound(
      types.begin(), types.end(), name,
      [](const TypeSpec& spec, std::string_view wanted) { return spec.name < wanted; });
  return found == types.end() || found->name != name ? nullptr : &*found;
}

Result<TypeSpec> ParseRow(std::string_view line, const Header& header,
                          std::span<const TypeSpec> known) {
  const std::vector<std::string_view> cells = Split(line, '\t');
  if (cells.size() != header.size()) {
    return InvalidArgument("row: " + Counted(cells.size(), "cell") + " under " +
                           Counted(header.size(), "column") + "; write - for a cell that is empty");
  }
  const TypeSpec* const base = FindByName(known, cells.front());
  if (base == nullptr) TRUCE_RETURN_IF_ERROR(CheckNeeded(header));
  // A row of a known type says only what differs.
  TypeSpec spec = base == nullptr ? TypeSpec{} : *base;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) {
      return InvalidArgument(std::string(header[i]->name) +
                             ": the cell is empty; write - for none");
    }
    Result<void> parsed = header[i]->parse(cells[i], spec);
    if (!parsed.ok()) return std::move(parsed).error().Within(header[i]->name);
  }
  if (spec.space.empty()) spec.space = spec.name;
  return spec;
}

}  // namespace

Result<std::vector<TypeSpec>> ParseTypes(std::string_view text, std::string_view file_name,
                                         std::span<const TypeSpec> known) {
  if (text.size() > kTextBytesMax) {
    return InvalidArgument(std::string(file_name) + ": larger than 8 MiB; this is not a type file");
  }
  std::vector<TypeSpec> types;
  Header header;
  std::size_t line_number = 0;
  std::string place;
  for (std::string_view line : Split(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    place = std::string(file_name) + ":" + std::to_string(line_number);
    if (Result<void> bytes = CheckBytes(line); !bytes.ok()) {
      return std::move(bytes).error().Within(place);
    }
    if (header.empty()) {
      Result<Header> parsed = ParseHeader(line);
      if (!parsed.ok()) return std::move(parsed).error().Within(place);
      header = std::move(parsed).value();
      continue;
    }
    Result<TypeSpec> row = ParseRow(line, header, known);
    if (!row.ok()) return std::move(row).error().Within(place);
    if (types.size() == kRowsMax) return InvalidArgument(place + ": row: more than 20000 rows");
    types.push_back(std::move(row).value());
    types.back().origin = place;
  }
  if (header.empty()) {
    return InvalidArgument(std::string(file_name) +
                           ":1: header: there is no header row; the first row that "
                           "is not a comment names the columns, beginning with type");
  }
  return types;
}

}  // namespace truce
