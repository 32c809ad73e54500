// Listening sockets, from the text of an address.
#ifndef TRUCE_WEBHOOK_HTTP_SOCKET_ADDRESS_H_
#define TRUCE_WEBHOOK_HTTP_SOCKET_ADDRESS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "registry/base/result.h"

struct sockaddr_storage;

namespace truce {

// A listening, non-blocking, close-on-exec socket. It owns the descriptor and, for a Unix socket,
// the file. External synchronization.
class ListeningSocket final {
 public:
  // Listens on "HOST:PORT", "[V6]:PORT", "[::]:PORT", "*:PORT", ":PORT" (these three: all
  // addresses, both families where the system can), or "unix:PATH" (mode 0600 from the moment it
  // exists; a file left by a dead process is replaced). Errors: kInvalidArgument (malformed
  // address, unknown host, path too long); kConflict (in use);
  //   kUnavailable (anything else the system says). Messages name the address.
  static Result<std::unique_ptr<ListeningSocket>> Open(std::string_view address);

  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  int descriptor() const { return descriptor_; }
  int port() const { return port_; }  // 0 for a Unix socket

 private:
  ListeningSocket(int descriptor, int port, std::string path)
      : descriptor_(descriptor), port_(port), path_(std::move(path)) {}

  static Result<std::unique_ptr<ListeningSocket>> OpenTcp(std::string_view address);
  static Result<std::unique_ptr<ListeningSocket>> OpenUnix(std::string_view path);

  int descriptor_;
  int port_;
  std::string path_;  // of a Unix socket
};

// The bits of an IPv6 address, or of an IPv4 address as it is mapped into IPv6; zero for a Unix
// socket.
std::array<std::uint64_t, 2> AddressBits(const sockaddr_storage& address);

// "192.0.2.7", "2001:db8::7" (an IPv4 address mapped into IPv6 as IPv4), or "unix".
std::string AddressText(const sockaddr_storage& address);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_SOCKET_ADDRESS_H_
