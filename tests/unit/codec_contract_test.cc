// The contract table of the admission codec: each body with its defined answer.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/plain_review.h"
#include "webhook/admission/codec.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace codec_contract_test {

constexpr char kBucket[] =
    R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"name":"b","uid":"u"}})";

std::string Review(const std::string& request) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)" + request +
         "}";
}

// A request of `operation` with the members `rest` behind the usual ones.
std::string Request(const std::string& operation, const std::string& rest) {
  return R"({"uid":"r1","kind":{"group":"s3.aws.upbound.io","version":"v1beta2","kind":"Bucket"},)"
         R"("resource":{"group":"s3.aws.upbound.io","version":"v1beta2","resource":"buckets"},)"
         R"("name":"b","operation":")" +
         operation + R"(","userInfo":{"username":"ann","groups":["g1","g2"]})" + rest + "}";
}

std::string Create(const std::string& object) {
  return Review(Request("CREATE", R"(,"oldObject":null,"object":)" + object));
}

std::string Nested(int depth) {
  std::string open;
  std::string close;
  for (int i = 0; i < depth; ++i) {
    open += "[";
    close += "]";
  }
  return open + "1" + close;
}

// A bucket whose spec makes the whole body `depth` deep.
std::string Deep(int depth) {
  // The review, the request and the object are three levels.
  return Create(
      R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"name":"b"},"spec":)" +
      Nested(depth - 3) + "}");
}

std::string WithSpec(const std::string& spec) {
  return Create(
      R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"name":"b"},"spec":)" +
      spec + "}");
}

struct Row {
  const char* reason;
  std::string body;
  std::string complaint;  // part of the message; empty: the body is read
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.reason; }

class CodecContract : public ::testing::TestWithParam<Row> {};

TEST_P(CodecContract, EachBodyHasItsAnswer) {
  ReviewReader reader;
  std::string body = GetParam().body;
  const auto result = reader.Read(body);
  if (GetParam().complaint.empty()) {
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_NE(JsonFaultOf(GetParam().body), JsonFault::kRefused);
    return;
  }
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  EXPECT_NE(result.error().message.find(GetParam().complaint), std::string::npos)
      << result.error().message;
  // The reader is as good as new after a refused body.
  std::string good = Create(kBucket);
  EXPECT_TRUE(reader.Read(good).ok());
}

// One row for each way in which a body can be wrong, and for some in which it is not.
// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<Row>& Rows() {
  static const std::vector<Row> kRows = {
      {"a whole review", Create(kBucket), ""},
      {"white space around", " \n" + Create(kBucket) + "\r\n ", ""},
      {"empty body", "", "empty"},
      {"white space only", "  \n", "empty"},
      {"not JSON", "hello", "not JSON"},
      {"truncated", Create(kBucket).substr(0, 150), "not JSON"},
      {"trailing bytes", Create(kBucket) + "x", "not JSON"},
      {"two documents", Create(kBucket) + Create(kBucket), "not JSON"},
      {"byte order mark", "\xEF\xBB\xBF" + Create(kBucket), "byte order mark"},
      {"UTF-16", std::string("{\0\"\0a\0", 6), "not JSON"},
      {"NUL byte between tokens", Create(kBucket).insert(1, 1, '\0'), "not JSON"},
      {"NUL byte in a string", WithSpec(std::string("\"a\0b\"", 5)), "malformed string"},
      {"control character in a string", WithSpec("\"a\nb\""), "malformed string"},
      {"escaped NUL is a value like another", WithSpec(R"("a\u0000b")"), ""},
      {"not UTF-8", WithSpec("\"\xff\""), "UTF-8"},
      {"overlong UTF-8", WithSpec("\"\xc0\xaf\""), "UTF-8"},
      {"UTF-8 surrogate", WithSpec("\"\xed\xa0\x80\""), "UTF-8"},
      {"lone surrogate escaped", WithSpec(R"("\ud800")"), "malformed string"},
      {"single quotes", WithSpec("'a'"), "not JSON"},
      {"comment", WithSpec("1 /* x */"), "not JSON"},
      {"trailing comma", WithSpec("[1,]"), "not JSON"},
      {"leading zero", WithSpec("0123"), "not JSON"},
      {"NaN", WithSpec("NaN"), "not JSON"},
      {"number beyond a double", WithSpec("1e400"), ""},
      {"integer of 20 digits", WithSpec("99999999999999999999"), ""},
      {"integer as Go writes 1e20", WithSpec("100000000000000000000"), ""},
      {"integer as Go writes 2^64", WithSpec("18446744073709552000"), ""},
      {"malformed number", WithSpec("1.e5"), "number"},
      {"depth 1003", Deep(1003), ""},
      {"depth 10,002: what the API server stores, and two", Deep(10'002), ""},
      {"depth 1,000,000", Deep(1'000'000), ""},
      {"unclosed depth 1,000,000", std::string(1'000'000, '['), "not JSON"},
      {"another bracket closes", WithSpec("[[1}]"), "not JSON"},
      {"an array", "[]", "not an object"},
      {"a string", "\"x\"", "not an object"},
      {"null", "null", "not an object"},
      {"wrong kind", R"({"apiVersion":"admission.k8s.io/v1","kind":"Status","request":{}})",
       "kind"},
      {"no kind", R"({"apiVersion":"admission.k8s.io/v1","request":{}})", "kind"},
      {"v1beta1", R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})",
       "apiVersion"},
      {"no apiVersion", R"({"kind":"AdmissionReview","request":{}})", "apiVersion"},
      {"apiVersion is a number", R"({"kind":"AdmissionReview","apiVersion":1})", "not a string"},
      {"no request", R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})",
       "request is missing"},
      {"request null", Review("null"), "request is missing"},
      {"request is a list", Review("[]"), "request is not an object"},
      {"a response",
       R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"x"}})",
       "request is missing"},
      {"no uid", Review(R"({"operation":"CREATE"})"), "uid is missing"},
      {"uid null", Review(R"({"uid":null,"operation":"CREATE"})"), "uid is missing"},
      {"uid empty", Review(R"({"uid":"","operation":"CREATE"})"), "uid is missing"},
      {"uid is a number", Review(R"({"uid":7,"operation":"CREATE"})"), "not a string"},
      {"uid too long", Review(R"({"uid":")" + std::string(129, 'a') + R"(","operation":"CREATE"})"),
       "uid"},
      {"no operation", Review(R"({"uid":"u"})"), "operation"},
      {"unknown operation", Review(Request("PATCH", "")), "operation \"PATCH\""},
      {"operation in lower case", Review(Request("create", "")), "operation"},
      {"no kind in the request", Review(R"({"uid":"u","operation":"CREATE"})"),
       "request.kind is missing"},
      {"kind is a string", Review(R"({"uid":"u","operation":"CREATE","kind":"Bucket"})"),
       "not an object"},
      {"CREATE without object", Review(Request("CREATE", "")), "object is missing"},
      {"CREATE with null", Review(Request("CREATE", R"(,"object":null)")), "object is missing"},
      {"CREATE with a list", Review(Request("CREATE", R"(,"object":[])")), "not an object"},
      {"UPDATE without oldObject",
       Review(Request("UPDATE", std::string(R"(,"object":)") + kBucket)), "oldObject is missing"},
      {"UPDATE with both",
       Review(Request("UPDATE",
                      std::string(R"(,"object":)") + kBucket + R"(,"oldObject":)" + kBucket)),
       ""},
      {"DELETE", Review(Request("DELETE", std::string(R"(,"object":null,"oldObject":)") + kBucket)),
       ""},
      {"DELETE without oldObject is never refused",
       Review(Request("DELETE", R"(,"oldObject":null)")), ""},
      {"CONNECT", Review(Request("CONNECT", R"(,"object":null,"oldObject":null,"options":null)")),
       ""},
      {"CONNECT with options of another kind",
       Review(Request("CONNECT", R"(,"object":{"kind":"PodExecOptions","apiVersion":"v1"})")), ""},
      {"subresource with an object of another kind",
       Review(Request(
           "UPDATE",
           R"(,"subResource":"scale","object":{"kind":"Scale","apiVersion":"autoscaling/v1"})")),
       ""},
      {"subresource with a duplicate key",
       Review(Request("UPDATE", R"(,"subResource":"scale","object":{"a":1,"a":1})")),
       "appears twice"},
      {"object of another kind",
       Create(R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Queue"})"), "request.kind"},
      {"object of another group",
       Create(R"({"apiVersion":"sqs.aws.upbound.io/v1beta2","kind":"Bucket"})"), "request.kind"},
      {"object of another version",
       Create(R"({"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket"})"), "request.kind"},
      {"object without kind", Create(R"({"apiVersion":"s3.aws.upbound.io/v1beta2"})"),
       "request.kind"},
      {"object of another namespace",
       Review(Request(
           "CREATE",
           R"(,"namespace":"a","object":{"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"namespace":"b"}})")),
       "request.namespace"},
      {"dryRun null",
       Review(Request("CREATE", std::string(R"(,"dryRun":null,"object":)") + kBucket)), ""},
      {"dryRun is a string",
       Review(Request("CREATE", std::string(R"(,"dryRun":"yes","object":)") + kBucket)), "dryRun"},
      {"unknown members are ignored",
       Review(Request("CREATE", std::string(R"(,"novel":{"a":[1]},"object":)") + kBucket)), ""},
      {"user info null",
       Review(
           std::string(
               R"({"uid":"u","operation":"CREATE","kind":{"kind":"Bucket","group":"s3.aws.upbound.io","version":"v1beta2"},"userInfo":null,"object":)") +
           kBucket + "}"),
       ""},
      {"groups not a list",
       Review(R"({"uid":"u","operation":"CONNECT","kind":{"kind":"P"},"userInfo":{"groups":"g"}})"),
       "groups"},
      {"a group is a number",
       Review(R"({"uid":"u","operation":"CONNECT","kind":{"kind":"P"},"userInfo":{"groups":[1]}})"),
       "not a string"},
      {"duplicate at the top",
       R"({"kind":"AdmissionReview","kind":"AdmissionReview",)" + Create(kBucket).substr(1),
       "appears twice"},
      {"duplicate in the request",
       Review(Request("CREATE", std::string(R"(,"uid":"r2","object":)") + kBucket)),
       "\"uid\" appears twice"},
      {"duplicate external name", WithSpec(R"({"x":{"name":"a","name":"b"}})"),
       "\"name\" appears twice"},
      {"duplicate, one of them escaped", WithSpec(R"({"name":"a","n\u0061me":"b"})"),
       "appears twice"},
      {"duplicate empty key", WithSpec(R"({"":1,"":2})"), "appears twice"},
      {"keys that differ in case are two", WithSpec(R"({"name":"a","Name":"b"})"), ""},
      {"equal keys in neighbours are no duplicates", WithSpec(R"([{"a":1},{"a":1}])"), ""},
      {"duplicate in an array's object", WithSpec(R"([{"a":1},{"b":1,"b":1}])"), "appears twice"},
      {"duplicate in managedFields, which nothing reads",
       Create(
           R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"managedFields":[{"f:a":{},"f:a":{}}]}})"),
       ""},
      {"duplicate in options",
       Review(Request("CREATE", std::string(R"(,"options":{"a":1,"a":1},"object":)") + kBucket)),
       "appears twice"},
      {"duplicate beside the request",
       Review(Request("CONNECT", "")).insert(1, R"("x":{"a":1,"a":2},)"), "appears twice"},
      {"odd bytes in a duplicate key are not printed",
       WithSpec("{\"\xc3\xa9\\n\":1,\"\xc3\xa9\\n\":1}"), "\"???\""},
  };
  return kRows;
}

INSTANTIATE_TEST_SUITE_P(Table, CodecContract, ::testing::ValuesIn(Rows()));

// Objects of 10 to 100,000 keys, with and without one that stands twice at the far end.
TEST(Codec, FindsDuplicatesInLargeObjects) {
  ReviewReader reader;
  for (const int count : {10, 30, 31, 32, 33, 1000, 100000}) {
    std::string keys;
    for (int i = 0; i < count; ++i) keys += "\"key-" + std::to_string(i) + "\":1,";
    std::string good = WithSpec("{" + keys + "\"last\":1}");
    EXPECT_TRUE(reader.Read(good).ok()) << count;
    std::string bad = WithSpec("{" + keys + "\"key-0\":1}");
    const auto result = reader.Read(bad);
    ASSERT_FALSE(result.ok()) << count;
    EXPECT_NE(result.error().message.find("\"key-0\" appears twice"), std::string::npos);
  }
}

// Whatever stands beside it, and however much of it.
TEST(Codec, ReadsADeclarationBesideAMillionValues) {
  ReviewReader reader;
  for (const std::string value : {"\"\"", "7", "1.5", "{}", "[]", "[[1]]", R"({"a":{"a":{}}})"}) {
    std::string list = "[";
    for (int i = 0; i < 1'000'000; ++i) list.append(value).append(",");
    list += "0]";
    for (const std::string& spec : {R"({"aaa":)" + list + R"(,"forProvider":{"region":"r"}})",
                                    R"({"forProvider":{"region":"r"},"zzz":)" + list + "}",
                                    R"({"forProvider":{"region":"r","tags":)" + list + "}}"}) {
      std::string body = WithSpec(spec);
      if (body.size() > kReviewBytesMax) continue;
      const auto result = reader.Read(body);
      ASSERT_TRUE(result.ok()) << value << ": " << result.error().message;
      const Value provider = result.value().object.Child("spec").Child("forProvider");
      EXPECT_EQ(provider.Child("region").text(), "r");
    }
  }
}

TEST(Codec, FindsDuplicatesInLargeBodies) {
  const std::string filling = R"("filling":")" + std::string(kBuiltBytes, 'x') + R"(",)";
  ReviewReader reader;
  for (const char* rest : {R"("z":{"a":{"c":1,"b":2,"c":3}}})", R"("a":1,"b":1,"a":2})",
                           R"("z":[[{"c":1,"\u0063":3}]]})"}) {
    std::string body = WithSpec("{" + filling + rest);
    const auto result = reader.Read(body);
    ASSERT_FALSE(result.ok()) << rest;
    EXPECT_NE(result.error().message.find("appears twice"), std::string::npos);
  }
  std::string body = Create(
      R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"managedFields":[{"b":1,"a":1,"b":2}]},)" +
      filling + R"("spec":{}})");
  const auto result = reader.Read(body);
  EXPECT_TRUE(result.ok()) << result.error().message;
}

TEST(Codec, RefusesMoreThanEightMebibytes) {
  ReviewReader reader;
  std::string body = WithSpec("\"" + std::string(kReviewBytesMax, 'a') + "\"");
  const auto result = reader.Read(body);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("8 MiB"), std::string::npos);
  std::string large = WithSpec("\"" + std::string(kReviewBytesMax - 1024, 'a') + "\"");
  EXPECT_TRUE(reader.Read(large).ok());
}

TEST(Codec, ReadsTheEnvelope) {
  ReviewReader reader;
  std::string body = Review(Request(
      "UPDATE",
      std::string(
          R"(,"requestKind":{"group":"s3.aws.upbound.io","version":"v1beta1","kind":"Bucket"},)") +
          R"("namespace":"team-a","dryRun":true,"object":)" + kBucket + R"(,"oldObject":)" +
          kBucket));
  const auto result = reader.Read(body);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const AdmissionRequest& request = result.value();
  EXPECT_EQ(request.uid, "r1");
  EXPECT_EQ(request.kind, (GroupVersionKind{"s3.aws.upbound.io", "v1beta2", "Bucket"}));
  EXPECT_EQ(request.request_kind, (GroupVersionKind{"s3.aws.upbound.io", "v1beta1", "Bucket"}));
  EXPECT_EQ(request.resource, "buckets");
  EXPECT_EQ(request.sub_resource, "");
  EXPECT_EQ(request.name, "b");
  EXPECT_EQ(request.ns, "team-a");
  EXPECT_EQ(request.operation, ReviewOperation::kUpdate);
  EXPECT_EQ(request.user, "ann");
  EXPECT_EQ(request.groups, (std::vector<std::string_view>{"g1", "g2"}));
  EXPECT_TRUE(request.dry_run);
  EXPECT_EQ(request.object.Child("metadata").Child("name").text(), "b");
  EXPECT_EQ(request.old_object.Child("metadata").Child("uid").text(), "u");
}

TEST(Codec, ObjectsAreReadWithoutManagedFields) {
  ReviewReader reader;
  std::string body = Create(
      R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"managedFields":[{"a":1}],"name":"b"},)"
      R"("spec":{"managedFields":true,"n":-5,"u":18446744073709551615,"d":1.25,"t":true,"f":false,"z":null,"l":["x",{}]}})");
  const auto result = reader.Read(body);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const Value root = result.value().object;
  EXPECT_FALSE(root.Child("metadata").Child("managedFields").exists());
  EXPECT_EQ(root.Child("metadata").Child("name").text(), "b");
  const Value spec = root.Child("spec");
  EXPECT_TRUE(spec.Child("managedFields").is_true());
  EXPECT_EQ(spec.Child("n").text(), "-5");
  EXPECT_EQ(spec.Child("u").text(), "18446744073709551615");
  EXPECT_EQ(spec.Child("d").text(), "1.25");
  EXPECT_EQ(spec.Child("f").text(), "false");
  EXPECT_TRUE(spec.Child("z").empty());
  EXPECT_EQ(spec.Child("l").size(), 2U);
}

constexpr char kBegin[] =
    R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"name":"b","uid":"u")";

std::string Update(const std::string& object, const std::string& old) {
  return Review(Request("UPDATE", ",\"object\":" + object + ",\"oldObject\":" + old));
}

TEST(Codec, AnUpdateThatChangesNothingHasOneDocument) {
  ReviewReader reader;
  const std::string begin = kBegin;
  std::string body =
      Update(begin + R"(,"managedFields":[{"time":"1"}]},"spec":{"a":[1,2.5,true,null,"x"]}})",
             begin + R"(,"managedFields":[{"time":"2"},{}]},"spec":{"a":[1,2.5,true,null,"x"]}})");
  const auto result = reader.Read(body);
  ASSERT_TRUE(result.ok()) << result.error().message;
  const Value object = result.value().object;
  EXPECT_TRUE(object.Equals(result.value().old_object));
  EXPECT_FALSE(object.Child("metadata").Child("managedFields").exists());
  EXPECT_EQ(object.Child("spec").Child("a").size(), 5U);
}

// Whatever the two objects of an update share, each is read as if it stood alone.
TEST(Codec, TheObjectsOfAnUpdateAreReadAsIfEachStoodAlone) {
  const std::vector<std::string> specs = {"1",
                                          "1.0",
                                          "-0.0",
                                          "0.0",
                                          "0",
                                          "\"1\"",
                                          "true",
                                          "false",
                                          "null",
                                          "[]",
                                          "{}",
                                          "[1]",
                                          "[1,2]",
                                          "[[1],2]",
                                          R"({"a":1})",
                                          R"({"b":1})",
                                          R"({"a":1,"b":2})",
                                          R"({"b":2,"a":1})",
                                          R"({"a":{"c":[]}})",
                                          "18446744073709551615",
                                          R"(["a","b"])"};
  ReviewReader reader;
  for (const std::string& a : specs) {
    for (const std::string& b : specs) {
      JsonReader object_reader;
      JsonReader old_reader;
      const std::string object = std::string(kBegin) + "},\"spec\":" + a + "}";
      const std::string old = std::string(kBegin) + "},\"spec\":" + b + "}";
      std::string body = Update(object, old);
      const auto result = reader.Read(body);
      ASSERT_TRUE(result.ok()) << result.error().message;
      const Result<Document> object_alone = object_reader.Read(object);
      const Result<Document> old_alone = old_reader.Read(old);
      EXPECT_TRUE(result.value().object.Equals(object_alone.value().root())) << a;
      EXPECT_TRUE(result.value().old_object.Equals(old_alone.value().root())) << b;
    }
  }
}

TEST(Codec, WhatTheObjectsOfAnUpdateShareIsCheckedToo) {
  const std::string twice = R"({"z":1,"a":2,"z":3})";
  const std::vector<std::pair<std::string, std::string>> faults = {
      {"},\"spec\":" + twice + "}", "\"z\" appears twice"},
      {"},\"spec\":{\"a\":1,\"a\":1}}", "\"a\" appears twice"},
      {"},\"spec\":[" + twice + "]}", "\"z\" appears twice"}};
  ReviewReader reader;
  for (const auto& [rest, complaint] : faults) {
    const std::string bad = kBegin + rest;
    const std::string good = std::string(kBegin) + ",\"managedFields\":[]}}";
    for (const auto& [object, old] : {std::pair(bad, bad), {bad, good}, {good, bad}}) {
      std::string body = Update(object, old);
      const auto result = reader.Read(body);
      ASSERT_FALSE(result.ok()) << body;
      EXPECT_NE(result.error().message.find(complaint), std::string::npos) << complaint;
    }
  }
}

// A bucket that is long.
std::string Long(const std::string& spec) {
  const std::string label(600, 'x');
  return std::string(kBegin) + R"(,"labels":{"long":")" + label + R"("}},"spec":)" + spec + "}";
}

TEST(Codec, TwinsAreFoundAndHaveOneDocument) {
  const std::string object = Long(R"({"a":[1,25,true,null,"x"]})");
  const std::string body =
      Review(Request("UPDATE", ",\"object\":" + object + ",\"oldObject\":" + object +
                                   R"(,"dryRun":false,"options":{"kind":"UpdateOptions"})"));
  ReviewReader reader;
  std::string read = body;
  const auto result = reader.Read(read);
  ASSERT_TRUE(result.ok()) << result.error().message;
  EXPECT_TRUE(IsMemberOf(body, "object", result.value().object));
  EXPECT_TRUE(IsMemberOf(body, "oldObject", result.value().old_object));
  const Value name = result.value().object.Child("metadata").Child("name");
  const Value old_name = result.value().old_object.Child("metadata").Child("name");
  EXPECT_EQ(name.text().data(), old_name.text().data());
  EXPECT_EQ(result.value().user, "ann");
}

// Each has two equal objects behind each other; what else it has is part of the reason.
std::vector<std::pair<const char*, std::string>> BodiesWithTwins() {
  const auto twins = [](const std::string& object) {
    return ",\"object\":" + object + ",\"oldObject\":" + object;
  };
  const std::string good = twins(Long("1"));
  const std::string review = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview")";
  const std::string elsewhere = review + R"(,"more":{"a":1)" + good + R"(},"request":{"uid":"r")";
  const std::string update = R"(,"operation":"UPDATE","kind":{"version":"v1","kind":"Bucket"})";
  return {
      {"an update", Review(Request("UPDATE", good))},
      {"a creation", Review(Request("CREATE", good))},
      {"a deletion", Review(Request("DELETE", good))},
      {"a connection", Review(Request("CONNECT", good))},
      {"of a status", Review(Request("UPDATE", R"(,"subResource":"status")" + good))},
      {"of a subresource", Review(Request("UPDATE", R"(,"subResource":"scale")" + good))},
      {"a third object", Review(Request("UPDATE", good + R"(,"object":{"a":1})"))},
      {"an object before", Review(Request("UPDATE", R"(,"object":null)" + good))},
      {"a third old one", Review(Request("UPDATE", good + R"(,"oldObject":{"a":1})"))},
      {"an old one before", Review(Request("UPDATE", R"(,"oldObject":null)" + good))},
      {"not of the request", elsewhere + update + "}}"},
      {"not of the request, which has the mark", elsewhere + update + ",\"object\":\"\x7F\"}}"},
      {"or its escape", elsewhere + update + R"(,"object":"\u007f"}})"},
      {"a text before it ends", Review(Request("UPDATE", R"(,"name2":"x)" + good))},
      {"a user with a backslash", Review(Request("UPDATE", R"(,"a":"D\\u")" + good))},
      {"the old one not of the request",
       review + ",\"request\":" + Request("UPDATE", ",\"object\":" + Long("1")) +
           ",\"more\":{\"oldObject\":" + Long("1") + "}}"},
      {"two requests",
       review + ",\"request\":" + Request("UPDATE", good) + R"(,"request":{"uid":"r"}})"},
      {"of another kind", Review(Request("UPDATE", twins(R"({"kind":"Queue","a":")" +
                                                         std::string(600, 'x') + "\"}")))},
      {"a key twice", Review(Request("UPDATE", twins(Long(R"({"b":1,"a":2,"b":3})"))))},
      {"very deep", Review(Request("UPDATE", twins(Long(Nested(10'000)))))},
      {"deep", Review(Request("UPDATE", twins(Long(Nested(999)))))},
      {"a deep empty list",
       Review(Request("UPDATE", twins(Long(Nested(1000).replace(1000, 1, "")))))},
      {"not JSON", Review(Request("UPDATE", twins(Long("01"))))},
      {"not closed", Review(Request("UPDATE", twins(Long("[1"))))},
      {"closed twice", Review(Request("UPDATE", twins(Long("1}"))))},
      {"not UTF-8", Review(Request("UPDATE", twins(Long("\"\xff\""))))},
      {"not UTF-8 behind", Review(Request("UPDATE", good + ",\"a\":\"\xff\""))},
      {"not JSON behind", Review(Request("UPDATE", good + ",\"a\""))},
      {"an open brace before", "{" + Review(Request("UPDATE", good))},
      {"something behind", Review(Request("UPDATE", good)) + "x"},
  };
}

// A space makes the body an unusual one.
TEST(Codec, ABodyWithTwinsIsReadAsAnyOther) {
  for (const auto& [reason, body] : BodiesWithTwins()) {
    std::string with = body;
    std::string without = body;
    without.insert(without.find("\"object\":{"), 1, ' ');
    ReviewReader reader;
    ReviewReader plain;
    const auto found = reader.Read(with);
    const auto expected = plain.Read(without);
    ASSERT_EQ(found.ok(), expected.ok()) << reason;
    if (!found.ok()) {
      EXPECT_EQ(found.error().message, expected.error().message) << reason;
      continue;
    }
    EXPECT_TRUE(found.value().object.Equals(expected.value().object)) << reason;
    EXPECT_TRUE(found.value().old_object.Equals(expected.value().old_object)) << reason;
    EXPECT_EQ(found.value().operation, expected.value().operation) << reason;
    EXPECT_EQ(found.value().name, expected.value().name) << reason;
  }
}

TEST(Codec, ADeletionHasOnlyItsOldObject) {
  ReviewReader reader;
  std::string body = Review(
      Request("DELETE", std::string(R"(,"object":)") + kBucket + R"(,"oldObject":)" + kBucket));
  const auto result = reader.Read(body);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result.value().object.exists());
  EXPECT_TRUE(result.value().old_object.exists());
}

TEST(Codec, ReadsEveryRecordedRequest) {
  ReviewReader reader;
  int count = 0;
  const std::filesystem::path folder = std::string(TRUCE_SOURCE_DIR) + "/tests/golden/admission";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    std::string body = text.str();
    const auto result = reader.Read(body);
    ASSERT_TRUE(result.ok()) << entry.path() << ": " << result.error().message;
    const bool status = entry.path().string().find(".status.json") != std::string::npos;
    EXPECT_EQ(result.value().sub_resource, status ? "status" : "") << entry.path();
    ++count;
  }
  EXPECT_GE(count, 60);
}

TEST(Codec, WritesAllowed) {
  EXPECT_EQ(
      WriteReview({.uid = "r1"}),
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"r1","allowed":true}})");
}

TEST(Codec, WritesWarnings) {
  EXPECT_EQ(
      WriteReview({.uid = "r1", .warnings = {"one", "two \"quoted\""}}),
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"r1","allowed":true,)"
      R"("warnings":["one","two \"quoted\""]}})");
}

TEST(Codec, WritesDenied) {
  EXPECT_EQ(
      WriteReview({.verdict = Verdict::kDenied, .uid = "r1", .code = 403, .message = "no\nway"}),
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"r1","allowed":false,)"
      R"("status":{"status":"Failure","message":"no\nway","reason":"Forbidden","code":403}}})");
  EXPECT_NE(WriteReview({.verdict = Verdict::kDenied, .uid = "r1", .code = 422, .message = "no"})
                .find(R"("reason":"Invalid","code":422)"),
            std::string::npos);
}

TEST(Codec, EscapesEverythingThatJsonForbids) {
  const auto json = [](std::string_view text) {
    std::string out;
    AppendJsonString(text, out);
    return out;
  };
  EXPECT_EQ(json(""), "\"\"");
  EXPECT_EQ(json("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json(std::string_view("\0\x1f\x7f\b", 4)), R"("\u0000\u001f\u007f\u0008")");
  EXPECT_EQ(json("\t\r\n"), R"("\t\r\n")");
  EXPECT_EQ(json("é€😀"), "\"é€😀\"");
  EXPECT_EQ(json("a\xff"), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(json("\xc3"), "\"\xEF\xBF\xBD\"");                  // cut in the middle
  EXPECT_EQ(json("\xc0\xaf"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");  // overlong
  EXPECT_EQ(json("\xed\xa0\x80x"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx\"");  // surrogate
  EXPECT_EQ(json("\xf4\x90\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace codec_contract_test
}  // namespace truce
