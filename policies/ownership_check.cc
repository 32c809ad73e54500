#include "policies/ownership_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "policies/finding.h"
#include "policies/policy.h"
#include "registry/catalogue/explain.h"
#include "registry/identity/identity.h"

namespace truce {
namespace {

constexpr std::size_t kDeclarationsMax = 500;
constexpr std::size_t kManifestsMax = 500;
constexpr std::string_view kManifestUid = "truce-check";  // no manifest has one

Error Bad(const std::string& path, const std::string& what) {
  return Error{ErrorCode::kInvalidArgument, OneLine(path + ": " + what, 1024)};
}

std::string NamesOf(const TypeSpec& type) {
  std::string out;
  for (const KeyPart& part : type.parts) out += (out.empty() ? "" : ", ") + part.name;
  return out;
}

// name: the type's only part; parts: all of them by name.
Result<void> ReadParts(Value declaration, const TypeSpec& type, const std::string& path,
                       PartValues& out) {
  const Value parts = declaration.Child("parts");
  const std::string_view name = declaration.Child("name").text();
  if (name.empty() == parts.empty()) {
    return Bad(path, "must have exactly one of name and parts");
  }
  if (!name.empty()) {
    if (type.parts.size() != 1) {
      return Bad(path + ".name", "does not name a resource of type " + type.name +
                                     "; write parts: " + NamesOf(type));
    }
    out[type.parts.front().name] = name;
    return {};
  }
  for (Value part = parts.first(); part.exists(); part = parts.next(part)) {
    const auto known = [&](const KeyPart& each) { return each.name == part.key(); };
    if (std::none_of(type.parts.begin(), type.parts.end(), known)) {
      return Bad(path + ".parts", "type " + type.name + " has no part '" + std::string(part.key()) +
                                      "'; its parts are " + NamesOf(type));
    }
    out[std::string(part.key())] = part.text();
  }
  return {};
}

Result<MappedFacts> ReadDeclaration(Value declaration, const Catalogue& catalogue,
                                    const std::string& path) {
  const std::string name(declaration.Child("type").text());
  const TypeSpec* type = catalogue.FindType(name);
  if (type == nullptr) {
    return Bad(path + ".type", NoType(name, catalogue));
  }
  PartValues values;
  TRUCE_RETURN_IF_ERROR(ReadParts(declaration, *type, path, values));
  for (const char* place : {"region", "account"}) values[place] = declaration.Child(place).text();
  const Value intent = declaration.Child("intent");
  const std::optional<Intent> read = IntentFromName(intent.text());
  if (!intent.empty() && !read) {
    return Bad(path + ".intent", "must be one of observes, manages, deletes");
  }
  return ReadConstants(*type, values, read.value_or(Intent::kDeletes), catalogue);
}

Result<const MappingRule*> RuleFor(Value spec, std::string_view ns, const AdmissionPolicy& policy) {
  const std::string name(spec.Child("mapping").text());
  if (name.empty()) {
    const MappingRule* rule = policy.identity.mappings.Find("", "", ns);
    if (rule != nullptr) return rule;
    return Bad("spec.values", "no mapping rule says what values declare; name one in spec.mapping");
  }
  const auto found = policy.values.find(name);
  if (found != policy.values.end() && found->second.HoldsIn(ns)) return &found->second;
  if (found != policy.values.end()) {
    return Bad("spec.mapping", "DeclarationMapping '" + name + "' does not hold in namespace '" +
                                   std::string(ns) + "'; name another one");
  }
  return Bad("spec.mapping", "no DeclarationMapping '" + name + "' with chartValues is in force");
}

void Append(MappedFacts mapped, ObjectFacts& facts) {
  std::move(mapped.resources.begin(), mapped.resources.end(), std::back_inserter(facts.resources));
  std::move(mapped.bad_names.begin(), mapped.bad_names.end(), std::back_inserter(facts.bad_names));
  if (!mapped.service.empty()) facts.service = mapped.service;
}

// The whole object but its manifests.
Result<ObjectFacts> ReadOwnershipCheck(Value object, const AdmissionPolicy& policy) {
  const IdentityRules& rules = policy.identity;
  ObjectFacts facts = Identify(object, OwnershipCheckKind(), rules);
  facts.known_kind = true;
  facts.lineage = {};
  const Value spec = object.Child("spec");
  const Value declarations = spec.Child("declarations");
  if (declarations.size() > kDeclarationsMax) {
    return Bad("spec.declarations", "more than 500");
  }
  std::size_t index = 0;
  for (Value each = declarations.first(); each.exists(); each = declarations.next(each)) {
    const std::string path = "spec.declarations[" + std::to_string(index++) + "]";
    TRUCE_ASSIGN_OR_RETURN(MappedFacts mapped, ReadDeclaration(each, *rules.catalogue, path));
    Append(std::move(mapped), facts);
  }
  if (const Value values = spec.Child("values"); !values.empty()) {
    TRUCE_ASSIGN_OR_RETURN(const MappingRule* rule, RuleFor(spec, facts.slot.ns, policy));
    Append(ReadMapping(values, *rule, *rules.catalogue), facts);
  }
  const std::string_view service = spec.Child("service").text();
  if (!service.empty()) facts.service = OneLine(service, 256);
  return facts;
}

// One for each of spec.manifests.
Result<std::vector<AskedObject>> ManifestsOf(const AskedObject& check) {
  std::vector<AskedObject> out;
  const GroupKind& kind = OwnershipCheckKind();
  if (check.group != kind.group || check.kind != kind.kind) return out;
  const Value manifests = check.object.Child("spec").Child("manifests");
  if (manifests.size() > kManifestsMax) return Bad("spec.manifests", "more than 500");
  for (Value each = manifests.first(); each.exists(); each = manifests.next(each)) {
    const std::string path = "spec.manifests[" + std::to_string(out.size()) + "]";
    const std::string_view version = each.Child("apiVersion").text();
    const std::size_t slash = version.find('/');
    AskedObject asked = check;
    asked.group = slash == std::string_view::npos ? "" : version.substr(0, slash);
    asked.kind = each.Child("kind").text();
    asked.object = each;
    const bool is_versioned = !version.empty() && slash != version.size() - 1;
    if (!is_versioned || asked.kind.empty() ||
        each.Child("metadata").Child("name").text().empty()) {
      return Bad(path, "has no apiVersion, kind or metadata.name; write a whole object");
    }
    if (asked.kind == kind.kind && asked.group == kind.group) {
      return Bad(path, "is an OwnershipCheck itself; leave it out");
    }
    out.push_back(asked);
  }
  return out;
}

}  // namespace

const GroupKind& OwnershipCheckKind() {
  static const GroupKind kKind{"truce.dev", "OwnershipCheck"};
  return kKind;
}

Result<ReviewCase> QuestionOf(const AskedObject& asked, const AdmissionPolicy& policy) {
  ReviewCase out;
  const GroupKind kind{std::string(asked.group), std::string(asked.kind)};
  const bool is_check = kind == OwnershipCheckKind();
  out.question = Question{.for_party = is_check};
  ReviewRequest& review = out.request;
  review.uid.text = asked.review;
  review.requester = RequesterOf(asked.user, policy);
  if (is_check) {
    TRUCE_ASSIGN_OR_RETURN(review.object, ReadOwnershipCheck(asked.object, policy));
    out.question->source = asked.object.Child("spec").Child("source").text();
  } else {
    review.object = Identify(asked.object, kind, policy.identity, asked.ns);
    // The author of a manifest can claim any parent.
    review.object.lineage.controller.reset();
    if (review.object.uid.empty()) review.object.uid.text = kManifestUid;
  }
  TRUCE_RETURN_IF_ERROR(Complete(asked.object, policy, out));
  return out;
}

Result<std::vector<ReviewCase>> QuestionsOf(const AskedObject& check,
                                            const AdmissionPolicy& policy) {
  std::vector<ReviewCase> out;
  TRUCE_ASSIGN_OR_RETURN(const std::vector<AskedObject> manifests, ManifestsOf(check));
  TRUCE_ASSIGN_OR_RETURN(ReviewCase own, QuestionOf(check, policy));
  out.push_back(std::move(own));
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    Result<ReviewCase> part = QuestionOf(manifests[i], policy);
    if (!part.ok()) {
      return std::move(part).error().Within("spec.manifests[" + std::to_string(i) + "]");
    }
    if (ConcernsRegistry(part.value().request)) out.push_back(std::move(part).value());
  }
  return out;
}

}  // namespace truce
