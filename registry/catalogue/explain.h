// A type's row of the catalogue, in words; `truce explain` and `truce types` print these.
#ifndef TRUCE_REGISTRY_CATALOGUE_EXPLAIN_H_
#define TRUCE_REGISTRY_CATALOGUE_EXPLAIN_H_

#include <string>
#include <string_view>

#include "registry/catalogue/catalogue.h"

namespace truce {

// The mode for a second declaration of a taken resource when none is configured: "deny" if the
// type's scope is researched, else "warn".
std::string_view DefaultConflict(const TypeSpec& spec);

// Where the value of a part comes from, for kinds of upjet: "spec.forProvider.bucket", "annotation
// crossplane.io/external-name, else metadata.name"; with default and normalisation.
std::string Describe(const KeyPart& part);

// The message where there is no such type: "no type 's3/Bukket'; did you mean 's3/Bucket'?", or how
// to see all.
std::string NoType(std::string_view type, const Catalogue& catalogue);

// The whole row as aligned text of lines of at most about 100 columns, ending in a newline.
std::string Explain(const TypeSpec& spec);

// One line of the list of types.
struct TypeSummary {
  std::string type;        // "s3/BucketPolicy"
  std::string scope;       // "parent"
  std::string certainty;   // "researched"
  std::string conflict;    // "deny" or "warn"
  std::string key;         // "bucket"; parts joined by ", "; "-" for a singleton
  std::string attachment;  // "s3/Bucket (exclusive)" or "-"
  std::string space;       // "s3/BucketPolicy"
};
TypeSummary Summarise(const TypeSpec& spec);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_EXPLAIN_H_
