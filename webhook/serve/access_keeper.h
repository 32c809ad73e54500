// Who may call the admission listener, as files and rotations of secrets change it.
#ifndef TRUCE_WEBHOOK_SERVE_ACCESS_KEEPER_H_
#define TRUCE_WEBHOOK_SERVE_ACCESS_KEEPER_H_

#include <memory>
#include <mutex>

#include "registry/base/guarded.h"
#include "registry/base/result.h"
#include "webhook/admission/routes.h"
#include "webhook/config/config.h"

namespace truce {

// Thread-safe.
class AccessKeeper final {
 public:
  // Reads the files of `config`; what was read before stays in force when they are bad. Other
  // secrets in paths leave those before them good until one of them is seen in use; when
  // `others_write` the file, for kFormerSecretsLive from now at most. Errors: those of AccessOf.
  Result<void> Read(const Config& config, bool others_write);

  // The webhook configuration bears the present secrets from now on: those before them end soon.
  void EndFormer();

  // Null before the first Read.
  std::shared_ptr<const AdmissionAccess> Current() const;

 private:
  std::mutex reading_;  // from the files to current_
  Guarded<std::shared_ptr<const AdmissionAccess>> current_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_ACCESS_KEEPER_H_
