// Messages to a webhook: whole bodies, what is escaped, what has room.
#include "webhook/publish/notices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace truce {
namespace notices_test {

using Json = nlohmann::json;

LiveFinding War() {
  LiveFinding war;
  war.detector = Detector::kTagWar;
  war.subject = "k";
  war.key = {"k"};
  war.mode = Mode::kEnforce;
  war.resource = "S3 bucket \"logs\"";
  war.cause = "Two controllers rewrite its tags.";
  war.evidence = "30 writes an hour";
  war.remedy = "Run `truce resolve logs`.";
  war.namespaces = {"", "team-a", "team-b"};
  war.services = {"billing"};
  war.objects = {{"prod-1", "s3.aws.upbound.io", "Bucket", "", "logs"}};
  war.id = "abcdefghij";
  war.first_seen = war.last_seen = *ParseTimestamp("2026-11-29T12:00:00Z");
  return war;
}

Denial Refused() {
  Denial denial;
  denial.id = "klmnopqrst";
  denial.key = {"j"};
  denial.resource = "S3 bucket \"files\"";
  denial.rule = "duplicate-ownership";
  denial.cause = "S3 bucket \"files\" is owned by service \"a\".";
  denial.group = "s3.aws.upbound.io";
  denial.kind = "Bucket";
  denial.ns = "team-b";
  denial.name = "files";
  denial.user = "alice";
  denial.first = *ParseTimestamp("2026-11-29T11:00:00Z");
  denial.last = *ParseTimestamp("2026-11-29T12:00:00Z");
  denial.count = 3;
  return denial;
}

NoticeStyle Style(NotifyForm form, std::string public_url = "https://truce.example.org") {
  return {form, "prod-1", std::move(public_url)};
}

std::string SlackOf(const std::vector<News>& news) {
  const Notice notice = NoticeOf(news, Style(NotifyForm::kSlack, ""));
  return Json::parse(notice.body)["text"].get<std::string>();
}

TEST(Notices, ForSlack) {
  const Notice notice = NoticeOf({War(), Refused()}, Style(NotifyForm::kSlack));
  EXPECT_EQ(notice.covered, 2U);
  EXPECT_EQ(notice.shown, 2U);
  EXPECT_EQ(
      notice.body,
      R"({"text":"Truce prod-1: 1 finding, 1 denial\n)"
      R"(• critical tag-war: S3 bucket \"logs\" – Two controllers rewrite its tags. )"
      R"(Run `truce resolve logs`. Objects: Bucket logs. Namespaces: team-a, team-b. Services: billing. )"
      R"(https://truce.example.org/findings/abcdefghij\n)"
      R"(• denied: Bucket team-b/files – S3 bucket \"files\" is owned by service \"a\". )"
      R"([duplicate-ownership] Asked by alice, 3 times since 2026-11-29T11:00:00Z. )"
      R"(https://truce.example.org/denials/klmnopqrst","mrkdwn":false})");
}

TEST(Notices, ForTeams) {
  const Notice notice = NoticeOf({Refused()}, Style(NotifyForm::kTeams));
  EXPECT_EQ(
      notice.body,
      R"({"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive",)"
      R"("content":{"$schema":"http://adaptivecards.io/schemas/adaptive-card.json",)"
      R"("type":"AdaptiveCard","version":"1.2","body":[)"
      R"({"type":"RichTextBlock","inlines":[)"
      R"({"type":"TextRun","text":"Truce prod-1: 1 denial","weight":"bolder"}]},)"
      R"({"type":"RichTextBlock","inlines":[)"
      R"({"type":"TextRun","text":"denied: Bucket team-b/files","weight":"bolder"},)"
      R"({"type":"TextRun","text":" – S3 bucket \"files\" is owned by service \"a\". )"
      R"([duplicate-ownership] Asked by alice, 3 times since 2026-11-29T11:00:00Z. "},)"
      R"({"type":"TextRun","text":"https://truce.example.org/denials/klmnopqrst",)"
      R"("selectAction":{"type":"Action.OpenUrl",)"
      R"("url":"https://truce.example.org/denials/klmnopqrst"}}]}]}}]})");
}

TEST(Notices, ForPrograms) {
  const Notice notice = NoticeOf({War(), Refused()}, Style(NotifyForm::kJson));
  EXPECT_EQ(notice.covered, 2U);
  EXPECT_EQ(notice.shown, 2U);
  EXPECT_EQ(
      notice.body,
      R"({"cluster":"prod-1","items":[{"kind":"finding",)"
      R"("link":"https://truce.example.org/findings/abcdefghij","id":"abcdefghij",)"
      R"("rule":"tag-war","severity":"critical","mode":"enforce","subject":"k","key":"k",)"
      R"("resource":"S3 bucket \"logs\"","cause":"Two controllers rewrite its tags.",)"
      R"("evidence":"30 writes an hour","remedy":"Run `truce resolve logs`.","objects":[{"cluster":"prod-1",)"
      R"("group":"s3.aws.upbound.io","kind":"Bucket","namespace":"","name":"logs"}],)"
      R"("namespaces":["","team-a","team-b"],"services":["billing"],"since":"",)"
      R"("firstSeen":"2026-11-29T12:00:00Z","lastSeen":"2026-11-29T12:00:00Z"},)"
      R"({"kind":"denial","link":"https://truce.example.org/denials/klmnopqrst",)"
      R"("id":"klmnopqrst","rule":"duplicate-ownership","resource":"S3 bucket \"files\"",)"
      R"("cause":"S3 bucket \"files\" is owned by service \"a\".",)"
      R"("object":{"group":"s3.aws.upbound.io","kind":"Bucket","namespace":"team-b",)"
      R"("name":"files"},"user":"alice","first":"2026-11-29T11:00:00Z",)"
      R"("last":"2026-11-29T12:00:00Z","count":3}]})");
}

TEST(Notices, WithoutAPublicAddressACommandIsNamed) {
  Denial cluster_scoped = Refused();
  cluster_scoped.ns = "";
  cluster_scoped.count = 1;
  EXPECT_EQ(SlackOf({War(), Refused(), cluster_scoped}),
            "Truce prod-1: 1 finding, 2 denials\n"
            "• critical tag-war: S3 bucket \"logs\" – Two controllers rewrite its tags. "
            "Run `truce resolve logs`. Objects: Bucket logs. Namespaces: team-a, team-b. Services: "
            "billing. "
            "truce findings abcdefghij\n"
            "• denied: Bucket team-b/files – S3 bucket \"files\" is owned by service \"a\". "
            "[duplicate-ownership] Asked by alice, 3 times since 2026-11-29T11:00:00Z. "
            "truce denials -n team-b\n"
            "• denied: Bucket files – S3 bucket \"files\" is owned by service \"a\". "
            "[duplicate-ownership] Asked by alice. truce denials");
}

TEST(Notices, NobodysNamesAreMarkup) {
  Denial denial = Refused();
  denial.user = "<!channel> & <https://evil.example|Truce>\n*bold* _it_\x1b[31m";
  const std::string slack = SlackOf({denial});
  EXPECT_NE(slack.find("Asked by &lt;!channel&gt; &amp; &lt;https://evil.example|Truce&gt;"),
            std::string::npos)
      << slack;
  EXPECT_NE(slack.find("\\u{0a}*bold* _it_\\u{1b}[31m"), std::string::npos) << slack;
  EXPECT_EQ(std::count(slack.begin(), slack.end(), '\n'), 1);
  // In a card they are the text of a run, which has no markup.
  const Json card = Json::parse(NoticeOf({denial}, Style(NotifyForm::kTeams, "")).body);
  const Json& runs = card["attachments"][0]["content"]["body"][1]["inlines"];
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_NE(runs[1]["text"].get<std::string>().find("<!channel> & <https://evil.example|Truce>"),
            std::string::npos);
  EXPECT_EQ(runs[2], Json({{"type", "TextRun"}, {"text", "truce denials -n team-b"}}));
}

TEST(Notices, BytesThatAreNoTextAreReplaced) {
  Denial denial = Refused();
  denial.user = "a\xff";
  for (const NotifyForm form : {NotifyForm::kSlack, NotifyForm::kTeams, NotifyForm::kJson}) {
    EXPECT_TRUE(Json::accept(NoticeOf({denial}, Style(form)).body));
  }
}

TEST(Notices, AChatsMessageCountsWhatHasNoRoomAndAProgramGetsItNext) {
  const std::vector<News> many(113 + kNoticeNewsMax, War());
  for (const NotifyForm form : {NotifyForm::kSlack, NotifyForm::kTeams}) {
    const Notice notice = NoticeOf(many, Style(form));
    EXPECT_EQ(notice.covered, many.size());
    EXPECT_EQ(notice.shown, kNoticeNewsMax);
    EXPECT_NE(notice.body.find("and 113 more: truce findings, truce denials"), std::string::npos);
  }
  const Notice notice = NoticeOf(many, Style(NotifyForm::kJson));
  EXPECT_EQ(notice.covered, kNoticeNewsMax);
  EXPECT_EQ(notice.shown, kNoticeNewsMax);
  EXPECT_EQ(Json::parse(notice.body)["items"].size(), kNoticeNewsMax);
}

TEST(Notices, WhateverTheTextsAreTheyFitIntoAMessage) {
  constexpr std::size_t kTeamsBytesMax = 28'000;
  for (const std::string& text : {std::string(8000, 'a'), std::string(8000, '"'),
                                  std::string(8000, '\x01'), std::string(8000, '<')}) {
    LiveFinding finding = War();
    finding.cause = finding.remedy = finding.resource = text;
    const std::vector<News> news(kNoticeNewsMax, finding);
    for (const NotifyForm form : {NotifyForm::kSlack, NotifyForm::kTeams}) {
      const Notice notice = NoticeOf(news, Style(form));
      EXPECT_GE(notice.shown, 1U);
      EXPECT_LE(notice.body.size(), form == NotifyForm::kTeams ? kTeamsBytesMax : 40'000U)
          << text.substr(0, 8);
    }
  }
}

}  // namespace notices_test
}  // namespace truce
