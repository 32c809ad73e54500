// PageProxy: lets a browser on this machine ask the server as a command does.
#ifndef TRUCE_WEBHOOK_CLI_SERVER_PAGE_PROXY_H_
#define TRUCE_WEBHOOK_CLI_SERVER_PAGE_PROXY_H_

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "webhook/cli/server/api_call.h"
#include "webhook/http/http.h"

namespace truce {

// Random texts that nobody guesses, of characters that a URL and a cookie hold unescaped.
struct PageSecrets {
  std::string key;      // of the address that is opened; holds once
  std::string session;  // of the cookie that is given for it
};

// A request with the key gets a cookie (HttpOnly, SameSite=Strict); one with the cookie goes on to
// the server, with the credentials of the connection. Everybody else on the machine learns nothing.
// Thread-safe, if the server's connection is.
class PageProxy final {
 public:
  // `server` must outlive it.
  PageProxy(ApiConnection& server, PageSecrets secrets)
      : server_(server), secrets_(std::move(secrets)) {}

  // Requests that name another host or port are refused from the first one on: a name that points
  // here would bring them (DNS rebinding).
  void SetPort(int port) { port_ = port; }

  // The address to open, once; `path` begins with '/'.
  std::string AddressOf(const std::string& path) const;

  // All paths. The proxy must outlive them.
  std::vector<HttpRoute> Routes();

 private:
  HttpResponse Answer(const HttpRequest& request);
  HttpResponse TakeKey(const HttpRequest& request, std::string_view key);
  HttpResponse PassOn(const HttpRequest& request);
  std::string Origin() const;
  std::string CookieName() const;
  bool HasCookie(const HttpRequest& request) const;

  ApiConnection& server_;
  const PageSecrets secrets_;
  std::atomic<int> port_ = 0;
  std::atomic<bool> is_used_ = false;  // the key
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_SERVER_PAGE_PROXY_H_
