// What the requests of a thread lie in, one after the other: the caches hold it. In buffers of its
// own for each connection every request would come into memory that they do not hold.
#ifndef TRUCE_WEBHOOK_HTTP_SPARE_BUFFERS_H_
#define TRUCE_WEBHOOK_HTTP_SPARE_BUFFERS_H_

#include <cstddef>
#include <memory>
#include <string>

#include "webhook/http/server.h"

namespace truce {

// Of a thread of one server, while no connection that it works on has them. Lent by taking them.
struct SpareBuffers {
  // A usual body's buffer may have twice its size.
  static constexpr std::size_t kBodyBytesMax = 2 * HttpLimits::kSmallBodyBytes;

  std::unique_ptr<char[]> input;  // HttpLimits::head_bytes_max bytes, or null
  std::string body;               // at most kBodyBytesMax; its content means nothing
};

inline thread_local SpareBuffers spare_buffers;

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_SPARE_BUFFERS_H_
