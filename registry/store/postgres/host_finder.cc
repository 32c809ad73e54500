#include "registry/store/postgres/host_finder.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace truce {
namespace {

using FoundHosts = Result<std::vector<std::string>>;

Error NotFound(const std::string& host, const char* why) {
  return Error{ErrorCode::kUnavailable, "host \"" + host + "\" is not found (" + why +
                                            "); look at the URL's host, and at the name server"};
}

}  // namespace

Result<std::vector<std::string>> AskResolver(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); code != 0) {
    return NotFound(host, ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  std::vector<std::string> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(entry->ai_addr, entry->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) != 0) {
      continue;
    }
    if (std::find(addresses.begin(), addresses.end(), text.data()) == addresses.end()) {
      addresses.emplace_back(text.data());
    }
  }
  if (addresses.empty()) return NotFound(host, "it has no address");
  return addresses;
}

struct HostFinder::Questions {
  using Answer = std::shared_ptr<std::optional<FoundHosts>>;

  explicit Questions(AskFn how) : ask(std::move(how)) {}

  const AskFn ask;
  std::mutex mutex;
  std::condition_variable answered;
  std::map<std::string, Answer> asked;  // under mutex, as are the answers
};

HostFinder::HostFinder(AskFn ask) : questions_(std::make_shared<Questions>(std::move(ask))) {}

Result<std::vector<std::string>> HostFinder::Find(const std::string& host, Deadline deadline) {
  std::unique_lock lock(questions_->mutex);
  Questions::Answer& asked = questions_->asked[host];
  if (asked == nullptr) {
    asked = std::make_shared<std::optional<FoundHosts>>();
    try {
      std::thread([questions = questions_, host] {
        FoundHosts answer = questions->ask(host);
        const std::lock_guard done(questions->mutex);
        *questions->asked.at(host) = std::move(answer);
        questions->asked.erase(host);
        questions->answered.notify_all();
      }).detach();
    } catch (const std::system_error& error) {
      questions_->asked.erase(host);
      return Error{ErrorCode::kUnavailable,
                   "no thread to look for host \"" + host + "\": " + error.what()};
    }
  }
  const Questions::Answer answer = asked;
  if (!questions_->answered.wait_until(lock, deadline, [&] { return answer->has_value(); })) {
    return Error{ErrorCode::kDeadlineExceeded,
                 "the name server has not told in time where host \"" + host +
                     "\" is; look at the URL's host, and at it"};
  }
  return **answer;
}

}  // namespace truce
