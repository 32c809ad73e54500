// Checks through a cluster's API server: OwnershipChecks that are judged and never stored.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_CHECK_CLUSTER_H_
#define TRUCE_WEBHOOK_CLI_SERVER_CHECK_CLUSTER_H_

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "webhook/cli/server/api_call.h"

namespace truce {

// Answers POST /api/v1/checks as a Truce server does, by creations in dry-run: with the rights of
// kubectl, and without a way to Truce itself. The answer lacks warnings and the declarations of an
// object. External synchronization.
class ClusterChecks final : public ApiConnection {
 public:
  // Reads the kubeconfig of `flags`, else the one that kubectl would take. `ns` is where objects
  // without namespace are asked about. Errors: kInvalidArgument, kNotFound, kUnavailable (a
  // credential plugin failed).
  static Result<std::unique_ptr<ApiConnection>> Open(const ApiFlags& flags, const CommandIo& io,
                                                     std::string ns);
  // `server` is the API server.
  ClusterChecks(std::unique_ptr<ApiConnection> server, std::string ns)
      : server_(std::move(server)), ns_(std::move(ns)) {}

  const std::string& name() const override { return server_->name(); }
  // Status 200; 403 for every refusal (401, 403, 404, conflicts); else the API server's own:
  // nothing was decided. Before the first answer it makes sure that Truce is asked at all.
  Result<ApiResponse> Send(const ApiQuestion& question, Deadline deadline) override;

 private:
  const std::unique_ptr<ApiConnection> server_;
  const std::string ns_;
  bool is_judged_ = false;  // the cluster asks Truce about checks
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_CHECK_CLUSTER_H_
