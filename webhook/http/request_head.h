// The head of an HTTP/1.1 request: request line and header fields, read strictly (RFC 9110, RFC
// 9112).
//
// Header fields are judged here and never reach cpp-httplib, whose reading of them has a history of
// holes (DESIGN.md). This file refuses a request before a byte of its body is read.
#ifndef TRUCE_WEBHOOK_HTTP_REQUEST_HEAD_H_
#define TRUCE_WEBHOOK_HTTP_REQUEST_HEAD_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "webhook/http/http.h"
#include "webhook/http/server.h"

namespace truce {

struct RequestHead {
  std::string_view line;  // the request line, without CRLF
  std::string_view method;
  std::vector<HttpField> fields;  // names lower-cased in place
  uint64_t content_length = 0;
  bool minor_version_0 = false;  // HTTP/1.0
  bool keep_alive = true;        // whether another request may follow
  bool expects_continue = false;
};

// A request that gets no handler: the reply's status and one line of text (never input).
struct HeadRefusal {
  int status;
  std::string_view reason;
  HttpRejection rejection;

  bool operator==(const HeadRefusal&) const = default;
};

// A token, and a field value without blanks around it (RFC 9110, 5.6.2 and 5.5), for fields read
// and written.
bool IsFieldName(std::string_view text);
bool IsFieldValue(std::string_view text);

// The fault of a head that is not complete yet, so that nobody need wait for its end: too long, or
// begun with something that is not a request line.
std::optional<HeadRefusal> CheckPartialHead(std::string_view data, const HttpLimits& limits);

// Reads a whole head, the empty line at its end included. Lower-cases field names in `data`, and
// returns views into it.
std::variant<RequestHead, HeadRefusal> ParseHead(std::span<char> data, const HttpLimits& limits);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_HTTP_REQUEST_HEAD_H_
