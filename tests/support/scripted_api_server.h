// A scripted Kubernetes API server on a real loopback socket: discovery, paged lists, writes and
// any number of watches on one thread, and faults on command.
#ifndef TRUCE_TESTS_SUPPORT_SCRIPTED_API_SERVER_H_
#define TRUCE_TESTS_SUPPORT_SCRIPTED_API_SERVER_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/scripted_api_state.h"

namespace truce {

// What goes wrong with a request. The first fault that matches is used, `times` times.
struct ApiFault {
  std::string method;      // empty: any
  std::string target;      // part of path or query ("watch=1", "/buckets"); empty: any
  std::string not_target;  // a request with this in it is spared ("watch=1": lists only)
  int times = 1;           // -1: until ClearFaults

  // What is answered instead; nothing: what would be.
  std::optional<ScriptedReply> reply;
  bool hang = false;                     // no answer at all
  bool silent = false;                   // of a watch: the head, then nothing any more
  bool identity = false;                 // of a watch: a body that ends with the connection
  std::string line;                      // of a watch: sent as it is before any event
  bool ends = false;                     // of a watch: after `line` the stream ends in order
  std::optional<std::size_t> cut_after;  // bytes of head and body before the connection is cut
  std::size_t bytes_per_tick = 0;        // slow: so many bytes every 5 ms
};

struct ScriptedApiOptions {
  // PEM of the certificate and key; empty: plain http.
  std::string certificate;
  std::string key;
  std::string client_authority;  // PEM; set: clients must show a certificate of it
  std::string token;             // set: requests need it
  int port = 0;                  // 0: any free one
  // One each, and one before a watch ends; 0: none but those sent by command.
  std::chrono::milliseconds bookmarks{0};
};

// Thread-safe.
class ScriptedApiServer final {
 public:
  // Null when it cannot listen.
  static std::unique_ptr<ScriptedApiServer> Start(ScriptedApiOptions options = {});
  ~ScriptedApiServer();
  ScriptedApiServer(const ScriptedApiServer&) = delete;
  ScriptedApiServer& operator=(const ScriptedApiServer&) = delete;

  int port() const;
  // "http://127.0.0.1:1234" or https.
  std::string url() const;

  // Runs `change` on the state under the lock, then sends what watches are to see.
  void Change(const std::function<void(ScriptedApiState&)>& change);
  // The usual changes.
  ScriptedApiState::Written Put(const ServedKind& kind, const std::string& json);
  bool Remove(const ServedKind& kind, const std::string& ns, const std::string& name);

  void AddFault(ApiFault fault);
  void ClearFaults();
  void SetToken(std::string token);
  void SendBookmarks();
  // Cuts every connection, as a restart of the server does.
  void CutConnections();

  // Requests so far, "METHOD target", and how many connections and watches there were and are.
  std::vector<std::string> requests() const;
  std::size_t CountRequests(const std::string& part) const;
  std::size_t connections_accepted() const;
  std::size_t connections_open() const;
  std::size_t watches_open() const;

 private:
  struct Impl;
  explicit ScriptedApiServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_SCRIPTED_API_SERVER_H_
