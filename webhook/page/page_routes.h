// The page for people: the API listener's answers to a browser.
#ifndef TRUCE_WEBHOOK_PAGE_PAGE_ROUTES_H_
#define TRUCE_WEBHOOK_PAGE_PAGE_ROUTES_H_

#include <string>
#include <vector>

#include "webhook/http/http.h"

namespace truce {

// One document at the address of each view ("/", "/r/ID", "/services/NAME", …) and its files under
// "/page/". They are the same for everybody and tell nothing of the registry: the browser asks the
// API for the contents of a view, with the token of its user. `settings`, JSON, is the
// configuration for scripts, for everybody too. Never blocks.
std::vector<HttpRoute> PageRoutes(std::string settings);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_PAGE_PAGE_ROUTES_H_
