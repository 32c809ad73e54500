// A thousand mutated objects, from those that were recorded: whatever an API server sends, the
// watch goes on, the registry keeps its invariants and nothing of anybody else is released.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/watcher_fixture.h"

namespace truce::testing {
namespace watcher_mutations_test {

using nlohmann::json;

constexpr int kMutants = 1000;

struct Recorded {
  GroupKind kind;
  json object;
};

std::vector<Recorded> RecordedObjects() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(TRUCE_SOURCE_DIR "/tests/golden/admission")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Recorded> all;
  for (const auto& file : files) {
    std::ifstream in(file);
    const json request = json::parse(in).at("request");
    for (const char* member : {"object", "oldObject"}) {
      if (!request.at(member).is_object()) continue;
      all.push_back({{request.at("kind").at("group").get<std::string>(),
                      request.at("kind").at("kind").get<std::string>()},
                     request.at(member)});
    }
  }
  return all;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t Pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }

  // The text of `object` with one to four members changed, and sometimes its bytes.
  std::string Mutated(json object) {
    const std::size_t changes = 1 + Pick(4);
    for (std::size_t i = 0; i < changes; ++i) Change(object);
    std::string text = object.dump(-1, ' ', false, json::error_handler_t::replace);
    const std::size_t how = Pick(8);
    if (how == 0) text.resize(Pick(text.size()));
    if (how == 1) text[Pick(text.size())] = static_cast<char>(Pick(256));
    if (how == 2) text.insert(Pick(text.size()), text.substr(Pick(text.size())));
    return text;
  }

 private:
  // Descends to a member at random and does something to it.
  void Change(json& at) {
    if (!at.is_structured() || at.empty()) return;
    auto member = at.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(Pick(at.size())));
    if (member->is_structured() && !member->empty() && Pick(4) != 0) return Change(*member);
    const std::size_t how = Pick(10);
    if (how < 2) {
      at.erase(member);
    } else {
      *member = Odd(how);
    }
  }

  json Odd(std::size_t how) {
    static const std::array<std::string, 8> kTexts = {
        "",          "\xF0\x9F\xAA\xA3", "a\nb", std::string("a\0b", 3),
        "../../etc", "a|b=c/d%2F",       "\xFF", "arn:aws:s3:::"};
    switch (how) {
      case 2: return nullptr;
      case 3: return json::object();
      case 4: return json::array({nullptr, json::object(), "x"});
      case 5: return -1e308;
      case 6: return std::string(100'000, 'x');
      case 7: return true;
      default: return kTexts[Pick(kTexts.size())];
    }
  }

  std::mt19937 random_;
};

TEST_F(WatcherTest, AThousandMutatedObjectsCrashNothingAndReleaseNothing) {
  const std::vector<Recorded> recorded = RecordedObjects();
  ASSERT_GT(recorded.size(), 50U);
  const GroupKind policy{"s3.aws.upbound.io", "BucketPolicy"};
  cluster_.Serve({policy.group, "v1beta1", policy.kind, "bucketpolicies", false});
  cluster_.Serve({kXrd.group, "v1", kXrd.kind, "compositeresourcedefinitions", false});
  cluster_.Put(Real(Bucket("a", "u1", "untouched")));
  driver_->Settle();
  ASSERT_TRUE(OwnerOf("untouched"));
  Reconciler& reconciler = driver_->watcher().reconciler();
  Mutator mutator(1);
  int applied = 0;
  while (applied < kMutants) {
    const Recorded& one = recorded[mutator.Pick(recorded.size())];
    if (one.kind != kBucket && one.kind != kQueue && one.kind != policy) continue;
    ++applied;
    const auto version = std::to_string(1000 + applied);
    const std::string text = mutator.Mutated(one.object);
    if (mutator.Pick(10) == 0) {
      reconciler.BeginList(one.kind);
      reconciler.Listed(one.kind, {&text, 1});
      ASSERT_TRUE(reconciler.ListFailed(one.kind).ok());
      continue;
    }
    const auto type =
        mutator.Pick(8) == 0 ? WatchEvent::Type::kDeleted : WatchEvent::Type::kModified;
    const WatchEvent event{type, version, text};
    ASSERT_TRUE(reconciler.Events(one.kind, {&event, 1}).ok()) << text;
    if (applied % 100 == 0) {
      for (const std::string& breach : CheckInvariants(Contents()))
        FAIL() << breach << "\n" << text;
    }
  }
  EXPECT_GT(reconciler.status().unreadable, 0U);
  EXPECT_GT(reconciler.status().observed_versions, static_cast<std::uint64_t>(kMutants / 4));
  driver_->Advance(60s);
  ASSERT_TRUE(OwnerOf("untouched"));
  EXPECT_EQ(OwnerOf("untouched")->record, Record::kNone);
  EXPECT_EQ(RowsOf("u1").size(), 1U);
}

}  // namespace watcher_mutations_test
}  // namespace truce::testing
