// Spellings of one value made equal, before keys are compared.
#ifndef TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_
#define TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_

#include <optional>
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
    kArnResource,   // of an ARN, what follows the fifth ':'; other values stay
    kSecretName,    // of a secret's ARN, the name without its six random characters
    kDns,           // lower, without trailing dot, "\052" at the beginning → "*"
    kAddPrefix,     // `argument` before the value
    kCidr,          // of a block of IPv4 or IPv6 addresses, as AWS writes it: 10.0.0.0/8, ::/0
    kStripAccount,  // 12 digits and '/' at the beginning (123456789012/sg-0a1b2c3d)
    kObjectKey,     // of an object's key, no "./" or '/' at the beginning, no '/' twice: as the
                    // provider cleans it
    kMap,           // `argument` is "from>to": a value equal to `from` becomes `to`
  };

  Op op = Op::kLower;
  std::string argument;  // only of ops that name it above; else ""

  bool operator==(const Normaliser&) const = default;
};

// The op as the type file writes it ("lower", "strip-prefix:alias/").
std::string Text(const Normaliser& normaliser);

// The op that `text` writes; empty if there is none such.
std::optional<Normaliser> ParseNormaliser(std::string_view text);

// `value` through all `normalisers` in order. Pure. A result may be empty: then the value names
// nothing.
std::string Normalise(std::span<const Normaliser> normalisers, std::string_view value);

}  // namespace truce

#endif  // TRUCE_REGISTRY_CATALOGUE_NORMALISE_H_
