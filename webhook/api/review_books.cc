#include "webhook/api/review_books.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

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

const auto& TableFor(const Denial* /*type*/) { return kDenialsTable; }
const auto& TableFor(const Trial* /*type*/) { return kTrialTable; }
std::size_t KeptMax(const Denial* /*type*/) { return kDenialsKept; }
std::size_t KeptMax(const Trial* /*type*/) { return kTrialsKept; }
bool HasRoom(const Denial& denial, std::unordered_map<std::string, std::size_t>& of_roots) {
  return ++of_roots[ToText(denial.root)] <= kDenialsOfRoot;
}
bool HasRoom(const Trial& /*trial*/, const std::unordered_map<std::string, std::size_t>& /*of*/) {
  return true;
}

// One of each id, with the latest words and all counts, as many as are kept. Takes and returns them
// the latest last; of equal times the later place counts.
template <typename Entry>
std::deque<Entry> Folded(std::deque<Entry> entries) {
  std::vector<Entry*> latest_first;
  for (auto each = entries.rbegin(); each != entries.rend(); ++each) latest_first.push_back(&*each);
  std::ranges::stable_sort(latest_first, std::ranges::greater(),
                           [](const Entry* each) { return each->last; });
  std::unordered_map<std::string_view, Entry*> by_id;
  std::unordered_map<std::string, std::size_t> of_roots;
  std::vector<Entry*> kept;
  for (Entry* each : latest_first) {
    if (const auto known = by_id.find(each->id); known != by_id.end()) {
      known->second->first = std::min(known->second->first, each->first);
      known->second->count += each->count;
    } else if (by_id.size() < KeptMax(each) && HasRoom(*each, of_roots)) {
      by_id.emplace(each->id, each);
      kept.push_back(each);
    }
  }
  std::deque<Entry> out;
  for (auto each = kept.rbegin(); each != kept.rend(); ++each) out.push_back(std::move(**each));
  return out;
}

template <typename Entry>
std::deque<Entry> Folded(std::deque<Entry> first, const std::deque<Entry>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return Folded(std::move(first));
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

template <typename Entry>
void Book<Entry>::Add(Entry entry) {
  entries_.With([&](Entries& entries) {
    entries.fresh.push_back(std::move(entry));
    if (entries.fresh.size() < 2 * KeptMax(&entries.fresh.front())) return;
    entries.fresh = Folded(std::move(entries.fresh));
  });
}

template <typename Entry>
std::vector<Entry> Book<Entry>::All() const {
  // Reviews wait for no more than the copy.
  Entries copy = entries_.With([](const Entries& entries) { return entries; });
  std::deque<Entry> all = Folded(Folded(*copy.kept, *copy.writing), copy.fresh);
  return {std::move_iterator(all.rbegin()), std::move_iterator(all.rend())};
}

template <typename Entry>
Result<void> Book<Entry>::Load(Deadline deadline) {
  const auto& table = TableFor(static_cast<const Entry*>(nullptr));
  const std::shared_ptr<const std::deque<Entry>> writing = entries_.With(
      [](Entries& entries) { return entries.writing = Shared(std::exchange(entries.fresh, {})); });
  const auto merged = [&](const std::vector<TableRow>& rows) {
    std::vector<Entry> stored = table.Readable(rows);
    return Folded({std::move_iterator(stored.begin()), std::move_iterator(stored.end())}, *writing);
  };
  std::deque<Entry> kept;
  Result<void> done;
  if (writing->empty()) {
    const auto rows = ReadRows(store_, table, deadline);
    if (rows.ok()) kept = merged(rows.value());
    if (!rows.ok()) done = rows.error();
  } else {
    done = Administer(store_, Timestamp(), deadline, [&](Administration& books) {
      kept = merged(books.TableRows(table));
      std::vector<TableRow> rows;
      for (const Entry& each : kept) rows.push_back(table.Row(each));
      books.SetTableRows(table, std::move(rows));
    });
  }
  entries_.With([&](Entries& entries) {
    if (done.ok()) {
      entries.kept = Shared(std::move(kept));
    } else {
      entries.fresh = Folded(*writing, entries.fresh);
    }
    entries.writing = Shared({});
  });
  return done;
}

template <typename Entry>
Result<void> Book<Entry>::Flush(Deadline deadline) {
  const bool is_written =
      entries_.With([](const Entries& entries) { return entries.fresh.empty(); });
  return is_written && !store_.is_remote() ? Result<void>() : Load(deadline);
}

template class Book<Denial>;
template class Book<Trial>;

void DenialBook::OnReview(const ReviewRecord& record) {
  if (record.verdict != Verdict::kDenied) return;
  const Timestamp now = clock().Now();
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
    Add(std::move(denial));
  }
}

std::vector<Denial> DenialBook::OfNames(const std::set<KeyText>& names, std::size_t limit) const {
  std::vector<Denial> denials = All();
  std::erase_if(denials, [&](const Denial& each) { return !names.contains(each.key); });
  if (denials.size() > limit) denials.resize(limit);
  return denials;
}

void TrialBook::OnReview(const ReviewRecord& record) {
  if (record.dry_run) return;
  for (const Finding& finding : record.findings) {
    if (!WouldRefuse(finding)) continue;
    const Timestamp now = clock().Now();
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
    Add(std::move(trial));
  }
}

std::vector<Trial> TrialBook::Since(Timestamp since) const {
  std::vector<Trial> trials = All();
  std::erase_if(trials, [&](const Trial& trial) { return trial.last < since; });
  return trials;
}

Result<HttpResponse> AnswerTrial(const TrialBook& book, const HttpRequest& request) {
  Timestamp since{};
  if (const auto text = request.Query("since")) {
    TRUCE_ASSIGN_OR_RETURN(since, TimeIn("since", *text));
  }
  return ListResponse(book.Since(since), WriteTrial);
}

}  // namespace truce
