// The answer of an HTTP/1.1 server, read strictly: the head, and a body that comes piece by piece.
#ifndef TRUCE_WEBHOOK_KUBE_RESPONSE_READER_H_
#define TRUCE_WEBHOOK_KUBE_RESPONSE_READER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"

namespace truce {

inline constexpr std::size_t kResponseHeadBytesMax = 32 * 1024;
inline constexpr int kResponseFieldsMax = 100;
inline constexpr std::size_t kResponseStatusLineBytesMax = 512;

struct ResponseHead {
  int status = 0;
  std::string content_type;  // lower-case, without parameters
  std::string media_type;    // the same as it was sent
  std::string location;
  std::optional<std::chrono::milliseconds> retry_after;  // at most five minutes
  bool encoded = false;                                  // a Content-Encoding other than identity
  bool closes = false;                                   // the connection ends after this answer
  bool chunked = false;
  std::vector<std::string> warnings;  // texts of the Warning fields, without malformed ones
  // The other fields, names lower-case.
  std::vector<std::pair<std::string, std::string>> others;
  std::optional<std::uint64_t> length;  // none, and not chunked: the body ends with the connection
};

// Finds the end of the head in `bytes`: how many bytes it has with its empty line. 0: not whole.
std::size_t HeadSize(std::string_view bytes);

// Reads a whole head (its empty line included). Errors: kInvalidArgument: status line or a field
// malformed, over the limits above, Content-Length repeated or with Transfer-Encoding, a transfer
// coding other than chunked.
Result<ResponseHead> ParseResponseHead(std::string_view head);

// Takes chunk frames off a body. External synchronization.
class ChunkDecoder final {
 public:
  // Appends the payload in `bytes` to `payload`. Errors: kInvalidArgument (a chunk size that is not
  // 1 to 8 hexadecimal digits, a line over 4 KiB, trailers over 8 KiB).
  Result<void> Decode(std::string_view bytes, std::string& payload);
  // The last chunk and its trailers were read.
  bool done() const { return step_ == Step::kDone; }

 private:
  enum class Step : std::uint8_t { kSize, kData, kDataEnd, kTrailer, kDone };

  Result<void> TakeLine(std::string_view line);

  Step step_ = Step::kSize;
  std::uint64_t left_ = 0;
  std::string line_;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_RESPONSE_READER_H_
