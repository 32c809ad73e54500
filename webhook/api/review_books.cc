#include "webhook/api/review_books.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "registry/base/random_id.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::size_t kTrialTextBytesMax = 600;
constexpr std::size_t kTrialNameBytesMax = 253;

// The entries in `rows`, the latest last.
template <typename Latest, typename Rows>
Latest LatestFrom(const Rows& table, const std::vector<TableRow>& rows) {
  auto entries = table.Readable(rows);
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.last; });
  Latest latest;
  for (auto& entry : entries) latest.Enter(std::move(entry));
  return latest;
}

// Adds what is fresh to `table` of `store`, and takes over what others wrote there. Where there is
// nothing fresh, nothing is written. Errors: those of the store: then what is fresh stays so.
template <typename Latest, typename Rows>
Result<void> Keep(Guarded<CountedEntries<Latest>>& entries, const Rows& table, Store& store,
                  Deadline deadline) {
  const Latest fresh = entries.With([](auto& kept) { return std::exchange(kept.fresh, Latest()); });
  Latest merged;
  const auto merge = [&](Administration& books) {
    merged = LatestFrom<Latest>(table, books.TableRows(table));
    fresh.ForEach([&](const auto& entry) { merged.Enter(entry); });
    std::vector<TableRow> rows;
    merged.ForEach([&](const auto& entry) { rows.push_back(table.Row(entry)); });
    books.SetTableRows(table, std::move(rows));
  };
  Result<void> done;
  if (fresh.empty()) {
    const auto rows = ReadRows(store, table, deadline);
    if (rows.ok()) merged = LatestFrom<Latest>(table, rows.value());
    if (!rows.ok()) done = rows.error();
  } else {
    done = Administer(store, Timestamp(), deadline, merge);
  }
  entries.With([&](auto& kept) {
    // What came meanwhile is fresh still.
    const Latest& old = done.ok() ? merged : fresh;
    Latest& into = done.ok() ? kept.all : kept.fresh;
    Latest whole;
    const auto enter = [&](const auto& entry) { whole.Enter(entry); };
    old.ForEach(enter);
    kept.fresh.ForEach(enter);
    into = std::move(whole);
  });
  return done;
}

// As Keep; nothing where nothing is fresh and nobody else writes.
template <typename Latest, typename Rows>
Result<void> KeepFresh(Guarded<CountedEntries<Latest>>& entries, const Rows& table, Store& store,
                       Deadline deadline) {
  const bool is_known = entries.With([](const auto& kept) { return kept.fresh.empty(); });
  return is_known && !store.is_remote() ? Result<void>() : Keep(entries, table, store, deadline);
}

// 10 characters, the same for equal texts.
std::string ShortId(std::string_view of) {
  constexpr std::size_t kLength = 10;
  const Digest digest = Sha256(of);
  std::string id;
  for (std::size_t i = 0; i < kLength; ++i) id += kIdCharacters[digest[i] % kIdCharacters.size()];
  return id;
}

std::string IdOf(const Trial& trial) {
  return ShortId(trial.rule + " " + trial.service + "\n" + trial.resource + " " + trial.group +
                 "/" + trial.kind + "/" + trial.ns + "/" + trial.name);
}

// Whether the finding would refuse under `enforce`: not what refused, nor what warns in any mode.
bool WouldRefuse(const Finding& finding) {
  return finding.at_most == Mode::kEnforce &&
         (finding.mode == Mode::kAudit || finding.mode == Mode::kWarn);
}

// One for all that is counted together.
std::string IdOf(const ReviewRecord& record, const Finding& finding) {
  constexpr std::size_t kUsualBytes = 512;
  std::string out;
  out.reserve(kUsualBytes);
  out.append(Name(finding.rule));
  const std::string_view key = finding.key.text;
  // Where the resource is called as its object it has another name at each try, too.
  const bool other_key = record.made_up && key.find(record.name) != std::string_view::npos;
  out.append(1, '\n').append(other_key ? std::string_view() : key);
  out.append(1, '\n').append(record.group).append(1, '/').append(record.kind);
  if (record.root != nullptr) out.append(1, '\n').append(ToText(*record.root));
  if (!record.made_up) out.append(1, '\n').append(record.ns).append(1, '/').append(record.name);
  return ShortId(out);
}

void WriteTrial(const Trial& trial, JsonWriter& json) {
  json.BeginObject()
      .Field("service", trial.service)
      .Field("rule", trial.rule)
      .Field("mode", trial.mode)
      .Field("resource", trial.resource)
      .Field("group", trial.group)
      .Field("kind", trial.kind)
      .Field("namespace", trial.ns)
      .Field("name", trial.name)
      .Field("user", trial.user)
      .Field("text", trial.text)
      .Field("first", FormatTimestamp(trial.first))
      .Field("last", FormatTimestamp(trial.last))
      .NumberField("count", trial.count)
      .EndObject();
}

}  // namespace

void LatestDenials::Leave(const Slot& root) {
  const auto left = of_root_.find(root);
  if (--left->second == 0) of_root_.erase(left);
}

void LatestDenials::Enter(Denial denial) {
  if (Denial* const known = entries_.Touch(denial.id)) {
    const Timestamp first = std::min(known->first, denial.first);
    const std::uint64_t count = known->count + denial.count;
    if (denial.last >= known->last) {
      ++of_root_[denial.root];
      Leave(known->root);
      *known = std::move(denial);
    }
    known->first = first;
    known->count = count;
    return;
  }
  std::size_t& of_root = of_root_[denial.root];
  if (++of_root > kDenialsOfRoot) {
    --of_root;
    entries_.TakeLast([&](const Denial& each) { return each.root == denial.root; });
  }
  std::string id = denial.id;
  const auto gone = entries_.Add(std::move(id), std::move(denial), kDenialsKept);
  if (gone) Leave(gone->root);
}

void DenialBook::OnReview(const ReviewRecord& record) {
  if (record.verdict != Verdict::kDenied) return;
  const Timestamp now = clock_.Now();
  const auto text = [](std::string_view word) { return std::string(word); };
  const Slot own = {"", text(record.group), text(record.kind), text(record.ns), text(record.name)};
  for (const Finding& finding : record.findings) {
    if (finding.mode != Mode::kEnforce) continue;
    Denial denial = {.id = IdOf(record, finding),
                     .key = finding.key,
                     .resource = finding.resource,
                     .rule = text(Name(finding.rule)),
                     .cause = finding.cause,
                     .group = own.group,
                     .kind = own.kind,
                     .ns = own.ns,
                     .name = own.name,
                     .user = text(record.user),
                     .first = now,
                     .last = now,
                     .count = 1,
                     .root = record.root != nullptr ? *record.root : own};
    entries_.With([&](auto& entries) {
      entries.all.Enter(denial);
      entries.fresh.Enter(std::move(denial));
    });
  }
}

Result<void> DenialBook::Load(Deadline deadline) {
  return Keep(entries_, kDenialsTable, store_, deadline);
}

Result<void> DenialBook::Flush(Deadline deadline) {
  return KeepFresh(entries_, kDenialsTable, store_, deadline);
}

std::vector<Denial> DenialBook::All() const {
  return entries_.With([](const auto& entries) { return entries.all.All(kDenialsKept); });
}

std::vector<Denial> DenialBook::OfNames(const std::set<KeyText>& names, std::size_t limit) const {
  return entries_.With([&](const auto& entries) { return entries.all.OfNames(names, limit); });
}

void TrialBook::OnReview(const ReviewRecord& record) {
  if (record.dry_run) return;
  for (const Finding& finding : record.findings) {
    if (!WouldRefuse(finding)) continue;
    const Timestamp now = clock_.Now();
    Trial trial{.id = {},
                .service = OneLine(record.service, kTrialNameBytesMax),
                .rule = std::string(Name(finding.rule)),
                .mode = std::string(Name(finding.mode)),
                .resource = finding.resource,
                .group = OneLine(record.group, kTrialNameBytesMax),
                .kind = OneLine(record.kind, kTrialNameBytesMax),
                .ns = OneLine(record.ns, kTrialNameBytesMax),
                .name = OneLine(record.name, kTrialNameBytesMax),
                .user = OneLine(record.user, kTrialNameBytesMax),
                .text = OneLine(finding.cause + " " + finding.remedy, kTrialTextBytesMax),
                .first = now,
                .last = now,
                .count = 1};
    trial.id = IdOf(trial);
    entries_.With([&](auto& entries) {
      entries.fresh.Enter(trial);
      entries.all.Enter(std::move(trial));
    });
  }
}

void LatestTrials::Enter(Trial trial) {
  std::string id = trial.id;
  if (Trial* known = entries_.Touch(id)) {
    trial.first = std::min(trial.first, known->first);
    trial.count += known->count;
    *known = std::move(trial);
  } else {
    entries_.Add(std::move(id), std::move(trial), kTrialsKept);
  }
}

Result<void> TrialBook::Load(Deadline deadline) {
  return Keep(entries_, kTrialTable, store_, deadline);
}

Result<void> TrialBook::Flush(Deadline deadline) {
  return KeepFresh(entries_, kTrialTable, store_, deadline);
}

std::vector<Trial> TrialBook::Since(Timestamp since) const {
  return entries_.With([&](const auto& entries) { return entries.all.Since(since); });
}

Result<HttpResponse> AnswerTrial(const TrialBook& book, const HttpRequest& request) {
  Timestamp since{};
  if (const auto text = request.Query("since")) {
    TRUCE_ASSIGN_OR_RETURN(since, TimeIn("since", *text));
  }
  return ListResponse(book.Since(since), WriteTrial);
}

}  // namespace truce
