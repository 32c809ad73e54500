// Base64 as kubeconfigs and exec plugins write certificates.
#ifndef TRUCE_WEBHOOK_CLUSTER_CLIENT_BASE64_H_
#define TRUCE_WEBHOOK_CLUSTER_CLIENT_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace truce {

// Nothing when `text` is empty or not base64 (RFC 4648, section 4); line ends and spaces are
// skipped.
std::optional<std::string> DecodeBase64(std::string text);
std::string EncodeBase64(std::string_view bytes);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLUSTER_CLIENT_BASE64_H_
