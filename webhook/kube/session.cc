#include "webhook/kube/session.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "registry/base/file.h"
#include "registry/base/text.h"
#include "webhook/kube/connection.h"
#include "webhook/kube/exec_plugin.h"

namespace truce {
namespace {

using std::chrono::steady_clock;

// A server that refuses every token must not make the plugin run without pause.
constexpr std::chrono::seconds kExecPause{1};
constexpr std::chrono::seconds kResolvePause{1};
constexpr std::size_t kTokenBytesMax = 64 * 1024;

// Everything that a SessionState is made of.
struct Material {
  TlsMaterial tls;
  std::string token;
  std::optional<Timestamp> expires;

  bool SameAs(const Material& other) const {
    return tls.authority == other.tls.authority && tls.certificate == other.tls.certificate &&
           tls.key == other.tls.key && token == other.token;
  }
};

Result<std::string> ReadSource(const TextSource& source) {
  if (!source.text.empty() || source.file.empty()) return source.text;
  return ReadSmallFile(source.file);
}

// Errors: never with the token in their message.
Result<std::string> CheckedToken(std::string token, std::string_view origin) {
  token = std::string(Trimmed(token, " \t\r\n\v\f"));
  if (!IsAllVisible(token) || token.size() > kTokenBytesMax) {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(origin) +
                     ": the token holds a character that no header may, or is "
                     "longer than 64 KiB"};
  }
  return token;
}

Result<std::vector<ResolvedAddress>> SocketAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{ErrorCode::kInvalidArgument, "the path of the socket is too long: " + path};
  }
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&address);
  std::vector<ResolvedAddress> found;
  found.push_back({{bytes, bytes + sizeof(address)}});
  return found;
}

// Addresses of `host`, or what the system says is wrong.
Result<std::vector<ResolvedAddress>> Resolve(const ServerAddress& address, int flags) {
  if (!address.socket.empty()) return SocketAddress(address.socket);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return Error{ErrorCode::kUnavailable,
                 "look up '" + address.host + "': " + ::gai_strerror(error)};
  }
  std::vector<ResolvedAddress> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(entry->ai_addr);
    addresses.push_back({{bytes, bytes + entry->ai_addrlen}});
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

struct ServerSession::Impl {
  Impl(ServerSettings given, const Clock& of, SessionOptions with)
      : settings(std::move(given)), clock(of), options(with) {}

  // Reads files, and runs the plugin when `run_plugin` or its last answer expires soon.
  Result<Material> ReadMaterial(bool run_plugin);
  Result<void> RenewNow(bool run_plugin);
  bool ExpiresSoon() const;
  void Keep(const std::stop_token& stop);
  void ResolveNow();

  const ServerSettings settings;
  const Clock& clock;
  const SessionOptions options;
  bool is_numeric = false;  // the address needs no look-up; constant after Open

  // Of the keeper only (of Open before it runs).
  Material material;
  std::optional<ExecCredential> exec;
  Timestamp exec_read{};
  steady_clock::time_point exec_again{};
  steady_clock::time_point resolve_again{};

  // A number is drawn per wish; the keeper tells up to which it has worked.
  struct Wishes {
    std::uint64_t asked = 0;
    std::uint64_t begun = 0;
    std::uint64_t done = 0;

    // Work that has begun may have read what was there before the wish.
    std::uint64_t Ask() {
      if (asked == begun) ++asked;
      return asked;
    }
  };
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::shared_ptr<const SessionState> state;  // guarded by mutex, as all below
  std::string trouble;
  Wishes renewals;
  Wishes resolutions;
  std::vector<ResolvedAddress> addresses;
  steady_clock::time_point resolved_at{};

  std::jthread keeper;  // last: it uses all of the above
};

bool ServerSession::Impl::ExpiresSoon() const {
  if (!exec || !exec->expires) return false;
  const auto life = *exec->expires - exec_read;
  // A plugin may hand out what lives shorter than that: it must not run all the time.
  const auto before = std::min<std::chrono::milliseconds>(options.renew_before, life / 2);
  return clock.Now() >= *exec->expires - before;
}

Result<Material> ServerSession::Impl::ReadMaterial(bool run_plugin) {
  Material fresh;
  fresh.tls.verify = settings.verify;
  TRUCE_ASSIGN_OR_RETURN(fresh.tls.authority, ReadSource(settings.authority));
  TRUCE_ASSIGN_OR_RETURN(fresh.tls.certificate, ReadSource(settings.user.certificate));
  TRUCE_ASSIGN_OR_RETURN(fresh.tls.key, ReadSource(settings.user.key));
  TRUCE_ASSIGN_OR_RETURN(fresh.token, ReadSource(settings.user.token));
  if (settings.user.exec && (run_plugin || !exec || ExpiresSoon())) {
    exec_again = steady_clock::now() + kExecPause;
    TRUCE_ASSIGN_OR_RETURN(exec, RunExecPlugin(settings, fresh.tls.authority,
                                               steady_clock::now() + options.exec_timeout));
    exec_read = clock.Now();
  }
  // A token in the settings wins over the plugin's, as in client-go.
  if (exec && fresh.token.empty()) {
    fresh.token = exec->token;
    fresh.expires = exec->expires;
  }
  if (exec && fresh.tls.certificate.empty()) {
    fresh.tls.certificate = exec->certificate;
    fresh.tls.key = exec->key;
  }
  TRUCE_ASSIGN_OR_RETURN(fresh.token, CheckedToken(std::move(fresh.token), settings.origin));
  if (!fresh.token.empty() && !settings.address.tls && !IsLoopback(settings.address.host)) {
    return Error{ErrorCode::kInvalidArgument, settings.origin +
                                                  ": a token is not sent over plain http to '" +
                                                  settings.address.host + "'; use https"};
  }
  return fresh;
}

Result<void> ServerSession::Impl::RenewNow(bool run_plugin) {
  TRUCE_ASSIGN_OR_RETURN(Material fresh, ReadMaterial(run_plugin));
  std::shared_ptr<const SessionState> before;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    before = state;
  }
  // A new generation ends connections and tries failed calls again: not for equal files.
  if (before != nullptr && fresh.SameAs(material) && fresh.expires == before->expires) return {};
  auto next = std::make_shared<SessionState>();
  next->generation = before == nullptr ? 1 : before->generation + 1;
  next->token = fresh.token;
  next->expires = fresh.expires;
  if (settings.address.tls) {
    TRUCE_ASSIGN_OR_RETURN(next->tls, MakeClientTls(fresh.tls, settings.origin, clock.Now()));
  }
  material = std::move(fresh);
  const std::lock_guard<std::mutex> lock(mutex);
  state = std::move(next);
  return {};
}

void ServerSession::Impl::ResolveNow() {
  std::uint64_t asked = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    resolutions.begun = resolutions.asked;
    asked = resolutions.asked;
  }
  resolve_again = steady_clock::now() + kResolvePause;
  Result<std::vector<ResolvedAddress>> found = Resolve(FirstHop(settings), 0);
  const std::lock_guard<std::mutex> lock(mutex);
  resolutions.done = asked;
  resolved_at = steady_clock::now();
  // An old answer is better than none.
  if (found.ok()) addresses = std::move(found).value();
  changed.notify_all();
}

void ServerSession::Impl::Keep(const std::stop_token& stop) {
  auto reread_at = steady_clock::now() + options.reread;
  while (!stop.stop_requested()) {
    bool renew = false;
    bool resolve = false;
    std::uint64_t asked = 0;
    {
      std::unique_lock<std::mutex> lock(mutex);
      const auto ready = [&] {
        const auto now = steady_clock::now();
        renew = renewals.asked > renewals.done && (!settings.user.exec || now >= exec_again);
        resolve = resolutions.asked > resolutions.done && now >= resolve_again;
        return renew || resolve;
      };
      auto wake_at = reread_at;
      if (renewals.asked > renewals.done) wake_at = std::min(wake_at, exec_again);
      if (resolutions.asked > resolutions.done) wake_at = std::min(wake_at, resolve_again);
      changed.wait_until(lock, stop, wake_at, ready);
      asked = renewals.asked;
      if (renew) renewals.begun = asked;
    }
    if (stop.stop_requested()) return;
    if (resolve) ResolveNow();
    const bool is_due = steady_clock::now() >= reread_at;
    if (!renew && !is_due) continue;
    if (is_due) reread_at = steady_clock::now() + options.reread;
    Result<void> renewed = RenewNow(renew);
    const std::lock_guard<std::mutex> lock(mutex);
    trouble = renewed.ok() ? "" : renewed.error().message;
    if (renew) renewals.done = asked;
    changed.notify_all();
  }
}

Result<std::shared_ptr<ServerSession>> ServerSession::Open(ServerSettings settings,
                                                           const Clock& clock,
                                                           SessionOptions options) {
  auto impl = std::make_unique<Impl>(std::move(settings), clock, options);
  TRUCE_RETURN_IF_ERROR(impl->RenewNow(false));
  Result<std::vector<ResolvedAddress>> numeric = Resolve(FirstHop(impl->settings), AI_NUMERICHOST);
  if (numeric.ok()) {
    impl->addresses = std::move(numeric).value();
    impl->is_numeric = true;
  } else if (!impl->settings.address.socket.empty()) {
    return numeric.error();
  }
  Impl* keeper = impl.get();
  impl->keeper = std::jthread([keeper](const std::stop_token& stop) { keeper->Keep(stop); });
  return std::shared_ptr<ServerSession>(new ServerSession(std::move(impl)));
}

ServerSession::ServerSession(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerSession::~ServerSession() = default;

const ServerSettings& ServerSession::settings() const { return impl_->settings; }

std::shared_ptr<const SessionState> ServerSession::Current() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->state;
}

std::uint64_t ServerSession::RequestRenewal(std::uint64_t generation) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  // Somebody else's wish was granted since: the call that failed used what was before.
  if (impl_->state->generation > generation) return 0;
  const std::uint64_t wish = impl_->renewals.Ask();
  impl_->changed.notify_all();
  return wish;
}

bool ServerSession::Renewed(std::uint64_t wish) const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->renewals.done >= wish;
}

bool ServerSession::Renew(std::uint64_t generation, Deadline deadline) {
  const std::uint64_t wish = RequestRenewal(generation);
  std::unique_lock<std::mutex> lock(impl_->mutex);
  return impl_->changed.wait_until(lock, deadline, [&] { return impl_->renewals.done >= wish; });
}

std::string ServerSession::trouble() const {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  return impl_->trouble;
}

std::vector<ResolvedAddress> ServerSession::Addresses() {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  if (impl_->is_numeric) return impl_->addresses;
  const bool is_old = steady_clock::now() - impl_->resolved_at > impl_->options.resolve;
  if ((is_old || impl_->addresses.empty()) && impl_->resolutions.asked == impl_->resolutions.done) {
    ++impl_->resolutions.asked;
    impl_->changed.notify_all();
  }
  return impl_->addresses;
}

std::vector<ResolvedAddress> ServerSession::AwaitAddresses(Deadline deadline) {
  std::vector<ResolvedAddress> addresses = Addresses();
  if (!addresses.empty()) return addresses;
  std::unique_lock<std::mutex> lock(impl_->mutex);
  const std::uint64_t wish = impl_->resolutions.asked;
  impl_->changed.wait_until(
      lock, deadline, [&] { return !impl_->addresses.empty() || impl_->resolutions.done >= wish; });
  return impl_->addresses;
}

}  // namespace truce
