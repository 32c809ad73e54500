// The pages that alerts link to.
#include "webhook/api/runbook.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace truce {
namespace runbook_test {

TEST(FailureCard, RowsAreReadAsTheyStand) {
  const auto rows = ReadFailureCard(
      "\nSome words.\n\n| what | policy | people | alert | command |\n|---|---|---|---|---|\n"
      "| its volume | Ignore | nothing | `TruceDown`, `TruceSlow` (at 70 %) | `a \\| b` |\n"
      "| the API server | either | nothing works | – | – |\n| too | few |\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].down, "its volume");
  EXPECT_EQ(rows[0].alerts, (std::vector<std::string>{"TruceDown", "TruceSlow"}));
  EXPECT_EQ(rows[0].command, "`a | b`");
  EXPECT_TRUE(rows[1].alerts.empty());
}

TEST(FailureCard, TheOneThatIsBuiltInIsWhole) {
  const std::string text(FailureCardText());
  std::size_t lines = 0;
  for (std::size_t at = text.find("\n|"); at != std::string::npos; at = text.find("\n|", at + 1)) {
    ++lines;
  }
  if (text.starts_with('|')) ++lines;
  EXPECT_EQ(ReadFailureCard(text).size() + 2, lines);
  EXPECT_GT(lines, 20U);
  EXPECT_EQ(text.find("## "), std::string::npos);
}

TEST(Runbook, PagesAreTextWithoutScripts) {
  const std::vector<HttpRoute> routes = RunbookRoutes();
  const auto get = [&](const std::string& path) {
    HttpRequest request;
    request.path = path;
    return *routes[1].handler(request);
  };
  const HttpResponse page = get("/runbook/TruceDown");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_NE(page.body.find("<h1>TruceDown</h1>"), std::string::npos);
  EXPECT_NE(page.body.find("<code>kubectl -n truce-system rollout restart deployment/truce</code>"),
            std::string::npos)
      << page.body;
  EXPECT_NE(page.body.find("&quot;failed calling webhook&quot;"), std::string::npos) << page.body;
  EXPECT_EQ(get("/runbook/<script>").status, 404);
  EXPECT_EQ(get("/runbook/<script>").body.find("script"), std::string::npos);
  EXPECT_GT(get("/runbook/").body.size(), page.body.size());
}

}  // namespace runbook_test
}  // namespace truce
