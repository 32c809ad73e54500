#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/wire/json_text.h"

// Of the build: .tools/dependencies.cmake and webhook/cli/CMakeLists.txt. A commit has only what
// `make release` built; any other program would soon name the wrong one.
namespace truce {
namespace {

nlohmann::ordered_json TextOrNull(std::string_view text) {
  if (text.empty()) return nullptr;
  return text;
}

// TRUCE_LIBRARIES is "name=version,name=version"; one that numbers no versions is a bare name.
nlohmann::ordered_json Libraries() {
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();
  for (std::string_view rest = TRUCE_LIBRARIES; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const std::string_view name = pair.substr(0, pair.find('='));
    libraries[std::string(name)] = TextOrNull(pair.substr(std::min(pair.size(), name.size() + 1)));
  }
  return libraries;
}

}  // namespace

CommandAction DeclareVersion(CommandLine& app) {
  const auto output = std::make_shared<std::string>("text");
  app.AddOption("-o,--output", *output, "Form of the answer; default text").OneOf({"text", "json"});
  app.Footer(
      "Examples:\n"
      "  truce --version\n"
      "  truce --version -o json");
  return [output](CommandIo& io) {
    if (*output == "text") {
      io.out << "truce " << TruceVersion() << "\n";
      return ExitCode::kOk;
    }
    const nlohmann::ordered_json about = {{"version", TruceVersion()},
                                          {"commit", TextOrNull(TRUCE_COMMIT)},
                                          {"buildDate", TextOrNull(TRUCE_BUILD_DATE)},
                                          {"compiler", TRUCE_COMPILER},
                                          {"libraries", Libraries()}};
    io.out << DumpIndented(about) << "\n";
    return ExitCode::kOk;
  };
}

}  // namespace truce
