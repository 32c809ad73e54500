// Credentials: a server's identity, and the proofs of callers who may send it reviews:
// certificates, the secrets of the paths, tokens. A self-managed installation makes its own and
// tells the API servers of them.
#ifndef TRUCE_WEBHOOK_PUBLISH_CREDENTIALS_H_
#define TRUCE_WEBHOOK_PUBLISH_CREDENTIALS_H_

#include <memory>
#include <mutex>

#include "certs/certificate_store.h"
#include "policies/policy.h"
#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/admission/routes.h"
#include "webhook/config/reload.h"
#include "webhook/kube/server_settings.h"
#include "webhook/log/log.h"
#include "webhook/metrics/metrics.h"

namespace truce {

// Where API servers must send reviews.
EndpointTexts AdmissionPaths(const AdmissionAccess& access);

// References must outlive the object.
struct CredentialPorts {
  const ConfigHolder& config;
  const InForce<AdmissionPolicy>& policy;  // the webhook configuration follows it
  std::function<bool()> is_ready;          // reviews are answered, not "unknown" each
  Logger& logger;
  const Clock& clock;
};

// Thread-safe, but for Open, Start and Stop, which are for one thread.
class Credentials final {
 public:
  explicit Credentials(CredentialPorts ports);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Reads all files, and makes what there is not yet. Self-managed: the cluster's Secret, if
  // `server` answers within 5 s. Once. Errors: kInvalidArgument (a token or secret), kUnavailable
  // (files, certificates).
  Result<void> Open(const ServerSettings& server);
  // Self-managed: keeps everything from now on, by a connection of its own, until Stop.
  void Start();
  void Stop();

  // Reads the files of secrets and tokens again; if they are bad, the former ones stay in force.
  // Other secrets leave those before them good until one of them is seen in use; where others write
  // the file, for kFormerSecretsLive from now at most. Errors: those of the files.
  Result<void> Reread();
  // Self-managed: the webhook configuration or what it follows changed. Never blocks.
  void Wake();
  // As InstallationKeeper's.
  std::string Rival() const;

  // The callers that the admission listener accepts. Not null once open.
  const InForce<AdmissionAccess>& access() const { return access_; }
  const CertificateStore& certificates() const { return *certificates_; }
  // Null: the API asks for no client certificates.
  const CertificateStore* api_certificates() const { return api_certificates_.get(); }
  void WriteMetrics(MetricWriter& writer) const;

 private:
  class SelfManagement;

  void EndFormerSecrets();

  const CredentialPorts ports_;
  std::mutex reading_;  // from the files to access_
  InForce<AdmissionAccess> access_;
  std::unique_ptr<CertificateStore> certificates_;
  std::unique_ptr<CertificateStore> api_certificates_;
  std::unique_ptr<SelfManagement> self_management_;  // null: others keep certificates
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_CREDENTIALS_H_
