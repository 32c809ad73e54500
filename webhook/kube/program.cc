#include "webhook/kube/program.h"

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
#include <optional>

#include "registry/base/one_line.h"
#include "registry/base/text.h"

extern char** environ;

namespace truce {
namespace {

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

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or an errno.
int Spawn(const ProgramCall& call, int output, int complaint, pid_t& id) {
  std::vector<std::string> arguments{call.command};
  arguments.insert(arguments.end(), call.arguments.begin(), call.arguments.end());
  std::vector<std::string> environment;
  for (const auto& [name, value] : call.environment) environment.push_back(name + "=" + value);
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
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, complaint, STDERR_FILENO);
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
    // The end is looked at before the pipes: output from before it is then read below.
    const std::optional<int> status = child.Ended();
    if (output_open) output_open = Drain(output.read.get(), outcome.output, kProgramOutputBytesMax);
    if (complaint_open) complaint_open = Drain(complaint.read.get(), outcome.complaint, 65'536);
    if (outcome.output.size() > kProgramOutputBytesMax) {
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

}  // namespace

std::string FirstPrintedLine(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return Folded(text.substr(0, text.find('\n')), kComplaintBytesMax);
}

Result<std::string> RunProgram(const ProgramCall& call, Deadline deadline) {
  const auto fail = [](std::string what) {
    return Error{ErrorCode::kUnavailable, std::move(what)};
  };
  Pipe output = Pipe::Open();
  Pipe complaint = Pipe::Open();
  if (output.read.get() < 0 || complaint.read.get() < 0) return fail("got no pipe");
  pid_t id = 0;
  const int error = Spawn(call, output.write.get(), complaint.write.get(), id);
  if (error != 0) return fail(std::string("cannot be started: ") + std::strerror(error));
  output.write.Close();
  complaint.write.Close();
  Child child(id);
  Outcome outcome = Await(child, output, complaint, deadline);
  if (outcome.failure.empty()) return std::move(outcome.output);
  const std::string line = FirstPrintedLine(outcome.complaint);
  return fail(outcome.failure + (line.empty() ? "" : ": " + line));
}

}  // namespace truce
