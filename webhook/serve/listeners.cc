#include "webhook/serve/listeners.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "registry/base/threads.h"
#include "webhook/admission/live_objects.h"
#include "webhook/api/auth/cached_reviews.h"

namespace truce {
namespace {

// Reviews that wait for the API server, be it for an object or for what a user may.
constexpr int kWaitingMax = kLooksAtOnce + kQuestionsAtOnce;
static_assert(kWaitingMax == 72, "the help of inFlightMax says so");

// Of open files, what connections of callers do not take.
constexpr std::size_t kReserve = 2048;
constexpr int kConnectionsMin = 16;
constexpr int kOtherMin = 8;
constexpr int kOtherMax = 64;
constexpr std::size_t kOtherShare = 32;

HttpLimits LimitsOf(const Config& config, int connections_max) {
  HttpLimits limits;
  limits.connections_max = connections_max;
  limits.connections_per_source_max = limits.connections_max / 2;
  // They take no place of those that do not.
  limits.in_flight_max = static_cast<int>(config.in_flight_max) + kWaitingMax;
  limits.body_bytes_in_flight_max = static_cast<std::size_t>(config.in_flight_bytes_max);
  return limits;
}

// The other listeners serve a few people and scrapers. The largest body: an export of 10,000 keys,
// imported again.
HttpLimits SmallLimits(int connections_max, std::size_t body_bytes_max = 8 * 1024 * 1024) {
  HttpLimits limits;
  limits.connections_max = connections_max;
  limits.connections_per_source_max = connections_max / 2;
  limits.in_flight_max = 16;
  limits.body_bytes_max = body_bytes_max;
  limits.body_bytes_in_flight_max = 16 * 1024 * 1024;
  return limits;
}

Result<std::unique_ptr<HttpServer>> StartOne(std::string_view setting, HttpServerOptions options,
                                             std::vector<HttpRoute> routes) {
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::Start(std::move(options), std::move(routes));
  if (server.ok()) return server;
  return std::move(server).error().Within(setting);
}

using Named = std::pair<std::string_view, const HttpServer*>;

}  // namespace

ConnectionShares SharesOf(std::size_t open_files, std::int64_t wanted) {
  // Of more than a system has nobody asks.
  const std::size_t known = std::min<std::size_t>(open_files, std::numeric_limits<int>::max());
  const auto left = static_cast<std::int64_t>(known - std::min(known / 2, kReserve));
  const auto other = static_cast<int>(known / kOtherShare);
  return {static_cast<int>(std::max<std::int64_t>(std::min(wanted, left), kConnectionsMin)),
          std::clamp(other, kOtherMin, kOtherMax)};
}

std::vector<HttpRoute> ProbeRoutes(const Probed& probed) {
  const HttpHandler alive = [](HttpRequest&) { return PlainText(200, "ok"); };
  const HttpHandler ready = [probed](HttpRequest& request) {
    std::string report = probed.health.Report();
    if (const std::string lacks = probed.lacks(); !lacks.empty()) {
      report += "[!] store: " + lacks + "\n";
    }
    if (request.Query("verbose")) report += "[i] refusals: " + probed.refusals() + "\n";
    return HttpResponse{.status = probed.health.IsReady() ? 200 : 503, .body = std::move(report)};
  };
  return {{.method = "GET", .path = "/livez", .handler = alive},
          {.method = "GET", .path = "/readyz", .handler = ready}};
}

std::vector<HttpRoute> HealthRoutes(const Probed& probed, const Metrics& metrics,
                                    std::function<void()> refresh) {
  const HttpHandler numbers = [&metrics, refresh = std::move(refresh)](HttpRequest&) {
    const BlockingRegion blocking;  // probes are answered meanwhile
    refresh();
    return HttpResponse{.content_type = std::string(kMetricsMediaType), .body = metrics.Render()};
  };
  std::vector<HttpRoute> routes = ProbeRoutes(probed);
  routes.push_back({.method = "GET", .path = "/metrics", .handler = numbers});
  return routes;
}

std::vector<HttpRoute> ApiRoutes(std::string_view version) {
  std::string body = "{\"version\":\"" + std::string(version) + "\"}\n";
  const HttpHandler answer = [body = std::move(body)](HttpRequest&) {
    return HttpResponse{.content_type = "application/json", .body = body};
  };
  return {{.method = "GET", .path = "/version", .handler = answer}};
}

Result<std::unique_ptr<Listeners>> Listeners::Start(const Config& config, ConnectionShares shares,
                                                    const ListenerCertificates& certificates,
                                                    ListenerRoutes routes) {
  std::unique_ptr<Listeners> all(new Listeners);
  const HttpLimits reads_only = SmallLimits(shares.other, HttpLimits::kSmallBodyBytes);
  // Probes first, admission last: the kubelet can ask whether the server lives before reviews come.
  TRUCE_ASSIGN_OR_RETURN(
      all->probes_,
      StartOne("probesAddress",
               {.address = config.probes_address, .name = "probes", .limits = reads_only},
               std::move(routes.probes)));
  TRUCE_ASSIGN_OR_RETURN(
      all->metrics_,
      StartOne("metricsAddress",
               {.address = config.metrics_address, .name = "metrics", .limits = reads_only},
               std::move(routes.metrics)));
  TRUCE_ASSIGN_OR_RETURN(all->operator_socket_,
                         StartOne("operator socket",
                                  {.address = "unix:" + config.data_dir + "/truce.sock",
                                   .name = "operator",
                                   .limits = SmallLimits(shares.other)},
                                  std::move(routes.operator_socket)));
  const bool has_own = certificates.api != nullptr;
  TRUCE_ASSIGN_OR_RETURN(
      all->api_, StartOne("apiAddress",
                          {.address = config.api_address,
                           .name = "api",
                           .certificates = has_own ? certificates.api : &certificates.all,
                           .client_auth = has_own ? ClientAuth::kOptional : ClientAuth::kNone,
                           .limits = SmallLimits(shares.other)},
                          std::move(routes.api)));
  const bool asks_clients = !config.admission_client_ca.empty();
  TRUCE_ASSIGN_OR_RETURN(
      all->admission_,
      StartOne("admissionAddress",
               {.address = config.admission_address,
                .name = "admission",
                .certificates = &certificates.all,
                .client_auth = asks_clients ? ClientAuth::kRequired : ClientAuth::kNone,
                .limits = LimitsOf(config, shares.admission)},
               std::move(routes.admission)));
  all->addresses_ = {WithPort(config.admission_address, all->admission_->port()),
                     WithPort(config.api_address, all->api_->port()),
                     WithPort(config.metrics_address, all->metrics_->port()),
                     WithPort(config.probes_address, all->probes_->port())};
  return all;
}

void Listeners::BeginDrain() {
  admission_->BeginDrain();
  api_->BeginDrain();
  operator_socket_->BeginDrain();
}

bool Listeners::Stop(Deadline deadline) {
  bool all_answered = admission_->Stop(deadline);
  all_answered = api_->Stop(deadline) && all_answered;
  all_answered = operator_socket_->Stop(deadline) && all_answered;
  all_answered = metrics_->Stop(deadline) && all_answered;
  return probes_->Stop(deadline) && all_answered;
}

void Listeners::WriteMetrics(MetricWriter& writer) const {
  using Label = std::pair<std::string_view, std::string_view>;
  const std::array<Named, 5> servers = {Named{"admission", admission_.get()},
                                        {"api", api_.get()},
                                        {"metrics", metrics_.get()},
                                        {"probes", probes_.get()},
                                        {"operator", operator_socket_.get()}};
  std::array<HttpCounters, 5> counters;
  for (std::size_t i = 0; i < servers.size(); ++i) counters[i] = servers[i].second->Counters();

  const auto write = [&](std::string_view name, std::uint64_t HttpCounters::*field) {
    writer.Family(name);
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const std::array<Label, 1> labels = {Label{"listener", servers[i].first}};
      writer.Sample(labels, static_cast<double>(counters[i].*field));
    }
  };
  write("truce_http_connections", &HttpCounters::connections_open);
  write("truce_http_requests_total", &HttpCounters::requests);
  write("truce_http_in_flight", &HttpCounters::in_flight);
  write("truce_http_threads", &HttpCounters::threads);
  writer.Family("truce_http_rejections_total");
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (std::size_t reason = 0; reason < kHttpRejectionCount; ++reason) {
      const auto rejection = static_cast<HttpRejection>(reason);
      const std::array<Label, 2> labels = {Label{"listener", servers[i].first},
                                           Label{"reason", Name(rejection)}};
      writer.Sample(labels, static_cast<double>(counters[i].Rejected(rejection)));
    }
  }
}

std::uint64_t Listeners::overload_count() const {
  const HttpCounters counters = admission_->Counters();
  return counters.Rejected(HttpRejection::kInFlight) + counters.Rejected(HttpRejection::kBodyBytes);
}

}  // namespace truce
