// What a scripted API server serves: kinds, objects with versions, and the history that watches
// read. No sockets.
#ifndef TRUCE_TESTS_SUPPORT_SCRIPTED_API_STATE_H_
#define TRUCE_TESTS_SUPPORT_SCRIPTED_API_STATE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/kube/cluster_api.h"

namespace truce {

struct ScriptedRequest {
  std::string method;
  std::string target;                         // as it was sent
  std::string path;                           // decoded, without query
  std::map<std::string, std::string> query;   // decoded
  std::map<std::string, std::string> fields;  // names lower-case
  std::string body;
};

// The request at the front of `input`, taken off it; nothing while it is not whole.
std::optional<ScriptedRequest> TakeRequest(std::string& input);

struct ScriptedReply {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::string fields;  // further header lines, each with its line end
};

// A Status as the API server sends it.
ScriptedReply StatusReply(int code, std::string_view reason, std::string_view message,
                          std::string_view details = "{}");

// External synchronization.
class ScriptedApiState final {
 public:
  struct Written {
    std::string uid;
    std::string resource_version;
  };

  // Serves `kind` (again). A change of scope forgets its objects without events, as a CRD that was
  // deleted and made anew does.
  void AddKind(const ServedKind& kind);
  void RemoveKind(const ServedKind& kind);
  void SetStale(const std::string& group, bool stale);
  // Whether discovery is answered as before Kubernetes 1.26: by the names of groups only.
  void SetOldDiscovery(bool old) { old_discovery_ = old; }

  // Creates or changes the object that `json` names by its metadata; apiVersion, kind, uid, version
  // and creation time are filled in.
  Written Put(const ServedKind& kind, const std::string& json);
  // False: there is none.
  bool Remove(const ServedKind& kind, const std::string& ns, const std::string& name);
  // What etcd's compaction does: older versions than the present one are too old to watch from.
  void Compact();
  // Lets the version run ahead, or back as after a restored backup.
  void SetVersion(std::uint64_t version) { version_ = version; }
  std::uint64_t version() const { return version_; }
  std::size_t object_count() const;

  // Answers everything but watches.
  ScriptedReply Answer(const ScriptedRequest& request);

  // One line of a watch, with the version that it carries.
  struct Event {
    std::uint64_t version = 0;
    std::shared_ptr<const std::string> line;
    std::shared_ptr<const std::string> name;  // "ns/name"
    std::shared_ptr<const std::string> reason;
  };
  struct Series {
    ServedKind kind;
    struct Object {
      std::string uid;
      std::string created;
      std::string json;
      std::string reason;
      std::uint64_t version = 0;
    };
    std::map<std::string, Object> objects;  // by "ns/name"
    std::deque<Event> history;
    std::uint64_t compacted = 0;  // watches from before are too old
  };
  // The kind that `request` lists or watches; null: not served.
  std::shared_ptr<Series> Find(const ScriptedRequest& request, std::string* ns, std::string* name);

  static constexpr std::size_t kHistoryMax = 20'000;

 private:
  ScriptedReply Discovery(bool core) const;
  ScriptedReply List(const Series& series, const ScriptedRequest& request, const std::string& ns);
  ScriptedReply Get(const Series& series, const std::string& ns, const std::string& name);
  ScriptedReply Create(Series& series, const ScriptedRequest& request, const std::string& ns);
  ScriptedReply Patch(Series& series, const ScriptedRequest& request, const std::string& key);
  Written Store(Series& series, const std::string& json);
  void Record(Series& series, std::string_view type, const std::string& key);

  std::map<std::string, std::shared_ptr<Series>> series_;  // by "group/plural"
  std::set<std::string> stale_;
  bool old_discovery_ = false;
  std::uint64_t version_ = 1000;
  std::uint64_t uids_ = 0;
};

// The object as its metadata only.
std::string OnlyMetadata(const std::string& json);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_SCRIPTED_API_STATE_H_
