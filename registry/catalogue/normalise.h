// Spellings of one value made equal, before keys are compared.
#ifndef TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_
#define TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_

#include <span>
#include <string>
#include <string_view>

namespace truce {

struct Normaliser {
  enum class Op {
    kLower,         // A-Z to a-z; other bytes stay
    kStripPrefix,   // one leading `argument`
    kStripSuffix,   // one trailing `argument`
    kBasename,      // what follows the last '/' or ':' (queue URL, ARN, id path → name)
    kUntil,         // what precedes the first `argument`
    kAfter,         // what follows the last `argument`
    kArnResource,   // of an ARN, what follows the fifth ':'; other values stay
    kSecretName,    // of a secret's ARN, the name without its six random characters
    kDns,           // lower, without trailing dot, "\052" → "*"
  };

  Op op = Op::kLower;
  std::string argument;  // kStripPrefix, kStripSuffix, kUntil, kAfter; else ""

  bool operator==(const Normaliser&) const = default;
};

// `value` through all `normalisers` in order. Pure. Never makes a value longer. A result may be
// empty: then the value names nothing.
std::string Normalise(std::span<const Normaliser> normalisers, std::string_view value);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_
