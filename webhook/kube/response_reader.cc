#include "webhook/kube/response_reader.h"

#include <algorithm>
#include <charconv>

#include "registry/base/result.h"
#include "registry/base/text.h"

namespace truce {
namespace {

constexpr std::size_t kChunkLineBytesMax = 4096;
constexpr std::size_t kTrailerBytesMax = 8192;
constexpr std::chrono::minutes kRetryAfterMax{5};

std::optional<std::uint64_t> ParseDigits(std::string_view text, int base) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsFieldName(std::string_view name) {
  return !name.empty() && IsAllVisible(name) && name.find(':') == std::string_view::npos;
}

bool IsFieldValue(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) { return !IsControl(c) || c == '\t'; });
}

Result<void> ParseStatusLine(std::string_view line, ResponseHead& head) {
  const bool is_http = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  if (!is_http || line.size() < 12 || line.size() > kResponseStatusLineBytesMax) {
    return InvalidArgument("an answer that is not HTTP/1.1");
  }
  head.closes = line[7] == '0';
  const std::optional<std::uint64_t> status = ParseDigits(line.substr(9, 3), 10);
  const bool is_ended = line.size() == 12 || line[12] == ' ';
  if (!status || *status < 100 || *status > 599 || !is_ended || !IsFieldValue(line)) {
    return InvalidArgument("an answer with a malformed status line");
  }
  head.status = static_cast<int>(*status);
  return {};
}

// The quoted text of `299 - "text"`, as an API server writes it, one a field.
std::optional<std::string> ParseWarning(std::string_view value) {
  const std::size_t begin = value.find('"');
  if (begin == std::string_view::npos) return std::nullopt;
  std::string text;
  for (std::size_t at = begin + 1; at < value.size(); ++at) {
    if (value[at] == '"') return text;
    if (value[at] == '\\' && ++at == value.size()) break;
    text += value[at];
  }
  return std::nullopt;
}

Result<void> TakeField(const std::string& name, std::string_view value, ResponseHead& head) {
  if (name == "content-length") {
    if (head.length) return InvalidArgument("an answer with Content-Length twice");
    head.length = ParseDigits(value, 10);
    if (!head.length) return InvalidArgument("an answer with a malformed Content-Length");
  } else if (name == "transfer-encoding") {
    if (head.chunked || LowerOf(value) != "chunked")
      return InvalidArgument("an unknown transfer coding");
    head.chunked = true;
  } else if (name == "content-type") {
    head.content_type = LowerOf(Trimmed(value.substr(0, value.find(';'))));
    head.media_type = value;
  } else if (name == "content-encoding") {
    head.encoded = LowerOf(value) != "identity";
  } else if (name == "location") {
    head.location = value;
  } else if (name == "connection") {
    head.closes = head.closes || LowerOf(value).find("close") != std::string::npos;
  } else if (name == "retry-after") {
    // The form with a date is never sent by an API server.
    const std::optional<std::uint64_t> seconds = ParseDigits(value, 10);
    if (seconds) {
      head.retry_after = std::chrono::seconds(
          std::min<std::uint64_t>(*seconds, std::chrono::seconds(kRetryAfterMax).count()));
    }
  } else if (name == "warning") {
    std::optional<std::string> text = ParseWarning(value);
    if (text && !text->empty()) head.warnings.push_back(*std::move(text));
  } else {
    head.others.emplace_back(name, value);
  }
  return {};
}

}  // namespace

std::size_t HeadSize(std::string_view bytes) {
  const std::size_t end = bytes.find("\r\n\r\n");
  return end == std::string_view::npos ? 0 : end + 4;
}

Result<ResponseHead> ParseResponseHead(std::string_view text) {
  ResponseHead head;
  if (text.size() > kResponseHeadBytesMax) return InvalidArgument("an answer with too long a head");
  int lines = 0;
  while (true) {
    const std::size_t end = text.find("\r\n");
    if (end == std::string_view::npos) return InvalidArgument("an answer with half a head");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty()) break;
    if (++lines == 1) {
      TRUCE_RETURN_IF_ERROR(ParseStatusLine(line, head));
      continue;
    }
    if (lines > kResponseFieldsMax + 1) return InvalidArgument("an answer with too many fields");
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !IsFieldName(name)) {
      return InvalidArgument("an answer with a malformed field");
    }
    const std::string_view value = Trimmed(line.substr(colon + 1));
    if (!IsFieldValue(value)) return InvalidArgument("an answer with a malformed field");
    TRUCE_RETURN_IF_ERROR(TakeField(LowerOf(name), value, head));
  }
  if (lines == 0) return InvalidArgument("an answer that is not HTTP/1.1");
  if (head.chunked && head.length)
    return InvalidArgument("an answer with Content-Length and chunks");
  if (head.status == 204 || head.status == 304) head.length = 0;
  return head;
}

Result<void> ChunkDecoder::TakeLine(std::string_view line) {
  switch (step_) {
    case Step::kSize: {
      const std::string_view digits = Trimmed(line.substr(0, line.find(';')));
      const std::optional<std::uint64_t> size = ParseDigits(digits, 16);
      if (!size || digits.size() > 8) return InvalidArgument("a malformed chunk size");
      left_ = *size;
      step_ = left_ == 0 ? Step::kTrailer : Step::kData;
      return {};
    }
    case Step::kDataEnd:
      if (!line.empty()) return InvalidArgument("a chunk longer than its size");
      step_ = Step::kSize;
      return {};
    case Step::kTrailer:
      trailer_bytes_ += line.size();
      if (trailer_bytes_ > kTrailerBytesMax) return InvalidArgument("too long trailers");
      if (line.empty()) step_ = Step::kDone;
      return {};
    case Step::kData:
    case Step::kDone: break;
  }
  return InvalidArgument("bytes after the end of the body");
}

Result<void> ChunkDecoder::Decode(std::string_view bytes, std::string& payload) {
  while (!bytes.empty()) {
    if (step_ == Step::kDone) return InvalidArgument("bytes after the end of the body");
    if (step_ == Step::kData) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
      payload.append(bytes.substr(0, count));
      bytes.remove_prefix(count);
      left_ -= count;
      if (left_ == 0) step_ = Step::kDataEnd;
      continue;
    }
    const std::size_t end = bytes.find('\n');
    line_.append(bytes.substr(0, end));
    if (line_.size() > kChunkLineBytesMax) return InvalidArgument("too long a line between chunks");
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
    if (!line_.ends_with('\r')) return InvalidArgument("a line between chunks without its end");
    line_.pop_back();
    TRUCE_RETURN_IF_ERROR(TakeLine(line_));
    line_.clear();
  }
  return {};
}

}  // namespace truce
