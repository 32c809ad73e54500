// The arguments and flags of one command. Only command_line.cc knows the library that reads them.
#ifndef TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_
#define TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the name that the library has
class Option;
}  // namespace CLI

namespace truce {

// One argument or flag, to say more of it. Valid as long as its CommandLine.
class Argument final {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  // What its value is called in the help text.
  Argument& Type(const std::string& name);
  Argument& OneOf(std::initializer_list<const char*> words);
  Argument& Between(std::int64_t least, std::int64_t most);
  Argument& Required();
  // Refused together with, or without, another one.
  Argument& Excludes(const Argument& other);
  Argument& Excludes(const std::string& flag);
  Argument& Needs(const Argument& other);
  // May be given several times.
  Argument& Repeats();
  // The same, with one value each time: the next word is not its own.
  Argument& RepeatsSingly();
  // One text holds several values.
  Argument& SplitAt(char separator);

 private:
  CLI::Option* option_;
};

// Names of flags begin with '-' and stand behind one another, "-o,--output"; other names are those
// of arguments by place. What is given is written to the variable, which must outlive the parser.
// External synchronization.
class CommandLine final {
 public:
  CommandLine(std::string_view name, std::string_view summary);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Argument AddOption(const std::string& names, std::string& value, const std::string& help);
  Argument AddOption(const std::string& names, std::vector<std::string>& values,
                     const std::string& help);
  Argument AddOption(const std::string& names, int& value, const std::string& help);
  Argument AddOption(const std::string& names, std::size_t& value, const std::string& help);
  Argument AddOption(const std::string& names, std::function<void(const std::string&)> take,
                     const std::string& help);
  Argument AddFlag(const std::string& names, bool& value, const std::string& help);
  Argument AddFlag(const std::string& names, std::function<void(bool)> take,
                   const std::string& help);
  // The text below the help.
  void Footer(const std::string& text);

  enum class Outcome : std::uint8_t {
    kRead,
    kHelp,     // `text` is the help
    kRefused,  // `text` says why, on one line
  };
  struct Reading {
    Outcome outcome = Outcome::kRead;
    std::string text;
    std::vector<std::string> unknown;  // words that nothing takes
  };
  Reading Read(std::span<const std::string> arguments);

  // "--server", "-o": all flags, as the user writes them.
  std::vector<std::string> Flags() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_
