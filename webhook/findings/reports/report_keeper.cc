#include "webhook/findings/reports/report_keeper.h"

#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "webhook/wire/json_text.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kReportCallTime{5};
constexpr std::size_t kOwnReportsPage = 500;

// A namespace that is gone or goes, an object that this API server does not take: asking again
// does not help until the findings change.
bool IsFinal(ApiErrorKind kind) {
  return kind == ApiErrorKind::kNoSuchObject || kind == ApiErrorKind::kNoSuchType ||
         kind == ApiErrorKind::kInvalid;
}

const ServedKind& KindIn(const ReportKinds& kinds, const std::string& ns) {
  return ns.empty() ? kinds.cluster : kinds.namespaced;
}

// The whole object; as a merge patch it replaces what an older version said.
std::string ObjectOf(const ServedKind& kind, const std::string& ns, const std::string& report) {
  nlohmann::json object = ParseJson(report);
  object["apiVersion"] = kind.group + "/" + kind.version;
  object["kind"] = kind.kind;
  object["metadata"] = {{"name", kReportName},
                        {"labels", {{"app.kubernetes.io/managed-by", "truce"}}}};
  if (!ns.empty()) object["metadata"]["namespace"] = ns;
  return Dump(object);
}

}  // namespace

ReportKeeper::ReportKeeper(ClusterApi& api, Options options)
    : api_(api), options_(std::move(options)) {
  worker_.Start();
}

void ReportKeeper::Keep(std::optional<ReportKinds> kinds,
                        std::map<std::string, std::string> reports) {
  Wanted wanted{std::move(kinds), std::move(reports)};
  const bool is_new = wanted_.With([&](Wanted& last) {
    if (last == wanted) return false;
    last = std::move(wanted);
    return true;
  });
  if (is_new) worker_.Wake();
}

void ReportKeeper::Trouble(const std::string& message) {
  if (message.empty() != is_in_trouble_) return;
  is_in_trouble_ = !message.empty();
  if (options_.on_trouble) options_.on_trouble(message);
}

// Finds the reports that a former run wrote, and this one may have to delete.
bool ReportKeeper::FindOwn(const ReportKinds& kinds) {
  std::map<std::string, std::string> found;
  for (const ServedKind* kind : {&kinds.namespaced, &kinds.cluster}) {
    ListQuery query;
    query.selection.kind = *kind;
    query.selection.field_selector = "metadata.name=" + std::string(kReportName);
    query.selection.metadata_only = true;
    query.limit = kOwnReportsPage;
    do {
      const auto page = api_.List(query, std::chrono::steady_clock::now() + kReportCallTime);
      if (!page.ok()) {
        ++failed_count_;
        Trouble(page.error().message);
        return false;
      }
      for (const std::string& text : page.value().objects) {
        const nlohmann::json object = ParseJson(text);
        const nlohmann::json::json_pointer ns("/metadata/namespace");
        const bool has_ns = object.is_object() && object.contains(ns) && object[ns].is_string();
        found[has_ns ? object[ns].get<std::string>() : std::string()];
      }
      query.next = page.value().next;
    } while (!query.next.empty());
  }
  kinds_ = kinds;
  written_ = std::move(found);
  return true;
}

std::optional<ApiError> ReportKeeper::Write(const ReportKinds& kinds, const std::string& ns,
                                            const std::string& report) {
  const ServedKind& kind = KindIn(kinds, ns);
  const std::string object = ObjectOf(kind, ns, report);
  const auto deadline = [] { return std::chrono::steady_clock::now() + kReportCallTime; };
  const auto patched = api_.Patch({kind, ns, std::string(kReportName), ""}, object, deadline());
  if (patched.ok()) return std::nullopt;
  if (patched.error().kind != ApiErrorKind::kNoSuchObject) return patched.error();
  const auto created = api_.Create(kind, ns, object, deadline());
  return created.ok() ? std::nullopt : std::optional(created.error());
}

bool ReportKeeper::Round(const Wanted& wanted) {
  if (kinds_ != wanted.kinds && !FindOwn(*wanted.kinds)) return false;
  bool is_done = true;
  std::string trouble;
  const auto note = [&](const ApiError& error) {
    ++failed_count_;
    trouble = error.message;
    if (!IsFinal(error.kind)) is_done = false;
  };
  for (const auto& [ns, report] : wanted.reports) {
    if (worker_.is_stopping()) return true;
    const auto present = written_.find(ns);
    if (present != written_.end() && present->second == report) continue;
    const std::optional<ApiError> error = Write(*wanted.kinds, ns, report);
    if (error) note(*error);
    if (error && !IsFinal(error->kind)) continue;
    if (!error) ++written_count_;
    // A report with a final error counts as written, or each round would try it again.
    written_[ns] = report;
  }
  for (auto each = written_.begin(); each != written_.end();) {
    if (worker_.is_stopping()) return true;
    if (wanted.reports.contains(each->first)) {
      ++each;
      continue;
    }
    const auto deleted = api_.Delete(KindIn(*wanted.kinds, each->first), each->first, kReportName,
                                     std::chrono::steady_clock::now() + kReportCallTime);
    const bool is_gone = deleted.ok() || IsFinal(deleted.error().kind);
    if (deleted.ok()) ++deleted_count_;
    if (!is_gone) note(deleted.error());
    each = is_gone ? written_.erase(each) : std::next(each);
  }
  Trouble(is_done ? std::string() : trouble);
  return is_done;
}

// Also after a good round: findings may change faster than the API server should be written to.
Worker::Rest ReportKeeper::Turn() {
  const Wanted wanted = wanted_.With([](const Wanted& last) { return last; });
  if (!wanted.kinds) {
    kinds_.reset();
    return {};
  }
  const bool is_done = Round(wanted);
  const Deadline next = In(options_.every);
  return {is_done ? Deadline::max() : next, next};
}

void ReportKeeper::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_policy_reports_total");
  const std::array<std::pair<std::string_view, std::uint64_t>, 3> counts = {
      {{"written", written_count_}, {"deleted", deleted_count_}, {"failed", failed_count_}}};
  for (const auto& [outcome, count] : counts) {
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        {{"outcome", outcome}}};
    writer.Sample(labels, static_cast<double>(count));
  }
}

}  // namespace truce
