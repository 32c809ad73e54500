#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "webhook/cli/command.h"
#include "webhook/cli/command_line.h"

namespace truce {
namespace {

struct Words {
  std::string command;
  std::string summary;
  std::vector<std::string> flags;  // "--server", "-o"
};

// Every command with its flags, asked of the parsers themselves.
std::vector<Words> AllWords() {
  std::vector<Words> all;
  for (const Command& command : Commands()) {
    CommandLine line(command.name, command.summary);
    command.declare(line);
    Words words{std::string(command.name), std::string(command.summary), line.Flags()};
    std::sort(words.flags.begin(), words.flags.end());
    all.push_back(std::move(words));
  }
  return all;
}

std::string SpaceJoined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out.append(out.empty() ? "" : " ").append(text);
  return out;
}

// In single quotes, for all three shells (summaries hold none).
std::string Quoted(std::string text) {
  std::erase(text, '\'');
  return "'" + text + "'";
}

void WriteBash(std::ostream& out) {
  std::string commands;
  out << "# truce completion bash\n_truce() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -gt 1 ]; then\n"
         "    case \"${COMP_WORDS[1]}\" in\n";
  for (const Words& each : AllWords()) {
    commands += " " + each.command;
    out << "      " << each.command << ") words=" << Quoted(SpaceJoined(each.flags)) << " ;;\n";
  }
  out << "    esac\n"
         "    case \"$word\" in -*) ;; *) return ;; esac\n"
         "  else\n    words="
      << Quoted(commands.substr(1))
      << "\n  fi\n"
         "  while IFS='' read -r line; do COMPREPLY+=(\"$line\"); done < "
         "<(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _truce truce kubectl-truce\n";
}

void WriteZsh(std::ostream& out) {
  out << "#compdef truce kubectl-truce\n_truce() {\n  local -a commands flags\n  commands=(\n";
  const std::vector<Words> all = AllWords();
  for (const Words& each : all) {
    std::string summary = each.summary;
    std::replace(summary.begin(), summary.end(), ':', ';');
    out << "    " << Quoted(each.command + ":" + summary) << "\n";
  }
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  case \"$words[2]\" in\n";
  for (const Words& each : all) {
    out << "    " << each.command << ") flags=(" << SpaceJoined(each.flags) << ") ;;\n";
  }
  out << "  esac\n"
         "  if [[ \"$PREFIX\" == -* ]]; then\n    compadd -- $flags\n  else\n    _files\n  fi\n}\n"
         "compdef _truce truce kubectl-truce\n";
}

void WriteFish(std::ostream& out) {
  out << "# truce completion fish\n";
  for (const Words& each : AllWords()) {
    out << "complete -c truce -f -n __fish_use_subcommand -a " << each.command << " -d "
        << Quoted(each.summary) << "\n";
    for (const std::string& flag : each.flags) {
      const bool is_long = flag.starts_with("--");
      out << "complete -c truce -n '__fish_seen_subcommand_from " << each.command << "' "
          << (is_long ? "-l " + flag.substr(2) : "-s " + flag.substr(1)) << "\n";
    }
  }
}

}  // namespace

CommandAction DeclareCompletion(CommandLine& app) {
  const auto shell = std::make_shared<std::string>();
  app.AddOption("SHELL", *shell, "bash, zsh or fish").Required().OneOf({"bash", "zsh", "fish"});
  app.Footer(
      "Writes a script that completes commands and flags.\n\n"
      "Examples:\n"
      "  source <(truce completion bash)\n"
      "  truce completion zsh > \"${fpath[1]}/_truce\"\n"
      "  truce completion fish > ~/.config/fish/completions/truce.fish\n");
  return [=](CommandIo& io) {
    if (*shell == "bash") WriteBash(io.out);
    if (*shell == "zsh") WriteZsh(io.out);
    if (*shell == "fish") WriteFish(io.out);
    return ExitCode::kOk;
  };
}

}  // namespace truce
