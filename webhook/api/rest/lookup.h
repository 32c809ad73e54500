// Lookup: which resources somebody means, by whatever they call them.
#ifndef TRUCE_WEBHOOK_API_REST_LOOKUP_H_
#define TRUCE_WEBHOOK_API_REST_LOOKUP_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "registry/base/result.h"
#include "registry/identity/text_names.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/api/problem.h"

namespace truce {

// The words of the question; empty fields say nothing. Exactly one of the first four.
struct LookupWords {
  std::string resource;  // any of the forms below
  std::string arn;
  std::string key;   // a name as describe prints it
  std::string name;  // what people call it, with `type` or without
  std::string type;
  std::string account;            // narrows what is found
  std::string region;             // narrows what is found
  std::optional<std::string> ns;  // of an object
  // Only what has that very ARN: an ARN is not read by the catalogue's forms, which takes longer.
  // Whoever finds nothing asks again without.
  bool known_arn = false;
};

// The forms that people can write for `resource`, in one sentence: the remedy where a word has none
// of these forms.
std::string_view LookupForms();

// The meaning of the words: everything to look for.
struct Lookup {
  struct Named {
    std::string name;
    std::set<std::string> types;  // empty: of any type
    std::string zone;             // not empty: within the zone of that name alone
  };
  struct Objects {
    std::set<GroupKind> kinds;
    std::string cluster;
    std::string name;
    std::optional<std::string> ns;  // nothing: in any
  };
  std::shared_ptr<const Catalogue> catalogue;
  std::optional<ResourceId> id;
  std::vector<KeyText> keys;
  std::vector<TextName> text_names;
  std::string arn;
  std::vector<Named> named;
  std::optional<Objects> objects;
  std::string account;
  std::string region;
  // The answer when nothing is found, unless the name is free then.
  std::optional<Problem> if_nothing;
};

// A problem where the words have none of the forms, or say too little: words that were not
// understood never count as free.
struct LookupReading {
  Lookup lookup;
  std::optional<Problem> problem;
};
LookupReading ReadLookup(const LookupWords& words, const AdmissionPolicy& policy);

// A resource that was meant.
struct FoundResource {
  Owner owner;
  // False: its account is not known, and may be another one than was asked for.
  bool certain = true;
  // Only by an object: only callers who may read the ownership see it, because it names the holder.
  bool by_object = false;
};
struct FoundResources {
  std::vector<FoundResource> resources;  // by key, each once
  bool complete = true;                  // false: more may fit
};
// Errors: those of the store.
Result<FoundResources> Find(const Lookup& lookup, const Store& store, Deadline deadline);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_LOOKUP_H_
