// completion: scripts for shells, and what they ask at each key: `truce __complete WORDS`.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "registry/catalogue/catalogue.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"
#include "webhook/cli/server/api_call.h"
#include "webhook/wire/json_text.h"

namespace truce {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

// Whoever presses a key waits no longer.
constexpr std::chrono::seconds kAnswerWithin{2};
constexpr std::size_t kAskedMax = 1000;

// What the shell does with the candidates, in the words of kubectl's plugins (cobra).
constexpr int kFilesToo = 0;
constexpr int kNothingElse = 4;

constexpr std::string_view kBash = R"(# truce completion bash
_truce() {
  local line rest=4
  COMPREPLY=()
  while IFS='' read -r line; do
    case "$line" in
      :*) rest="${line#:}" ;;
      *) COMPREPLY+=("${line%%$'\t'*}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ "$rest" = 4 ]; then compopt +o default 2>/dev/null || true; fi
}
complete -o default -F _truce truce kubectl-truce
)";

constexpr std::string_view kZsh = R"(#compdef truce kubectl-truce
_truce() {
  local line rest=4
  local -a shown
  for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      :*) rest="${line#:}" ;;
      *$'\t'*) shown+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      ?*) shown+=("${line//:/\\:}") ;;
    esac
  done
  if (( $#shown )); then _describe truce shown; fi
  if [[ "$rest" == 0 ]]; then _files; fi
}
compdef _truce truce kubectl-truce
)";

constexpr std::string_view kFish = R"(# truce completion fish
function __truce_complete
    set -l words (commandline -opc)
    command $words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
function __truce_files
    string match -q ':0' -- (__truce_complete)[-1]
end
complete -c truce -f -a '(__truce_complete | string match -v -r "^:")'
complete -c truce -n __truce_files -F
)";

// Of the words those that say which server is meant.
Words ConnectionWords(const CommandLine& connection, const Words& words) {
  const Words flags = connection.Flags();
  Words out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    if (std::find(flags.begin(), flags.end(), name) == flags.end()) continue;
    const bool takes_next = name == words[i] && name != "--help" && name != "-h";
    if (takes_next && i + 1 == words.size()) break;
    if (name == "--help" || name == "-h") continue;
    out.push_back(words[i]);
    if (takes_next) out.push_back(words[++i]);
  }
  return out;
}

// The items of a list of the server; none when it does not answer soon.
Json AskSoon(const Words& words, const ApiQuestion& question, const CommandIo& io) {
  CommandLine connection("", "");
  const auto flags = AddApiFlags(connection);
  const Words given = ConnectionWords(connection, words);
  if (connection.Read(given).outcome != CommandLine::Outcome::kRead) return Json::array();
  std::ostringstream out;
  std::ostringstream unsaid;
  CommandIo quiet{out, unsaid, io.variables};
  const Asked answer = AskForList(*flags, question, quiet);
  return answer.ok() ? answer.value()["items"] : Json::array();
}

std::set<std::string> AskedOf(Values values, const Words& words, const CommandIo& io) {
  const bool is_services = values == Values::kServices;
  ApiQuestion question{is_services ? "/api/v1/services" : "/api/v1/resources",
                       {{"limit", std::to_string(kAskedMax)}}};
  question.within = kAnswerWithin;
  std::set<std::string> out;
  for (const Json& item : AskSoon(words, question, io)) {
    if (is_services) {
      out.insert(TextIn(item, "service"));
    } else if (values == Values::kResources) {
      out.insert(TextIn(item, "type") + "/" + TextIn(item, "name"));
    } else if (item.is_object() && item.contains("root")) {
      out.insert(TextIn(item["root"], "namespace"));
    }
  }
  out.erase("");
  return out;
}

class Candidates final {
 public:
  Candidates(std::string_view begin, std::ostream& out) : begin_(begin), out_(out) {}

  void Add(std::string_view word, std::string_view about = {}) {
    if (!word.starts_with(begin_)) return;
    out_ << word;
    if (!about.empty()) out_ << '\t' << about;
    out_ << '\n';
  }
  template <typename List>
  void AddAll(const List& words) {
    for (const auto& word : words) Add(word);
  }
  void AddCommands() {
    for (const Command& command : Commands()) Add(command.name, command.summary);
  }
  ExitCode End(int rest) {
    out_ << ':' << rest << '\n';
    return ExitCode::kOk;
  }

 private:
  const std::string_view begin_;
  std::ostream& out_;
};

ExitCode Offer(const CommandLine::Expected& expected, const Words& words, Candidates& candidates,
               CommandIo& io) {
  switch (expected.values) {
    case Values::kFiles: return candidates.End(kFilesToo);
    case Values::kNone: break;
    case Values::kWords: candidates.AddAll(expected.words); break;
    case Values::kCommands: candidates.AddCommands(); break;
    case Values::kTypes:
      for (const TypeSpec& type : Catalogue::BuiltIn().types()) candidates.Add(type.name);
      break;
    case Values::kNamespaces:
    case Values::kResources:
    case Values::kServices: candidates.AddAll(AskedOf(expected.values, words, io)); break;
  }
  return candidates.End(kNothingElse);
}

}  // namespace

ExitCode Complete(std::span<const std::string> arguments, CommandIo& io) {
  // bash takes "--flag=value" apart.
  Words words(arguments.begin(), arguments.end());
  if (words.empty()) words.emplace_back();
  if (words.back() == "=") words.back().clear();
  words.erase(std::remove(words.begin(), words.end() - 1, "="), words.end() - 1);
  const std::string begin = words.back();
  words.pop_back();
  Candidates candidates(begin, io.out);
  if (words.empty()) {
    candidates.AddCommands();
    candidates.Add("help", "explain one command");
    return candidates.End(kNothingElse);
  }
  const auto commands = Commands();
  const auto command = std::find_if(commands.begin(), commands.end(), [&](const Command& each) {
    return each.name == words.front();
  });
  if (command == commands.end()) {
    if (words.front() == "help" && words.size() == 1) candidates.AddCommands();
    return candidates.End(kNothingElse);
  }
  words.erase(words.begin());
  CommandLine line(command->name, command->summary);
  command->declare(line);
  // "--flag=value" is one word elsewhere.
  const std::size_t equals = begin.find('=');
  if (begin.starts_with("--") && equals != std::string::npos) {
    words.push_back(begin.substr(0, equals));
    Candidates values(std::string_view(begin).substr(equals + 1), io.out);
    return Offer(line.ExpectedAfter(words), words, values, io);
  }
  if (begin.starts_with("-") && begin != "-") {
    candidates.AddAll(line.Flags());
    return candidates.End(kNothingElse);
  }
  return Offer(line.ExpectedAfter(words), words, candidates, io);
}

CommandAction DeclareCompletion(CommandLine& app) {
  const auto shell = std::make_shared<std::string>();
  app.AddOption("SHELL", *shell, "bash, zsh or fish").Required().OneOf({"bash", "zsh", "fish"});
  app.Footer(
      "Writes a script that completes commands, flags and their values: types, and namespaces,\n"
      "services and resources as the server knows them. Linked as kubectl_complete-truce, truce\n"
      "completes `kubectl truce` too.\n\n"
      "Examples:\n"
      "  source <(truce completion bash)\n"
      "  truce completion zsh > \"${fpath[1]}/_truce\"\n"
      "  truce completion fish > ~/.config/fish/completions/truce.fish\n");
  return [=](CommandIo& io) {
    if (*shell == "bash") io.out << kBash;
    if (*shell == "zsh") io.out << kZsh;
    if (*shell == "fish") io.out << kFish;
    return ExitCode::kOk;
  };
}

}  // namespace truce
