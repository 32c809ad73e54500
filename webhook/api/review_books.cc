#include "webhook/api/review_books.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "registry/base/random_id.h"
#include "registry/store/administration.h"
#include "registry/store/store.h"
#include "webhook/api/problem.h"
#include "webhook/api/rest/call.h"
#include "webhook/wire/digest.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr char kTrialSetting[] = "trial";
constexpr char kDenialsSetting[] = "denials";
constexpr std::size_t kTrialTextBytesMax = 600;
constexpr std::size_t kTrialNameBytesMax = 253;

// The members of a kept entry, which `visit` writes or reads.
template <typename Kept, typename Visit>
requires std::is_same_v<std::remove_const_t<Kept>, Trial>
void VisitMembers(Kept& trial, Visit& visit) {
  visit("service", trial.service);
  visit("rule", trial.rule);
  visit("mode", trial.mode);
  visit("resource", trial.resource);
  visit("group", trial.group);
  visit("kind", trial.kind);
  visit("namespace", trial.ns);
  visit("name", trial.name);
  visit("user", trial.user);
  visit("text", trial.text);
  visit.Time("first", trial.first);
  visit.Time("last", trial.last);
  visit("count", trial.count);
}

template <typename Kept, typename Visit>
requires std::is_same_v<std::remove_const_t<Kept>, Denial>
void VisitMembers(Kept& denial, Visit& visit) {
  visit("id", denial.id);
  visit("key", denial.key.text);
  visit("resource", denial.resource);
  visit("rule", denial.rule);
  visit("cause", denial.cause);
  visit("group", denial.group);
  visit("kind", denial.kind);
  visit("namespace", denial.ns);
  visit("name", denial.name);
  visit("user", denial.user);
  visit("first", denial.first);
  visit("last", denial.last);
  visit("count", denial.count);
  visit("root", denial.root);
}

struct MemberWriter {
  OrderedJson json = OrderedJson::object();

  void operator()(const char* name, const std::string& text) { json[name] = text; }
  void operator()(const char* name, std::uint64_t number) { json[name] = number; }
  void operator()(const char* name, Timestamp time) {
    json[name] = time.time_since_epoch().count();
  }
  void operator()(const char* name, const Slot& slot) { json[name] = ToText(slot); }
  // For people.
  void Time(const char* name, Timestamp time) { json[name] = FormatTimestamp(time); }
};

struct MemberReader {
  const OrderedJson& json;
  bool is_read = json.is_object();  // false: no MemberWriter wrote that

  void operator()(const char* name, std::string& text) { text = TextIn(json, name); }
  void operator()(const char* name, std::uint64_t& number) {
    is_read = is_read && json.contains(name) && json[name].is_number_unsigned();
    if (is_read) number = json[name].get<std::uint64_t>();
  }
  void operator()(const char* name, Timestamp& time) {
    std::uint64_t milliseconds = 0;
    (*this)(name, milliseconds);
    time = Timestamp(std::chrono::milliseconds(static_cast<std::int64_t>(milliseconds)));
  }
  void operator()(const char* name, Slot& slot) { Accept(SlotFromText(TextIn(json, name)), slot); }
  void Time(const char* name, Timestamp& time) { Accept(ParseTimestamp(TextIn(json, name)), time); }

 private:
  template <typename Value>
  void Accept(std::optional<Value> read, Value& value) {
    is_read = is_read && read.has_value();
    if (read) value = *std::move(read);
  }
};

template <typename Entry>
OrderedJson ToJson(const Entry& entry) {
  MemberWriter writer;
  VisitMembers(entry, writer);
  return std::move(writer.json);
}

// The latest last. Entries that cannot be read are passed over; nothing: it is no list.
template <typename Entry, typename Latest>
std::optional<Latest> LatestFrom(const std::string& text) {
  const OrderedJson json = text.empty() ? OrderedJson::array() : ParseOrderedJson(text);
  if (!json.is_array()) return std::nullopt;
  Latest latest;
  for (const OrderedJson& item : json) {
    MemberReader reader{item};
    Entry entry;
    if (reader.is_read) VisitMembers(entry, reader);
    if (reader.is_read) latest.Enter(std::move(entry));
  }
  return latest;
}

// Adds what is fresh to `setting` of `store`, and takes over what others wrote there. Where there
// is nothing fresh, nothing is written. Errors: those of the store: then what is fresh stays so;
// kDataLoss: the setting cannot be read, and nothing is fresh to write in its place.
template <typename Entry, typename Latest>
Result<void> ExchangeIn(Guarded<ExchangedEntries<Latest>>& entries, const char* setting,
                        Store& store, Deadline deadline) {
  const Latest fresh = entries.With([](auto& kept) { return std::exchange(kept.fresh, Latest()); });
  Latest merged;
  bool is_read = true;
  const auto merge = [&](Administration& books) {
    std::optional<Latest> kept = LatestFrom<Entry, Latest>(books.Setting(setting).value_or(""));
    is_read = kept.has_value();
    merged = std::move(kept).value_or(Latest());
    if (fresh.empty()) return;
    fresh.ForEach([&](const Entry& entry) { merged.Enter(entry); });
    OrderedJson json = OrderedJson::array();
    merged.ForEach([&](const Entry& entry) { json.push_back(ToJson(entry)); });
    books.PutSetting(setting, Dump(json));
  };
  Result<void> done = Administer(store, Timestamp(), deadline, merge);
  if (done.ok() && !is_read && fresh.empty()) {
    done = Error{ErrorCode::kDataLoss, "setting " + std::string(setting) + " cannot be read"};
  }
  entries.With([&](auto& kept) {
    // What came meanwhile is fresh still.
    const Latest& old = done.ok() ? merged : fresh;
    Latest& into = done.ok() ? kept.all : kept.fresh;
    Latest whole;
    const auto enter = [&](const Entry& entry) { whole.Enter(entry); };
    old.ForEach(enter);
    kept.fresh.ForEach(enter);
    into = std::move(whole);
  });
  return done;
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
    entries_.With([&](auto& entries) {
      entries.all.Enter(denial);
      if (is_exchanged_) entries.fresh.Enter(denial);
    });
  }
}

void DenialBook::KeepForExchange() { is_exchanged_ = true; }

Result<void> DenialBook::Exchange(Store& store, Deadline deadline) {
  return ExchangeIn<Denial>(entries_, kDenialsSetting, store, deadline);
}

std::vector<Denial> DenialBook::All() const {
  return WithShortIds(
      entries_.With([](const auto& entries) { return entries.all.All(kDenialsKept); }));
}

std::vector<Denial> DenialBook::OfNames(const std::set<KeyText>& names, std::size_t limit) const {
  return WithShortIds(
      entries_.With([&](const auto& entries) { return entries.all.OfNames(names, limit); }));
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
    entries_.With([&](auto& entries) {
      entries.fresh.Enter(trial);
      entries.all.Enter(std::move(trial));
    });
  }
}

void LatestTrials::Enter(Trial trial) {
  std::string id = IdOf(trial);
  if (Trial* known = entries_.Touch(id)) {
    trial.first = std::min(trial.first, known->first);
    trial.count += known->count;
    *known = std::move(trial);
  } else {
    entries_.Add(std::move(id), std::move(trial), kTrialsKept);
  }
}

Result<void> TrialBook::Load(Deadline deadline) {
  return ExchangeIn<Trial>(entries_, kTrialSetting, store_, deadline);
}

Result<void> TrialBook::Flush(Deadline deadline) {
  const bool is_known = entries_.With([](const auto& entries) { return entries.fresh.empty(); });
  return is_known && !store_.is_remote() ? Result<void>() : Load(deadline);
}

std::vector<Trial> TrialBook::Since(Timestamp since) const {
  return entries_.With([&](const auto& entries) { return entries.all.Since(since); });
}

Result<HttpResponse> AnswerTrial(const TrialBook& book, const HttpRequest& request) {
  Timestamp since{};
  if (const auto text = request.Query("since")) {
    TRUCE_ASSIGN_OR_RETURN(since, TimeIn("since", *text));
  }
  return ListResponse(book.Since(since),
                      [](const Trial& trial, JsonWriter& json) { json.Raw(Dump(ToJson(trial))); });
}

}  // namespace truce
