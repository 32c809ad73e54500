#include "webhook/publish/notifier.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "registry/base/file.h"
#include "registry/base/text.h"
#include "registry/store/administration.h"
#include "webhook/findings/mute_book.h"
#include "webhook/kube/http_call.h"
#include "webhook/kube/proxy.h"
#include "webhook/kube/session.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStoreTime{5};
constexpr BackoffOptions kRetries{.first = std::chrono::seconds(2),
                                  .longest = std::chrono::minutes(5)};
constexpr std::size_t kUrlBytesMax = 4096;
constexpr std::size_t kAnswerBytesMax = 64 * 1024;

// Two servers that fail together do not come back together.
std::uint64_t Seed() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

std::pair<std::string, std::string> NameOf(const News& news) {
  if (const auto* denial = std::get_if<Denial>(&news)) return {"denial", denial->id};
  return {"finding", std::get<LiveFinding>(news).id};
}

// When it became news.
Timestamp TimeOf(const News& news) {
  if (const auto* denial = std::get_if<Denial>(&news)) return denial->last;
  return std::get<LiveFinding>(news).first_seen;
}

// A denial weighs as much as a warning.
Severity WeightOf(const News& news) {
  const auto* finding = std::get_if<LiveFinding>(&news);
  return finding == nullptr ? Severity::kWarning : SeverityOf(finding->mode);
}

}  // namespace

Result<NotifyUrl> ReadNotifyUrl(const std::string& file) {
  TRUCE_ASSIGN_OR_RETURN(const std::string content, ReadSmallFile(file));
  const std::string_view text = Trimmed(content, " \t\r\n");
  const Error wrong = InvalidArgument("\"" + file +
                                      "\" does not hold the URL of a webhook; write "
                                      "https://HOST[:PORT]/PATH into it, alone on a line");
  const std::size_t scheme = text.find("://");
  const bool is_text = text.size() <= kUrlBytesMax && IsAllVisible(text);
  if (!is_text || scheme == text.npos || text.find('#') != text.npos) return wrong;
  const std::size_t path = std::min(text.find_first_of("/?", scheme + 3), text.size());
  NotifyUrl url;
  // Its message would show what the file holds.
  Result<ServerAddress> address = ParseServerAddress(text.substr(0, path));
  if (!address.ok()) return wrong;
  url.address = std::move(address).value();
  if (!url.address.tls && !IsLoopback(url.address.host)) {
    return InvalidArgument("\"" + file +
                           "\" holds a URL of http://, which would show its secret on the way; "
                           "write https://");
  }
  url.target = text.substr(path);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

Posted PostNotice(const NotifyUrl& url, const std::string& body, const Clock& clock) {
  const Deadline deadline = In(kPostTime);
  ServerSettings server;
  server.address = url.address;
  server.origin = "the webhook of notifications";
  Result<std::optional<ProxySettings>> proxy = ProxyFor(server.address, ProxyVariables());
  if (!proxy.ok()) return {proxy.error().message};
  server.proxy = std::move(proxy).value();
  auto session = ServerSession::Open(std::move(server), clock, {});
  if (!session.ok()) return {session.error().message};
  const auto state = session.value()->Current();
  HttpPool pool(std::move(session).value(),
                {.calls_max = 1, .response_bytes_max = kAnswerBytesMax});
  const HttpCall call{.method = "POST",
                      .target = url.target,
                      .accept = "*/*",
                      .content_type = "application/json; charset=utf-8",
                      .body = body,
                      .headers = {{"Accept-Encoding", "identity"}}};
  const ApiResult<HttpReply> reply = pool.Do(call, state, deadline);
  if (!reply.ok()) return {HostAndPort(url.address) + ": " + reply.error().message};
  const ResponseHead& head = reply.value().head;
  if (head.status >= 200 && head.status < 300) return {};
  // Not the answer's text: some servers repeat the path there.
  return {HostAndPort(url.address) + " answered " + std::to_string(head.status), head.retry_after};
}

Notifier::Notifier(NotifierPorts ports) : ports_(std::move(ports)), backoff_(kRetries, Seed()) {}

Result<void> Notifier::Reread() {
  Result<NotifyUrl> read = ReadNotifyUrl(ports_.url_file);
  if (!read.ok()) return std::move(read).error().Within("notifyUrlFile");
  const auto present = url_.Current();
  if (present != nullptr && *present == read.value()) return {};
  url_.Replace(std::make_shared<const NotifyUrl>(std::move(read).value()));
  worker_.Wake();
  return {};
}

Worker::Rest Notifier::Step() {
  if (!leads_.load()) return {In(kEvery)};
  const Timestamp now = ports_.clock.Now();
  // Without the registry nobody knows what was sent; others log that it fails.
  const Result<Sent> sent = ReadSent(now);
  if (!sent.ok()) return {In(kEvery)};
  if (!unsaved_.empty()) Save(sent.value());
  const std::vector<News> news = NewsAt(now, sent.value());
  if (news.empty()) return {In(kEvery)};
  const Notice notice = NoticeOf(news, ports_.style);
  const Posted posted = ports_.post(*url_.Current(), notice.body, ports_.clock);
  Tell(posted.problem);
  if (!posted.problem.empty()) {
    ++failed_;
    return {In(backoff_.Next(posted.retry_after))};
  }
  backoff_.Reset();
  for (std::size_t i = 0; i < notice.covered; ++i) {
    // Clocks of two leaders differ.
    unsaved_[NameOf(news[i])] = std::max(now, TimeOf(news[i]));
  }
  Save(sent.value());
  sent_ += notice.shown;
  dropped_ += notice.covered - notice.shown;
  if (ports_.style.form == NotifyForm::kJson) return {Deadline()};
  return {.due = In(kBetween), .earliest = In(kBetween)};
}

// Of the last day.
Result<Notifier::Sent> Notifier::ReadSent(Timestamp now) const {
  TRUCE_ASSIGN_OR_RETURN(const std::vector<TableRow> rows,
                         ReadRows(ports_.store, kNotifiedTable, In(kStoreTime)));
  Sent sent = unsaved_;
  for (Notified& each : kNotifiedTable.Readable(rows)) {
    sent.insert({{std::move(each.kind), std::move(each.id)}, each.at});
  }
  std::erase_if(sent, [&](const auto& each) { return each.second <= now - kDay; });
  return sent;
}

// The gravest first, then findings before denials.
std::vector<News> Notifier::NewsAt(Timestamp now, const Sent& sent) {
  std::vector<News> news;
  if (ports_.cluster != nullptr) {
    for (LiveFinding& finding : ports_.cluster->Findings()) {
      if (!ports_.cluster->Mutes().Hides(finding)) news.emplace_back(std::move(finding));
    }
  }
  for (Denial& denial : ports_.denials.All()) news.emplace_back(std::move(denial));
  const Timestamp begin = now - kDay;
  const Timestamp before = looked_ - kDay;
  const bool has_looked = std::exchange(looked_, now) != Timestamp{};
  std::erase_if(news, [&](const News& each) {
    const Timestamp at = TimeOf(each);
    if (sent.contains(NameOf(each))) return true;
    // It became too old while nobody took it.
    if (has_looked && at > before && at <= begin) ++dropped_;
    return at <= begin;
  });
  std::ranges::stable_sort(news, std::greater(), WeightOf);
  return news;
}

// The next look writes what cannot be written now; until then memory has it.
void Notifier::Save(Sent sent) {
  for (const auto& [name, at] : unsaved_) sent[name] = at;
  std::vector<TableRow> rows;
  for (const auto& [name, at] : sent) {
    rows.push_back(kNotifiedTable.Row({name.first, name.second, at}));
  }
  const auto write = [&](Administration& books) { books.SetTableRows(kNotifiedTable, rows); };
  if (Administer(ports_.store, ports_.clock.Now(), In(kStoreTime), write).ok()) unsaved_.clear();
}

// Logged when it begins and when it ends.
void Notifier::Tell(const std::string& trouble) {
  const std::string before =
      trouble_.With([&](std::string& last) { return std::exchange(last, trouble); });
  if (before.empty() == trouble.empty()) return;
  if (trouble.empty()) {
    ports_.logger.Log(LogLevel::kInfo, "notifications are taken again", {});
  } else {
    ports_.logger.Log(LogLevel::kWarning, "notifications are not taken",
                      {{"message", std::string_view(trouble)}});
  }
}

std::string Notifier::trouble() const {
  return trouble_.With([](const std::string& last) { return last; });
}

void Notifier::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_notifications_total");
  const std::array<std::pair<std::string_view, std::uint64_t>, 3> counts = {
      {{"sent", sent_}, {"dropped", dropped_}, {"failed", failed_}}};
  for (const auto& [outcome, count] : counts) {
    const std::array<std::pair<std::string_view, std::string_view>, 1> labels = {
        {{"outcome", outcome}}};
    writer.Sample(labels, static_cast<double>(count));
  }
}

}  // namespace truce
