// How keys and identities are spelt (design section 8); the inverse is in values.h.
#ifndef TRUCE_REGISTRY_IDENTITY_ENCODING_H_
#define TRUCE_REGISTRY_IDENTITY_ENCODING_H_

#include <string>
#include <string_view>

namespace truce {

// Appends `text` as PercentEncode writes it.
void AppendEncoded(std::string& out, std::string_view text);
// Appends an account: 12 digits, or "?" and the encoded stand-in.
void AppendAccount(std::string& out, std::string_view account);
// Appends "|part=value".
void AppendPart(std::string& out, std::string_view part, std::string_view value);

}  // namespace truce

#endif  // TRUCE_REGISTRY_IDENTITY_ENCODING_H_
