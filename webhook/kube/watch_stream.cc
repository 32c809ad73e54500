#include "webhook/kube/watch_stream.h"

#include <algorithm>
#include <utility>

#include "registry/base/one_line.h"
#include "webhook/kube/api_errors.h"
#include "webhook/kube/request_target.h"

namespace truce {
namespace {

// The most that a stream may hold of an unfinished line without a seat among the large ones.
constexpr std::size_t kSmallBytesMax = 64 * 1024;
constexpr std::size_t kRefusalBytesMax = 64 * 1024;
// Reads before a stream gives way to others.
constexpr int kReadsPerTurn = 8;

}  // namespace

WatchStream::WatchStream(WatchQuery query, WatchShared& shared)
    : query_(std::move(query)), shared_(shared) {}

WatchStream::~WatchStream() { HoldLarge(false); }

void WatchStream::Enter(Phase phase, Deadline now) {
  phase_ = phase;
  phase_since_ = now;
  last_bytes_ = now;
}

WatchStream::Want WatchStream::End(std::optional<ApiError> error) {
  ended_ = true;
  error_ = std::move(error);
  phase_ = Phase::kOver;
  connection_.reset();
  HoldLarge(false);
  std::string().swap(buffer_);
  return Want::kDelivery;
}

WatchStream::Want WatchStream::Fail(ApiErrorKind kind, std::string message) {
  ApiError error;
  error.kind = kind;
  error.message = std::move(message);
  return End(std::move(error));
}

// Takes or gives back a seat among the streams with a long event. False: there is none.
bool WatchStream::HoldLarge(bool wanted) {
  if (wanted == holds_large_) return true;
  if (wanted && shared_.large_events >= shared_.options.large_events_max) return false;
  holds_large_ = wanted;
  shared_.large_events += wanted ? 1 : -1UL;
  return true;
}

WatchStream::Want WatchStream::WantOf(SocketProgress progress) {
  switch (progress) {
    case SocketProgress::kWantRead: return Want::kRead;
    case SocketProgress::kWantWrite: return Want::kWrite;
    case SocketProgress::kFailed: return Fail(ApiErrorKind::kUnreachable, connection_->failure());
    case SocketProgress::kClosed:
      return Fail(ApiErrorKind::kUnreachable, "the server closed the connection");
    case SocketProgress::kDone: break;
  }
  return Want::kTurn;
}

WatchStream::Want WatchStream::Advance(Deadline now) {
  if (ended_ || !events_.empty()) return Want::kDelivery;
  return Step(now);
}

WatchStream::Want WatchStream::Step(Deadline now) {
  switch (phase_) {
    case Phase::kStart: return Begin(now);
    case Phase::kCredentials: return shared_.session.Renewed(wish_) ? Begin(now) : Want::kTime;
    case Phase::kAddresses:
    case Phase::kConnect: return Connect(now);
    case Phase::kSend: return Send(now);
    case Phase::kHead:
    case Phase::kEvents:
    case Phase::kRefusal: return Receive(now);
    case Phase::kOver: break;
  }
  return Want::kDelivery;
}

std::string WatchStream::Request() const {
  const ServerSettings& settings = shared_.session.settings();
  const std::string& token = connection_->state().token;
  std::string text = "GET " + settings.address.path + WatchTarget(query_) + " HTTP/1.1\r\nHost: ";
  text += HostAndPort(settings.address);
  text += "\r\nUser-Agent: truce\r\nAccept: ";
  text += WatchAccept(query_.selection);
  if (!token.empty()) text += "\r\nAuthorization: Bearer " + token;
  return text + "\r\n\r\n";
}

WatchStream::Want WatchStream::Begin(Deadline now) {
  connection_.reset();
  std::string().swap(buffer_);
  scanned_ = 0;
  chunks_ = ChunkDecoder();
  Enter(Phase::kAddresses, now);
  return Connect(now);
}

WatchStream::Want WatchStream::Connect(Deadline now) {
  if (phase_ == Phase::kAddresses) {
    std::vector<ResolvedAddress> addresses = shared_.session.Addresses();
    if (addresses.empty()) return Want::kTime;
    connection_ = std::make_unique<ServerConnection>(
        shared_.session.settings(), shared_.session.Current(), std::move(addresses));
    phase_ = Phase::kConnect;  // the time for the look-up counts
  }
  const SocketProgress progress = connection_->Establish();
  if (progress != SocketProgress::kDone) return WantOf(progress);
  output_ = Request();
  Enter(Phase::kSend, now);
  return Send(now);
}

WatchStream::Want WatchStream::Send(Deadline now) {
  while (!output_.empty()) {
    const Moved moved = connection_->Write(output_);
    if (moved.progress != SocketProgress::kDone) return WantOf(moved.progress);
    output_.erase(0, moved.bytes);
  }
  Enter(Phase::kHead, now);
  return Receive(now);
}

WatchStream::Want WatchStream::Receive(Deadline now) {
  for (int reads = 0; reads < kReadsPerTurn; ++reads) {
    // A line that grows beyond this goes on only when memory for long ones is free.
    if (phase_ == Phase::kEvents && !HoldLarge(buffer_.size() > kSmallBytesMax)) {
      return Want::kLarge;
    }
    const Moved moved = connection_->Read(shared_.piece);
    if (moved.progress == SocketProgress::kClosed) return TakeEndOfConnection(now);
    if (moved.progress != SocketProgress::kDone) {
      const Want want = WantOf(moved.progress);
      return events_.empty() ? want : Want::kDelivery;
    }
    last_bytes_ = now;
    const std::string_view bytes(shared_.piece.data(), moved.bytes);
    const Want want = phase_ == Phase::kHead ? TakeHead(bytes, now) : TakeBody(bytes, now);
    if (want != Want::kTurn) return want;
    if (events_.size() >= shared_.options.batch_max) return Want::kDelivery;
  }
  return events_.empty() ? Want::kTurn : Want::kDelivery;
}

WatchStream::Want WatchStream::TakeHead(std::string_view bytes, Deadline now) {
  buffer_ += bytes;
  const std::size_t size = HeadSize(buffer_);
  if (size == 0 && buffer_.size() > kResponseHeadBytesMax) {
    return Fail(ApiErrorKind::kMalformed, "an answer with too long a head");
  }
  if (size == 0) return Want::kTurn;
  Result<ResponseHead> head = ParseResponseHead(std::string_view(buffer_).substr(0, size));
  if (!head.ok()) return Fail(ApiErrorKind::kMalformed, head.error().message);
  head_ = std::move(head).value();
  body_left_ = head_.length.value_or(0);
  const std::string rest = buffer_.substr(size);
  buffer_.clear();
  if (head_.encoded) return Fail(ApiErrorKind::kMalformed, "a compressed answer");
  if (head_.status != 200) {
    Enter(Phase::kRefusal, now);
  } else if (head_.content_type != "application/json") {
    return Fail(ApiErrorKind::kMalformed, "'" + Folded(head_.content_type, kMessageBytesMax) +
                                              "' instead of JSON: is '" +
                                              HostAndPort(shared_.session.settings().address) +
                                              "' the API server's address?");
  } else {
    Enter(Phase::kEvents, now);
    agreed_end_ = now + query_.timeout;
  }
  return TakeBody(rest, now);
}

WatchStream::Want WatchStream::TakeBody(std::string_view bytes, Deadline now) {
  bool is_whole = false;
  if (head_.chunked) {
    const Result<void> decoded = chunks_.Decode(bytes, buffer_);
    if (!decoded.ok()) return Fail(ApiErrorKind::kMalformed, decoded.error().message);
    is_whole = chunks_.done();
  } else if (head_.length) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, bytes.size()));
    buffer_ += bytes.substr(0, count);
    body_left_ -= count;
    is_whole = body_left_ == 0;
  } else {
    buffer_ += bytes;
  }
  if (phase_ == Phase::kRefusal) {
    if (is_whole || buffer_.size() > kRefusalBytesMax) return TakeRefusal(now);
    return Want::kTurn;
  }
  const Want want = TakeLines();
  if (want != Want::kTurn || !is_whole) return want;
  return TakeWholeBody(now);
}

// Takes every whole line out of the buffer.
WatchStream::Want WatchStream::TakeLines() {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', std::max(begin, scanned_));
    if (end == std::string::npos) break;
    // The parser reads beyond the line, which must be memory of ours.
    if (buffer_.capacity() - buffer_.size() < kJsonPadding) {
      buffer_.reserve(buffer_.size() + kJsonPadding);
    }
    const std::string_view line(buffer_.data() + begin, end - begin);
    if (line.size() > shared_.options.event_bytes_max) break;
    const Want want = TakeLine(line);
    if (want != Want::kTurn) return want;
    begin = end + 1;
    scanned_ = begin;
  }
  buffer_.erase(0, begin);
  scanned_ = buffer_.size();
  if (buffer_.size() > shared_.options.event_bytes_max) {
    return Fail(
        ApiErrorKind::kMalformed,
        "an event of more than " + std::to_string(shared_.options.event_bytes_max) + " bytes");
  }
  if (buffer_.empty() && buffer_.capacity() > kSmallBytesMax) std::string().swap(buffer_);
  if (buffer_.size() <= kSmallBytesMax) HoldLarge(false);
  return Want::kTurn;
}

WatchStream::Want WatchStream::TakeLine(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return Want::kTurn;
  Result<WatchLine> read = shared_.json.Watch(line);
  if (!read.ok()) return Fail(ApiErrorKind::kMalformed, read.error().message);
  if (const auto* status = std::get_if<ApiStatus>(&read.value()))
    return End(ErrorOfStatus(*status));
  events_.push_back(std::get<WatchEvent>(std::move(read).value()));
  return Want::kTurn;
}

WatchStream::Want WatchStream::TakeEndOfConnection(Deadline now) {
  if (phase_ == Phase::kRefusal) return TakeRefusal(now);
  const bool may_end_so = phase_ == Phase::kEvents && !head_.chunked && !head_.length;
  if (!may_end_so) return Fail(ApiErrorKind::kUnreachable, "the stream was cut off");
  return TakeWholeBody(now);
}

WatchStream::Want WatchStream::TakeWholeBody(Deadline /*now*/) {
  const bool is_cut = buffer_.find_first_not_of(" \r\n") != std::string::npos;
  if (is_cut) return Fail(ApiErrorKind::kUnreachable, "the stream was cut off inside an event");
  return End(std::nullopt);
}

WatchStream::Want WatchStream::TakeRefusal(Deadline now) {
  if (head_.status == 401 && !renewed_) {
    renewed_ = true;
    wish_ = shared_.session.RequestRenewal(connection_->state().generation);
    connection_.reset();
    Enter(Phase::kCredentials, now);
    return Want::kTime;
  }
  buffer_.reserve(buffer_.size() + kJsonPadding);
  const ServedKind& kind = query_.selection.kind;
  ApiError error = ErrorOfReply(head_, buffer_, {kind.group, kind.plural, {}});
  const std::string trouble =
      error.kind == ApiErrorKind::kUnauthorized ? shared_.session.trouble() : "";
  if (!trouble.empty()) error.message += "; the credentials could not be renewed: " + trouble;
  return End(std::move(error));
}

void WatchStream::CheckTime(Deadline now) {
  const WatchClientOptions& options = shared_.options;
  switch (phase_) {
    case Phase::kStart:
    case Phase::kOver: return;
    case Phase::kCredentials:
      // The keeper is at work; a plugin may take its time, but not for ever.
      if (now - phase_since_ > options.head_timeout) {
        Fail(ApiErrorKind::kUnauthorized, "the credentials could not be renewed in time");
      }
      return;
    case Phase::kAddresses:
    case Phase::kConnect:
      if (now - phase_since_ <= options.connect_timeout) return;
      if (phase_ == Phase::kAddresses) {
        Fail(ApiErrorKind::kUnreachable,
             "no address of '" + shared_.session.settings().address.host + "' is known");
      } else {
        Fail(ApiErrorKind::kTimeout, "connect to " +
                                         HostAndPort(shared_.session.settings().address) +
                                         ": no answer in time");
      }
      return;
    case Phase::kSend:
    case Phase::kHead:
    case Phase::kRefusal:
      if (now - phase_since_ > options.head_timeout) {
        Fail(ApiErrorKind::kTimeout, "no answer in time");
      }
      return;
    case Phase::kEvents:
      if (now - std::max(agreed_end_, last_bytes_) > options.silence_margin) {
        Fail(ApiErrorKind::kTimeout, "the stream is silent beyond its time: half-open");
      }
      return;
  }
}

}  // namespace truce
