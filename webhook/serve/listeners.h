// The five listeners of a server, as one thing that starts, drains and stops.
#ifndef TRUCE_WEBHOOK_SERVE_LISTENERS_H_
#define TRUCE_WEBHOOK_SERVE_LISTENERS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "certs/certificate_store.h"
#include "registry/base/result.h"
#include "webhook/config/config.h"
#include "webhook/http/server.h"
#include "webhook/metrics/health.h"
#include "webhook/metrics/metrics.h"
#include "webhook/upkeep/data_dir.h"

namespace truce {

// The routes of each listener.
struct ListenerRoutes {
  std::vector<HttpRoute> admission;
  std::vector<HttpRoute> api;
  std::vector<HttpRoute> metrics;
  std::vector<HttpRoute> probes;
  std::vector<HttpRoute> operator_socket;
};

// The certificates that the listeners serve with; `api` is null when the API asks for no client
// certificates. Both must outlive the listeners.
struct ListenerCertificates {
  const CertificateStore& all;
  const CertificateStore* api = nullptr;
};

// The probes' routes; `health` must outlive them.
struct Probed {
  const Health& health;
  std::function<std::string()> refusals;  // RefusalsText
  std::function<std::string()> lacks;     // what it lacks to write; empty: nothing
};
// /livez and /readyz, which also says what the server lacks, and with ?verbose what suspends
// refusals: neither makes it unready, because an unready server would refuse nothing at all.
std::vector<HttpRoute> ProbeRoutes(const Probed& probed);

// The same and /metrics; `refresh` is called before metrics are rendered. References must outlive
// the routes.
std::vector<HttpRoute> HealthRoutes(const Probed& probed, const Metrics& metrics,
                                    std::function<void()> refresh);

// The API listener's own route: GET /version.
std::vector<HttpRoute> ApiRoutes(std::string_view version);

// Connections that callers may have open, of `open_files` that the process may have.
struct ConnectionShares {
  int admission = 0;  // `wanted`, as far as the others leave it
  int other = 0;      // of each other listener
};
// Descriptors beyond the shares are for the store's files, the watches of the cluster (one
// connection for each kind) and the programs that Truce runs: half of a small limit, 2,048 of a
// large one.
ConnectionShares SharesOf(std::size_t open_files, std::int64_t wanted);

// Thread-safe.
class Listeners final {
 public:
  // Binds all addresses.
  // Errors: those of HttpServer::Start, with the setting's name.
  static Result<std::unique_ptr<Listeners>> Start(const Config& config, ConnectionShares shares,
                                                  const ListenerCertificates& certificates,
                                                  ListenerRoutes routes);

  const ListenAddresses& addresses() const { return addresses_; }

  // Every reply closes its connection from now on; connections are still accepted.
  void BeginDrain();

  // Lets begun requests finish until `deadline`; metrics and probes go last. True when all did.
  bool Stop(Deadline deadline);

  // Connections, requests and rejections of each listener.
  void WriteMetrics(MetricWriter& writer) const;

  // Reviews that the admission listener refused because of overload, since the start.
  std::uint64_t overload_count() const;

 private:
  Listeners() = default;

  ListenAddresses addresses_;
  std::unique_ptr<HttpServer> probes_;
  std::unique_ptr<HttpServer> metrics_;
  std::unique_ptr<HttpServer> operator_socket_;
  std::unique_ptr<HttpServer> api_;
  std::unique_ptr<HttpServer> admission_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_SERVE_LISTENERS_H_
