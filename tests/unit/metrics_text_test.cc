#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "webhook/metrics/health.h"
#include "webhook/metrics/metrics.h"

namespace truce {
namespace metrics_text_test {

// A strict reader of the text format: every sample belongs to the family announced above it.
struct Exposition {
  std::map<std::string, std::string> types;
  std::map<std::string, double> samples;  // "name{labels}" -> value
  std::set<std::string> problems;
};

Exposition Parse(const std::string& text) {
  static const std::regex kSample(
      R"(^([a-z_][a-z0-9_]*)(\{([a-z_]+="([^"\\\n]|\\[\\"n])*")(,[a-z_]+="([^"\\\n]|\\[\\"n])*")*\})? (\S+)$)");
  Exposition out;
  std::istringstream lines(text);
  std::string line;
  std::string family;
  std::string helped;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string hash;
    std::string keyword;
    if (line.starts_with("# HELP ")) {
      words >> hash >> keyword >> helped;
    } else if (line.starts_with("# TYPE ")) {
      std::string type;
      words >> hash >> keyword >> family >> type;
      if (family != helped) out.problems.insert("no HELP: " + family);
      if (!out.types.emplace(family, type).second) out.problems.insert("twice: " + family);
    } else {
      std::smatch match;
      if (!std::regex_match(line, match, kSample)) {
        out.problems.insert("malformed: " + line);
        continue;
      }
      const std::string name = match[1];
      const bool is_histogram = out.types[family] == "histogram";
      const bool belongs = name == family ||
                           (is_histogram && (name == family + "_bucket" ||
                                             name == family + "_sum" || name == family + "_count"));
      if (!belongs) out.problems.insert("stray: " + line);
      const std::string series = name + match[2].str();
      if (!out.samples.emplace(series, std::stod(match[7])).second)
        out.problems.insert("twice: " + series);
    }
  }
  return out;
}

TEST(Metrics, EverySeriesIsThereFromTheStart) {
  const Metrics metrics({.version = "1.2.3", .rules = {"duplicate-ownership", "other"}});
  const Exposition out = Parse(metrics.Render());
  EXPECT_TRUE(out.problems.empty()) << *out.problems.begin();
  EXPECT_EQ(out.types.at("truce_admission_reviews_total"), "counter");
  EXPECT_EQ(out.types.at("truce_admission_seconds"), "histogram");
  EXPECT_EQ(out.types.at("truce_ownerships"), "gauge");
  EXPECT_EQ(out.samples.at("truce_build_info{version=\"1.2.3\"}"), 1);
  EXPECT_EQ(out.samples.at("truce_unknown_total{cause=\"store_full\"}"), 0);
  EXPECT_EQ(out.samples.at("truce_conflicts"), 0);
  EXPECT_EQ(out.samples.at(
                "truce_admission_findings_total{rule=\"duplicate-ownership\",mode=\"enforce\"}"),
            0);
  EXPECT_GT(out.samples.at("process_resident_memory_bytes"), 0);
  EXPECT_GE(out.samples.at("process_cpu_seconds_total"), 0);
}

TEST(Metrics, CountsBySeries) {
  Metrics metrics({.version = "1", .rules = {"duplicate-ownership", "other"}});
  metrics.CountReview("CREATE", "denied", 300'000);
  metrics.CountReview("CREATE", "denied", 3'000'000);
  metrics.CountReview("DELETE", "allowed", 20'000'000'000);
  metrics.CountUnknown("store_full");
  metrics.CountFinding("duplicate-ownership", "enforce");
  metrics.SetConflicts(7);
  metrics.SetOwnerships("held", 42);
  const Exposition out = Parse(metrics.Render());
  EXPECT_TRUE(out.problems.empty());
  EXPECT_EQ(
      out.samples.at("truce_admission_reviews_total{operation=\"CREATE\",verdict=\"denied\"}"), 2);
  EXPECT_EQ(
      out.samples.at("truce_admission_reviews_total{operation=\"DELETE\",verdict=\"allowed\"}"), 1);
  EXPECT_EQ(out.samples.at("truce_unknown_total{cause=\"store_full\"}"), 1);
  EXPECT_EQ(out.samples.at(
                "truce_admission_findings_total{rule=\"duplicate-ownership\",mode=\"enforce\"}"),
            1);
  EXPECT_EQ(out.samples.at("truce_conflicts"), 7);
  EXPECT_EQ(out.samples.at("truce_ownerships{state=\"held\"}"), 42);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_bucket{le=\"0.00025\"}"), 0);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_bucket{le=\"0.0005\"}"), 1);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_bucket{le=\"10\"}"), 2);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_bucket{le=\"+Inf\"}"), 3);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_count"), 3);
  EXPECT_NEAR(out.samples.at("truce_admission_seconds_sum"), 20.0033, 1e-9);
}

TEST(Metrics, LabelSetsNeverGrowWithInput) {
  Metrics metrics({.version = "1", .rules = {"duplicate-ownership", "other"}});
  const std::size_t before = Parse(metrics.Render()).samples.size();
  for (int i = 0; i < 100; ++i) {
    const std::string odd = "x\"}\n" + std::to_string(i);
    metrics.CountReview(odd, "allowed", 1);
    metrics.CountUnknown(odd);
    metrics.CountFinding(odd, "warn");
  }
  const Exposition out = Parse(metrics.Render());
  EXPECT_EQ(out.samples.size(), before);
  EXPECT_EQ(out.samples.at("truce_admission_reviews_total{operation=\"none\",verdict=\"allowed\"}"),
            100);
  EXPECT_EQ(out.samples.at("truce_unknown_total{cause=\"other\"}"), 100);
  EXPECT_EQ(out.samples.at("truce_admission_findings_total{rule=\"other\",mode=\"warn\"}"), 100);
}

TEST(Metrics, CollectorsAreAskedWhenRead) {
  Metrics metrics({.version = "quote\"d", .rules = {}});
  double value = 1;
  metrics.AddCollector([&](MetricWriter& writer) {
    writer.Family("truce_shares_ending");
    writer.Sample(value);
  });
  value = 2;
  const Exposition out = Parse(metrics.Render());
  EXPECT_TRUE(out.problems.empty());
  EXPECT_EQ(out.samples.at("truce_shares_ending"), 2);
  metrics.RemoveCollectors();
  EXPECT_EQ(Parse(metrics.Render()).samples.count("truce_shares_ending"), 0U);
}

TEST(Metrics, CountsFromManyThreadsAreNotLost) {
  Metrics metrics({.version = "1", .rules = {"other"}});
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) metrics.CountReview("UPDATE", "allowed", 1000);
      });
    }
    Parse(metrics.Render());
  }
  const Exposition out = Parse(metrics.Render());
  EXPECT_EQ(
      out.samples.at("truce_admission_reviews_total{operation=\"UPDATE\",verdict=\"allowed\"}"),
      40'000);
  EXPECT_EQ(out.samples.at("truce_admission_seconds_count"), 40'000);
}

TEST(Health, IsReadyWhenEveryPartIs) {
  Health health;
  EXPECT_FALSE(health.IsReady());
  health.SetNotReady("store", "opening");
  health.SetReady("admission");
  EXPECT_FALSE(health.IsReady());
  EXPECT_EQ(health.Report(), "[+] admission: ok\n[-] store: opening\n");
  health.SetReady("store");
  EXPECT_TRUE(health.IsReady());
  health.SetNotReady("store", "");
  EXPECT_FALSE(health.IsReady());
}

}  // namespace metrics_text_test
}  // namespace truce
