// The HTTP proxy on the way to a server, by the variables of curl, kubectl and Go's programs.
#ifndef TRUCE_WEBHOOK_KUBE_PROXY_H_
#define TRUCE_WEBHOOK_KUBE_PROXY_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "registry/base/result.h"
#include "webhook/kube/server_settings.h"

namespace truce {

// "http://[USER:PASSWORD@]HOST[:PORT]", also without its scheme; user and password
// percent-encoded. Errors: kInvalidArgument: another scheme, a path, a bad host or port; no message
// shows a password.
Result<ProxySettings> ParseProxy(std::string_view url);

// Those of this process that matter to ProxyFor, by name.
std::map<std::string, std::string> ProxyVariables();

// The proxy that HTTPS_PROXY (https_proxy) names for `server`. Nothing where it is reached
// directly: over plain http, over loopback or a Unix socket, or because NO_PROXY (no_proxy) has it.
// An entry of that list is a name (all names below it, too), ".name" (only those), an address, each
// with or without ":PORT", a block of addresses ("10.0.0.0/8"), or "*". Errors: kInvalidArgument:
// ParseProxy's, after the variable's name.
Result<std::optional<ProxySettings>> ProxyFor(const ServerAddress& server,
                                              const std::map<std::string, std::string>& variables);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_PROXY_H_
