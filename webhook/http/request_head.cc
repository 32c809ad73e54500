#include "webhook/http/request_head.h"

#include <algorithm>
#include <array>

#include "registry/base/text.h"

namespace truce {
namespace {

using Refusal = std::optional<HeadRefusal>;

constexpr ByteSet kToken = AlnumAnd("!#$%&'*+-.^_`|~");
constexpr size_t kContentLengthDigitsMax = 18;  // always fits 64 bits
constexpr size_t kMethodBytesMax = 16;  // longer than any registered method that a web server meets

constexpr HeadRefusal Bad(std::string_view reason) {
  return {400, reason, HttpRejection::kBadRequest};
}

// "%0a" and its like; `strict` also refuses a '%' that begins no escape.
bool HasBadEscape(std::string_view text, bool strict) {
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    const bool whole = at + 2 < text.size();
    const int high = whole ? HexValue(text[at + 1]) : -1;
    const int low = whole ? HexValue(text[at + 2]) : -1;
    if (high < 0 || low < 0) {
      if (strict) return true;
      continue;
    }
    if (IsControl(static_cast<char>(high * 16 + low))) return true;
  }
  return false;
}

bool IsKnownMethod(std::string_view method) {
  constexpr std::array<std::string_view, 7> kMethods = {"GET",   "HEAD",   "POST",   "PUT",
                                                        "PATCH", "DELETE", "OPTIONS"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

Refusal CheckTarget(std::string_view target) {
  if (target.empty() || target.front() != '/') return Bad("request target is not a path");
  const bool is_plain = IsAllVisible(target) && target.find('#') == target.npos;
  if (!is_plain || HasBadEscape(target, true)) return Bad("malformed request target");
  return std::nullopt;
}

Refusal ReadRequestLine(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == line.npos || first == last) return Bad("malformed request line");
  head.line = line;
  head.method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  if (!IsFieldName(head.method)) return Bad("malformed request line");
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || !IsDigit(version[5]) ||
      version[6] != '.' || !IsDigit(version[7])) {
    return Bad("malformed request line");
  }
  if (version[5] != '1' || version[7] > '1') {
    return HeadRefusal{505, "only HTTP/1.0 and HTTP/1.1 are supported", HttpRejection::kBadRequest};
  }
  head.minor_version_0 = version[7] == '0';
  head.keep_alive = !head.minor_version_0;
  if (!IsKnownMethod(head.method)) {
    return HeadRefusal{501, "method not implemented", HttpRejection::kBadRequest};
  }
  return CheckTarget(line.substr(first + 1, last - first - 1));
}

// Reads "Name: value" and lower-cases the name in place.
Refusal ReadField(std::span<char> line, RequestHead& head) {
  const std::string_view text(line.data(), line.size());
  const size_t colon = text.find(':');
  if (colon == text.npos || !IsFieldName(text.substr(0, colon))) {
    return Bad("malformed header field");
  }
  for (char& c : line.subspan(0, colon)) c = Lower(c);
  const std::string_view value = Trimmed(text.substr(colon + 1));
  if (!IsFieldValue(value) || HasBadEscape(value, false)) {
    return Bad("control character in a header field");
  }
  head.fields.push_back({text.substr(0, colon), value});
  return std::nullopt;
}

// Splits the block into lines that end in CRLF; a bare CR or LF is nobody's line end (CVE class:
// request smuggling).
Refusal ReadFields(std::span<char> block, const HttpLimits& limits, RequestHead& head) {
  head.fields.reserve(16);
  while (!block.empty()) {
    const std::string_view text(block.data(), block.size());
    const size_t end = text.find('\n');
    if (end == text.npos || end == 0 || text[end - 1] != '\r') return Bad("malformed line end");
    if (head.fields.size() == limits.field_count_max) {
      return HeadRefusal{431, "too many header fields", HttpRejection::kBadRequest};
    }
    if (const Refusal refusal = ReadField(block.subspan(0, end - 1), head)) return refusal;
    block = block.subspan(end + 1);
  }
  return std::nullopt;
}

void ReadConnection(std::string_view value, RequestHead& head) {
  while (!value.empty()) {
    const std::string_view option = Trimmed(TakeUntil(value, ','));
    if (EqualsIgnoringCase(option, "close")) head.keep_alive = false;
    if (head.minor_version_0 && EqualsIgnoringCase(option, "keep-alive")) head.keep_alive = true;
  }
}

// A chunked body has no length that could be checked before it is read, so it is refused.
HeadRefusal RefuseTransferEncoding(std::string_view value, bool has_length, bool minor_version_0) {
  if (has_length) return Bad("both Content-Length and Transfer-Encoding");
  if (minor_version_0) return Bad("Transfer-Encoding in HTTP/1.0");
  if (!EqualsIgnoringCase(value, "chunked")) {
    return {501, "transfer coding not implemented", HttpRejection::kBadRequest};
  }
  return {411, "Content-Length is required", HttpRejection::kBadRequest};
}

// The fields that frame the message; each at most once, whatever its value.
struct Framing {
  std::optional<std::string_view> content_length;
  std::optional<std::string_view> transfer_encoding;
  std::optional<std::string_view> host;
  std::optional<std::string_view> expect;
};

Refusal CollectFraming(RequestHead& head, Framing& framing) {
  for (const HttpField& field : head.fields) {
    if (field.name == "connection") ReadConnection(field.value, head);
    std::optional<std::string_view>* slot =
        field.name == "host"                ? &framing.host
        : field.name == "expect"            ? &framing.expect
        : field.name == "content-length"    ? &framing.content_length
        : field.name == "transfer-encoding" ? &framing.transfer_encoding
                                            : nullptr;
    if (slot == nullptr) continue;
    // Also equal ones: a proxy before us may read the other one (request smuggling).
    if (slot->has_value()) return Bad("repeated header field that must be single");
    *slot = field.value;
  }
  return std::nullopt;
}

Refusal ReadContentLength(std::string_view value, uint64_t& length) {
  if (value.empty() || !AllDigits(value)) return Bad("malformed Content-Length");
  while (value.size() > 1 && value.front() == '0') value.remove_prefix(1);
  if (value.size() > kContentLengthDigitsMax) {
    return HeadRefusal{413, "body too large", HttpRejection::kBodyTooLarge};
  }
  length = 0;
  for (char c : value) length = length * 10 + static_cast<uint64_t>(c - '0');
  return std::nullopt;
}

Refusal CheckFraming(const Framing& framing, const HttpLimits& limits, RequestHead& head) {
  if (!framing.host.has_value() && !head.minor_version_0) return Bad("Host is required");
  if (framing.transfer_encoding.has_value()) {
    return RefuseTransferEncoding(*framing.transfer_encoding, framing.content_length.has_value(),
                                  head.minor_version_0);
  }
  if (framing.content_length.has_value()) {
    if (const Refusal refusal = ReadContentLength(*framing.content_length, head.content_length)) {
      return refusal;
    }
  } else if (head.method == "POST" || head.method == "PUT" || head.method == "PATCH") {
    return HeadRefusal{411, "Content-Length is required", HttpRejection::kBadRequest};
  }
  if (head.content_length > limits.body_bytes_max) {
    return HeadRefusal{413, "body too large", HttpRejection::kBodyTooLarge};
  }
  if (framing.expect.has_value()) {
    if (!EqualsIgnoringCase(*framing.expect, "100-continue")) {
      return HeadRefusal{417, "expectation not supported", HttpRejection::kBadRequest};
    }
    head.expects_continue = !head.minor_version_0;
  }
  return std::nullopt;
}

}  // namespace

bool IsFieldName(std::string_view text) { return !TakeBytes(kToken, text).empty() && text.empty(); }

bool IsFieldValue(std::string_view text) {
  const bool has_control =
      std::any_of(text.begin(), text.end(), [](char c) { return IsControl(c) && c != '\t'; });
  return !has_control && Trimmed(text) == text;
}

Refusal CheckPartialHead(std::string_view data, const HttpLimits& limits) {
  if (data.size() >= limits.head_bytes_max) {
    return HeadRefusal{431, "header block too large", HttpRejection::kBadRequest};
  }
  for (size_t at = data.find('\n'); at != data.npos; at = data.find('\n', at + 1)) {
    if (at == 0 || data[at - 1] != '\r') return Bad("malformed line end");
  }
  const size_t end = std::min(data.find(' '), data.size());
  if (end > kMethodBytesMax || !IsFieldName(data.substr(0, end))) {
    return Bad("malformed request line");
  }
  return std::nullopt;
}

std::variant<RequestHead, HeadRefusal> ParseHead(std::span<char> data, const HttpLimits& limits) {
  if (data.size() > limits.head_bytes_max) {
    return HeadRefusal{431, "header block too large", HttpRejection::kBadRequest};
  }
  const std::string_view text(data.data(), data.size());
  RequestHead head;
  const size_t line_end = text.find("\r\n");
  if (const Refusal refusal = ReadRequestLine(text.substr(0, line_end), head)) return *refusal;
  // From after the request line to before the empty line.
  const std::span<char> block = data.subspan(line_end + 2, data.size() - line_end - 4);
  if (const Refusal refusal = ReadFields(block, limits, head)) return *refusal;
  Framing framing;
  if (const Refusal refusal = CollectFraming(head, framing)) return *refusal;
  if (const Refusal refusal = CheckFraming(framing, limits, head)) return *refusal;
  return head;
}

}  // namespace truce
