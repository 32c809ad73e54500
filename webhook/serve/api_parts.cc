#include "webhook/serve/api_parts.h"

#include <chrono>
#include <utility>

#include "webhook/admission/codec.h"
#include "webhook/api/rest/rest_agreements.h"
#include "webhook/api/rest/rest_imports.h"
#include "webhook/api/rest/rest_overrides.h"
#include "webhook/api/rest/rest_registry.h"
#include "webhook/api/rest/rest_releases.h"
#include "webhook/serve/server_parts.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kBetweenFillings{1};

Deadline MonotonicTime() { return std::chrono::steady_clock::now(); }

}  // namespace

ApiParts::ApiParts(ApiPartsPorts ports)
    : ports_(std::move(ports)),
      denials_(ports_.clock),
      overrides_(ports_.store, ports_.clock, RandomIds(), ports_.on_overrides) {
  if (ports_.cluster) {
    cluster_tokens_.emplace(ports_.cluster);
    cluster_access_.emplace(ports_.cluster);
    tokens_.emplace(*cluster_tokens_, MonotonicTime);
    access_reviewer_.emplace(*cluster_access_, MonotonicTime);
    access_.emplace(&*tokens_, &*access_reviewer_);
  } else {
    access_.emplace(nullptr, nullptr);
  }
  rest_.emplace(RestPorts{ports_.store, ports_.clock, RandomIds(), ports_.policy, *access_, denials_,
                          ports_.version, ports_.findings, ports_.check_bytes_max,
                          ports_.deletions_unsent});
}

ApiParts::~ApiParts() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_.store(true);
  }
  stop_.notify_all();
  if (filler_.joinable()) filler_.join();
}

Result<bool> ApiParts::SpeaksFor(const AdmissionRequest& review, std::string_view ns,
                                 Deadline deadline) {
  Caller caller;
  caller.kind = CallerKind::kKubernetes;
  caller.name = review.user;
  caller.user.name = review.user;
  caller.user.groups.assign(review.groups.begin(), review.groups.end());
  return access_->SpeaksFor(caller, ns, deadline);
}

Result<void> ApiParts::Configure(const Config& config) {
  TRUCE_ASSIGN_OR_RETURN(AccessRules rules, AccessRulesOf(config));
  access_->SetRules(std::make_shared<const AccessRules>(std::move(rules)));
  return {};
}

std::vector<HttpRoute> ApiParts::Routes() {
  std::vector<HttpRoute> routes = rest_->Routes();
  const auto add = [&](std::vector<HttpRoute> more) {
    for (HttpRoute& route : more) routes.push_back(std::move(route));
  };
  add(OverrideRoutes(*rest_, overrides_));
  const OperationPorts operations{*rest_, ports_.store, ports_.clock, RandomIds()};
  add(ShareRoutes(operations));
  add(TransferRoutes(operations));
  add(ImportRoutes(operations));
  add(ReleaseRoutes(operations));
  add(RegistryRoutes(operations));
  return routes;
}

void ApiParts::StartFilling() {
  // Without them the server is stricter than it was told, never laxer.
  constexpr std::chrono::seconds kLoadTime{10};
  const Result<void> loaded = overrides_.Load(MonotonicTime() + kLoadTime);
  if (!loaded.ok()) {
    ports_.logger.Log(LogLevel::kError, "overrides not taken over",
                      {{"message", std::string_view(loaded.error().message)}});
  }
  filler_ = std::thread([this] { FillUntilDone(); });
}

void ApiParts::FillUntilDone() {
  while (!stopping_.load()) {
    const Result<void> filled = ports_.store.Fill(stopping_);
    if (filled.ok()) return;
    ports_.logger.Log(LogLevel::kWarning, "the API's directory is not filled yet",
                      {{"message", std::string_view(filled.error().message)}});
    std::unique_lock<std::mutex> lock(mutex_);
    stop_.wait_for(lock, kBetweenFillings, [this] { return stopping_.load(); });
  }
}

}  // namespace truce
