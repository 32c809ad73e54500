#include "webhook/upkeep/store_access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "registry/base/clock.h"
#include "registry/base/file.h"
#include "registry/base/text.h"
#include "registry/ownership/terms.h"
#include "webhook/kube/program.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kProgramTime{10};

Error Wrong(const std::string& setting, const std::string& what) {
  return {ErrorCode::kUnavailable, setting + ": " + what};
}

// `text` without the end of its line.
Result<std::string> OneLine(const std::string& setting, std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  if (text.empty()) return Wrong(setting, "gives an empty password");
  if (HasControl(text)) return Wrong(setting, "gives more than one line");
  return text;
}

Result<std::string> PasswordOfFile(const std::string& path) {
  Result<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return Wrong("storePasswordFile", text.error().message);
  return OneLine("storePasswordFile", std::move(text).value());
}

Result<std::string> PasswordOfProgram(const ProgramCall& call, Deadline deadline) {
  Result<std::string> text = RunProgram(call, std::min(deadline, In(kProgramTime)));
  if (!text.ok()) return Wrong("storePasswordCommand", call.command + " " + text.error().message);
  return OneLine("storePasswordCommand", std::move(text).value());
}

}  // namespace

PasswordSource PasswordOf(const Config& config) {
  if (!config.store_password_file.empty()) {
    return [path = config.store_password_file](Deadline) { return PasswordOfFile(path); };
  }
  if (config.store_password_command.empty()) return nullptr;
  const auto& words = config.store_password_command;
  return [call = ProgramCall{words[0], {words.begin() + 1, words.end()}, {}}](Deadline deadline) {
    return PasswordOfProgram(call, deadline);
  };
}

Result<std::string> ServerName(const std::string& data_dir) {
  const std::string path = data_dir + "/server.id";
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const Result<std::string> known = ReadSmallFile(path);
  std::string id = known.ok() ? known.value().substr(0, known.value().find('\n')) : "";
  if (id.empty()) {
    id = RandomIds()().text;
    TRUCE_RETURN_IF_ERROR(ReplaceFile(path, id + "\n", S_IRUSR | S_IWUSR));
  }
  return std::string(host.data()) + "/" + id;
}

}  // namespace truce
