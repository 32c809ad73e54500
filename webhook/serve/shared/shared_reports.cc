#include "webhook/serve/shared/shared_reports.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "registry/base/random_id.h"
#include "registry/ownership/facts.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/serve/shared/json_times.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr char kReports[] = "shared.reports";
constexpr char kMark[] = "shared.mark";
constexpr std::chrono::seconds kReadTime{2};
constexpr std::size_t kBytesPerSecond = 100 * 1024;

}  // namespace

Result<void> ReportPublisher::Step(Store& store,
                                   const std::function<std::optional<SharedReports>()>& gather,
                                   Deadline deadline) {
  const Deadline now = std::chrono::steady_clock::now();
  if (now < due_) return {};
  const std::optional<SharedReports> reports = gather();
  if (!reports) return {};
  std::string text = ToText(*reports);
  const bool is_changed = text != written_;
  if (is_changed || now >= mark_due_) {
    if (is_changed) id_ = NewId();
    written_.clear();
    TRUCE_RETURN_IF_ERROR(Write(store, is_changed ? &text : nullptr, deadline));
    mark_due_ = now + kMarkEvery;
  }
  due_ = now + kEvery + std::chrono::seconds(is_changed ? text.size() / kBytesPerSecond : 0);
  written_ = std::move(text);
  return {};
}

Result<void> ReportPublisher::Write(Store& store, const std::string* reports, Deadline deadline) {
  const std::string mark = Dump(Json{{"id", id_}, {"at", TimeToJson(clock_.Now())}});
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    if (reports != nullptr) books.PutSetting(kReports, *reports);
    books.PutSetting(kMark, mark);
  });
}

ReportReader::Reading ReportReader::Latest() const {
  const Timestamp now = clock_.Now();
  const std::lock_guard<std::mutex> lock(mutex_);
  // A clock that was set back keeps nothing.
  const bool is_fresh = kept_.read && now >= *kept_.read && now - *kept_.read < kKept;
  if (!is_fresh) Refresh(now);
  return kept_.reading;
}

void ReportReader::Refresh(Timestamp now) const {
  std::string mark_text;
  std::string id;
  std::string text;
  const auto read = [&](const Facts& facts) {
    mark_text = facts.Setting(kMark).value_or("");
    id = TextIn(ParseJson(mark_text), "id");
    text.clear();
    // The mark costs little, the rest may not.
    if (!id.empty() && id != kept_.id) text = facts.Setting(kReports).value_or("");
  };
  if (!store_.Read(read, In(kReadTime)).ok()) return;
  kept_.read = now;
  const Json mark = ParseJson(mark_text);
  if (id.empty()) return;
  if (id != kept_.id) {
    auto reports = ReportsFromText(text);
    if (!reports) return;
    kept_.reading.reports = std::make_shared<const SharedReports>(*std::move(reports));
    kept_.id = id;
  }
  kept_.reading.at = TimeIn(mark, "at");
}

}  // namespace truce
