// Base64 (RFC 4648): as Kubernetes writes certificates (section 4), and for URLs (section 5).
#ifndef TRUCE_WEBHOOK_WIRE_BASE64_H_
#define TRUCE_WEBHOOK_WIRE_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace truce {

// With padding. Nothing when `text` is empty or no base64; line ends and spaces are skipped.
std::optional<std::string> DecodeBase64(std::string text);
std::string EncodeBase64(std::string_view bytes);

// With '-' and '_' for '+' and '/', without padding: fit for a URL as it is. Nothing when
// `text` is empty or anything else.
std::optional<std::string> DecodeBase64Url(std::string text);
std::string EncodeBase64Url(std::string_view bytes);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_WIRE_BASE64_H_
