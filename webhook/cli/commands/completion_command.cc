// completion: scripts for shells. They hold all commands, flags and words that a flag takes; the
// catalogue's types alone are asked for.
#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "registry/base/text.h"
#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"

namespace truce {
namespace {

// The words that a value of `type` can be; empty: whatever else, and files.
std::string WordsOf(std::string type, std::string_view types) {
  if (type == "TYPE") return std::string(types);
  if (type.find('|') == std::string::npos) return {};
  std::replace(type.begin(), type.end(), '|', ' ');
  return type;
}

// bash's function, which zsh runs too: COMP_WORDS[0] is the program.
std::string BashFunction() {
  constexpr std::string_view kTypes = R"($("${COMP_WORDS[0]}" types -o name 2>/dev/null))";
  std::string names = "help";
  std::string cases;
  for (const Command& command : Commands()) {
    CommandLine line(command.name, command.summary);
    command.declare(line);
    const std::string begin = "    *:" + std::string(command.name) + ":";
    names.append(" ").append(command.name);
    std::string flags;
    std::string places;
    for (const CommandLine::Described& each : line.Arguments()) {
      const std::string words = WordsOf(each.type, kTypes);
      if (each.flags.empty()) {
        places += words;
        continue;
      }
      flags.append(" ").append(Joined(each.flags, " "));
      if (words.empty()) continue;
      cases += begin + Joined(each.flags, "|*:" + std::string(command.name) + ":") + ") words=\"" +
               words + "\" ;;\n";
    }
    cases += begin + "*) words=\"" + places + "\" flags=\"" + flags + "\" ;;\n";
  }
  return R"(_truce() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words="" flags=""
  if [ "$word" = "=" ]; then word=""; fi
  if [ "$before" = "=" ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$COMP_CWORD:${COMP_WORDS[1]}:$before" in
    1:*|2:help:*) words=")" +
         names + "\" ;;\n" + cases + R"(  esac
  case "$word" in -*) words="$flags" ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
)";
}

std::string FishScript() {
  std::string out = "# truce completion fish\n";
  const auto complete = [&out](std::string_view condition) -> std::string& {
    return out.append("complete -c truce -n '").append(condition).append("'");
  };
  for (const Command& command : Commands()) {
    complete("__fish_use_subcommand").append(" -f -a ").append(command.name);
    std::string about(command.summary);
    for (std::size_t at = 0; (at = about.find('\'', at)) != std::string::npos; at += 2) {
      about.insert(at, "\\");
    }
    out.append(" -d '").append(about).append("'\n");
    CommandLine line(command.name, command.summary);
    command.declare(line);
    for (const CommandLine::Described& each : line.Arguments()) {
      const std::string words = WordsOf(each.type, "(truce types -o name)");
      if (each.flags.empty() && words.empty()) continue;
      complete("__fish_seen_subcommand_from " + std::string(command.name));
      for (const std::string& flag : each.flags) {
        out.append(flag.starts_with("--") ? " -l " : " -s ")
            .append(flag, flag.rfind('-') == 0 ? 1 : 2);
      }
      if (!words.empty()) out.append(" -x -a '").append(words).append("'");
      if (words.empty() && !each.type.empty()) out += " -r -F";
      out += '\n';
    }
  }
  return out;
}

}  // namespace

CommandAction DeclareCompletion(CommandLine& app) {
  const auto shell = std::make_shared<std::string>();
  app.AddOption("SHELL", *shell, "bash, zsh or fish; kubectl for what kubectl runs")
      .Required()
      .OneOf({"bash", "zsh", "fish", "kubectl"});
  app.Footer(
      "Writes a script that completes commands, flags and the words that flags take. The one for\n"
      "kubectl, executable as kubectl_complete-truce on PATH, completes `kubectl truce`.\n\n"
      "Examples:\n"
      "  source <(truce completion bash)\n"
      "  truce completion zsh > \"${fpath[1]}/_truce\"\n"
      "  truce completion fish > ~/.config/fish/completions/truce.fish\n");
  return [shell](CommandIo& io) {
    constexpr std::string_view kComplete = "complete -o default -F _truce truce kubectl-truce\n";
    if (*shell == "bash") io.out << "# truce completion bash\n" << BashFunction() << kComplete;
    if (*shell == "zsh") {
      io.out << "#compdef truce kubectl-truce\nautoload -U +X bashcompinit && bashcompinit\n"
             << BashFunction() << kComplete;
    }
    if (*shell == "fish") io.out << FishScript();
    if (*shell == "kubectl") {
      // The last line is what kubectl does with them: 4 nothing else, 0 files too.
      io.out << "#!/usr/bin/env bash\n"
             << BashFunction() << R"(COMP_WORDS=(truce "$@") COMP_CWORD=$#
_truce
if [ "${#COMPREPLY[@]}" = 0 ]; then echo :0; else printf '%s\n' "${COMPREPLY[@]}" :4; fi
)";
    }
    return ExitCode::kOk;
  };
}

}  // namespace truce
