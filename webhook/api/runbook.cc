#include "webhook/api/runbook.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "webhook/wire/markup.h"

namespace truce {
namespace {

constexpr std::string_view kRunbookPath = "/runbook/";
constexpr std::size_t kColumns = 5;

// The cells of a line "| a | b |"; `\|` is no border.
std::vector<std::string> CellsOf(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  const auto end_cell = [&] {
    const std::size_t begin = cell.find_first_not_of(' ');
    const std::size_t end = cell.find_last_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin, end - begin + 1));
    cell.clear();
  };
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool is_escaped = line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|';
    if (is_escaped) {
      cell += line[++i];
    } else if (line[i] == '|') {
      end_cell();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

// "TruceDown" of each `TruceDown` in `cell`.
std::vector<std::string> AlertsIn(std::string_view cell) {
  std::vector<std::string> alerts;
  std::size_t at = 0;
  while ((at = cell.find("`Truce", at)) != std::string_view::npos) {
    const std::size_t end = std::min(cell.find('`', at + 1), cell.size());
    alerts.emplace_back(cell.substr(at + 1, end - at - 1));
    at = end;
  }
  return alerts;
}

// Markdown's spans of code are the only markup that the card uses.
std::string Html(std::string_view text) {
  std::string out;
  bool in_code = false;
  for (const char c : text) {
    if (c == '`') {
      out += in_code ? "</code>" : "<code>";
      in_code = !in_code;
    } else {
      AppendToMarkup(c, out);
    }
  }
  return out + (in_code ? "</code>" : "");
}

std::string Section(const FailureCardRow& row) {
  const auto term = [](std::string_view name, const std::string& text) {
    return "<dt>" + std::string(name) + "</dt><dd>" + Html(text) + "</dd>\n";
  };
  return "<h2>What is down: " + Html(row.down) + "</h2>\n<dl>\n" +
         term("failurePolicy", row.policy) + term("What people see", row.seen) +
         term("Alerts", row.alerts_cell) + term("The one command", row.command) + "</dl>\n";
}

HttpResponse RunbookPage(const std::string& title, const std::string& body) {
  HttpResponse response;
  response.content_type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
      title + "</title>\n</head>\n<body>\n<main>\n<h1>" + title + "</h1>\n" + body +
      "<p>Names in the commands are those of release <code>truce</code> in namespace "
      "<code>truce-system</code>.</p>\n</main>\n</body>\n</html>\n";
  response.headers = {{"Content-Security-Policy", "default-src 'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "max-age=300"}};
  return response;
}

using FailureCard = std::shared_ptr<const std::vector<FailureCardRow>>;

HttpResponse PageOf(const FailureCard& card, std::string_view alert) {
  std::string body;
  for (const FailureCardRow& row : *card) {
    const bool is_meant =
        std::find(row.alerts.begin(), row.alerts.end(), alert) != row.alerts.end();
    if (alert.empty() || is_meant) body += Section(row);
  }
  if (body.empty()) return PlainText(404, "no alert has this name; /runbook/ lists them");
  if (alert.empty()) return RunbookPage("Truce: failure card", body);
  return RunbookPage(std::string(alert), body + "<p><a href=\"./\">All rows</a></p>\n");
}

}  // namespace

std::vector<FailureCardRow> ReadFailureCard(std::string_view card) {
  std::vector<FailureCardRow> rows;
  std::size_t number = 0;
  while (!card.empty()) {
    const std::size_t end = std::min(card.find('\n'), card.size());
    const std::string_view line = card.substr(0, end);
    card.remove_prefix(std::min(end + 1, card.size()));
    // The first two lines are the head and the rule below it.
    if (!line.starts_with('|') || ++number <= 2) continue;
    std::vector<std::string> cells = CellsOf(line);
    if (cells.size() != kColumns) continue;
    FailureCardRow row{std::move(cells[0]), std::move(cells[1]), std::move(cells[2]), {}, {}, {}};
    row.alerts = AlertsIn(cells[3]);
    row.alerts_cell = std::move(cells[3]);
    row.command = std::move(cells[4]);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<HttpRoute> RunbookRoutes() {
  const auto card =
      std::make_shared<const std::vector<FailureCardRow>>(ReadFailureCard(FailureCardText()));
  const HttpHandler show = [card](HttpRequest& request) {
    return PageOf(card, std::string_view(request.path).substr(kRunbookPath.size()));
  };
  // Relative: the address at which people reach Truce may have a path of its own.
  const HttpHandler move = [](HttpRequest&) {
    HttpResponse response = PlainText(308, "runbook/");
    response.headers.emplace_back("Location", "runbook/");
    return response;
  };
  return {{.method = "GET", .path = "/runbook", .handler = move},
          {.method = "GET",
           .path = std::string(kRunbookPath),
           .match = RouteMatch::kPrefix,
           .handler = show}};
}

}  // namespace truce
