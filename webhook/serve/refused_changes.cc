#include "webhook/serve/refused_changes.h"

#include <array>
#include <string_view>
#include <utility>

namespace truce {

bool RefusedChanges::ReportConfiguration(const ReloadOutcome& outcome) {
  switch (outcome.kind) {
    case ReloadOutcome::Kind::kUnchanged: return false;
    case ReloadOutcome::Kind::kRefused:
      problems_.With([&](Problems& problems) { problems.configuration = outcome.message; });
      logger_.Log(LogLevel::kError, "configuration refused",
                  {{"message", std::string_view(outcome.message)}});
      return true;
    case ReloadOutcome::Kind::kReloaded:
      problems_.With([](Problems& problems) { problems.configuration.clear(); });
      logger_.Log(LogLevel::kInfo, "configuration loaded", {});
      for (const std::string& key : outcome.restart_keys) {
        logger_.Log(LogLevel::kWarning, "setting needs a restart",
                    {{"key", std::string_view(key)}});
      }
      return false;
  }
  return false;
}

bool RefusedChanges::ReportCredentials(const std::string& problem) {
  const std::string before = problems_.With(
      [&](Problems& problems) { return std::exchange(problems.credentials, problem); });
  if (problem == before || problem.empty()) return false;
  logger_.Log(LogLevel::kError, "credentials refused", {{"message", std::string_view(problem)}});
  return true;
}

std::string RefusedChanges::configuration() const {
  return problems_.With([](const Problems& problems) { return problems.configuration; });
}

std::string RefusedChanges::credentials() const {
  return problems_.With([](const Problems& problems) { return problems.credentials; });
}

void RefusedChanges::WriteMetrics(MetricWriter& writer) const {
  using Label = std::pair<std::string_view, std::string_view>;
  writer.Family("truce_refused_changes");
  writer.Sample(std::array<Label, 1>{Label{"part", "configuration"}},
                configuration().empty() ? 0 : 1);
  writer.Sample(std::array<Label, 1>{Label{"part", "credentials"}}, credentials().empty() ? 0 : 1);
}

}  // namespace truce
