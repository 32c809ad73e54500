// The strict reader of request heads, row by row.
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "webhook/http/request_head.h"

namespace truce {
namespace http_head_test {

using HeadOrRefusal = std::variant<RequestHead, HeadRefusal>;

HeadOrRefusal Parse(std::string& bytes, const HttpLimits& limits = {}) {
  return ParseHead({bytes.data(), bytes.find("\r\n\r\n") + 4}, limits);
}

TEST(RequestHead, ReadsLineFieldsAndFraming) {
  std::string bytes =
      "POST /validate?timeout=3s HTTP/1.1\r\nHost: a\r\nContent-TYPE:\tapplication/json \r\n"
      "content-length: 12\r\nExpect: 100-Continue\r\nEmpty:\r\n\r\n{\"a\": true}";
  const HeadOrRefusal parsed = Parse(bytes);
  ASSERT_TRUE(std::holds_alternative<RequestHead>(parsed));
  const auto& head = std::get<RequestHead>(parsed);
  EXPECT_EQ(head.line, "POST /validate?timeout=3s HTTP/1.1");
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.content_length, 12U);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_TRUE(head.expects_continue);
  ASSERT_EQ(head.fields.size(), 5U);
  EXPECT_EQ(head.fields[1], (HttpField{"content-type", "application/json"}));
  EXPECT_EQ(head.fields[4], (HttpField{"empty", ""}));
}

TEST(RequestHead, ConnectionOptionsDecideKeepAlive) {
  struct Row {
    const char* version;
    const char* connection;
    bool keep_alive;
  };
  for (const Row& row :
       {Row{"1.1", "keep-alive", true}, Row{"1.1", "close", false}, Row{"1.1", "TE, Close", false},
        Row{"1.1", "x", true}, Row{"1.0", "x", false}, Row{"1.0", "Keep-Alive", true},
        Row{"1.0", "keep-alive, close", false}}) {
    std::string bytes = std::string("GET / HTTP/") + row.version +
                        "\r\nHost: a\r\nConnection: " + row.connection + "\r\n\r\n";
    const HeadOrRefusal parsed = Parse(bytes);
    ASSERT_TRUE(std::holds_alternative<RequestHead>(parsed)) << bytes;
    EXPECT_EQ(std::get<RequestHead>(parsed).keep_alive, row.keep_alive || false) << bytes;
  }
}

struct Refused {
  const char* reason;  // why this row is here
  std::string bytes;
  int status;
};

std::string Post(const std::string& fields, const std::string& body = {}) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + body;
}

std::vector<Refused> RefusedHeads() {
  std::string many = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 64; ++i) many += "x: y\r\n";
  std::string nul = Post("Content-Length: 0\r\nX: a?b\r\n");
  nul[nul.find('?')] = '\0';
  return {
      {"not HTTP", "hello\r\n\r\n", 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"a space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"lower-case version", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\n", 505},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"unknown method", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
      {"method is no token", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"absolute target", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"asterisk target", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"fragment", "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"raw byte over 127 in the target", "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"escaped NUL in the target", "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"escaped line end in the query", "GET /?a=%0d%0aX HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"half an escape", "GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"no escape", "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
      {"field without colon", Post("nonsense\r\n"), 400},
      {"field without name", Post(": x\r\n"), 400},
      {"blank before the colon", Post("X : y\r\n"), 400},
      {"folded line", Post("X: y\r\n z\r\n"), 400},
      {"bare line feed", Post("X: y\nZ: z\r\n"), 400},
      {"bare carriage return", Post("X: y\rZ: z\r\n"), 400},
      {"NUL in a value", nul, 400},
      {"escape character in a value", Post("X: \x1b[31m\r\n"), 400},
      {"escaped line end in a value (CVE-2026-45372)", Post("X: a%0d%0aY: b\r\n"), 400},
      {"escaped NUL in a value", Post("X: %00\r\n"), 400},
      {"no length", Post(""), 411},
      {"no length of a PUT", "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", 411},
      {"empty length", Post("Content-Length:\r\n"), 400},
      {"negative length", Post("Content-Length: -1\r\n"), 400},
      {"signed length", Post("Content-Length: +1\r\n"), 400},
      {"hexadecimal length", Post("Content-Length: 0x10\r\n"), 400},
      {"list of lengths", Post("Content-Length: 5, 5\r\n"), 400},
      {"equal lengths twice", Post("Content-Length: 5\r\nContent-Length: 5\r\n"), 400},
      {"different lengths", Post("Content-Length: 5\r\nContent-Length: 6\r\n"), 400},
      {"length over the limit", Post("Content-Length: 8388609\r\n"), 413},
      {"length of 20 digits", Post("Content-Length: 99999999999999999999\r\n"), 413},
      {"chunked (CVE-2025-46728)", Post("Transfer-Encoding: chunked\r\n"), 411},
      {"chunked, chunk follows", Post("Transfer-Encoding: Chunked\r\n", "5;x=y\r\nhello\r\n"), 411},
      {"negative chunk size (CVE-2026-45352)", Post("Transfer-Encoding: chunked\r\n", "-5\r\n"),
       411},
      {"chunk size of 9 digits", Post("Transfer-Encoding: chunked\r\n", "100000000\r\n"), 411},
      {"empty chunk size", Post("Transfer-Encoding: chunked\r\n", "\r\n"), 411},
      {"chunked with a length",
       Post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"), 400},
      {"chunked with length 0", Post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"gzip coding", Post("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"two codings", Post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"), 400},
      {"unknown expectation", Post("Content-Length: 0\r\nExpect: tea\r\n"), 417},
      {"65 fields (CVE-2025-52887)", many + "\r\n", 431},
      {"a field of 16 KiB (CVE-2025-53628)", Post("X: " + std::string(16384, 'x') + "\r\n"), 431},
  };
}

TEST(RequestHead, RefusesWhatIsWrong) {
  for (Refused& row : RefusedHeads()) {
    const HeadOrRefusal parsed = Parse(row.bytes);
    ASSERT_TRUE(std::holds_alternative<HeadRefusal>(parsed)) << row.reason;
    EXPECT_EQ(std::get<HeadRefusal>(parsed).status, row.status) << row.reason;
  }
}

TEST(RequestHead, AcceptsTheLargestThatIsAllowed) {
  std::string bytes = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8388608\r\n";
  for (int i = 0; i < 61; ++i) bytes += "x: y\r\n";
  bytes += "Pad: " + std::string(16384 - bytes.size() - 9, 'x') + "\r\n\r\n";
  ASSERT_EQ(bytes.size(), 16384U);
  const HeadOrRefusal parsed = Parse(bytes);
  ASSERT_TRUE(std::holds_alternative<RequestHead>(parsed));
  EXPECT_EQ(std::get<RequestHead>(parsed).content_length, 8388608U);
}

TEST(RequestHead, HarmlessEscapesInValuesStayAsTheyAre) {
  std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\nX: 100% a%20b %zz %4\r\n\r\n";
  const HeadOrRefusal parsed = Parse(bytes);
  ASSERT_TRUE(std::holds_alternative<RequestHead>(parsed));
  EXPECT_EQ(std::get<RequestHead>(parsed).fields[1].value, "100% a%20b %zz %4");
}

TEST(RequestHead, FieldsAreMadeOfTokensAndVisibleText) {
  struct Row {
    const char* reason;
    std::string text;
    bool name;
    bool value;
  };
  const std::vector<Row> rows = {
      {"nothing", "", false, true},
      {"letters, digits and marks of tokens", "aZ09!#$%&'*+-.^_`|~", true, true},
      {"one visible character", "x", true, true},
      {"blank inside", "no-cache, max-age=1", false, true},
      {"tab inside", "a\tb", false, true},
      {"blank before", " a", false, false},
      {"tab behind", "a\t", false, false},
      {"only a blank", " ", false, false},
      {"delimiters", "a:\"(),/;<=>?@[\\]{}", false, true},
      {"bytes over 127", "caf\xc3\xa9", false, true},
      {"line end", "a\r\nSet-Cookie: b", false, false},
      {"bare carriage return", "a\rb", false, false},
      {"bare line feed", "a\nb", false, false},
      {"NUL", std::string("a\0b", 3), false, false},
      {"delete", "a\x7f", false, false},
      {"escape", "\x1b[0m", false, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(IsFieldName(row.text), row.name) << row.reason;
    EXPECT_EQ(IsFieldValue(row.text), row.value) << row.reason;
  }
}

TEST(RequestHead, NonsenseIsRefusedBeforeItIsComplete) {
  const HttpLimits limits;
  const auto status = [&](std::string_view bytes) {
    const auto refusal = CheckPartialHead(bytes, limits);
    return refusal ? refusal->status : 0;
  };
  EXPECT_EQ(status("P"), 0);
  EXPECT_EQ(status("POST /val"), 0);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r"), 0);
  EXPECT_EQ(status(std::string_view("\x16\x03\x01\x02", 4)), 400) << "TLS on a plain port";
  EXPECT_EQ(status("\r\n"), 400);
  EXPECT_EQ(status("GET / HTTP/1.1\nHost: a\n\n"), 400) << "bare line feeds";
  EXPECT_EQ(status(std::string(17, 'A')), 400) << "endless method";
  EXPECT_EQ(status("GET /" + std::string(16384, 'a')), 431);
}

}  // namespace http_head_test
}  // namespace truce
