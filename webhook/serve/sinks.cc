#include "webhook/serve/sinks.h"

#include <array>
#include <bit>
#include <chrono>
#include <span>

namespace truce {
namespace {

// "duplicate-ownership,aws-name": each rule with a finding, once.
std::string RulesOf(std::span<const Finding> findings) {
  std::string out;
  std::array<bool, kRuleCount> seen{};
  for (const Finding& finding : findings) {
    bool& is_seen = seen[static_cast<std::size_t>(finding.rule)];
    if (!std::exchange(is_seen, true))
      out.append(out.empty() ? "" : ",").append(Name(finding.rule));
  }
  return out;
}

// Of what is refused again and again each doubling is told.
bool IsWorthALine(std::uint64_t repetition) {
  constexpr std::uint64_t kAllReported = 3;
  return repetition <= kAllReported || std::has_single_bit(repetition);
}

}  // namespace

void LogSink::OnReview(const ReviewRecord& record) {
  if (!IsWorthALine(record.repetition)) return;
  const LogLevel level = record.verdict == Verdict::kUnknown ? LogLevel::kWarning : LogLevel::kInfo;
  if (!logger_.IsOn(level)) return;
  std::string names;  // of the kind, then of the object
  names.reserve(record.group.size() + record.kind.size() + record.ns.size() + record.name.size() +
                2);
  names.append(record.group).append("/").append(record.kind);
  const std::size_t kind_size = names.size();
  names.append(record.ns).append(record.ns.empty() ? "" : "/").append(record.name);
  const std::string rules = RulesOf(record.findings);
  const std::int64_t microseconds =
      std::chrono::duration_cast<std::chrono::microseconds>(record.elapsed).count();
  constexpr std::size_t kFieldsMax = 15;
  std::array<LogField, kFieldsMax> fields = {
      {{"uid", record.uid},
       {"operation", record.operation},
       {"kind", std::string_view(names).substr(0, kind_size)},
       {"slot", std::string_view(names).substr(kind_size)},
       {"user", record.user},
       {"keys", record.keys},
       {"verdict", Name(record.verdict)},
       {"code", std::int64_t{record.code}},
       {"latency_us", microseconds}}};
  std::size_t count = 9;
  const auto add = [&](const LogField& field) { fields[count++] = field; };
  if (!rules.empty()) add({"rules", std::string_view(rules)});
  if (record.unknown) add({"cause", Name(*record.unknown)});
  if (!record.detail.empty()) add({"detail", record.detail});
  if (!record.override_reason.empty()) add({"override", record.override_reason});
  if (record.dry_run) add({"dry_run", true});
  if (record.repetition > 1) add({"repetition", static_cast<std::int64_t>(record.repetition)});
  logger_.Log(level, "decision", std::span<const LogField>(fields).first(count));
}

void ReviewMetrics::OnReview(const ReviewRecord& record) {
  count_.fetch_add(1, std::memory_order_relaxed);
  metrics_.CountReview(record.operation, Name(record.verdict), record.elapsed.count());
  if (record.unknown.has_value()) metrics_.CountUnknown(Name(*record.unknown));
  for (const Finding& finding : record.findings) {
    metrics_.CountFinding(Name(finding.rule), Name(finding.mode));
  }
  if (record.verdict != Verdict::kDenied || record.dry_run) return;
  denials_.With([&](auto& counts) {
    const auto found = counts.find(record.ns);
    if (found != counts.end()) {
      ++found->second;
    } else {
      ++counts[counts.size() < kNamespacesMax ? std::string(record.ns) : "other"];
    }
  });
}

void ReviewMetrics::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_denials_total");
  const auto counts = denials_.With([](const auto& present) { return present; });
  for (const auto& [ns, count] : counts) {
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        {{"object_namespace", ns}}};
    writer.Sample(labels, static_cast<double>(count));
  }
}

// Polling, and the proof of old reservations, find the deletions that are lost here.
void DeletionSink::OnReview(const ReviewRecord& record) {
  const bool counts = record.operation == "DELETE" && record.verdict == Verdict::kAllowed &&
                      !record.dry_run && record.sub_resource.empty() && !record.name.empty();
  if (!counts) return;
  const auto policy = policy_.Current();
  if (!MatchesAny(record.user, policy->composite_controllers)) return;
  tell_({policy->identity.cluster, std::string(record.group), std::string(record.kind),
         std::string(record.ns), std::string(record.name)});
}

void ProviderActSink::OnReview(const ReviewRecord& record) {
  const bool counts = record.acts_as_provider && record.verdict == Verdict::kAllowed &&
                      !record.dry_run && record.user.starts_with("system:serviceaccount:");
  if (!counts) return;
  tell_({std::string(record.user),
         {policy_.Current()->identity.cluster, std::string(record.group), std::string(record.kind),
          std::string(record.ns), std::string(record.name)}});
}

void WatchSink::OnReview(const ReviewRecord& record) {
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
