#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "webhook/log/log.h"

namespace truce {
namespace log_format_test {

class FixedClock final : public Clock {
 public:
  Timestamp Now() const override { return Timestamp(std::chrono::milliseconds(1'795'247'528'000)); }
};

std::string Line(LogFormat format, std::string_view value) {
  const LogField fields[] = {{"value", value}};
  return FormatLogLine({format, LogLevel::kInfo, FixedClock().Now(), "event"}, fields);
}

TEST(LogFormat, TextQuotesOnlyWhatNeedsIt) {
  const LogField fields[] = {{"a", std::string_view("plain-1")},
                             {"b", std::string_view("two words")},
                             {"c", std::int64_t{-5}},
                             {"d", true},
                             {"e", std::string_view("")}};
  EXPECT_EQ(
      FormatLogLine({LogFormat::kText, LogLevel::kWarning, FixedClock().Now(), "decision"}, fields),
      FormatTimestamp(FixedClock().Now()) +
          " warning decision a=plain-1 b=\"two words\" c=-5 d=true e=\"\"");
}

TEST(LogFormat, EveryValueStaysOneLineAndValidJson) {
  const std::string values[] = {"a\nb",
                                "quote\"back\\slash",
                                "\x1b[31mred",
                                std::string("nul\0byte", 8),
                                "\xff\xfe",
                                "caf\xc3\xa9",
                                "\xc0\xaf",
                                "\xed\xa0\x80",
                                "cut\xe2\x80",
                                "\xe2\x80\xa8sep",
                                "\xe2\x80\xaertl",
                                "\xc2\x85nel",
                                std::string(5000, 'x')};
  for (const std::string& value : values) {
    const std::string json = Line(LogFormat::kJson, value);
    const auto parsed = nlohmann::json::parse(json, nullptr, false);
    ASSERT_FALSE(parsed.is_discarded()) << json;
    EXPECT_EQ(parsed["event"], "event");
    EXPECT_TRUE(parsed["value"].is_string());
    for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
      const std::string line = Line(format, value);
      EXPECT_LT(line.size(), 3000U);
      for (const char c : line)
        EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << line;
      EXPECT_EQ(line.find("\xe2\x80\xa8"), std::string::npos);
      EXPECT_EQ(line.find("\xe2\x80\xae"), std::string::npos);
    }
  }
  EXPECT_NE(Line(LogFormat::kText, "caf\xc3\xa9").find("caf\xc3\xa9"), std::string::npos);
}

// A pipe whose read end the test drains.
class Pipe {
 public:
  Pipe() {
    const int made = ::pipe2(ends_.data(), O_CLOEXEC);
    EXPECT_EQ(made, 0);
  }
  ~Pipe() {
    ::close(ends_[0]);
    CloseWriter();
  }
  int writer() const { return ends_[1]; }
  void CloseWriter() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // Waits for something to read, if need be.
  std::string ReadSome() {
    std::string some(64 * 1024, '\0');
    const ssize_t got = ::read(ends_[0], some.data(), some.size());
    some.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return some;
  }
  std::string ReadAll() {
    CloseWriter();
    std::string all;
    std::array<char, 4096> chunk{};
    ssize_t got = 0;
    while ((got = ::read(ends_[0], chunk.data(), chunk.size())) > 0) {
      all.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(Logger, WritesWhatIsQueuedBeforeItEnds) {
  Pipe pipe;
  const FixedClock clock;
  {
    Logger logger({.format = LogFormat::kJson, .level = LogLevel::kInfo, .file = pipe.writer()},
                  clock);
    logger.Log(LogLevel::kDebug, "hidden", {});
    for (int i = 0; i < 100; ++i) logger.Log(LogLevel::kInfo, "n", {{"i", std::int64_t{i}}});
    EXPECT_EQ(logger.dropped_count(), 0U);
  }
  const std::string all = pipe.ReadAll();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 100);
  EXPECT_NE(all.find("\"i\":99}"), std::string::npos);
  EXPECT_EQ(all.find("hidden"), std::string::npos);
}

TEST(Logger, WritesALineThatFollowsAPauseAtOnce) {
  Pipe pipe;
  const FixedClock clock;
  Logger logger({.file = pipe.writer()}, clock);
  for (const std::string_view event : {"one", "two", "three"}) {
    logger.Log(LogLevel::kInfo, event, {});
    EXPECT_NE(pipe.ReadSome().find(event), std::string::npos) << event;
  }
}

TEST(Logger, NeverBlocksOnAReaderThatIsStuck) {
  Pipe pipe;
  const FixedClock clock;
  const auto begin = std::chrono::steady_clock::now();
  {
    Logger logger({.file = pipe.writer(), .queue_bytes_max = 256 * 1024}, clock);
    const std::string value(1000, 'x');
    // Far more than pipe and queue hold together; nobody reads.
    for (int i = 0; i < 2000; ++i)
      logger.Log(LogLevel::kInfo, "n", {{"v", std::string_view(value)}});
    EXPECT_GT(logger.dropped_count(), 1000U);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace log_format_test
}  // namespace truce
