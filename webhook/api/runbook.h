// The meaning of each alert and the one command that mends it: pages that alerts link to.
//
// GET /runbook          308 /runbook/
// GET /runbook/         200 every row of the failure card, a page without scripts and styles
// GET /runbook/<alert>  200 its rows; 404 for a name that the card does not have
//
// For anybody: they say nothing of this installation.
#ifndef TRUCE_WEBHOOK_API_RUNBOOK_H_
#define TRUCE_WEBHOOK_API_RUNBOOK_H_

#include <string>
#include <string_view>
#include <vector>

#include "webhook/http/http.h"

namespace truce {

// Section "Failure card" of docs/failure-card.md, as built in.
std::string_view FailureCardText();

// A row of its table; cells in Markdown.
struct FailureCardRow {
  std::string down;                 // what is down
  std::string policy;               // with which failurePolicy
  std::string seen;                 // what people see
  std::vector<std::string> alerts;  // "TruceDown"
  std::string alerts_cell;          // the whole cell, with the words beside them
  std::string command;              // the one command
};

// The rows of the first table of `card`.
std::vector<FailureCardRow> ReadFailureCard(std::string_view card);

std::vector<HttpRoute> RunbookRoutes();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_API_RUNBOOK_H_
