// Reading the parts of a resource's name from a managed resource, as its type's row says.
#ifndef TRUCE_REGISTRY_IDENTITY_PARTS_H_
#define TRUCE_REGISTRY_IDENTITY_PARTS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "registry/identity/evidence.h"
#include "registry/identity/identity.h"

namespace truce {

// One value of a part.
struct Element {
  std::string value;       // normalised
  std::string_view shown;  // as written; valid while the object's document and the catalogue live
};

// The value of one part of a type, as an object states it.
struct Reading {
  const KeyPart* part = nullptr;
  std::vector<Element> elements;  // one, or the set of a list part in document order
  std::string missing;            // why there is nothing (more) to know; empty when all is known
  std::optional<Reference> reference;
  bool by_default = false;  // no field states it
  bool replaced = false;    // DeclaredResource::replaced
  // Region, account and parts that the last value tells beside the name: read by the forms of the
  // type that the part refers to, or as an ARN. Views of the object's document.
  std::optional<NameReading> by_form;
};

// A type whose parts are being read, and where refusals go.
struct PartContext {
  const TypeSpec& type;
  const Catalogue& catalogue;
  std::vector<BadName>& bad_names;
  // The reading of the external name by the forms of the type; null: it has none of them.
  const NameReading* external = nullptr;
  // Gets what is said of a text that is no id (ObjectFacts::name_finding); null: nobody listens.
  std::string* finding = nullptr;
  // A reference has the field's name without its ID, ARN or Name (vpcID: vpcRef), as ACK writes it.
  bool short_references = false;
};

// Reads `part` of the managed resource `view`. Values that must not become keys are reported to the
// context and leave the part missing.
Reading ReadPart(const KeyPart& part, const ObjectView& view, const PartContext& context);

// Gives parts that no field states what the name in another part tells of them: the qualifier of
// `function:orders:blue`.
void FillFromNames(std::vector<Reading>& parts, const PartContext& context);

// The reading of `text` by the first form of `type` that it has; nothing when it has none.
std::optional<NameReading> ReadForm(std::string_view text, const TypeSpec& type);

// Reads `text` by the template of its type's ARNs; nothing when it is none of these.
std::optional<NameReading> ReadTemplate(std::string_view text, const TypeSpec& type);

// The part as the reading tells it, normalised; else its default. Nothing: neither is there.
std::optional<std::string> PartValue(const KeyPart& part, const NameReading& reading);

// Partition, region and account of an ARN, whatever it is of; nothing when it is none.
std::optional<NameReading> ReadArnPlace(std::string_view text);

// Adds the value `raw` to `reading`: checked, of an ARN, a URL or another form of the type that the
// part refers to the name alone, normalised, once. Otherwise says what is wrong with it, as the end
// of a sentence ("names nothing"); empty when all is well.
std::string AddElement(Reading& reading, std::string_view raw, const PartContext& context);

// The reading of `part` in `text`: a value, where it is empty the default, else nothing, since
// `missing`.
Reading ReadText(const KeyPart& part, std::string_view text, std::string missing,
                 const PartContext& context);

// Whether the part is the external name, or an id that stands there.
bool IsExternalName(const KeyPart& part);

// Whether two parts hold the same text of an object, perhaps normalised differently.
bool SameSource(const KeyPart& a, const KeyPart& b);

// A scalar's text as identity reads it; empty for null, false, "", arrays and objects.
std::string_view ScalarOf(Value value);

// The scalar at `path` in the first of the view's sections that has one.
std::string_view FieldOf(const ObjectView& view, const std::vector<std::string>& path);

// "spec.forProvider.a.b" of the section "spec.forProvider".
std::string FieldName(std::string_view section, std::span<const std::string> path);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_PARTS_H_
