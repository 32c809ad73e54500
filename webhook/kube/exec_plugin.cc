#include "webhook/kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "registry/base/text.h"
#include "webhook/wire/base64.h"
#include "webhook/wire/json_text.h"

extern char** environ;

namespace truce {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kComplaintBytesMax = 300;
constexpr std::chrono::milliseconds kPollEvery{20};  // how often a silent child is looked at

class PipeEnd {
 public:
  explicit PipeEnd(int number = -1) : number_(number) {}
  ~PipeEnd() { Close(); }
  PipeEnd(PipeEnd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  PipeEnd& operator=(PipeEnd&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int get() const { return number_; }
  void Close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

struct Pipe {
  PipeEnd read;
  PipeEnd write;

  static Pipe Open() {
    std::array<int, 2> ends{-1, -1};
    Pipe made;
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return made;
    made.read = PipeEnd(ends[0]);
    made.write = PipeEnd(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return made;
  }
};

// Reads what is there. False: the end, a failure, or more than `most`.
bool Drain(int descriptor, std::string& text, std::size_t most) {
  std::array<char, 4096> buffer{};
  while (text.size() <= most) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) return false;
    if (count < 0 && errno != EINTR) return errno == EAGAIN;
  }
  return false;
}

// A child in a process group of its own, which dies with this object.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    // The group also holds what the plugin itself started.
    ::kill(-id_, SIGKILL);
    if (!status_) ::waitpid(id_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Its wait status once it has ended.
  std::optional<int> Ended() {
    int status = 0;
    if (!status_ && ::waitpid(id_, &status, WNOHANG) == id_) status_ = status;
    return status_;
  }

 private:
  pid_t id_;
  std::optional<int> status_;
};

struct Launch {
  const ExecSettings& exec;
  std::string info;  // KUBERNETES_EXEC_INFO
  int output;
  int complaint;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or an errno.
int Spawn(const Launch& launch, pid_t& id) {
  std::vector<std::string> arguments{launch.exec.command.string()};
  arguments.insert(arguments.end(), launch.exec.arguments.begin(), launch.exec.arguments.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : launch.exec.environment)
    environment.push_back(name + "=" + value);
  environment.push_back("KUBERNETES_EXEC_INFO=" + launch.info);
  // Ours come last: of two values the first one counts.
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool is_set = std::any_of(environment.begin(), environment.end(),
                                    [&](const std::string& set) { return set.starts_with(name); });
    if (!is_set) environment.emplace_back(text);
  }
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, launch.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, launch.complaint, STDERR_FILENO);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);  // `serve` blocks some for all its threads
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawnp(&id, arguments.front().c_str(), &files, &attributes,
                                   Pointers(arguments).data(), Pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

// The first line of what the plugin complained, without control characters.
std::string FirstLine(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return WithoutControl(text.substr(0, std::min(text.find('\n'), kComplaintBytesMax)), ' ');
}

struct Outcome {
  std::string output;
  std::string complaint;
  std::string failure;  // empty: ended with 0
};

Outcome Await(Child& child, Pipe& output, Pipe& complaint, Deadline deadline) {
  Outcome outcome;
  bool output_open = true;
  bool complaint_open = true;
  while (true) {
    // The end is looked at before the pipes: what was written before it is then read below.
    const std::optional<int> status = child.Ended();
    if (output_open) output_open = Drain(output.read.get(), outcome.output, kExecOutputBytesMax);
    if (complaint_open) complaint_open = Drain(complaint.read.get(), outcome.complaint, 65'536);
    if (outcome.output.size() > kExecOutputBytesMax) {
      outcome.failure = "printed more than 1 MiB";
      return outcome;
    }
    if (status) {
      if (WIFSIGNALED(*status)) {
        outcome.failure = "was killed by signal " + std::to_string(WTERMSIG(*status));
      } else if (WEXITSTATUS(*status) != 0) {
        outcome.failure = "ended with code " + std::to_string(WEXITSTATUS(*status));
      }
      return outcome;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      outcome.failure = "took too long";
      return outcome;
    }
    std::array<pollfd, 2> polled{{{output_open ? output.read.get() : -1, POLLIN, 0},
                                  {complaint_open ? complaint.read.get() : -1, POLLIN, 0}}};
    ::poll(polled.data(), polled.size(), static_cast<int>(std::min(left, kPollEvery).count()));
  }
}

std::string ExecInfo(const ServerSettings& settings, std::string_view authority) {
  Json spec = {{"interactive", false}};
  if (settings.user.exec->provide_cluster_info) {
    const ServerAddress& address = settings.address;
    Json cluster = {
        {"server", (address.tls ? "https://" : "http://") + HostAndPort(address) + address.path}};
    if (!settings.tls_server_name.empty()) cluster["tls-server-name"] = settings.tls_server_name;
    if (!settings.verify) cluster["insecure-skip-tls-verify"] = true;
    if (!authority.empty()) cluster["certificate-authority-data"] = EncodeBase64(authority);
    spec["cluster"] = std::move(cluster);
  }
  const Json info = {{"kind", "ExecCredential"},
                     {"apiVersion", settings.user.exec->api_version},
                     {"spec", std::move(spec)}};
  return Dump(info);
}

// The text of `key`; empty when it is missing or no text.
std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

// What is wrong with the output, or the credential.
Result<ExecCredential> ReadCredential(const std::string& output, const std::string& version) {
  const auto bad = [](std::string what) { return Error{ErrorCode::kUnavailable, std::move(what)}; };
  const Json parsed = ParseJson(output);
  if (parsed.is_discarded() || !parsed.is_object()) return bad("printed no JSON object");
  if (Text(parsed, "kind") != "ExecCredential") return bad("printed no ExecCredential");
  if (Text(parsed, "apiVersion") != version) {
    return bad("printed an ExecCredential of another version than '" + version + "'");
  }
  const auto status = parsed.find("status");
  if (status == parsed.end() || !status->is_object()) return bad("printed no status");
  ExecCredential credential;
  credential.token = Text(*status, "token");
  credential.certificate = Text(*status, "clientCertificateData");
  credential.key = Text(*status, "clientKeyData");
  if (credential.certificate.empty() != credential.key.empty()) {
    return bad("printed a certificate without key, or a key without certificate");
  }
  if (credential.token.empty() && credential.certificate.empty()) {
    return bad("printed neither token nor certificate");
  }
  const std::string expires = Text(*status, "expirationTimestamp");
  if (expires.empty()) return credential;
  credential.expires = ParseTimestamp(expires);
  if (!credential.expires) return bad("printed an expirationTimestamp that is not a time");
  return credential;
}

}  // namespace

Result<ExecCredential> RunExecPlugin(const ServerSettings& settings, std::string_view authority,
                                     Deadline deadline) {
  const ExecSettings& exec = *settings.user.exec;
  const std::string name = "exec plugin '" + exec.command.string() + "' ";
  const std::string hint =
      exec.install_hint.empty() ? "" : " (" + FirstLine(exec.install_hint) + ")";
  const auto fail = [&](const std::string& what) {
    return Error{ErrorCode::kUnavailable, name + what + hint};
  };
  Pipe output = Pipe::Open();
  Pipe complaint = Pipe::Open();
  if (output.read.get() < 0 || complaint.read.get() < 0) return fail("got no pipe");
  pid_t id = 0;
  const int error =
      Spawn({exec, ExecInfo(settings, authority), output.write.get(), complaint.write.get()}, id);
  if (error != 0) return fail(std::string("cannot be started: ") + std::strerror(error));
  output.write.Close();
  complaint.write.Close();
  Child child(id);
  const Outcome outcome = Await(child, output, complaint, deadline);
  if (!outcome.failure.empty()) {
    const std::string line = FirstLine(outcome.complaint);
    return fail(outcome.failure + (line.empty() ? "" : ": " + line));
  }
  Result<ExecCredential> credential = ReadCredential(outcome.output, exec.api_version);
  if (!credential.ok()) return fail(credential.error().message);
  return credential;
}

}  // namespace truce
