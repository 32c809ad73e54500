#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "registry/base/text.h"
#include "registry/catalogue/row_parser.h"

namespace truce {
namespace {

// An error: `message` behind the place of the row and the column.
Error Fault(const TypeSpec& spec, std::string_view column, std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)}.Within(column).Within(spec.origin);
}

const TypeSpec* Find(std::span<const TypeSpec> types, std::string_view name) {
  const auto at = std::lower_bound(
      types.begin(), types.end(), name,
      [](const TypeSpec& spec, std::string_view wanted) { return spec.name < wanted; });
  return at != types.end() && at->name == name ? &*at : nullptr;
}

bool HasPart(const std::vector<KeyPart>& parts, std::string_view name) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const KeyPart& part) { return part.name == name; });
}

bool HasValue(const TypeSpec& spec, std::string_view name) {
  return HasPart(spec.parts, name) || HasPart(spec.extra, name);
}

bool SameNames(const std::vector<KeyPart>& left, const std::vector<KeyPart>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const KeyPart& a, const KeyPart& b) { return a.name == b.name; });
}

std::string NamesOf(const std::vector<KeyPart>& parts) {
  std::string names;
  for (const KeyPart& part : parts) names.append(names.empty() ? "" : ";").append(part.name);
  return names.empty() ? "-" : names;
}

Result<void> CheckAckParts(const TypeSpec& spec) {
  const bool is_ack = std::any_of(spec.kinds.begin(), spec.kinds.end(), [](const KindSpec& kind) {
    return kind.flavour == Flavour::kAck;
  });
  if (!is_ack) {
    if (spec.ack_parts.empty() && spec.ack_extra.empty() && spec.ack_id.empty()) return {};
    return Fault(spec, "ack_parts", "the type has no kind of ACK; write - in the columns of ACK");
  }
  if (!SameNames(spec.parts, spec.ack_parts)) {
    return Fault(spec, "ack_parts",
                 "must name the parts " + NamesOf(spec.parts) + " in this order, as column parts");
  }
  for (const KeyPart& part : spec.ack_extra) {
    if (HasPart(spec.extra, part.name)) continue;
    return Fault(
        spec, "ack_extra",
        InQuotes(part.name) + " is no value of column extra, which has " + NamesOf(spec.extra));
  }
  for (const KeyPart& part : spec.ack_parts) {
    if (part.source == KeyPart::Source::kExternalName) {
      return Fault(spec, "ack_parts",
                   "an object of ACK has no external name; name the field below spec");
    }
    if (part.source == KeyPart::Source::kAssignedExternalName && spec.ack_id.empty()) {
      return Fault(spec, "ack_id", "an @assigned part needs the path of the id below status");
    }
  }
  return {};
}

Result<void> CheckParts(const TypeSpec& spec) {
  const bool community =
      std::any_of(spec.kinds.begin(), spec.kinds.end(),
                  [](const KindSpec& kind) { return kind.flavour == Flavour::kCommunity; });
  if (!community && !(spec.community_parts.empty() && spec.community_extra.empty())) {
    return Fault(spec, "community_parts", "the type has no community kind; write -");
  }
  if (!spec.community_parts.empty() && !SameNames(spec.parts, spec.community_parts)) {
    return Fault(spec, "community_parts",
                 "must name the parts " + NamesOf(spec.parts) + " in this order, as column parts");
  }
  if (!spec.community_extra.empty() && !SameNames(spec.extra, spec.community_extra)) {
    return Fault(spec, "community_extra",
                 "must name " + NamesOf(spec.extra) + " in this order, as column extra");
  }
  TRUCE_RETURN_IF_ERROR(CheckAckParts(spec));
  for (const KeyPart& part : spec.extra) {
    // A link or a template that names it could not tell which is meant.
    if (HasPart(spec.parts, part.name)) {
      return Fault(spec, "extra", InQuotes(part.name) + " is a part of the key already");
    }
  }
  const auto lists = std::count_if(spec.parts.begin(), spec.parts.end(),
                                   [](const KeyPart& part) { return part.list; });
  // Of two lists nobody could tell which of their elements go together.
  if (lists > 1) return Fault(spec, "parts", "at most one part may be a list");
  return {};
}

Result<void> CheckScope(const TypeSpec& spec) {
  const bool in_account = spec.scope == Scope::kAccount || spec.scope == Scope::kAccountRegion;
  const bool singleton = in_account && spec.attachment && spec.attachment->parent == "account" &&
                         spec.attachment->mode == Attachment::Mode::kExclusive;
  if (spec.parts.empty() && !singleton) {
    return Fault(spec, "parts",
                 "no parts: only a singleton of an account has none (scope account or "
                 "account+region, attachment account exclusive)");
  }
  if (spec.scope == Scope::kAccountRegion && spec.region_path.empty()) {
    return Fault(spec, "region", "scope account+region needs the path of the region");
  }
  return {};
}

Result<void> CheckArn(const TypeSpec& spec) {
  const std::string_view text = spec.arn_template;
  for (std::size_t at = text.find_first_of("{}"); at != std::string_view::npos;) {
    const std::size_t end = text.find_first_of("{}", at + 1);
    if (text[at] != '{' || end == std::string_view::npos || text[end] != '}') {
      return Fault(spec, "arn", "braces do not match");
    }
    const std::string_view name = text.substr(at + 1, end - at - 1);
    const bool known = name == "partition" || name == "region" || name == "account" ||
                       name == "*" || HasValue(spec, name);
    if (!known) {
      return Fault(spec, "arn",
                   "{" + std::string(name) +
                       "} is neither partition, region, account, a part nor "
                       "an extra; write {*} for what AWS alone knows");
    }
    at = text.find_first_of("{}", end + 1);
  }
  return {};
}

// Some type has the part beside one that names a resource of `spec`: a name may tell both.
bool GoesWith(std::string_view part, const TypeSpec& spec, std::span<const TypeSpec> types) {
  return std::any_of(types.begin(), types.end(), [&](const TypeSpec& other) {
    return HasPart(other.parts, part) &&
           std::any_of(other.parts.begin(), other.parts.end(),
                       [&](const KeyPart& each) { return each.refers_to == spec.name; });
  });
}

Result<void> CheckForms(const TypeSpec& spec, std::span<const TypeSpec> types) {
  for (const NameForm& form : spec.external_name) {
    for (const std::string_view part : form.Parts()) {
      if (HasPart(spec.parts, part) || GoesWith(part, spec, types)) continue;
      return Fault(spec, "external_name",
                   "{" + std::string(part) + "} of " + InQuotes(form.text()) +
                       " is neither a key part, which are " + NamesOf(spec.parts) +
                       ", nor a part of a type that names this one by a ref; write {*} for what "
                       "is none");
    }
  }
  return {};
}

Result<void> CheckNameRule(const TypeSpec& spec) {
  const NameRule& rule = spec.name_rule;
  if (rule.part.empty()) {
    if (rule.regex.empty() && rule.min_length == 0 && rule.max_length == 0 &&
        rule.extra_rule.empty()) {
      return {};
    }
    return Fault(spec, "name_part", "a rule for names needs the part that it rules");
  }
  if (!HasValue(spec, rule.part)) {
    return Fault(spec, "name_part", InQuotes(rule.part) + " is neither a part nor an extra");
  }
  if (rule.max_length != 0 && rule.min_length > rule.max_length) {
    return Fault(spec, "name_max", "less than name_min");
  }
  return {};
}

Result<void> CheckAttachment(const TypeSpec& spec, std::span<const TypeSpec> types) {
  if (!spec.attachment) return {};
  const Attachment& attachment = *spec.attachment;
  if (attachment.parent == "account" || attachment.parent == "*") {
    if (attachment.links.empty()) return {};
    return Fault(spec, "attachment", "links need a parent of one type");
  }
  const TypeSpec* const parent = Find(types, attachment.parent);
  if (parent == nullptr) {
    return Fault(spec, "attachment", "there is no type " + InQuotes(attachment.parent));
  }
  for (const Attachment::Link& link : attachment.links) {
    if (!HasPart(parent->parts, link.parent_part)) {
      return Fault(spec, "attachment",
                   InQuotes(link.parent_part) + " is not a key part of " + parent->name +
                       ", whose are " + NamesOf(parent->parts));
    }
    if (!HasValue(spec, link.own_part)) {
      return Fault(spec, "attachment", InQuotes(link.own_part) + " is neither a part nor an extra");
    }
  }
  // Half a parent's key names nobody: the rule about attachments would find no owner, and pass.
  if (!attachment.links.empty() && attachment.links.size() != parent->parts.size()) {
    return Fault(spec, "attachment",
                 "links must cover all key parts of " + parent->name + " (" +
                     NamesOf(parent->parts) + ") or none");
  }
  return {};
}

Result<void> CheckWithin(const TypeSpec& spec, std::span<const TypeSpec> types) {
  for (const KeyPart& part : spec.parts) {
    if (part.within.empty()) continue;
    const auto zone = std::find_if(spec.parts.begin(), spec.parts.end(),
                                   [&](const KeyPart& other) { return other.name == part.within; });
    const TypeSpec* const type = zone == spec.parts.end() ? nullptr : Find(types, zone->refers_to);
    if (type != nullptr && HasPart(type->extra, "name")) continue;
    return Fault(
        spec, "parts",
        "within:" + part.within + " is not a part with a ref to a type that has the extra name");
  }
  return {};
}

// Conditions that parts of one type set each other.
Result<void> CheckConditions(const TypeSpec& spec) {
  for (const KeyPart& part : spec.parts) {
    if (part.only && !(HasPart(spec.parts, part.only->part) && part.default_value)) {
      return Fault(spec, "parts",
                   "only:" + part.only->part + " needs a part of that name, and a default");
    }
    if (part.self.empty() || HasPart(spec.parts, part.self)) continue;
    return Fault(spec, "parts", "self:" + part.self + " is not a part");
  }
  return {};
}

Result<void> CheckReferences(const TypeSpec& spec, std::span<const TypeSpec> types) {
  for (const auto* const parts : {&spec.parts, &spec.community_parts, &spec.ack_parts, &spec.extra,
                                  &spec.community_extra, &spec.ack_extra}) {
    for (const KeyPart& part : *parts) {
      if (!part.form_of.empty()) {
        const TypeSpec* const like = Find(types, part.form_of);
        if (like == nullptr || like->external_name.empty()) {
          return Fault(spec, "parts",
                       "form-of: there is no type " + InQuotes(part.form_of) +
                           " with forms in column external_name");
        }
      }
      if (part.refers_to.empty()) continue;
      const TypeSpec* const target = Find(types, part.refers_to);
      if (target == nullptr) {
        return Fault(spec, "parts", "ref: there is no type " + InQuotes(part.refers_to));
      }
      // A reference gives one name; the other parts would have to be guessed.
      if (target->parts.size() != 1) {
        return Fault(spec, "parts",
                     "ref: " + part.refers_to + " has not exactly one key part; leave the ref out");
      }
    }
  }
  return {};
}

Result<void> CheckUnique(std::span<const TypeSpec> types) {
  std::unordered_map<std::string, const TypeSpec*> kinds;
  kinds.reserve(types.size() * 3);
  const TypeSpec* previous = nullptr;
  for (const TypeSpec& spec : types) {
    if (previous != nullptr && previous->name == spec.name) {
      return Fault(spec, "type",
                   InQuotes(spec.name) + " is there twice, first at " + previous->origin);
    }
    previous = &spec;
    for (const KindSpec& kind : spec.kinds) {
      const auto [at, added] = kinds.try_emplace(kind.kind + "." + kind.group, &spec);
      if (!added) {
        return Fault(spec, "kinds",
                     kind.kind + "." + kind.group + " belongs to " + at->second->name + " (" +
                         at->second->origin + ") already");
      }
    }
  }
  return {};
}

// Types of one space make keys of one form, or one resource would have two keys.
Result<void> CheckSpaces(std::span<const TypeSpec> types) {
  std::unordered_map<std::string_view, const TypeSpec*> spaces;
  spaces.reserve(types.size());
  for (const TypeSpec& spec : types) {
    const auto [at, added] = spaces.try_emplace(spec.space, &spec);
    if (added) continue;
    const TypeSpec& other = *at->second;
    if (!SameNames(spec.parts, other.parts)) {
      return Fault(spec, "parts",
                   "space " + spec.space + " has the parts " + NamesOf(other.parts) + " (" +
                       other.name + ", " + other.origin + ")");
    }
    if (spec.KeyHasAccount() != other.KeyHasAccount() ||
        spec.KeyHasRegion() != other.KeyHasRegion()) {
      return Fault(spec, "scope",
                   "differs within space " + spec.space + " from " + other.name + " (" +
                       other.origin + "): account and region must be in both keys or in none");
    }
  }
  return {};
}

}  // namespace

Result<void> CheckTypes(std::span<const TypeSpec> types) {
  TRUCE_RETURN_IF_ERROR(CheckUnique(types));
  for (const TypeSpec& spec : types) {
    TRUCE_RETURN_IF_ERROR(CheckParts(spec));
    TRUCE_RETURN_IF_ERROR(CheckScope(spec));
    TRUCE_RETURN_IF_ERROR(CheckArn(spec));
    TRUCE_RETURN_IF_ERROR(CheckForms(spec, types));
    TRUCE_RETURN_IF_ERROR(CheckNameRule(spec));
    TRUCE_RETURN_IF_ERROR(CheckAttachment(spec, types));
    TRUCE_RETURN_IF_ERROR(CheckReferences(spec, types));
    TRUCE_RETURN_IF_ERROR(CheckWithin(spec, types));
    TRUCE_RETURN_IF_ERROR(CheckConditions(spec));
  }
  return CheckSpaces(types);
}

}  // namespace truce
