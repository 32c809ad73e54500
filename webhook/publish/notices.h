// Notices: findings and denials as messages to a webhook: of a chat (Slack, Teams) or a program
// (JSON). Pure.
//
// Slack and what takes its form (Mattermost, Rocket.Chat): {"text": …, "mrkdwn": false}. Nothing in
// the text is markup then, and the three characters that Slack reads all the same are escaped. It
// takes one message a second and 40,000 characters
// (https://docs.slack.dev/apis/web-api/rate-limits,
// https://api.slack.com/reference/surfaces/formatting,
// https://api.slack.com/methods/chat.postMessage).
//
// Teams, by a Workflow's URL: an Adaptive Card of version 1.2, made of RichTextBlocks, in which
// nothing is Markdown. A message has 28 KB at most, which some senders found to be 14 where it is
// counted in UTF-16; a channel takes 4 a second and 100 an hour
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook,
// …/how-to/connectors-using,
// https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features).
//
// JSON: {"cluster", "items": […]}: each as the API lists it, a denial without "then", with "kind"
// ("finding", "denial") and, where Truce has a public address, "link".
#ifndef TRUCE_WEBHOOK_PUBLISH_NOTICES_H_
#define TRUCE_WEBHOOK_PUBLISH_NOTICES_H_

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "webhook/api/review_books.h"
#include "webhook/config/config.h"
#include "webhook/findings/findings_book.h"

namespace truce {

using News = std::variant<LiveFinding, Denial>;

// For whom.
struct NoticeStyle {
  NotifyForm form = NotifyForm::kSlack;
  std::string cluster;     // cluster id
  std::string public_url;  // without trailing slash; empty: texts name commands instead of links
};

// A message.
struct Notice {
  std::string body;         // JSON
  std::size_t covered = 0;  // so many of the news, from the first on, need no other message
  std::size_t shown = 0;    // the first of them, which it describes; the others it only counts
};

// Described at most, and their text in a chat together; the first has room in any case.
inline constexpr std::size_t kNoticeNewsMax = 20;
inline constexpr std::size_t kNoticeBytesMax = 8'000;

// The first of `news`, which is not empty. A chat's message counts those for which it has no room,
// a program gets them with the next ones.
Notice NoticeOf(const std::vector<News>& news, const NoticeStyle& style);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_NOTICES_H_
