// managedFields that are checked where they stand: which are, and that what is read is the same.
#include "webhook/admission/unread_fields.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/plain_review.h"
#include "webhook/admission/codec.h"

namespace truce {
namespace unread_fields_test {

constexpr char kBegin[] =
    R"({"apiVersion":"s3.aws.upbound.io/v1beta2","kind":"Bucket","metadata":{"name":"b","uid":"u")";

std::string Review(const std::string& operation, const std::string& objects) {
  return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"r",)"
         R"("kind":{"group":"s3.aws.upbound.io","version":"v1beta2","kind":"Bucket"},"operation":")" +
         operation + "\"" + objects + "}}";
}

// With what is readable behind it.
std::size_t SizeOf(std::string text) {
  text += '\0';
  text.append(63, '"');
  return PlainListSize(text.data());
}

TEST(UnreadFields, PlainListsAreMeasured) {
  struct Case {
    std::string text;
    bool is_plain;
    const char* reason;
  };
  const std::string deep = std::string(63, '[');
  const std::vector<Case> rows = {
      {"[]", true, "empty"},
      {R"([{"a":{},"b":[],"c":"d","e":{"f":{},"g":{}}},"h",[[]],{}])", true, "all there is"},
      {R"(["\"\\\/\b\f\n\r\t"])", true, "escapes of one character"},
      {R"([{"k:{\"uid\":\"x\"}":{},"f:0123456789012345678901234567890123456789":{}}])", true,
       "what API servers write"},
      {deep + "{}" + std::string(63, ']'), true, "64 deep"},
      {deep + "[[]]" + std::string(63, ']'), false, "65 deep"},
      {"{}", false, "no list"},
      {"", false, "nothing"},
      {R"(["\u0041"])", false, "another escape"},
      {R"(["\x"])", false, "no escape"},
      {"[\"\x7F\"]", false, "not printable"},
      {"[\"\n\"]", false, "a control character"},
      {"[\"\xC3\xA4\"]", false, "not ASCII"},
      {"[1]", false, "a number"},
      {"[true]", false, "a word"},
      {"[ ]", false, "a blank"},
      {R"(["a",])", false, "an element is missing"},
      {R"(["a""b"])", false, "a comma is missing"},
      {R"([,"a"])", false, "an element is missing before a comma"},
      {R"([{"a"}])", false, "no value"},
      {R"([{"a":}])", false, "no value behind the colon"},
      {R"([{"a":{},}])", false, "no member behind the comma"},
      {R"([{"a":{},{}}])", false, "no key"},
      {R"([{[]:"a"}])", false, "a key that is no text"},
      {R"([{"a":"b":"c"}])", false, "two values"},
      {R"([{"a":{}])", false, "the object does not end"},
      {R"([{"a":[}]])", false, "crossed"},
      {R"(["a"})", false, "ends as another thing"}};
  for (const Case& row : rows) {
    for (const char* behind : {"", ",\"name\":\"b\"}", "]]]]", "x"}) {
      EXPECT_EQ(SizeOf(row.text + behind), row.is_plain ? row.text.size() : 0) << row.reason;
    }
    for (std::size_t size = 0; size < row.text.size(); ++size) {
      EXPECT_EQ(SizeOf(row.text.substr(0, size)), 0U) << row.reason << size;
    }
  }
}

// Members that are empty objects: sixty-four bytes of them are looked at together.
TEST(UnreadFields, RunsOfEmptyMembersOfAnyLength) {
  for (std::size_t length = 0; length < 140; ++length) {
    for (std::size_t count = 1; count < 6; ++count) {
      const std::string member = "\"" + std::string(length, 'k') + "\":{}";
      std::string members = member;
      for (std::size_t i = 1; i < count; ++i) members += "," + member;
      const std::string good = "[{" + members + "}]";
      EXPECT_EQ(SizeOf(good), good.size()) << good;
      const std::string more = "[{" + members + R"(,"a\"":{},"b":{},"c":["d"],"e":{}}])";
      EXPECT_EQ(SizeOf(more), more.size()) << more;
      for (const char* end : {",}]", ":{}}]", "\"}]", R"(,"c":{},{}}])", R"(,"c":{},"d":{]}])",
                              ",\"c\n\":{},\"d\":{}}]", R"(,"c":{}"d":{}}])", ",\"c\":{},\""}) {
        EXPECT_EQ(SizeOf("[{" + members + end), 0U) << members << end;
      }
    }
  }
}

// Large enough for it to be worth while.
std::string ManyFields(const std::string& rest = "") {
  return R"([{"manager":"kubectl-client-side-apply","fieldsV1":{"f:metadata":{"f:annotations":{},)"
         R"("f:labels":{".":{}}},"f:spec":{},"f:status":{".":{},"f:a-field":{},"f:another-field":{},)"
         R"("f:b":{},"f:one-with-a-long-name-that-is-not-through-soon":{},"f:c":{},"f:d":{}}}})" +
         rest + "]";
}

// What is read of `body` is what a plain reading says.
void Compare(ReviewReader& reader, const std::string& body) {
  std::string read = body;
  const auto result = reader.Read(read);
  EXPECT_EQ(read, body);
  const JsonFault fault = JsonFaultOf(body);
  const bool is_about_json = fault == JsonFault::kRefused || result.ok() ||
                             result.error().message.find("not JSON") != std::string::npos;
  if (fault != JsonFault::kUnread && is_about_json) {
    ASSERT_EQ(result.ok(), fault == JsonFault::kNone) << body;
  }
  if (fault != JsonFault::kNone || !result.ok()) return;
  EXPECT_TRUE(IsMemberOf(body, "object", result.value().object)) << body;
  if (!result.value().old_object.exists()) return;
  EXPECT_TRUE(IsMemberOf(body, "oldObject", result.value().old_object)) << body;
}

// Whatever stands in managedFields and wherever they are: what is read is what a plain reading
// says.
TEST(UnreadFields, ManagedFieldsAreLeftOutWhereNothingReadsThemAlone) {
  const std::string fields = ManyFields();
  const std::vector<std::string> metadata = {
      R"(,"managedFields":)" + fields,
      R"(,"managedFields":)" + ManyFields(",{}"),
      R"(,"managedFields":)" + ManyFields(",[1,{}]"),
      R"(,"managedFields":)" + ManyFields(",{"),
      R"(,"managedFields":)" + fields + "5",
      R"(,"managedFields":)" + fields + ".5",
      R"(,"managedFields":)" + fields + "]",
      R"(,"managedFields":)" + fields + R"(,"managedFields":)" + fields,
      R"(,"managedFields":9223372036854775809,"labels":{"a":"b","managedFields":)" + fields + "}",
      R"(,"labels":{"a":"b","managedFields":)" + fields + "}",
      R"(,"labels":{"a":"b","managedFields":)" + ManyFields(R"(,{"z":{},"a":{},"z":{}})") + "}",
      R"(,"annotations":{"a":"b,\"managedFields\":)" + std::string(80, 'x') + R"("})",
      R"(,"annotations":{"a":"b,"managedFields":)" + fields + R"("})",
      R"(,"annotations":{"a\,"managedFields":)" + fields + R"("})",
      ""};
  const std::vector<std::string> specs = {
      "1", R"({"a":1,"managedFields":)" + fields + "}",
      R"({"a":1,"managedFields":)" + ManyFields(R"(,{"z":{},"a":{},"z":{}})") + "}"};
  ReviewReader reader;
  for (const std::string& in_metadata : metadata) {
    for (const std::string& spec : specs) {
      const std::string object = kBegin + in_metadata + "},\"spec\":" + spec + "}";
      Compare(reader, Review("CREATE", ",\"object\":" + object));
      for (const std::string& other : metadata) {
        const std::string old = kBegin + other + "},\"spec\":" + spec + "}";
        Compare(reader, Review("UPDATE", ",\"object\":" + object + ",\"oldObject\":" + old));
      }
    }
  }
}

TEST(RotatingUnreadFields, ChangedBytesAreReadAsAnywhereElse) {
  constexpr unsigned kSeed = 24;
  std::mt19937 random(kSeed);
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  constexpr std::string_view kBytes = "\"\\{}[]:,F5 .e-\n\x7F\xC3tu";
  const std::string object = kBegin + std::string(R"(,"managedFields":)") +
                             ManyFields(R"(,{"a\"":["b\\"]})") + R"(},"spec":{"a":"b"}})";
  const std::string good = Review("UPDATE", ",\"object\":" + object + ",\"oldObject\":" + object);
  ReviewReader reader;
  for (int i = 0; i < 30'000; ++i) {
    std::string body = good;
    for (std::size_t count = below(3) + 1; count > 0; --count) {
      const std::size_t at = below(body.size());
      const std::size_t what = below(4);
      if (what == 0) body.erase(at, below(3) + 1);
      if (what == 1) body.insert(at, 1, kBytes[below(kBytes.size())]);
      if (what == 2) body[at] = kBytes[below(kBytes.size())];
      if (what == 3) body.insert(at, body.substr(below(body.size()), below(200)));
    }
    Compare(reader, body);
    if (HasFatalFailure()) FAIL() << "seed " << kSeed << ", body " << i;
  }
}

}  // namespace unread_fields_test
}  // namespace truce
