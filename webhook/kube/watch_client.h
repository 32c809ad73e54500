// The WatchStreams of a real API server: one thread, one connection per stream.
#ifndef TRUCE_WEBHOOK_KUBE_WATCH_CLIENT_H_
#define TRUCE_WEBHOOK_KUBE_WATCH_CLIENT_H_

#include <chrono>
#include <cstddef>
#include <memory>

#include "registry/base/result.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/kube/session.h"

namespace truce {

struct WatchClientOptions {
  // Connecting and the TLS handshake.
  std::chrono::milliseconds connect_timeout{10'000};
  // From the request to the head of the answer: an API server may queue a watch for a minute.
  std::chrono::milliseconds head_timeout{70'000};
  // A stream that is silent this long after its agreed time is half-open.
  std::chrono::milliseconds silence_margin{15'000};
  // Handshakes at once; the others wait. A thousand at once would take each other's time.
  std::size_t connecting_max = 32;
  // One event. etcd's objects end at about 1.5 MB; a conversion may multiply that.
  std::size_t event_bytes_max = 8 * 1024 * 1024;
  // Events offered at once.
  std::size_t batch_max = 256;
  // Streams that hold an event longer than 64 KiB at once; the others are not read meanwhile. So
  // memory is bounded by streams · 64 KiB + large_events_max · event_bytes_max.
  std::size_t large_events_max = 8;
};

// `handler` must outlive the streams. Destruction stops all of them, without a call of the handler.
// Errors: kUnavailable (no descriptor).
Result<std::unique_ptr<WatchStreams>> StartWatchClient(std::shared_ptr<ServerSession> session,
                                                       WatchHandler& handler,
                                                       const WatchClientOptions& options);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_KUBE_WATCH_CLIENT_H_
