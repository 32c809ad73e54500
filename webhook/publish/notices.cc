#include "webhook/publish/notices.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "policies/people.h"
#include "registry/base/counted.h"
#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/api/described.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr std::size_t kHeadBytesMax = 300;
constexpr std::size_t kTextBytesMax = 1'500;
constexpr std::size_t kNamesBytesMax = 120;

// One of the news in a chat.
struct Line {
  std::string head;
  std::string text;
  std::string link;  // a URL, or a command

  std::size_t size() const { return head.size() + text.size() + link.size(); }
};

std::string_view IdOf(const News& news) {
  return std::visit([](const auto& each) -> std::string_view { return each.id; }, news);
}

std::string_view PathOf(const News& news) {
  return std::holds_alternative<Denial>(news) ? "/denials/" : "/findings/";
}

// Empty: Truce has no public address.
std::string LinkTo(const News& news, const NoticeStyle& style) {
  if (style.public_url.empty()) return {};
  return style.public_url + std::string(PathOf(news)) + std::string(IdOf(news));
}

// " Namespaces: a, b."; nothing of none. An empty one is of what has no namespace.
std::string Named(std::string_view what, std::vector<std::string> names) {
  std::erase(names, "");
  if (names.empty()) return {};
  return " " + std::string(what) + ": " + OneLine(Joined(names), kNamesBytesMax) + ".";
}

Line LineOf(const LiveFinding& finding) {
  const std::string& about = finding.resource.empty() ? finding.subject : finding.resource;
  std::vector<std::string> objects;
  for (const Slot& object : finding.objects) objects.push_back(ShortNameOf(object));
  return {.head = std::string(Name(SeverityOf(finding.mode))) + " " +
                  std::string(Name(finding.detector)) + ": " + about,
          .text = finding.cause + " " + finding.remedy + Named("Objects", std::move(objects)) +
                  Named("Namespaces", finding.namespaces) + Named("Services", finding.services),
          .link = "truce findings " + finding.id};
}

Line LineOf(const Denial& denial) {
  const Slot object{"", denial.group, denial.kind, denial.ns, denial.name};
  std::string often;
  if (denial.count > 1) {
    often = ", " + Counted(denial.count, "time") + " since " + FormatTimestamp(denial.first);
  }
  return {.head = "denied: " + ObjectForPeople(object),
          .text = denial.cause + " [" + denial.rule + "] Asked by " + denial.user + often + ".",
          .link = "truce denials" + (denial.ns.empty() ? std::string() : " -n " + denial.ns)};
}

// Everybody's texts are on one line each.
Line LineOf(const News& news, const NoticeStyle& style) {
  Line line = std::visit([](const auto& each) { return LineOf(each); }, news);
  line.head = OneLine(line.head, kHeadBytesMax);
  line.text = OneLine(line.text, kTextBytesMax);
  if (std::string link = LinkTo(news, style); !link.empty()) line.link = std::move(link);
  return line;
}

// Beginning, lines and end of a chat's message.
struct Chat {
  std::string title;
  std::vector<Line> lines;
  std::string rest;  // how many more there are; empty: none
};

std::string TitleOf(const std::vector<News>& news, const NoticeStyle& style) {
  const auto denials = std::count_if(news.begin(), news.end(), [](const News& each) {
    return std::holds_alternative<Denial>(each);
  });
  const auto findings = std::ssize(news) - denials;
  std::string title = "Truce " + style.cluster + ": ";
  if (findings > 0) title += Counted(findings, "finding");
  if (findings > 0 && denials > 0) title += ", ";
  if (denials > 0) title += Counted(denials, "denial");
  return title;
}

Chat ChatOf(const std::vector<News>& news, const NoticeStyle& style) {
  Chat chat{.title = TitleOf(news, style)};
  std::size_t bytes = 0;
  for (const News& each : news) {
    if (chat.lines.size() == kNoticeNewsMax) break;
    Line line = LineOf(each, style);
    bytes += line.size();
    if (bytes > kNoticeBytesMax && !chat.lines.empty()) break;
    chat.lines.push_back(std::move(line));
  }
  const std::size_t more = news.size() - chat.lines.size();
  if (more > 0) {
    chat.rest = "and " + std::to_string(more) + " more: truce findings, truce denials";
  }
  return chat;
}

// Whatever the channel's settings, Slack reads these as the begin of a link, a mention or an
// entity.
std::string SlackText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string SlackBody(const Chat& chat) {
  std::string text = chat.title;
  for (const Line& line : chat.lines) {
    text += "\n• " + line.head + " – " + line.text + " " + line.link;
  }
  if (!chat.rest.empty()) text += "\n" + chat.rest;
  return JsonWriter().Object("text", SlackText(text), "mrkdwn", false).Take();
}

// A paragraph of an Adaptive Card: one run of bold text, then a usual one, then a link.
void WriteParagraph(const Line& line, JsonWriter& json) {
  const bool is_link = line.link.find("://") != std::string::npos;
  json.BeginObject().Fields("type", "RichTextBlock").Key("inlines").BeginArray();
  json.Object("type", "TextRun", "text", line.head, "weight", "bolder");
  if (!line.text.empty()) json.Object("type", "TextRun", "text", " – " + line.text + " ");
  if (is_link) {
    json.Object("type", "TextRun", "text", line.link, "selectAction", [&](JsonWriter& action) {
      action.Object("type", "Action.OpenUrl", "url", line.link);
    });
  } else if (!line.link.empty()) {
    json.Object("type", "TextRun", "text", line.link);
  }
  json.EndArray().EndObject();
}

std::string TeamsBody(const Chat& chat) {
  const auto card = [&](JsonWriter& json) {
    json.BeginObject()
        .Fields("$schema", "http://adaptivecards.io/schemas/adaptive-card.json", "type",
                "AdaptiveCard", "version", "1.2")
        .Key("body")
        .BeginArray();
    WriteParagraph({.head = chat.title}, json);
    for (const Line& line : chat.lines) WriteParagraph(line, json);
    if (!chat.rest.empty()) WriteParagraph({.head = chat.rest}, json);
    json.EndArray().EndObject();
  };
  JsonWriter json;
  json.BeginObject().Fields("type", "message").Key("attachments").BeginArray();
  json.Object("contentType", "application/vnd.microsoft.card.adaptive", "content", card);
  return json.EndArray().EndObject().Take();
}

std::string JsonBody(const std::vector<News>& news, std::size_t count, const NoticeStyle& style) {
  JsonWriter json;
  json.BeginObject().Fields("cluster", style.cluster).Key("items").BeginArray();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_denial = std::holds_alternative<Denial>(news[i]);
    json.BeginObject()
        .Fields("kind", is_denial ? "denial" : "finding")
        .Given("link", LinkTo(news[i], style));
    std::visit([&](const auto& each) { WriteMembers(each, json); }, news[i]);
    json.EndObject();
  }
  return json.EndArray().EndObject().Take();
}

}  // namespace

Notice NoticeOf(const std::vector<News>& news, const NoticeStyle& style) {
  if (style.form == NotifyForm::kJson) {
    const std::size_t count = std::min(news.size(), kNoticeNewsMax);
    return {JsonBody(news, count, style), count, count};
  }
  const Chat chat = ChatOf(news, style);
  const bool is_teams = style.form == NotifyForm::kTeams;
  return {is_teams ? TeamsBody(chat) : SlackBody(chat), news.size(), chat.lines.size()};
}

}  // namespace truce
