// The catalogue of AWS types: which Kubernetes kinds declare which type of cloud resource, and how
// a resource of that type is named. Data only; it reads no objects and builds no keys (that is
// identity).
//
// Source: schema/aws-types.tsv and schema/external-names.tsv, whose columns and syntax
// their heads explain.
// Thread-safety: everything here is immutable after it is made; use freely from any thread.
#ifndef TRUCE_REGISTRY_CATALOGUE_CATALOGUE_H_
#define TRUCE_REGISTRY_CATALOGUE_CATALOGUE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/result.h"
#include "registry/catalogue/flavour.h"
#include "registry/catalogue/name_form.h"
#include "registry/catalogue/normalise.h"

namespace truce {

// Within which bounds AWS lets a name exist once. See TypeSpec::KeyHasAccount, KeyHasRegion.
enum class Scope { kPartition, kAccount, kAccountRegion, kParent, kAssignedId };

// How sure the scope is: read in AWS's documentation and checked; judged by knowledge of the API;
// derived by a rule. Conflicts of anything but kResearched warn by default.
enum class Certainty { kResearched, kJudged, kRule };

// "partition", "account", "account+region", "parent", "assigned-id".
std::string_view Name(Scope scope);
std::optional<Scope> ScopeFromName(std::string_view name);
// "researched", "judged", "rule".
std::string_view Name(Certainty certainty);
std::optional<Certainty> CertaintyFromName(std::string_view name);

// One value of a declaration: a part of its resource's key, or a value that goes with it.
struct KeyPart {
  enum class Source {
    kExternalName,          // annotation crossplane.io/external-name, else metadata.name
    kAssignedExternalName,  // the annotation only: an id that AWS assigns; absent until created
    kField,                 // `paths`
    kConstant,              // always `default_value`
  };

  // The part's name in the key text and in ARN templates: [A-Za-z][A-Za-z0-9]*, unique in its type.
  std::string name;
  Source source = Source::kExternalName;

  // kField: paths below spec.forProvider, each looked for also below spec.initProvider. An array of
  // one element on the way is looked through (older versions have singleton lists). null, false, ""
  // and [] count as absent; numbers and true are written as JSON writes them.
  // Not `list`: the first path that has a value. `list`: the set of all elements of all paths.
  // A path whose value is absent while a sibling `<last>Ref`, `<last>Refs` or `<last>Selector`
  // exists (of a list also `<last without s>Refs`, `…Selector`) is not known yet: the default does
  // not apply.
  std::vector<std::vector<std::string>> paths;

  // Taken when the source has no value. Already normalised. Without one, the part is not known.
  std::optional<std::string> default_value;

  // A set: the declaration has one key per element.
  bool list = false;

  // The type ("ec2/VPC") whose resource this value names; "" if none or several. The normalised
  // value then equals the only key part of that resource (its name or its assigned id). An ARN, a
  // URL or another of that type's forms counts as the name that it shows; if it also shows a part
  // that comes beside this one (a function's qualifier), and no field states that part, it counts,
  // too.
  std::string refers_to;

  // The type of whose forms the value has one, or it names nothing: without, any text would be an
  // id over all accounts. Where the form tells an id, the value is that, else the whole text. "" =
  // any text counts. Implied by a reference to an id, where the type's key holds no account.
  std::string form_of;

  // A part of the same type that names the zone in which this name lies, which it may leave out
  // (`www` in `example.org`); "" = none. That part refers to one type, which has the extra `name`.
  std::string within;

  // The value counts only where that of `part`, of the same type, is one of `values` (ports, under
  // a protocol that has some); elsewhere the default holds. Said by `parts`, for both flavours.
  struct Condition {
    std::string part;
    std::vector<std::string> values;

    bool operator==(const Condition&) const = default;
  };
  std::optional<Condition> only;

  // A part of the same type that this one may repeat (a group that is its own source): then the
  // value is "self". "" = none. Said by `parts`, for both flavours.
  std::string self;

  // Applied in order by Normalise().
  std::vector<Normaliser> normalisers;

  bool operator==(const KeyPart&) const = default;
};

struct KindSpec {
  std::string group;  // "s3.aws.upbound.io"
  std::string kind;   // "Bucket"
  Flavour flavour = Flavour::kUpjetCluster;
  bool sure = true;  // false: how its objects name the resource is judged; their conflicts warn
};

// AWS's rule for the value of one part. Lengths count bytes; 0 = no bound.
struct NameRule {
  std::string part;   // names one of `parts` or `extra`; "" = there is no rule
  std::string regex;  // RE2 syntax, the whole value must match; "" = none
  std::size_t min_length = 0;
  std::size_t max_length = 0;
  std::string extra_rule;  // for people: rules beyond the pattern
};

// The type writes into a parent. Two declarations with equal keys overwrite each other; additive:
// other values may stand beside it; exclusive: the parent has this slot once.
struct Attachment {
  enum class Mode { kExclusive, kAdditive };
  struct Link {
    std::string parent_part;              // part of the parent's key
    std::string own_part;                 // one of `parts` or `extra` that holds its value
    std::vector<Normaliser> normalisers;  // from the own value to the parent's (ARN → name)
  };

  std::string parent;  // type name; "account" = the account itself; "*" = a resource of any type
  Mode mode = Mode::kExclusive;
  // Covers every key part of `parent`, or is empty: then the declaration does not show the parent's
  // key ("account", "*", a parent named by something its key does not hold).
  std::vector<Link> links;
};

struct TypeSpec {
  std::string name;   // "s3/Bucket": service/Kind
  std::string space;  // first part of the key text; types of one space share resources
  std::vector<KindSpec> kinds;

  Scope scope = Scope::kAssignedId;
  bool parent_in_partition =
      false;  // kParent only: the parent is unique in its partition (a bucket)
  Certainty certainty = Certainty::kRule;

  // Paths below spec.forProvider of the region; empty = the type has none (global services).
  std::vector<std::string> region_path;
  std::vector<std::string> community_region_path;
  // Path below spec.forProvider of a field that names the AWS account which holds the resource
  // (Glue's catalogId); empty = no such field. Absent in the object = the credentials' account. A
  // value that is not 12 digits names something else (a federated catalog): then there is no key.
  std::vector<std::string> account_path;
  std::vector<std::string> ack_account_path;  // the same below spec of ACK's kind

  // The key, in order. Empty = a singleton: one per account (and region).
  std::vector<KeyPart> parts;
  std::vector<KeyPart> community_parts;  // same names in the same order; empty = as `parts`
  std::vector<KeyPart> ack_parts;        // same names in the same order; fields stand below spec
  // Values outside the key: names that AWS lets repeat (assigned-id types), ARN ingredients.
  std::vector<KeyPart> extra;
  std::vector<KeyPart> community_extra;  // same names; empty = as `extra`
  std::vector<KeyPart> ack_extra;        // some of these names, in this order
  // Path below status of an object of ACK to the id by which its controller finds the resource.
  // Empty: it finds it by fields.
  std::vector<std::string> ack_id;

  // "arn:{partition}:s3:::{name}". {partition}, {region}, {account}, names of `parts` and `extra`;
  // {*} = known to AWS alone. "" = the type has no ARN, or none is known.
  std::string arn_template;
  // Which forms the external name takes, and URLs and ARNs of the resource; the first that fits
  // counts. Empty: nothing is known, or it says no more than the fields do.
  std::vector<NameForm> external_name;
  // The id that AWS gives exists once in the partition, over all accounts and regions; else once
  // in what the key's scope says.
  bool id_in_partition = false;
  NameRule name_rule;
  std::optional<Attachment> attachment;
  std::string family;             // how the provider forms the external name; for people
  std::string default_quota;      // for people; "" = not known
  std::string if_already_exists;  // for people: effect of creating a taken name; "" = not known
  std::string note;               // for people
  std::string origin;             // the row's place: "schema/aws-types.tsv:17"

  // Whether the key text carries the account, the region. (Partition and parts always.)
  bool KeyHasAccount() const;
  bool KeyHasRegion() const;

  // Whether the key is an id that the provider writes into the annotation after creation.
  bool Late(Flavour flavour) const;

  const std::vector<KeyPart>& PartsFor(Flavour flavour) const;
  const std::vector<KeyPart>& ExtraFor(Flavour flavour) const;
  const std::vector<std::string>& RegionPathFor(Flavour flavour) const;
  const std::vector<std::string>& AccountPathFor(Flavour flavour) const;

  // "s3" of "s3/Bucket".
  std::string_view Service() const;
};

// The result of FindKind.
struct KindEntry {
  std::string_view group;
  std::string_view kind;
  Flavour flavour = Flavour::kUpjetCluster;
  const TypeSpec* type = nullptr;  // never null
  bool sure = true;                // as KindSpec::sure
};

// A type file, and what errors call it.
struct CatalogueFile {
  std::string_view text;
  std::string_view name;
};

class Catalogue {
 public:
  // The catalogue compiled into the program. Parsed at the first call.
  static const Catalogue& BuiltIn();

  // A whole catalogue. Errors: kInvalidArgument "FILE:LINE: COLUMN: what is wrong; how to mend it"
  // for the first faulty row.
  static Result<Catalogue> Parse(std::string_view text, std::string_view file_name);

  // The same, with the rows of `names` (same format) put over those of `types`. Every type that is
  // researched, or whose external name a provider assigns, must have a row there.
  static Result<Catalogue> Parse(const CatalogueFile& types, const CatalogueFile& names);

  // This catalogue with the rows of `text` (same format; the header row may leave columns out)
  // added, or put in place of the rows of the same type. The result is checked as a whole: errors
  // as above, or "FILE: does not fit the other types: OTHER:LINE: ..." when rows elsewhere lose
  // what they refer to.
  Result<Catalogue> WithOverrides(std::string_view text, std::string_view file_name) const;

  // Null if no type has this kind. O(1), allocates nothing. Pointers live as long as any copy of
  // this catalogue.
  const KindEntry* FindKind(std::string_view group, std::string_view kind) const;

  // Null if there is none. `name` as in TypeSpec::name. O(1), allocates nothing.
  const TypeSpec* FindType(std::string_view name) const;

  // All types, sorted by name.
  std::span<const TypeSpec> types() const;

  // 16 hex digits over everything that shapes keys: equal versions make equal keys.
  const std::string& version() const;

 private:
  struct Index;
  explicit Catalogue(std::shared_ptr<const Index> index);
  static Result<Catalogue> Build(std::vector<TypeSpec> types);

  std::shared_ptr<const Index> index_;
};

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_CATALOGUE_H_
