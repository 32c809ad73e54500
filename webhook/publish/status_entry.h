// The webhook's entry for changes of statuses: who is never asked about.
#ifndef TRUCE_WEBHOOK_PUBLISH_STATUS_ENTRY_H_
#define TRUCE_WEBHOOK_PUBLISH_STATUS_ENTRY_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace truce {

inline constexpr std::string_view kStatusEntry = "status.truce.dev";

// What the entry follows: the settings, and the API groups of the catalogue's kinds.
struct StatusGuard {
  std::vector<std::string> providers;  // user patterns: '*' is any run of characters
  std::vector<std::string> restorers;
  std::vector<std::string> groups;
};

// The matchConditions, (name, expression), by which API servers leave out the users of both
// settings; the chart renders the same texts (templates/_helpers.tpl, truce.notWriters). A pattern
// is matched as a whole whatever characters it holds; an empty setting has no condition. Texts grow
// linearly with the patterns, which configuration bounds.
std::vector<std::pair<std::string, std::string>> StatusConditions(
    std::span<const std::string> providers, std::span<const std::string> restorers);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_STATUS_ENTRY_H_
