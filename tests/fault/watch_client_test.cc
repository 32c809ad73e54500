// Watch streams: events in order, every way a stream can end, and a thousand of them on one thread.
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/scripted_api_session.h"
#include "tests/support/temporary_folder.h"
#include "webhook/kube/watch_client.h"

namespace truce {
namespace watch_client_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr seconds kPatience{30};

// Keeps what it is told.
class Recorder final : public WatchHandler {
 public:
  bool Events(WatchId id, std::vector<WatchEvent>& events) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (refuses_) {
      ++refusals_;
      changed_.notify_all();
      return false;
    }
    threads_.insert(std::this_thread::get_id());
    for (WatchEvent& event : events) {
      if (counts_only_) event.object.clear();
      events_[id].push_back(std::move(event));
      ++count_;
    }
    changed_.notify_all();
    return true;
  }

  void Ended(WatchId id, std::optional<ApiError> error) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_.emplace(id, std::move(error));
    changed_.notify_all();
  }

  bool Await(const std::function<bool()>& condition) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kPatience, condition);
  }
  bool AwaitEvents(std::size_t count) {
    return Await([&] { return count_ >= count; });
  }
  // How stream `id` ended, or a failure.
  std::optional<ApiError> End(WatchId id) {
    EXPECT_TRUE(Await([&] { return ends_.count(id) != 0; })) << "stream " << id << " never ended";
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = ends_.find(id);
    return found == ends_.end() ? std::nullopt : found->second;
  }
  // Its kind as text; "in order" for an end without error.
  std::string EndName(WatchId id) {
    const std::optional<ApiError> error = End(id);
    return error ? std::string(Name(error->kind)) : "in order";
  }
  std::vector<WatchEvent> events(WatchId id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return events_[id];
  }
  std::size_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  void Refuse(bool refuses) {
    const std::lock_guard<std::mutex> lock(mutex_);
    refuses_ = refuses;
  }
  void CountOnly() { counts_only_ = true; }
  bool AwaitRefusal() {
    return Await([&] { return refusals_ > 0; });
  }
  bool has_ended(WatchId id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return ends_.count(id) != 0;
  }
  std::size_t thread_count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return threads_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<WatchId, std::vector<WatchEvent>> events_;
  std::map<WatchId, std::optional<ApiError>> ends_;
  std::set<std::thread::id> threads_;
  std::size_t count_ = 0;
  int refusals_ = 0;
  bool refuses_ = false;
  std::atomic<bool> counts_only_ = false;
};

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + kPatience;
  while (!condition()) {
    if (steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string Version(const ScriptedApiState::Written& written) { return written.resource_version; }

class WatchClientTest : public testing::Test {
 protected:
  WatchClientTest() {
    server_->Change([](ScriptedApiState& state) { state.AddKind(BucketKind()); });
    Open(SettingsFor(*server_), {});
  }

  void Open(ServerSettings settings, WatchClientOptions options) {
    streams_.reset();
    session_ = OpenSession(std::move(settings));
    auto started = StartWatchClient(session_, recorder_, options);
    ASSERT_TRUE(started.ok());
    streams_ = std::move(started).value();
  }

  std::string Now() {
    std::string version;
    server_->Change([&](ScriptedApiState& s) { version = std::to_string(s.version()); });
    return version;
  }

  WatchQuery Query(WatchId id, const std::string& version) {
    WatchQuery query;
    query.id = id;
    query.selection.kind = BucketKind();
    query.resource_version = version;
    return query;
  }

  void Fault(const std::function<void(ApiFault&)>& fill) {
    ApiFault fault;
    fault.target = "watch=1";
    fill(fault);
    server_->AddFault(fault);
  }

  std::unique_ptr<ScriptedApiServer> server_ = ScriptedApiServer::Start();
  Recorder recorder_;
  std::shared_ptr<ServerSession> session_;
  std::unique_ptr<WatchStreams> streams_;
};

TEST_F(WatchClientTest, BringsEveryEventInOrder) {
  streams_->Start(Query(1, Now()));
  server_->Put(BucketKind(), ObjectJson("a"));
  server_->Put(BucketKind(), ObjectJson("a", "", R"("x":1)"));
  server_->Remove(BucketKind(), "", "a");
  ASSERT_TRUE(recorder_.AwaitEvents(3));
  server_->SendBookmarks();
  ASSERT_TRUE(recorder_.AwaitEvents(4));
  const std::vector<WatchEvent> events = recorder_.events(1);
  EXPECT_EQ(events[0].type, WatchEvent::Type::kAdded);
  EXPECT_EQ(events[1].type, WatchEvent::Type::kModified);
  EXPECT_EQ(events[2].type, WatchEvent::Type::kDeleted);
  EXPECT_EQ(events[3].type, WatchEvent::Type::kBookmark);
  EXPECT_NE(events[1].object.find(R"("x":1)"), std::string::npos);
  EXPECT_TRUE(events[3].object.empty());
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_LT(std::stoi(events[i - 1].resource_version), std::stoi(events[i].resource_version));
  }
}

TEST_F(WatchClientTest, GoesOnAfterAVersion) {
  server_->Put(BucketKind(), ObjectJson("a"));
  const std::string version = Version(server_->Put(BucketKind(), ObjectJson("b")));
  server_->Put(BucketKind(), ObjectJson("c"));
  streams_->Start(Query(1, version));
  ASSERT_TRUE(recorder_.AwaitEvents(1));
  EXPECT_NE(recorder_.events(1)[0].object.find(R"("name":"c")"), std::string::npos);
}

TEST_F(WatchClientTest, SelectsByFieldAndMetadataOnly) {
  WatchQuery war = Query(1, Now());
  war.selection.field_selector = "reason=War";
  WatchQuery metadata = Query(2, Now());
  metadata.selection.metadata_only = true;
  streams_->Start(war);
  streams_->Start(metadata);
  server_->Put(BucketKind(), ObjectJson("a", "", R"("reason":"Peace")"));
  server_->Put(BucketKind(), ObjectJson("b", "", R"("reason":"War")"));
  ASSERT_TRUE(recorder_.AwaitEvents(3));
  EXPECT_EQ(recorder_.events(1).size(), 1U);
  ASSERT_EQ(recorder_.events(2).size(), 2U);
  EXPECT_EQ(recorder_.events(2)[0].object.find("spec"), std::string::npos);
}

TEST_F(WatchClientTest, EndsInOrderAfterItsTime) {
  WatchQuery query = Query(1, Now());
  query.timeout = seconds(1);
  streams_->Start(query);
  EXPECT_EQ(recorder_.EndName(1), "in order");
}

TEST_F(WatchClientTest, ABodyThatEndsWithTheConnectionEndsInOrder) {
  Fault([](ApiFault& fault) { fault.identity = true; });
  WatchQuery query = Query(1, Now());
  query.timeout = seconds(1);
  streams_->Start(query);
  server_->Put(BucketKind(), ObjectJson("a"));
  EXPECT_EQ(recorder_.EndName(1), "in order");
  EXPECT_EQ(recorder_.events(1).size(), 1U);
}

TEST_F(WatchClientTest, EveryEndHasItsKind) {
  const auto reply = [](int status, const std::string& body, const std::string& type) {
    return [=](ApiFault& fault) { fault.reply = ScriptedReply{status, body, type}; };
  };
  const auto line = [](const std::string& text) {
    return [=](ApiFault& fault) {
      fault.line = text;
      fault.ends = true;
    };
  };
  const std::string json = "application/json";
  const std::string expired = StatusReply(410, "Expired", "too old").body;
  struct Row {
    std::function<void(ApiFault&)> fault;
    const char* end;
    const char* reason;
  };
  const std::vector<Row> rows = {
      {reply(410, expired, json), "expired", "410 as status"},
      {line(R"({"type":"ERROR","object":)" + expired + "}\n"), "expired", "410 in the stream"},
      {line(R"({"type":"ERROR","object":)" + StatusReply(500, "InternalError", "x").body + "}\n"),
       "server", "another error in the stream"},
      {line("{\"type\":\"ERROR\",\"object\":{}}\n"), "malformed", "an error without Status"},
      {line("{\"type\":\"ADDED\"}\n"), "malformed", "an event without object"},
      {line("{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n"), "malformed", "no version"},
      {line("{\"type\":\"NEW\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}\n"),
       "malformed", "unknown type"},
      {line("<html>\n"), "malformed", "HTML in the stream"},
      {line("{\"type\":\"ADDED\",\"obj"), "unreachable", "half an event, then the end"},
      {line("\n\r\n"), "in order", "empty lines"},
      {reply(200, "<html>", "text/html"), "malformed", "HTML"},
      {reply(403, StatusReply(403, "Forbidden", "no").body, json), "forbidden", "403"},
      {reply(404, "404 page not found\n", "text/plain"), "no_such_type", "type not served"},
      {reply(429, StatusReply(429, "TooManyRequests", "x").body, json), "throttled", "429"},
      {reply(503, "", "text/plain"), "server", "503"},
      {reply(302, "", "text/html"), "invalid", "redirect"},
      {[](ApiFault& fault) { fault.cut_after = 0; }, "unreachable", "cut before the head"},
      {[](ApiFault& fault) { fault.cut_after = 20; }, "unreachable", "cut in the head"},
      {[](ApiFault& fault) {
         fault.line = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"1"}}})";
         fault.cut_after = 130;
       },
       "unreachable", "cut in an event"},
  };
  WatchId id = 0;
  for (const Row& row : rows) {
    Fault(row.fault);
    streams_->Start(Query(++id, Now()));
    EXPECT_EQ(recorder_.EndName(id), row.end) << row.reason;
    EXPECT_TRUE(recorder_.events(id).empty()) << row.reason;
  }
}

TEST_F(WatchClientTest, TooOldAndTooNewVersionsAreExpired) {
  server_->Put(BucketKind(), ObjectJson("a"));
  const std::string old = "1";
  server_->Change([](ScriptedApiState& state) { state.Compact(); });
  streams_->Start(Query(1, old));
  EXPECT_EQ(recorder_.EndName(1), "expired");
  streams_->Start(Query(2, "99999999"));
  EXPECT_EQ(recorder_.EndName(2), "expired");
}

TEST_F(WatchClientTest, EventsBeforeTheErrorAreDelivered) {
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}})";
  Fault([&](ApiFault& fault) { fault.line = event + "\n" + event + "\nnonsense\n"; });
  streams_->Start(Query(1, Now()));
  EXPECT_EQ(recorder_.EndName(1), "malformed");
  EXPECT_EQ(recorder_.events(1).size(), 2U);
}

TEST_F(WatchClientTest, RetryAfterReachesTheCaller) {
  Fault([](ApiFault& fault) {
    fault.reply = ScriptedReply{429, "", "text/plain", "Retry-After: 3\r\n"};
  });
  streams_->Start(Query(1, Now()));
  const std::optional<ApiError> error = recorder_.End(1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->retry_after, seconds(3));
}

TEST_F(WatchClientTest, HalfOpenStreamsAreNoticed) {
  Open(SettingsFor(*server_), {.silence_margin = milliseconds(200)});
  Fault([](ApiFault& fault) { fault.silent = true; });
  WatchQuery query = Query(1, Now());
  query.timeout = seconds(1);
  const auto begin = steady_clock::now();
  streams_->Start(query);
  EXPECT_EQ(recorder_.EndName(1), "timeout");
  EXPECT_GE(steady_clock::now() - begin, seconds(1));
}

TEST_F(WatchClientTest, AServerThatNeverAnswersIsATimeout) {
  Open(SettingsFor(*server_), {.head_timeout = milliseconds(300)});
  Fault([](ApiFault& fault) { fault.hang = true; });
  streams_->Start(Query(1, Now()));
  EXPECT_EQ(recorder_.EndName(1), "timeout");
}

TEST_F(WatchClientTest, NobodyListensIsUnreachable) {
  server_.reset();
  streams_->Start(Query(1, "1"));
  EXPECT_EQ(recorder_.EndName(1), "unreachable");
}

TEST_F(WatchClientTest, AnUnknownNameIsUnreachable) {
  ServerSettings settings = SettingsFor(*server_);
  settings.address.host = "no-such-host.invalid";
  Open(settings, {.connect_timeout = milliseconds(500)});
  streams_->Start(Query(1, "1"));
  EXPECT_EQ(recorder_.EndName(1), "unreachable");
}

TEST_F(WatchClientTest, NamesAreLookedUp) {
  ServerSettings settings = SettingsFor(*server_);
  settings.address.host = "localhost";
  Open(settings, {});
  streams_->Start(Query(1, Now()));
  server_->Put(BucketKind(), ObjectJson("a"));
  EXPECT_TRUE(recorder_.AwaitEvents(1));
}

TEST_F(WatchClientTest, ARefusedTokenIsReadAgainOnce) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "token";
  std::ofstream(file) << "old";
  ServerSettings settings = SettingsFor(*server_);
  settings.user.token.file = file;
  Open(settings, {});
  server_->SetToken("new");
  std::ofstream(file) << "new";
  streams_->Start(Query(1, Now()));
  server_->Put(BucketKind(), ObjectJson("a"));
  EXPECT_TRUE(recorder_.AwaitEvents(1));
  server_->SetToken("newest");
  streams_->Start(Query(2, Now()));
  EXPECT_EQ(recorder_.EndName(2), "unauthorized");
  EXPECT_EQ(server_->CountRequests("watch=1"), 4U);
}

TEST_F(WatchClientTest, EventsOfEightMebibytesPass) {
  const std::string big(8 * 1024 * 1024 - 1000, 'x');
  streams_->Start(Query(1, Now()));
  server_->Put(BucketKind(), ObjectJson("big", "", R"("text":")" + big + "\""));
  ASSERT_TRUE(recorder_.AwaitEvents(1));
  EXPECT_GT(recorder_.events(1)[0].object.size(), big.size());
}

TEST_F(WatchClientTest, LongerEventsEndTheStream) {
  Open(SettingsFor(*server_), {.event_bytes_max = 100'000});
  const std::string big(200'000, 'x');
  streams_->Start(Query(1, Now()));
  server_->Put(BucketKind(), ObjectJson("big", "", R"("text":")" + big + "\""));
  EXPECT_EQ(recorder_.EndName(1), "malformed");
}

// Few streams may hold a long event at once; the others wait, and all arrive.
TEST_F(WatchClientTest, LongEventsTakeTurns) {
  Open(SettingsFor(*server_), {.large_events_max = 1});
  const std::string big(1'000'000, 'x');
  constexpr std::size_t kStreams = 12;
  const std::string version = Now();
  for (WatchId id = 1; id <= kStreams; ++id) streams_->Start(Query(id, version));
  for (int i = 0; i < 3; ++i) {
    server_->Put(BucketKind(), ObjectJson("big", "", R"("text":")" + big + "\""));
  }
  EXPECT_TRUE(recorder_.AwaitEvents(kStreams * 3));
}

TEST_F(WatchClientTest, ARefusingHandlerLosesNothing) {
  recorder_.Refuse(true);
  streams_->Start(Query(1, Now()));
  constexpr std::size_t kEvents = 2000;
  server_->Change([&](ScriptedApiState& state) {
    for (std::size_t i = 0; i < kEvents; ++i) {
      state.Put(BucketKind(), ObjectJson("b" + std::to_string(i)));
    }
  });
  ASSERT_TRUE(recorder_.AwaitRefusal());
  recorder_.Refuse(false);
  streams_->Resume();
  ASSERT_TRUE(recorder_.AwaitEvents(kEvents));
  const std::vector<WatchEvent> events = recorder_.events(1);
  ASSERT_EQ(events.size(), kEvents);
  for (std::size_t i = 1; i < kEvents; ++i) {
    ASSERT_EQ(std::stoi(events[i].resource_version), std::stoi(events[i - 1].resource_version) + 1);
  }
}

TEST_F(WatchClientTest, AnEndWaitsForTheEventsBeforeIt) {
  recorder_.Refuse(true);
  const std::string event = R"({"type":"ADDED","object":{"metadata":{"resourceVersion":"5"}}})";
  Fault([&](ApiFault& fault) {
    fault.line = event + "\n";
    fault.ends = true;
  });
  streams_->Start(Query(1, Now()));
  ASSERT_TRUE(recorder_.AwaitRefusal());
  EXPECT_FALSE(recorder_.has_ended(1));
  recorder_.Refuse(false);
  streams_->Resume();
  EXPECT_EQ(recorder_.EndName(1), "in order");
  EXPECT_EQ(recorder_.events(1).size(), 1U);
}

TEST_F(WatchClientTest, AStoppedStreamSaysNothingMore) {
  for (WatchId id = 1; id <= 50; ++id) {
    streams_->Start(Query(id, Now()));
    if (id % 2 == 0) server_->Put(BucketKind(), ObjectJson("a"));
    streams_->Stop(id);
    const std::size_t before = recorder_.events(id).size();
    server_->Put(BucketKind(), ObjectJson("a"));
    EXPECT_EQ(recorder_.events(id).size(), before);
    EXPECT_FALSE(recorder_.has_ended(id));
  }
  EXPECT_TRUE(Eventually([&] { return server_->watches_open() == 0; }));
}

TEST_F(WatchClientTest, ACutServerEndsAllStreams) {
  for (WatchId id = 1; id <= 20; ++id) streams_->Start(Query(id, Now()));
  ASSERT_TRUE(Eventually([&] { return server_->watches_open() == 20; }));
  server_->CutConnections();
  for (WatchId id = 1; id <= 20; ++id) EXPECT_EQ(recorder_.EndName(id), "unreachable");
}

TEST_F(WatchClientTest, AKindThatGoesOrChangesItsScope) {
  ServedKind moved = BucketKind();
  moved.namespaced = true;
  server_->Change([&](ScriptedApiState& state) { state.AddKind(moved); });
  streams_->Start(Query(1, Now()));
  server_->Put(moved, ObjectJson("a", "team-a"));
  ASSERT_TRUE(recorder_.AwaitEvents(1));
  server_->Change([&](ScriptedApiState& state) { state.RemoveKind(moved); });
  streams_->Start(Query(2, Now()));
  EXPECT_EQ(recorder_.EndName(2), "no_such_type");
}

// A thousand kinds.

int Threads() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry :
       std::filesystem::directory_iterator("/proc/self/task")) {
    ++count;
  }
  return count;
}

ServedKind NumberedKind(int number) {
  const std::string text = std::to_string(number);
  return {"many.example.org", "v1", "Kind" + text, "kind" + text + "s", false};
}

class ManyStreams : public testing::TestWithParam<bool> {};

TEST_P(ManyStreams, AThousandAreDrivenByOneThread) {
  constexpr int kKinds = 1000;
  ScriptedApiOptions options;
  ServerSettings settings;
  if (GetParam()) {
    TestCertificate wanted;
    wanted.alternative_names = "IP:127.0.0.1";
    wanted.authority = true;
    wanted.from = SystemClock().Now() - std::chrono::hours(1);
    wanted.until = SystemClock().Now() + std::chrono::hours(1);
    const PemPair pair = IssueForTest(wanted);
    options.certificate = pair.certificate;
    options.key = pair.key;
    settings.authority.text = pair.certificate;
  }
  const auto server = ScriptedApiServer::Start(options);
  std::string version;
  server->Change([&](ScriptedApiState& state) {
    for (int i = 0; i < kKinds; ++i) state.AddKind(NumberedKind(i));
    version = std::to_string(state.version());
  });
  settings.address = SettingsFor(*server).address;
  const auto session = OpenSession(settings);
  Recorder recorder;
  const int threads_before = Threads();
  auto started = StartWatchClient(session, recorder, {});
  ASSERT_TRUE(started.ok());
  const std::unique_ptr<WatchStreams> streams = std::move(started).value();
  for (int i = 0; i < kKinds; ++i) {
    WatchQuery query;
    query.id = static_cast<WatchId>(i);
    query.selection.kind = NumberedKind(i);
    query.resource_version = version;
    streams->Start(query);
  }
  ASSERT_TRUE(Eventually([&] { return server->watches_open() == kKinds; }));
  EXPECT_EQ(Threads(), threads_before + 1);
  for (int round = 0; round < 2; ++round) {
    server->Change([&](ScriptedApiState& state) {
      for (int i = 0; i < kKinds; ++i) state.Put(NumberedKind(i), ObjectJson("one"));
    });
    ASSERT_TRUE(recorder.AwaitEvents(static_cast<std::size_t>(kKinds * (round + 1))));
  }
  EXPECT_EQ(recorder.thread_count(), 1U);
  for (int i = 0; i < kKinds; ++i) {
    ASSERT_EQ(recorder.events(static_cast<WatchId>(i)).size(), 2U) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(PlainAndTls, ManyStreams, testing::Bool(), [](const auto& tls) {
  return tls.param ? std::string("Tls") : std::string("Plain");
});

}  // namespace watch_client_test
}  // namespace truce
