#include "webhook/serve/sinks.h"

#include <algorithm>
#include <exception>
#include <vector>

namespace truce {
namespace {

void WriteLine(Logger& logger, const ReviewRecord& record) {
  std::vector<std::string_view> rules;
  for (const Finding& finding : record.findings) {
    const std::string_view id = Name(finding.rule);
    if (std::find(rules.begin(), rules.end(), id) == rules.end()) rules.push_back(id);
  }
  std::string names;
  names.reserve(record.group.size() + record.kind.size() + record.ns.size() + record.name.size() +
                2);
  names.append(record.group).append("/").append(record.kind);
  const std::size_t kind_size = names.size();
  names.append(record.ns).append(record.ns.empty() ? "" : "/").append(record.name);
  DecisionRecord line;
  line.uid = record.uid;
  line.operation = record.operation;
  line.kind = std::string_view(names).substr(0, kind_size);
  line.slot = std::string_view(names).substr(kind_size);
  line.user = record.user;
  line.keys = record.keys;
  line.verdict = Name(record.verdict);
  line.rules = rules;
  line.code = record.code != 0 ? record.code : record.status;
  line.latency_microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(record.elapsed).count();
  if (record.unknown.has_value()) line.cause = Name(*record.unknown);
  line.detail = record.detail;
  line.override_reason = record.override_reason;
  line.dry_run = record.dry_run;
  LogDecision(logger, line);
}

}  // namespace

void LogSink::OnReview(const ReviewRecord& record) noexcept {
  // A log line is worth nothing compared to the answer: without memory for it there is none.
  try {
    WriteLine(logger_, record);
  } catch (const std::exception&) {
    return;
  }
}

void MetricsSink::OnReview(const ReviewRecord& record) noexcept {
  metrics_.CountReview(record.operation, Name(record.verdict), record.elapsed.count());
  if (record.unknown.has_value()) metrics_.CountUnknown(Name(*record.unknown));
  for (const Finding& finding : record.findings) {
    metrics_.CountFinding(Name(finding.rule), Name(finding.mode));
  }
}

void WatchSink::OnReview(const ReviewRecord& record) noexcept {
  // What is lost here is found by polling and by the proof of old reservations.
  try {
    Put(record);
  } catch (const std::exception&) {
    return;
  }
}

void WatchSink::Put(const ReviewRecord& record) {
  if (record.dry_run) return;
  const bool is_unknown = record.verdict == Verdict::kUnknown && !record.name.empty();
  if (!record.wrote && record.prove.empty() && !is_unknown) return;
  GroupKind kind{std::string(record.group), std::string(record.kind)};
  if (!record.prove.empty()) inbox_.Prove({record.prove.begin(), record.prove.end()});
  if (is_unknown) {
    inbox_.Unknown(
        {cluster_, kind.group, kind.kind, std::string(record.ns), std::string(record.name)});
  }
  if (record.wrote) inbox_.Admitted(kind);
  wake_();
}

}  // namespace truce
