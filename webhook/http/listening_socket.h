// A socket that listens, from the text of an address.
#ifndef TRUCE_WEBHOOK_HTTP_LISTENING_SOCKET_H_
#define TRUCE_WEBHOOK_HTTP_LISTENING_SOCKET_H_

#include <memory>
#include <string>
#include <string_view>

#include "registry/base/descriptor.h"
#include "registry/base/result.h"

struct sockaddr_storage;

namespace truce {

// Owns the descriptor and, for a Unix socket, the file. External synchronization.
struct ListeningSocket {
  Descriptor descriptor;  // non-blocking
  int port = 0;           // 0 for a Unix socket
  std::string path;       // of a Unix socket

  // Listens on "HOST:PORT", "[V6]:PORT", "[::]:PORT", "*:PORT", ":PORT" (these three: all
  // addresses, both families where the system can), or "unix:PATH" (mode 0600 from the moment it
  // exists; a file left by a dead process is replaced).
  // Errors: kInvalidArgument (malformed address, unknown host, path too long); kConflict (in use);
  // kUnavailable (anything else the system says). Messages name the address.
  static Result<std::unique_ptr<ListeningSocket>> Open(std::string_view address);
  ~ListeningSocket();
};

// "192.0.2.7", "2001:db8::7" (an IPv4 address mapped into IPv6 as IPv4), or "unix".
std::string AddressText(const sockaddr_storage& address);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_LISTENING_SOCKET_H_
