// A copy of the registry for callers of the API: GET /api/v1/backup.
#ifndef TRUCE_WEBHOOK_API_REST_REST_BACKUP_H_
#define TRUCE_WEBHOOK_API_REST_REST_BACKUP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "registry/base/result.h"
#include "webhook/api/rest/rest_api.h"
#include "webhook/api/use_log.h"

namespace truce {

// A verified copy, to be read once.
struct RegistryCopy {
  std::shared_ptr<HttpBody> body;
  std::int64_t ownerships = 0;
};

// Makes one; blocks as long as that takes. Errors: kConflict: the registry is not kept in a file;
// kUnavailable (no room, not readable), kDataLoss. Thread-safe.
using CopyRegistry = std::function<Result<RegistryCopy>()>;

// Needs get on backups, which is everything that the registry knows. One copy at a time, until it
// is sent: 429 meanwhile. Each use is a line of the audit log, or there is no copy. References must
// outlive the routes.
std::vector<HttpRoute> BackupRoutes(const RestApi& rest, CopyRegistry copy, UseLog& uses);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_REST_REST_BACKUP_H_
