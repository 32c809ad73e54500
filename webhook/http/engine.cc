#include "webhook/http/engine.h"

#include <httplib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "registry/base/assert.h"

namespace truce {
namespace {

constexpr std::string_view kRetrySoon = "Retry-After: 1\r\n";

std::string_view Reason(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 408: return "Request Timeout";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Whether `content_type` is the media type `wanted` (lower-case), whatever its parameters.
bool HasMediaType(std::string_view content_type, std::string_view wanted) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.remove_suffix(1);
  return std::equal(type.begin(), type.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

// The request line as a stream to read from, and a buffer for the reply to be written to.
class MemoryStream final : public httplib::Stream {
 public:
  MemoryStream(std::string_view line, std::string& reply) : line_(line), reply_(reply) {}

  bool is_readable() const override { return true; }
  bool wait_readable() const override { return true; }
  bool wait_writable() const override { return true; }
  bool is_peer_alive() const override { return true; }

  ssize_t read(char* data, size_t size) override {
    size_t count = 0;
    while (count < size && position_ < line_.size() + kEnd.size()) {
      data[count++] = position_ < line_.size() ? line_[position_] : kEnd[position_ - line_.size()];
      ++position_;
    }
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* data, size_t size) override {
    reply_.append(data, size);
    return static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }
  time_t duration() const override { return 0; }

 private:
  static constexpr std::string_view kEnd = "\r\n\r\n";

  std::string_view line_;
  std::string& reply_;
  size_t position_ = 0;
};

// One call of Answer, for the library's hooks, which know only its own types.
struct Call {
  HttpRequest& request;
  EngineReply& reply;
  bool keep_alive;
  bool minor_version_0;
};

thread_local Call* current_call = nullptr;

}  // namespace

class HttpEngine::Server final : public httplib::Server {
 public:
  explicit Server(Router router) : router_(std::move(router)) {
    set_pre_routing_handler([this](const httplib::Request& in, httplib::Response& out) {
      Route(in, out, *current_call);
      return HandlerResponse::Handled;
    });
    set_post_routing_handler([](const httplib::Request& /*in*/, httplib::Response& out) {
      SetConnection(*current_call, out);
    });
    set_exception_handler([](const httplib::Request& /*in*/, httplib::Response& out,
                             const std::exception_ptr& /*thrown*/) { Fail(*current_call, out); });
  }

  void Answer(const RequestHead& head, Call& call) {
    current_call = &call;
    MemoryStream stream(head.line, call.reply.bytes);
    bool closed = false;
    const bool written =
        process_request(stream, call.request.remote_address, 0, {}, 0, false, closed, nullptr);
    current_call = nullptr;
    if (!written || call.reply.bytes.empty()) {
      call.reply.bytes = ShortReply(400, "malformed request", false);
      call.reply.rejection = HttpRejection::kBadRequest;
    }
  }

 private:
  static void Refuse(Call& call, httplib::Response& out, HttpResponse&& response,
                     HttpRejection rejection) {
    call.reply.rejection = rejection;
    Write(std::move(response), out);
  }

  static void Write(HttpResponse&& response, httplib::Response& out) {
    out.status = response.status;
    for (const auto& [name, value] : response.headers) out.set_header(name, value);
    if (!response.content_type.empty()) out.set_header("Content-Type", response.content_type);
    out.body = std::move(response.body);
  }

  static void Fail(Call& call, httplib::Response& out) {
    out.headers.clear();
    HttpResponse response = PlainText(503, "internal error");
    response.headers.emplace_back("Retry-After", "1");
    Refuse(call, out, std::move(response), HttpRejection::kHandlerFailed);
  }

  // The library closes after every status from 400 on, which would cost the API server a handshake
  // for each answer that says "unknown"; what was read whole can be followed by the next request.
  static void SetConnection(const Call& call, httplib::Response& out) {
    out.headers.erase("Keep-Alive");
    out.headers.erase("Accept-Ranges");
    out.headers.erase("Connection");
    if (!call.keep_alive) out.headers.emplace("Connection", "close");
    if (call.keep_alive && call.minor_version_0) out.headers.emplace("Connection", "keep-alive");
  }

  void Route(const httplib::Request& in, httplib::Response& out, Call& call) const {
    HttpRequest& request = call.request;
    request.method = in.method;
    request.path = in.path;
    for (const auto& [name, value] : in.params) request.query.emplace_back(name, value);

    const Router::Match match = router_.Find(request.method, request.path);
    if (match.route == nullptr) {
      HttpResponse response = match.allow.empty() ? PlainText(404, "no such path")
                                                  : PlainText(405, "method not allowed");
      if (!match.allow.empty()) response.headers.emplace_back("Allow", match.allow);
      return Refuse(call, out, std::move(response), HttpRejection::kNotFound);
    }
    const std::string_view coding = request.Header("content-encoding");
    if (!coding.empty() && coding != "identity") {
      return Refuse(call, out, PlainText(415, "Content-Encoding is not supported"),
                    HttpRejection::kMediaType);
    }
    const std::string& media_type = match.route->media_type;
    if (!media_type.empty() && !HasMediaType(request.Header("content-type"), media_type)) {
      return Refuse(call, out, PlainText(415, "Content-Type must be " + media_type),
                    HttpRejection::kMediaType);
    }
    Write(match.route->handler(request), out);
  }

  const Router router_;
};

HttpEngine::HttpEngine(Router router) : server_(std::make_unique<Server>(std::move(router))) {}

HttpEngine::~HttpEngine() = default;

void HttpEngine::Answer(const RequestHead& head, HttpRequest& request, bool keep_alive,
                        EngineReply& reply) const {
  reply.bytes.clear();
  reply.rejection.reset();
  Call call{request, reply, keep_alive, head.minor_version_0};
  server_->Answer(head, call);
}

std::string ShortReply(int status, std::string_view line, bool keep_alive) {
  std::string reply = "HTTP/1.1 " + std::to_string(status) + " ";
  reply.append(Reason(status)).append("\r\nContent-Type: text/plain; charset=utf-8\r\n");
  reply += "Content-Length: " + std::to_string(line.size() + 1) + "\r\n";
  if (status == 503) reply += kRetrySoon;
  if (!keep_alive) reply += "Connection: close\r\n";
  return reply.append("\r\n").append(line).append("\n");
}

}  // namespace truce
