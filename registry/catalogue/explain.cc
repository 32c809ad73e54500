#include "registry/catalogue/explain.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/nearest.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kLabelWidth = 18;
constexpr std::size_t kLineWidth = 100;

// One labelled entry; further lines of it stand under the first, long ones are wrapped at spaces.
class Lines {
 public:
  void Add(std::string_view label, std::string_view text) {
    if (text.empty()) return;
    std::string line(label);
    line.resize(kLabelWidth, ' ');
    while (line.size() + text.size() > kLineWidth) {
      const std::size_t space = text.rfind(' ', kLineWidth - line.size());
      if (space == std::string_view::npos || space == 0) break;
      text_.append("  ").append(line).append(text.substr(0, space)).append("\n");
      text.remove_prefix(space + 1);
      line.assign(kLabelWidth, ' ');
    }
    text_.append("  ").append(line).append(text).append("\n");
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Where the values of a part stand.
struct Place {
  bool is_ack = false;
  std::string ack_id = {};  // the path of the id below status
};

std::string FieldsOf(const KeyPart& part, const Place& place) {
  const std::string section = place.is_ack ? "spec." : "spec.forProvider.";
  std::vector<std::string> fields;
  for (const std::vector<std::string>& path : part.paths) {
    fields.push_back(section + Joined(path, ".") + (part.list ? "[]" : ""));
  }
  return Joined(fields, part.list ? " and " : " or ");
}

std::string SourceOf(const KeyPart& part, const Place& place) {
  switch (part.source) {
    case KeyPart::Source::kExternalName:
      return "annotation crossplane.io/external-name, else metadata.name";
    case KeyPart::Source::kAssignedExternalName:
      if (place.is_ack) return "status." + place.ack_id + ": an id that AWS assigns";
      return "annotation crossplane.io/external-name: an id that AWS assigns, unknown before";
    case KeyPart::Source::kField: return FieldsOf(part, place);
    case KeyPart::Source::kConstant: return "always \"" + part.default_value.value_or("") + "\"";
  }
  return "";
}

std::string Described(const KeyPart& part, const Place& place) {
  std::string text = SourceOf(part, place);
  if (part.source != KeyPart::Source::kConstant && part.default_value) {
    text += ", default \"" + *part.default_value + "\"";
  }
  std::vector<std::string> steps;
  for (const Normaliser& normaliser : part.normalisers) steps.push_back(Text(normaliser));
  if (!steps.empty()) text += " (made equal: " + Joined(steps) + ")";
  if (part.list) text += ", one key per element";
  if (!part.within.empty()) text += ", with or without the name of its " + part.within;
  if (part.only) {
    text += ", read where " + part.only->part + " is " + Joined(part.only->values, " or ");
  }
  if (!part.self.empty()) text += ", \"self\" where it is its " + part.self;
  if (!part.form_of.empty()) text += ", in a form of " + part.form_of;
  if (!part.refers_to.empty()) text += " -> " + part.refers_to;
  return text;
}

std::string ScopeInWords(const TypeSpec& spec) {
  switch (spec.scope) {
    case Scope::kPartition: return "the partition, over all accounts";
    case Scope::kAccount: return "the account";
    case Scope::kAccountRegion: return "the account and region";
    case Scope::kParent:
      return spec.parent_in_partition
                 ? "its parent, which is unique in the partition"
                 : std::string("its parent") + (spec.region_path.empty()
                                                    ? ", in the account"
                                                    : ", in the account and region");
    case Scope::kAssignedId: return "nothing that a user names: AWS assigns the id";
  }
  return "";
}

std::string KeyForm(const TypeSpec& spec) {
  std::string form = spec.space + "|partition|" + (spec.KeyHasAccount() ? "account" : "") + "|" +
                     (spec.KeyHasRegion() ? "region" : "");
  for (const KeyPart& part : spec.parts) form += "|" + part.name;
  return form;
}

std::string ConflictInWords(const TypeSpec& spec) {
  if (spec.certainty == Certainty::kResearched) {
    return "denied by default: the scope is researched";
  }
  return "warn by default: the scope is " +
         std::string(spec.certainty == Certainty::kJudged ? "judged" : "derived by a rule") +
         ", not researched; configuration can make them deny";
}

void AddKinds(const TypeSpec& spec, Lines& lines) {
  std::size_t width = 0;
  for (const KindSpec& kind : spec.kinds) {
    width = std::max(width, kind.kind.size() + kind.group.size() + 1);
  }
  std::string_view label = "kinds";
  for (const KindSpec& kind : spec.kinds) {
    std::string text = kind.kind + "." + kind.group;
    text.resize(width + 2, ' ');
    text.append(Name(kind.flavour));
    lines.Add(label, kind.sure ? text : text + ", judged: conflicts warn");
    label = "";
  }
}

void AddParts(std::string_view label, const std::vector<KeyPart>& parts, Lines& lines,
              const Place& place = {}) {
  for (const KeyPart& part : parts) {
    lines.Add(label, part.name + " = " + Described(part, place));
    label = "";
  }
}

void AddPlace(const TypeSpec& spec, Lines& lines) {
  if (!spec.region_path.empty()) {
    std::string text = "spec.forProvider." + Joined(spec.region_path, ".");
    if (spec.community_region_path != spec.region_path) {
      text += "; community: spec.forProvider." + Joined(spec.community_region_path, ".");
    }
    lines.Add("region", text);
  } else {
    lines.Add("region", "none: a global service");
  }
  if (!spec.account_path.empty()) {
    std::string text =
        "spec.forProvider." + Joined(spec.account_path, ".") + ", else that of the credentials";
    if (spec.ack_account_path != spec.account_path) {
      text += "; ACK: spec." + Joined(spec.ack_account_path, ".");
    }
    lines.Add("account", text);
  }
}

void AddForms(const TypeSpec& spec, Lines& lines) {
  std::string_view label = "external name";
  for (const NameForm& form : spec.external_name) {
    lines.Add(label, form.text());
    label = "";
  }
  if (spec.id_in_partition) lines.Add("", "its id exists once, over all accounts");
}

void AddNameRule(const NameRule& rule, Lines& lines) {
  if (rule.part.empty()) return;
  std::string text = "of " + rule.part + ": ";
  if (rule.max_length != 0) {
    text += std::to_string(rule.min_length) + " to " + std::to_string(rule.max_length) + " bytes";
  } else if (rule.min_length != 0) {
    text += "at least " + std::to_string(rule.min_length) + " bytes";
  }
  if (!rule.regex.empty()) text += (text.ends_with(' ') ? "" : ", ") + rule.regex;
  if (!rule.extra_rule.empty()) text += (text.ends_with(' ') ? "" : "; ") + rule.extra_rule;
  lines.Add("AWS name rule", text);
}

void AddAttachment(const TypeSpec& spec, Lines& lines) {
  if (!spec.attachment) return;
  const Attachment& attachment = *spec.attachment;
  std::string parent = attachment.parent;
  if (parent == "account") parent = "the account";
  if (parent == "*") parent = "a resource of any type";
  const bool exclusive = attachment.mode == Attachment::Mode::kExclusive;
  lines.Add("attachment of", parent + (exclusive ? ", exclusive: the parent has this slot once"
                                                 : ", additive: others may stand beside it"));
  std::vector<std::string> links;
  for (const Attachment::Link& link : attachment.links) {
    std::string text = link.own_part + " is its " + link.parent_part;
    for (const Normaliser& normaliser : link.normalisers) text += " (" + Text(normaliser) + ")";
    links.push_back(text);
  }
  lines.Add("", Joined(links));
}

}  // namespace

std::string_view DefaultConflict(const TypeSpec& spec) {
  return spec.certainty == Certainty::kResearched ? "deny" : "warn";
}

std::string Describe(const KeyPart& part) { return Described(part, {}); }

std::string Explain(const TypeSpec& spec) {
  Lines lines;
  AddKinds(spec, lines);
  lines.Add("unique in", ScopeInWords(spec));
  lines.Add("how sure", std::string(Name(spec.certainty)));
  lines.Add("conflicts", ConflictInWords(spec));
  lines.Add("key", KeyForm(spec));
  AddParts("key parts", spec.parts, lines);
  if (spec.parts.empty()) lines.Add("key parts", "none: there is one per account");
  AddParts("  of community", spec.community_parts, lines);
  const Place ack{.is_ack = true, .ack_id = Joined(spec.ack_id, ".")};
  AddParts("  of ACK", spec.ack_parts, lines, ack);
  AddParts("not in the key", spec.extra, lines);
  AddParts("  of community", spec.community_extra, lines);
  AddParts("  of ACK", spec.ack_extra, lines, ack);
  if (spec.space != spec.name) {
    lines.Add("", "types of the space " + spec.space + " declare the same resources");
  }
  AddPlace(spec, lines);
  lines.Add("ARN", spec.arn_template);
  AddForms(spec, lines);
  AddNameRule(spec.name_rule, lines);
  AddAttachment(spec, lines);
  lines.Add("default quota", spec.default_quota);
  lines.Add("if it exists", spec.if_already_exists);
  lines.Add("provider names by", spec.family);
  lines.Add("note", spec.note);
  lines.Add("row", spec.origin);
  return spec.name + "\n" + lines.text();
}

TypeSummary Summarise(const TypeSpec& spec) {
  std::vector<std::string> parts;
  for (const KeyPart& part : spec.parts) parts.push_back(part.name);
  TypeSummary summary{.type = spec.name,
                      .scope = std::string(Name(spec.scope)),
                      .certainty = std::string(Name(spec.certainty)),
                      .conflict = std::string(DefaultConflict(spec)),
                      .key = parts.empty() ? "-" : Joined(parts),
                      .attachment = "-",
                      .space = spec.space};
  if (spec.attachment) {
    summary.attachment =
        spec.attachment->parent +
        (spec.attachment->mode == Attachment::Mode::kExclusive ? " (exclusive)" : " (additive)");
  }
  return summary;
}

std::string NoType(std::string_view type, const Catalogue& catalogue) {
  std::vector<std::string_view> names;
  for (const TypeSpec& spec : catalogue.types()) names.push_back(spec.name);
  const std::string_view nearest = Nearest(type, names);
  std::string out = "no type '" + std::string(type) + "'";
  if (nearest.empty()) return out + "; `truce types` lists all";
  return out + "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace truce
