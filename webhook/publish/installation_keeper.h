// InstallationKeeper: the objects of a self-managed installation in its cluster: a Secret
// with its certificates, and its own webhook configuration, which names their authority.
//
// It puts right at once the writes of others there, but once a minute where they go on, and names
// the writer: a loop of repairs wins nothing.
//
// Order of new secrets of paths: accepted here, Secret, webhook configuration; the secrets before
// them are accepted until the first review with one of them comes, or for a minute.
//
// Order of a renewal: Secret, then webhook configuration, then (a while after it was seen there)
// the certificate in use. A client that verifies with any bundle that was ever published last, or
// before last, accepts what is served.
#ifndef TRUCE_WEBHOOK_PUBLISH_INSTALLATION_KEEPER_H_
#define TRUCE_WEBHOOK_PUBLISH_INSTALLATION_KEEPER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "certs/self_made.h"
#include "registry/base/clock.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "registry/base/worker.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/metrics/metrics.h"
#include "webhook/publish/owned_secret.h"
#include "webhook/publish/webhook_repair.h"

namespace truce {

// API groups of the mapping rules in force, and of what XRDs define.
struct MappedGroups {
  std::vector<std::string> groups;
  bool complete = false;  // false: not all rules, or not all XRDs, are known yet
};

// The webhook configuration follows these.
struct FollowedPolicy {
  MappedGroups mapped;
  std::optional<StatusGuard> status;  // nothing: no entry for statuses is kept
};

struct KeeperOptions {
  std::string secret_namespace;
  std::string secret_name;
  std::string webhook;              // name of the ValidatingWebhookConfiguration
  std::filesystem::path directory;  // where listeners read the certificates (certs/self_signed.h)
  std::filesystem::path path_secret_file;  // empty: the paths of reviews are somebody else's
  SelfMadeRules rules;
  // API servers learn of a changed webhook configuration by their watch, asynchronously: a leaf of
  // a new authority is not served earlier than this after the authority was seen published.
  std::chrono::milliseconds settle{30'000};
  // How long the secrets of paths stay: at the first look, and this long after, there are new ones.
  std::chrono::minutes rotate_every{60};
  std::chrono::milliseconds every{15'000};  // how often all is looked at without being told
};

// The keeper's work.
struct KeeperEvent {
  enum class Kind : std::uint8_t {
    // For the log.
    kDone,
    kTrouble,
    kTroubleOver,
    // To be acted upon.
    kCertificates,  // the folder changed
    kPathSecret,    // path_secret_file holds another root: it is to be accepted from now on, beside
                    // the one before
    kPathPublished,  // the root in it is registered: the one before may end
  };
  Kind kind;
  std::string message = {};  // for the log: one line, without secrets
};

// References must outlive the keeper. All is called on the keeper's thread, or the caller's of
// Step.
struct KeeperPorts {
  ClusterApi& api;
  const Clock& clock;
  std::function<FollowedPolicy()> followed;
  std::function<void(const KeeperEvent&)> on_event;
};

// Thread-safe.
class InstallationKeeper final {
 public:
  InstallationKeeper(KeeperOptions options, KeeperPorts ports)
      : options_(std::move(options)), ports_(std::move(ports)) {}
  InstallationKeeper(const InstallationKeeper&) = delete;
  InstallationKeeper& operator=(const InstallationKeeper&) = delete;

  // One look at everything. Afterwards the folder holds a usable pair, whether or not the cluster
  // answered; trouble with the cluster is no error: it is reported and tried again.
  // Errors: those of the folder and of RenewSelfMade. Idempotent. Blocks at most until `deadline`.
  Result<void> Step(Deadline deadline);

  // Looks from now on by itself. Once.
  void Start() { worker_.Start(); }
  // Something changed: look at once. Never blocks.
  void Wake() { worker_.Wake(); }

  // The other writer that keeps changing Truce's fields of its webhook configuration; empty: there
  // is none.
  std::string Rival() const {
    return rival_.With([](const std::string& rival) { return rival; });
  }

  void WriteMetrics(MetricWriter& writer) const;

 private:
  // The bundle that was seen in the webhook configuration, and since when.
  struct Published {
    bool configured = true;  // false: there is no webhook configuration, nobody waits
    std::string bundle;
    Timestamp since;
  };

  Worker::Rest Turn();
  Result<OwnedSecret> Renew(const OwnedSecret& present);
  std::optional<OwnedSecret> Fetch(Deadline deadline);
  bool Store(OwnedSecret& wanted, Deadline deadline);
  void Publish(const OwnedSecret& secret, Deadline deadline);
  bool MayRepair(const WebhookRepair& repair, const OwnedSecret& wanted);
  void NoteRight(const OwnedSecret& wanted);
  void NotePeace();
  void SetRival(const std::string& rival);
  void NotePublished(const std::string& bundle);
  Result<void> WriteLocal(const OwnedSecret& secret);
  Result<void> TakePathSecret(const std::string& root);
  std::chrono::milliseconds Since(Timestamp& past) const;
  bool MustRotate(const OwnedSecret& stored);
  std::optional<std::string_view> Trusted();
  void Done(const std::string& what) const;
  void Trouble(const std::string& what, const ApiError& error);
  void SettleTrouble();

  const KeeperOptions options_;
  const KeeperPorts ports_;

  std::mutex step_mutex_;  // one step at a time; guards all up to the next blank line
  Published published_;
  // Authority, and path of its secret, when all was right last, and how often others changed them
  // since there was peace.
  std::optional<std::pair<std::string, std::string>> right_;
  int foreign_ = 0;
  Timestamp repaired_;                // after the last time
  std::optional<Timestamp> rotated_;  // when the secrets of paths were made, as far as known
  std::string trouble_;               // of this step
  std::string reported_trouble_;      // the last one reported

  Guarded<std::string> rival_;
  std::atomic<bool> again_{false};  // something changed under our hands: look again soon
  std::atomic<std::int64_t> authority_end_{0};  // seconds since 1970; 0: none yet
  std::atomic<bool> in_trouble_{false};
  Counter new_leaves_;
  Counter new_authorities_;
  Counter repairs_;
  Worker worker_{[this] { return Turn(); }};
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_INSTALLATION_KEEPER_H_
