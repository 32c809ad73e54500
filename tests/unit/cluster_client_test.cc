// The client's pure parts: paths, back-off, response heads, chunks, JSON.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "webhook/kube/api_json.h"
#include "webhook/kube/backoff.h"
#include "webhook/kube/cluster_api.h"
#include "webhook/kube/request_target.h"
#include "webhook/kube/response_reader.h"

namespace truce {
namespace cluster_client_test {

using std::chrono::milliseconds;

const ServedKind kBucket{"s3.aws.upbound.io", "v1beta2", "Bucket", "buckets", false};
const ServedKind kClaim{"example.org", "v1", "Storage", "storages", true};

TEST(PathOfTest, NamesKindsAndObjects) {
  EXPECT_EQ(PathOf(kBucket), "/apis/s3.aws.upbound.io/v1beta2/buckets");
  EXPECT_EQ(PathOf(kBucket, "ignored", "a"), "/apis/s3.aws.upbound.io/v1beta2/buckets/a");
  EXPECT_EQ(PathOf(kClaim, "team", "a"), "/apis/example.org/v1/namespaces/team/storages/a");
  EXPECT_EQ(PathOf({"", "v1", "Event", "events", true}), "/api/v1/events");
  // Names that would leave their segment do not.
  EXPECT_EQ(PathOf(kBucket, "", "a/../b?c=d#e%"),
            "/apis/s3.aws.upbound.io/v1beta2/buckets/a%2F..%2Fb%3Fc%3Dd%23e%25");
  EXPECT_EQ(PathOf(kBucket, "", ".."), "/apis/s3.aws.upbound.io/v1beta2/buckets/%2E%2E");
  EXPECT_EQ(EncodeSegment("a\r\n\xc3\xa9"), "a%0D%0A%C3%A9");
}

TEST(RequestTargetTest, QueriesAreEncoded) {
  ListQuery list{.selection = {.kind = kBucket, .field_selector = "reason=A&b"}, .limit = 5};
  EXPECT_EQ(ListTarget(list),
            "/apis/s3.aws.upbound.io/v1beta2/buckets?limit=5&fieldSelector=reason%3DA%26b");
  list.quorum = false;
  EXPECT_EQ(ListTarget(list),
            "/apis/s3.aws.upbound.io/v1beta2/"
            "buckets?limit=5&resourceVersion=0&fieldSelector=reason%3DA%26b");
  list.next = "a=b";
  EXPECT_EQ(ListTarget(list).find("resourceVersion"), std::string::npos);
  EXPECT_EQ(ListTarget(list),
            "/apis/s3.aws.upbound.io/v1beta2/"
            "buckets?limit=5&continue=a%3Db&fieldSelector=reason%3DA%26b");
}

TEST(BackoffTest, GrowsWithJitterAndStartsAgain) {
  const BackoffOptions options{milliseconds(100), milliseconds(1000)};
  Backoff backoff(options, 7);
  Backoff same(options, 7);
  milliseconds ceiling(100);
  std::set<milliseconds::rep> waits;
  for (int i = 1; i <= 40; ++i) {
    const milliseconds wait = backoff.Next();
    EXPECT_EQ(wait, same.Next());
    EXPECT_GE(wait, ceiling / 2);
    EXPECT_LE(wait, ceiling);
    EXPECT_EQ(backoff.failures(), i);
    ceiling = std::min(ceiling * 2, milliseconds(1000));
    waits.insert(wait.count());
  }
  EXPECT_GT(waits.size(), 20U);
  EXPECT_EQ(backoff.Next(milliseconds(5000)), milliseconds(5000));
  backoff.Reset();
  EXPECT_EQ(backoff.failures(), 0);
  EXPECT_LE(backoff.Next(), milliseconds(100));
}

TEST(BackoffTest, SpreadStaysWithinAFifth) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_GE(Spread(milliseconds(1000), seed), milliseconds(800));
    EXPECT_LE(Spread(milliseconds(1000), seed), milliseconds(1200));
  }
}

TEST(ResponseHeadTest, ReadsWhatIsNeeded) {
  const auto head = ParseResponseHead(
      "HTTP/1.1 429 Too Many\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
      "content-length:  12 \r\nRetry-After: 2\r\nConnection: close\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.error().message;
  EXPECT_EQ(head.value().status, 429);
  EXPECT_EQ(head.value().content_type, "application/json");
  EXPECT_EQ(head.value().length, 12U);
  EXPECT_EQ(head.value().retry_after, milliseconds(2000));
  EXPECT_TRUE(head.value().closes);
}

TEST(ResponseHeadTest, WarningsThatAreWellFormed) {
  const auto head = ParseResponseHead(
      "HTTP/1.1 201 Created\r\nWarning: 299 - \"a \\\"b\\\" c\"\r\nWarning: 299 - \"open\r\n"
      "Warning: 299\r\nwarning: 299 - \"d\" \"Sat, 21 Nov 2026 00:00:00 GMT\"\r\n"
      "Warning: 299 - \"e\\\r\nWarning: 299 - \"\"\r\n\r\n");
  ASSERT_TRUE(head.ok()) << head.error().message;
  EXPECT_EQ(head.value().warnings, (std::vector<std::string>{"a \"b\" c", "d"}));
}

TEST(ResponseHeadTest, RefusesWhatIsMalformed) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::string> rows = {
      "\r\n",
      "HTTP/2 200\r\n\r\n",
      "HTTP/1.1 20\r\n\r\n",
      "HTTP/1.1 999 x\r\n\r\n",
      "HTTP/1.1 2000\r\n\r\n",
      "HTTP/1.1 200 a\x01\r\n\r\n",
      "HTTP/1.1 200 " + std::string(600, 'a') + "\r\n\r\n",
      ok + "no colon\r\n\r\n",
      ok + "a b: c\r\n\r\n",
      ok + ": c\r\n\r\n",
      ok + " folded: c\r\n\r\n",
      ok + "a: \x01\r\n\r\n",
      ok + "Content-Length: -1\r\n\r\n",
      ok + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
      ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      ok + "Transfer-Encoding: gzip\r\n\r\n",
      ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      ok + "a: b",
      ok + "a: " + std::string(40'000, 'b') + "\r\n\r\n",
  };
  for (const std::string& row : rows) EXPECT_FALSE(ParseResponseHead(row).ok()) << row;
  std::string many = ok;
  for (int i = 0; i < 101; ++i) many += "a: b\r\n";
  EXPECT_FALSE(ParseResponseHead(many + "\r\n").ok());
}

TEST(ChunkDecoderTest, TakesFramesOffInPiecesOfAnySize) {
  const std::string body = "5;x=y\r\nhello\r\n1\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: a\r\n\r\n";
  for (std::size_t size = 1; size <= body.size(); ++size) {
    ChunkDecoder decoder;
    std::string payload;
    for (std::size_t at = 0; at < body.size(); at += size) {
      ASSERT_TRUE(decoder.Decode(std::string_view(body).substr(at, size), payload).ok());
    }
    EXPECT_EQ(payload, "hello 0123456789");
    EXPECT_TRUE(decoder.done());
  }
}

TEST(ChunkDecoderTest, RefusesWhatIsMalformed) {
  const std::vector<std::string> rows = {"-1\r\n",
                                         "x\r\n",
                                         "\r\n",
                                         "1\n",
                                         "123456789\r\n",
                                         "1\r\nab\r\n",
                                         "0\r\n\r\nmore",
                                         std::string(5000, '1'),
                                         "0\r\n" + std::string(9000, 'a') + "\r\n"};
  for (const std::string& row : rows) {
    ChunkDecoder decoder;
    std::string payload;
    EXPECT_FALSE(decoder.Decode(row, payload).ok()) << row.substr(0, 20);
  }
}

// `text` with the room behind it that the reader needs.
std::string Padded(std::string text) {
  text.reserve(text.size() + kJsonPadding);
  return text;
}

TEST(ApiJsonTest, ReadsDiscovery) {
  ApiJsonReader json;
  const auto answer = [](const std::string& version) {
    return Padded(
        R"({"kind":"APIGroupDiscoveryList","apiVersion":")" + version +
        R"(","items":[{"versions":[{"resources":[)"
        R"({"resource":"buckets","responseKind":{"kind":"Bucket"},"scope":"Cluster","verbs":["list"]},)"
        R"({"resource":"half","verbs":null}],"version":"v2","freshness":"Current"},)"
        R"({"version":"v1","freshness":"Stale","resources":[)"
        R"({"resource":"buckets","responseKind":{"kind":"Bucket"},"scope":"Cluster","verbs":[]},)"
        R"({"resource":"keys","responseKind":{"kind":"Key"},"scope":"Namespaced","verbs":[]}]}],)"
        R"("metadata":{"name":"g"}}]})");
  };
  const auto found = json.Kinds(answer("apidiscovery.k8s.io/v2"));
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_EQ(found.value().kinds.size(), 2U);
  EXPECT_EQ(found.value().kinds[0],
            (DiscoveredKind{{"g", "v2", "Bucket", "buckets", false}, {"list"}}));
  EXPECT_EQ(found.value().kinds[1].kind, (ServedKind{"g", "v1", "Key", "keys", true}));
  EXPECT_EQ(found.value().failed_groups, std::vector<std::string>{"g"});

  EXPECT_FALSE(json.Kinds(answer("apidiscovery.k8s.io/v2beta1")).ok());
  EXPECT_FALSE(json.Kinds(Padded(R"({"kind":"APIGroupList","groups":[]})")).ok());
  EXPECT_FALSE(json.Kinds(Padded(R"({"kind":"APIVersions","versions":["v1"]})")).ok());
  EXPECT_FALSE(json.Kinds(Padded(R"({"kind":"APIGroupDiscoveryList","items":[)")).ok());
}

TEST(ApiJsonTest, EventsCutAnywhereAreRefused) {
  ApiJsonReader json;
  const std::string line =
      R"({"type":"ADDED","object":{"a":{"b":["}\"",1]},"metadata":{"resourceVersion":"7"}}})";
  const auto whole = json.Watch(Padded(line));
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(std::get<WatchEvent>(whole.value()).resource_version, "7");
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(json.Watch(Padded(line.substr(0, size))).ok()) << size;
  }
}

TEST(ApiJsonTest, PassesOnWhateverAnObjectHolds) {
  ApiJsonReader json;
  std::string deep = "1";
  for (int i = 0; i < 5000; ++i) deep = R"({"a":[)" + deep + "]}";
  for (const std::string& held :
       {deep, std::string("100000000000000000000"), std::string("1e400")}) {
    const std::string object =
        R"({"aaa":)" + held + R"(,"metadata":{"resourceVersion":"7"},"spec":[)" + held + "]}";
    const auto event = json.Watch(Padded(R"({"type":"ADDED","object":)" + object + "}"));
    ASSERT_TRUE(event.ok()) << event.error().message;
    EXPECT_EQ(std::get<WatchEvent>(event.value()).object, object);
    const auto page = json.List(
        Padded(R"({"metadata":{"resourceVersion":"8"},"items":[)" + object + "," + object + "]}"));
    ASSERT_TRUE(page.ok()) << page.error().message;
    EXPECT_EQ(page.value().objects, (std::vector<std::string>{object, object}));
  }
}

TEST(ApiJsonTest, ReadsStatus) {
  ApiJsonReader json;
  const auto status = json.Status(
      Padded(R"({"kind":"Status","code":404,"reason":"NotFound","message":"m","details":)"
             R"({"name":"a","group":"g","kind":"buckets","retryAfterSeconds":3,"causes":)"
             R"([{"reason":"ResourceVersionTooLarge"}]}})"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(status->details.name, "a");
  EXPECT_EQ(status->details.retry_after_seconds, 3);
  EXPECT_TRUE(status->details.version_too_large);
  EXPECT_TRUE(json.Status(Padded(R"({"kind":"Status","details":null})")));
  EXPECT_FALSE(json.Status(Padded(R"({"kind":"Bucket"})")));
  EXPECT_FALSE(json.Status(Padded("<html>")));
}

}  // namespace cluster_client_test
}  // namespace truce
