// A copy of the registry over the API: who may, one at a time, and its line in the audit log.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/rest_fixture.h"
#include "webhook/api/rest/rest_backup.h"

namespace truce {
namespace api_backup_test {

class OnePiece final : public HttpBody {
 public:
  std::uint64_t size() const override { return 4; }
  std::optional<std::string> Next() override { return "copy"; }
};

class BackupTest : public RestTest {
 protected:
  BackupTest() {
    router_ = Router::Make(BackupRoutes(
                               rest_, [this] { return copy_; }, uses_))
                  .value();
    user_ = "ann";
    reviews_.allowed = {"ann get backups"};
  }
  HttpResponse Fetch() { return Call("GET", "/api/v1/backup"); }
  std::size_t AuditLines() {
    std::size_t lines = 0;
    const auto look = [&](const AllFacts& facts) { lines = facts.AuditLines({}, 1000).size(); };
    EXPECT_TRUE(store_.Read(look, Deadline::max()).ok());
    return lines;
  }

  Result<RegistryCopy> copy_ = RegistryCopy{std::make_shared<OnePiece>(), 7};
  UseLog uses_{store_, clock_};
};

TEST_F(BackupTest, NeedsTheRightThatNoOtherIncludes) {
  reviews_.allowed = {"ann get ownerships", "ann list ownerships", "ann list audit",
                      "ann update recovery", "ann get backups in namespace team-a"};
  EXPECT_EQ(Fetch().status, 403);
  EXPECT_EQ(AuditLines(), 0U);
  reviews_.allowed = {"ann get backups"};
  const HttpResponse response = Fetch();
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.content_type, "application/vnd.sqlite3");
  ASSERT_NE(response.pieces, nullptr);
  EXPECT_EQ(response.pieces->size(), 4U);
  EXPECT_EQ(response.pieces->Next(), "copy");
  EXPECT_EQ(Ask("/api/v1/backup", {{"nonsense", "1"}}).status, 400);
}

TEST_F(BackupTest, EachUseIsInTheAuditLog) {
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(Fetch().status, 200);
    EXPECT_EQ(AuditLines(), i);
  }
  const auto look = [&](const AllFacts& facts) {
    const AuditEntry entry = facts.AuditLines({}, 1).front().entry;
    EXPECT_EQ(entry.actor, "ann (Kubernetes token) from 192.0.2.7");
    EXPECT_EQ(entry.cause, "took a copy of the registry, 7 ownerships");
  };
  EXPECT_TRUE(store_.Read(look, Deadline::max()).ok());
}

TEST_F(BackupTest, OneCopyAtATimeUntilItIsSent) {
  HttpResponse first = Fetch();
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(Fetch().status, 429);
  first.pieces.reset();
  EXPECT_EQ(Fetch().status, 200);
}

TEST_F(BackupTest, WhatCannotBeCopiedIsSaidAndLeavesTheTurnFree) {
  struct Row {
    ErrorCode code;
    int status;
  };
  for (const Row row : {Row{ErrorCode::kConflict, 409}, Row{ErrorCode::kUnavailable, 503},
                        Row{ErrorCode::kDataLoss, 500}}) {
    copy_ = Error{row.code, "no copy"};
    EXPECT_EQ(Fetch().status, row.status);
  }
  EXPECT_EQ(AuditLines(), 0U);
}

}  // namespace api_backup_test
}  // namespace truce
