// The fields of a ValidatingWebhookConfiguration that Truce writes itself, and the patch that puts
// it right.
#ifndef TRUCE_WEBHOOK_PUBLISH_WEBHOOK_REPAIR_H_
#define TRUCE_WEBHOOK_PUBLISH_WEBHOOK_REPAIR_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/base/result.h"

namespace truce {

inline constexpr std::string_view kStatusEntry = "status.truce.dev";
inline constexpr std::string_view kCompositionsEntry = "compositions.truce.dev";

// The sources of the entry: the settings, and the API groups of the catalogue's kinds.
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

// The fields that every entry whose name ends with ".truce.dev" must have.
struct PublishedWebhook {
  std::string bundle;  // PEM: clientConfig.caBundle
  // The root of the secrets that paths end with; nothing: the paths are somebody else's.
  std::optional<std::string> path_secret;
  // API groups of mapping rules and XRDs. Those that the declarations' entry does not name get
  // entries of their own, copies of it and of the deletions': the rules of an entry are one list,
  // whose owner is whoever installed it.
  std::vector<std::string> groups;
  bool groups_complete = false;  // false: groups that are there already stay
  // Changes of statuses: an entry of its own, made from the declarations' where there is none, with
  // exactly the conditions of StatusConditions and at least those of `groups` that the
  // declarations' entry names. Nothing: an entry that is there is left as it is.
  std::optional<StatusGuard> status;
};

struct WebhookRepair {
  std::string patch;  // JSON merge patch with the resourceVersion; empty: nothing to do
  std::vector<std::string> changes;  // "declarations.truce.dev: caBundle", in order
  // The bundle of all of Truce's entries before, when they agreed; else empty.
  std::string bundle;
  bool is_of_clients = false;  // authority or path of an entry that was there is put right
  std::string other_writer;    // who wrote last beside Truce, as managedFields tell; empty: nobody
};

// Entries are known by their names: those called as an endpoint is (webhook/wire/endpoints.h) get
// its path, that for finalizers the declarations'; others keep their path. Where none of them sends
// deletions an entry is made from the declarations': without one, what somebody marked as protected
// is not. So is one for finalizers, where the declarations' entry has kUpdateCondition, and one for
// changes of Compositions; nobody waits for either. Errors: kInvalidArgument (not such a
// configuration, or none of its entries is Truce's).
Result<WebhookRepair> RepairWebhook(std::string_view configuration, const PublishedWebhook& wanted);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PUBLISH_WEBHOOK_REPAIR_H_
