#include "webhook/api/review_books.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "registry/base/random_id.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/api/problem.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr char kTrialSetting[] = "trial";
constexpr char kDenialsSetting[] = "denials";
constexpr std::size_t kTrialTextBytesMax = 600;
constexpr std::size_t kTrialNameBytesMax = 253;

OrderedJson ToJson(const Trial& trial) {
  return {{"service", trial.service},
          {"rule", trial.rule},
          {"mode", trial.mode},
          {"resource", trial.resource},
          {"group", trial.group},
          {"kind", trial.kind},
          {"namespace", trial.ns},
          {"name", trial.name},
          {"user", trial.user},
          {"text", trial.text},
          {"first", FormatTimestamp(trial.first)},
          {"last", FormatTimestamp(trial.last)},
          {"count", trial.count}};
}

// Nothing for what ToJson did not write.
std::optional<Trial> FromJson(const OrderedJson& json) {
  if (!json.is_object()) return std::nullopt;
  const auto first = ParseTimestamp(TextIn(json, "first"));
  const auto last = ParseTimestamp(TextIn(json, "last"));
  const auto count = json.find("count");
  if (!first || !last || count == json.end() || !count->is_number_unsigned()) return std::nullopt;
  return Trial{TextIn(json, "service"),
               TextIn(json, "rule"),
               TextIn(json, "mode"),
               TextIn(json, "resource"),
               TextIn(json, "group"),
               TextIn(json, "kind"),
               TextIn(json, "namespace"),
               TextIn(json, "name"),
               TextIn(json, "user"),
               TextIn(json, "text"),
               *first,
               *last,
               count->get<std::uint64_t>()};
}

std::string ToText(const std::vector<Trial>& trials) {
  OrderedJson json = OrderedJson::array();
  for (const Trial& trial : trials) json.push_back(ToJson(trial));
  return Dump(json);
}

// The oldest first, so that the latest stands in front of what they are entered into. Nothing: what
// ToText did not write.
std::optional<std::vector<Trial>> TrialsFromText(const std::string& text) {
  std::vector<Trial> trials;
  if (text.empty()) return trials;
  const OrderedJson json = ParseOrderedJson(text);
  if (!json.is_array()) return std::nullopt;
  for (auto item = json.rbegin(); item != json.rend(); ++item) {
    if (std::optional<Trial> trial = FromJson(*item)) trials.push_back(*std::move(trial));
  }
  return trials;
}

using MergeFn = std::function<std::string(const std::string&)>;

// Makes a setting that several servers add to what `merge` says of what it holds; nothing is
// written when that is the same. `merge` may run more than once: its last run counts.
Result<void> ChangeSetting(Store& store, const char* name, const MergeFn& merge,
                           Deadline deadline) {
  return Administer(store, Timestamp(), deadline, [&](Administration& books) {
    const std::string kept = books.Setting(name).value_or("");
    const std::string merged = merge(kept);
    if (merged != kept) books.PutSetting(name, merged);
  });
}

std::string IdOf(const Trial& trial) {
  return trial.rule + " " + trial.service + "\n" + trial.resource + " " + trial.group + "/" +
         trial.kind + "/" + trial.ns + "/" + trial.name;
}

// Whether the finding would refuse under `enforce`: not what refused, nor what warns in any mode.
bool WouldRefuse(const Finding& finding) {
  return finding.at_most == Mode::kEnforce &&
         (finding.mode == Mode::kAudit || finding.mode == Mode::kWarn);
}

std::string DenialId(std::string_view of) {
  constexpr std::size_t kLength = 10;
  const Digest digest = Sha256(of);
  std::string id;
  for (std::size_t i = 0; i < kLength; ++i) id += kIdCharacters[digest[i] % kIdCharacters.size()];
  return id;
}

// Its id is the whole text: the short one is made when somebody reads it.
std::vector<Denial> WithShortIds(std::vector<Denial> denials) {
  for (Denial& denial : denials) denial.id = DenialId(denial.id);
  return denials;
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
  if (record.made_up) return out;
  return out.append(1, '\n').append(record.ns).append(1, '/').append(record.name);
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
    const Denial denial = {.id = IdOf(record, finding),
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
    books_.With([&](Books& books) {
      books.all.Enter(denial);
      if (books.is_exchanged) books.fresh.Enter(denial);
    });
  }
}

std::string DenialBook::ToText(const LatestDenials& denials) {
  OrderedJson json = OrderedJson::array();
  denials.ForEach([&](const Denial& denial) {
    json.push_back({{"id", denial.id},
                    {"key", denial.key.text},
                    {"resource", denial.resource},
                    {"rule", denial.rule},
                    {"cause", denial.cause},
                    {"group", denial.group},
                    {"kind", denial.kind},
                    {"namespace", denial.ns},
                    {"name", denial.name},
                    {"user", denial.user},
                    {"first", denial.first.time_since_epoch().count()},
                    {"last", denial.last.time_since_epoch().count()},
                    {"count", denial.count},
                    {"root", truce::ToText(denial.root)}});
  });
  return Dump(json);
}

LatestDenials DenialBook::FromText(const std::string& text) {
  LatestDenials denials;
  const OrderedJson json = text.empty() ? OrderedJson::array() : ParseOrderedJson(text);
  if (!json.is_array()) return denials;
  const auto time = [](const OrderedJson& item, const char* name) {
    const auto found = item.find(name);
    const bool is_time = found != item.end() && found->is_number_integer();
    return Timestamp(std::chrono::milliseconds(is_time ? found->get<std::int64_t>() : 0));
  };
  for (const OrderedJson& item : json) {
    if (!item.is_object()) continue;
    const auto root = SlotFromText(TextIn(item, "root"));
    const auto count = item.find("count");
    if (!root || count == item.end() || !count->is_number_unsigned()) continue;
    denials.Enter({TextIn(item, "id"),
                   {TextIn(item, "key")},
                   TextIn(item, "resource"),
                   TextIn(item, "rule"),
                   TextIn(item, "cause"),
                   TextIn(item, "group"),
                   TextIn(item, "kind"),
                   TextIn(item, "namespace"),
                   TextIn(item, "name"),
                   TextIn(item, "user"),
                   time(item, "first"),
                   time(item, "last"),
                   count->get<std::uint64_t>(),
                   *root});
  }
  return denials;
}

void DenialBook::KeepForExchange() {
  books_.With([](Books& books) { books.is_exchanged = true; });
}

Result<void> DenialBook::Exchange(Store& store, Deadline deadline) {
  const LatestDenials fresh =
      books_.With([](Books& books) { return std::exchange(books.fresh, LatestDenials()); });
  LatestDenials merged;
  const auto merge = [&](const std::string& kept) {
    merged = FromText(kept);
    fresh.ForEach([&](const Denial& denial) { merged.Enter(denial); });
    return fresh.empty() ? kept : ToText(merged);
  };
  Result<void> done = ChangeSetting(store, kDenialsSetting, merge, deadline);
  books_.With([&](Books& books) {
    // What came meanwhile is fresh still.
    const LatestDenials& old = done.ok() ? merged : fresh;
    LatestDenials& into = done.ok() ? books.all : books.fresh;
    LatestDenials whole;
    const auto enter = [&](const Denial& denial) { whole.Enter(denial); };
    old.ForEach(enter);
    books.fresh.ForEach(enter);
    into = std::move(whole);
  });
  return done;
}

std::vector<Denial> DenialBook::All() const {
  return WithShortIds(books_.With([](const Books& books) { return books.all.All(kDenialsKept); }));
}

std::vector<Denial> DenialBook::OfNames(const std::set<KeyText>& names, std::size_t limit) const {
  return WithShortIds(
      books_.With([&](const Books& books) { return books.all.OfNames(names, limit); }));
}

void TrialBook::OnReview(const ReviewRecord& record) {
  if (record.dry_run) return;
  for (const Finding& finding : record.findings) {
    if (!WouldRefuse(finding)) continue;
    const Timestamp now = clock_.Now();
    Trial trial{.service = OneLine(record.service, kTrialNameBytesMax),
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
    book_.With([&](Book& book) {
      Enter(book.fresh, trial);
      Enter(book.trials, std::move(trial));
    });
  }
}

void TrialBook::Enter(Entries& entries, Trial trial) {
  std::string id = IdOf(trial);
  if (Trial* known = entries.Touch(id)) {
    trial.first = std::min(trial.first, known->first);
    trial.count += known->count;
    *known = std::move(trial);
  } else {
    entries.Add(std::move(id), std::move(trial), kTrialsKept);
  }
}

void TrialBook::TakeOver(Entries kept) {
  book_.With([&](Book& book) {
    book.fresh.ForEach([&](const std::string&, const Trial& trial) { Enter(kept, trial); });
    book.trials = std::move(kept);
  });
}

Result<void> TrialBook::Load(Deadline deadline) {
  std::string text;
  const auto look = [&](const Facts& facts) { text = facts.Setting(kTrialSetting).value_or(""); };
  TRUCE_RETURN_IF_ERROR(store_.Read(look, deadline));
  const auto trials = TrialsFromText(text);
  if (!trials) return Error{ErrorCode::kDataLoss, "the trial's record cannot be read"};
  Entries kept;
  for (const Trial& trial : *trials) Enter(kept, trial);
  TakeOver(std::move(kept));
  return {};
}

Result<void> TrialBook::Flush(Deadline deadline) {
  const Entries fresh = book_.With([](Book& book) { return std::exchange(book.fresh, Entries()); });
  if (fresh.empty()) return store_.is_remote() ? Load(deadline) : Result<void>();
  Entries merged;
  const auto merge = [&](const std::string& kept) {
    merged = Entries();
    for (const Trial& trial : TrialsFromText(kept).value_or(std::vector<Trial>())) {
      Enter(merged, trial);
    }
    fresh.ForEach([&](const std::string&, const Trial& trial) { Enter(merged, trial); });
    return ToText(merged.Find([](const Trial&) { return true; }, kTrialsKept));
  };
  Result<void> written = ChangeSetting(store_, kTrialSetting, merge, deadline);
  if (written.ok()) {
    TakeOver(std::move(merged));
    return written;
  }
  book_.With([&](Book& book) {
    Entries whole;
    const auto enter = [&](const std::string&, const Trial& trial) { Enter(whole, trial); };
    fresh.ForEach(enter);
    book.fresh.ForEach(enter);
    book.fresh = std::move(whole);
  });
  return written;
}

std::vector<Trial> TrialBook::Since(Timestamp since) const {
  return book_.With([&](const Book& book) {
    return book.trials.Find([&](const Trial& trial) { return trial.last >= since; }, kTrialsKept);
  });
}

HttpResponse AnswerTrial(const TrialBook& book, const HttpRequest& request) {
  Timestamp since{};
  if (const auto text = request.Query("since")) {
    const auto time = ParseTimestamp(*text);
    if (!time) {
      return ProblemResponse(Error{ErrorCode::kInvalidArgument, "\"since\" is not a time"});
    }
    since = *time;
  }
  return HttpResponse{.content_type = "application/json",
                      .body = "{\"items\":" + ToText(book.Since(since)) + "}"};
}

std::vector<HttpRoute> TrialRoutes(const TrialBook& book) {
  return {{"GET", "/api/v1/trial", RouteMatch::kExact, "",
           [&book](HttpRequest& request) { return AnswerTrial(book, request); }}};
}

}  // namespace truce
