#include "webhook/watch/reflector.h"

#include <algorithm>
#include <utility>

#include "webhook/watch/history.h"

namespace truce {
namespace {

constexpr std::size_t kPageParts = 8;  // of a page that was too large
// A watch that ends sooner brought nothing and may end at once again: it counts as a failure.
constexpr std::chrono::seconds kWatchLifeMin{1};
// A watch that runs for so long is well, also when nothing happens.
constexpr std::chrono::seconds kHealthyAfter{10};
// After so many failures of the watch alone its history is taken as lost.
constexpr int kWatchFailuresMax = 5;
// The API server's message for a version it has not reached: its etcd was restored.
constexpr std::string_view kTooLarge = "Too large resource version";

// Versions that are no numbers cannot be compared: nothing is dropped by them.
bool IsLater(const std::string& version, const std::string& than) {
  const auto a = VersionNumber(version);
  const auto b = VersionNumber(than);
  return !a || !b || *a > *b;
}

// Whether the way to the server failed, which says nothing about the kind's history.
bool IsTheWay(ApiErrorKind kind) {
  return kind == ApiErrorKind::kUnreachable || kind == ApiErrorKind::kThrottled ||
         kind == ApiErrorKind::kUnauthorized || kind == ApiErrorKind::kForbidden;
}

}  // namespace

Reflector::Reflector(FollowedKind kind, ReflectorTimes times, std::uint64_t seed)
    : kind_(std::move(kind)),
      times_(times),
      page_(times.page),
      random_(seed),
      backoff_({times.backoff_min, times.backoff_max}, seed) {}

void Reflector::Go(Phase phase, Moment due) {
  phase_ = phase;
  due_ = due;
}

void Reflector::BeginAnew(Moment now) {
  next_.clear();
  gap_ = true;
  // An answer under way shows the cluster as it was before the gap.
  discard_ = outstanding_;
  Go(Phase::kListDue, now);
}

ListQuery Reflector::Query(std::size_t limit) const {
  ListQuery query;
  query.selection = kind_.selection;
  query.limit = limit;
  query.next = next_;
  return query;
}

std::optional<Moment> Reflector::Due() const {
  if (stop_watch_) return Moment{};
  const bool lists = WantsList();
  // A watch of a quiet kind tells by lasting that all is well again.
  if (phase_ == Phase::kWatching && problem_) return watch_began_ + kHealthyAfter;
  if (!lists && phase_ != Phase::kWatchDue) return std::nullopt;
  if (lists && outstanding_) return std::nullopt;
  return due_;
}

bool Reflector::WantsList() const { return phase_ == Phase::kListDue || phase_ == Phase::kEmpty; }

ReflectorOrders Reflector::Tick(Moment now) {
  ReflectorOrders orders;
  orders.stop_watch = std::exchange(stop_watch_, false);
  if (WantsList() && !outstanding_ && now >= due_) {
    const bool poll = phase_ == Phase::kEmpty;
    orders.list = Query(poll ? 1 : page_);
    phase_ = poll ? Phase::kPolling : Phase::kListing;
    outstanding_ = true;
  } else if (phase_ == Phase::kWatching && now - watch_began_ >= kHealthyAfter) {
    Succeeded();
  } else if (phase_ == Phase::kWatchDue && now >= due_) {
    phase_ = Phase::kWatching;
    watch_began_ = now;
    orders.watch_from = version_;
    // Streams that began together shall not end together.
    orders.watch_timeout = std::exchange(hurried_, false)
                               ? kHurryWatch
                               : std::chrono::duration_cast<std::chrono::seconds>(
                                     Spread(times_.watch_timeout, ++random_));
  }
  return orders;
}

void Reflector::Succeeded() {
  backoff_.Reset();
  problem_.reset();
}

ReflectorNews Reflector::Listed(Moment now, ApiResult<ListPage> answer) {
  outstanding_ = false;
  if (std::exchange(discard_, false)) return {};
  if (phase_ == Phase::kPolling) {
    Polled(now, answer);
    return {};
  }
  if (phase_ != Phase::kListing) return {};
  if (!answer.ok()) return ListFailed(now, answer.error());
  if (answer.value().resource_version.empty()) {
    return ListFailed(now, {ApiErrorKind::kMalformed, 200, "a list without version", {}});
  }
  return PageTaken(now, std::move(answer).value());
}

ReflectorNews Reflector::PageTaken(Moment now, ListPage page) {
  ReflectorNews news;
  news.begins = next_.empty();
  if (news.begins) {
    list_version_ = page.resource_version;
    list_found_ = false;
  }
  list_found_ = list_found_ || !page.objects.empty();
  news.objects = std::move(page.objects);
  next_ = std::move(page.next);
  if (!next_.empty()) {
    Go(Phase::kListDue, now);
    return news;
  }
  news.finished = true;
  page_ = std::min(times_.page, 2 * page_);
  attempted_ = true;
  listed_ = true;
  const bool anew = std::exchange(gap_, false);
  if (anew) {
    // The first page's: a list that went on from an expired token is of a later moment, and what
    // changed between the two would be missed.
    version_ = list_version_;
    news.passed = version_;
  }
  Succeeded();
  if (list_found_ || kind_.always || (!anew && !was_empty_)) {
    Go(Phase::kWatchDue, now);
  } else {
    Go(Phase::kEmpty, now + Spread(times_.first_poll, ++random_));
  }
  return news;
}

ReflectorNews Reflector::ListFailed(Moment now, ApiError error) {
  ReflectorNews news;
  const bool token_expired = error.kind == ApiErrorKind::kExpired && !next_.empty();
  next_.clear();
  // A token that expired says nothing about the kind: the list begins again.
  if (token_expired && backoff_.failures() == 0) {
    (void)backoff_.Next();
    Go(Phase::kListDue, now);
    return news;
  }
  Go(Phase::kListDue, now + backoff_.Next(error.retry_after));
  // A page of the largest objects may be more than an answer may hold.
  if (error.kind == ApiErrorKind::kMalformed) page_ = std::max<std::size_t>(1, page_ / kPageParts);
  attempted_ = true;
  problem_ = error;
  news.failed = std::move(error);
  return news;
}

void Reflector::Polled(Moment now, const ApiResult<ListPage>& answer) {
  if (!answer.ok()) {
    problem_ = answer.error();
    Go(Phase::kEmpty, now + std::max(backoff_.Next(answer.error().retry_after),
                                     std::min(times_.poll, times_.backoff_max)));
    return;
  }
  Succeeded();
  const ListPage& page = answer.value();
  if (!page.objects.empty()) {
    Go(Phase::kWatchDue, now);  // after the version that was empty: nothing is missed
    return;
  }
  if (!page.resource_version.empty()) version_ = page.resource_version;
  Go(Phase::kEmpty, now + Spread(times_.poll, ++random_));
}

ReflectorNews Reflector::Events(Moment /*now*/, std::vector<WatchEvent> events) {
  ReflectorNews news;
  if (phase_ != Phase::kWatching) return news;
  Succeeded();
  news.events.reserve(events.size());
  for (WatchEvent& event : events) {
    // A bookmark of where it stands already: nothing is on its way any more.
    if (event.resource_version == version_) news.passed = version_;
    if (!IsLater(event.resource_version, version_)) continue;
    version_ = event.resource_version;
    news.passed = version_;
    if (event.type != WatchEvent::Type::kBookmark) news.events.push_back(std::move(event));
  }
  return news;
}

bool Reflector::HistoryLost(const ApiError& error) const {
  if (error.kind == ApiErrorKind::kExpired) return true;
  if (error.message.find(kTooLarge) != std::string::npos) return true;
  return !IsTheWay(error.kind) && backoff_.failures() >= kWatchFailuresMax;
}

void Reflector::Ended(Moment now, const std::optional<ApiError>& error) {
  if (phase_ != Phase::kWatching) return;
  const bool brief = now - watch_began_ < kWatchLifeMin;
  if (!error) {
    Go(Phase::kWatchDue, brief ? now + backoff_.Next() : now);
    if (!brief) Succeeded();
    return;
  }
  const bool lost = HistoryLost(*error);
  // A history that is lost again and again, as soon as it began, must not be listed without pause.
  const Moment due = lost && !brief ? now : now + backoff_.Next(error->retry_after);
  if (!lost) {
    problem_ = error;
    Go(Phase::kWatchDue, due);
    return;
  }
  BeginAnew(due);
}

void Reflector::Wanted(Moment now) {
  // A poll under way would say that there is nothing, which is over.
  if (phase_ != Phase::kEmpty && phase_ != Phase::kPolling) return;
  discard_ = outstanding_;
  Go(Phase::kWatchDue, now);
}

void Reflector::Hurry(Moment now) {
  Wanted(now);
  const bool watching = phase_ == Phase::kWatching;
  if ((!watching && phase_ != Phase::kWatchDue) || now < hurry_due_) return;
  hurry_due_ = now + kHurryAgain;
  hurried_ = true;
  if (!watching) return;
  stop_watch_ = true;
  Go(Phase::kWatchDue, now);
}

void Reflector::Relist(Moment now) {
  if (phase_ == Phase::kUnserved) return;
  stop_watch_ = stop_watch_ || phase_ == Phase::kWatching;
  BeginAnew(now);
}

bool Reflector::Reread(Moment now) {
  if (gap_ || phase_ == Phase::kUnserved) return false;
  const bool lists = phase_ == Phase::kListDue || phase_ == Phase::kListing;
  if (!lists) was_empty_ = phase_ == Phase::kEmpty || phase_ == Phase::kPolling;
  stop_watch_ = stop_watch_ || phase_ == Phase::kWatching;
  next_.clear();
  // It may have been read by other rules.
  discard_ = outstanding_;
  Go(Phase::kListDue, now);
  return true;
}

void Reflector::Served(Moment now, FollowedKind kind) {
  const bool changed = kind_.selection != kind.selection;
  kind_ = std::move(kind);
  if (phase_ == Phase::kUnserved) {
    Succeeded();
    BeginAnew(now);
  } else if (changed) {
    Relist(now);
  }
}

void Reflector::Unserved() {
  stop_watch_ = stop_watch_ || phase_ == Phase::kWatching;
  discard_ = outstanding_;
  next_.clear();
  gap_ = true;
  // Nobody waits for the objects of a kind that the API server does not have.
  attempted_ = true;
  phase_ = Phase::kUnserved;
}

KindState Reflector::state() const {
  switch (phase_) {
    case Phase::kUnserved: return KindState::kUnserved;
    case Phase::kListDue:
    case Phase::kListing:
      if (problem_) return KindState::kFailing;
      if (listed_) return KindState::kRelisting;
      return phase_ == Phase::kListing ? KindState::kListing : KindState::kPending;
    case Phase::kEmpty:
    case Phase::kPolling: return problem_ ? KindState::kFailing : KindState::kEmpty;
    case Phase::kWatchDue:
    case Phase::kWatching: break;
  }
  // One stream that broke is resumed and nobody's concern.
  return problem_ && backoff_.failures() > 1 ? KindState::kFailing : KindState::kWatched;
}

}  // namespace truce
