// The arguments and flags of one command. Only command_line.cc knows the library that reads them,
// CLI11, which also writes the help.
#ifndef TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_
#define TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library gives the name
class App;
class Option;
}  // namespace CLI

namespace truce {

// One argument or flag, to say more of it. Valid as long as its CommandLine.
class Argument final {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}

  // The name of its value in the help; default the last word of the flag's name, as FILE of
  // --token-file. Completion offers each of "one|other", and the catalogue's types for TYPE.
  Argument& Type(const std::string& name);
  // Only these, and whatever begins with one that ends with "=".
  Argument& OneOf(const std::vector<std::string>& words);
  Argument& Between(std::int64_t least, std::int64_t most);
  // Its heading in the help; default "Options".
  Argument& Group(const char* heading);
  Argument& Required();
  // Refused together with, or without, the argument of that name.
  Argument& Excludes(const std::string& name);
  Argument& Needs(const std::string& name);
  // One text holds several values.
  Argument& SplitAt(char separator);

 private:
  CLI::Option* option_;
};

// Names of flags begin with '-' and are joined by commas, "-o,--output"; other names are those of
// arguments by place. The parser writes given values to the variable, which must outlive it; a
// vector takes an argument that is given several times. External synchronization.
class CommandLine final {
 public:
  CommandLine(std::string_view name, std::string_view summary);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Of std::string, std::size_t, std::vector<std::string>.
  template <typename Value>
  Argument AddOption(const std::string& names, Value& value, const std::string& help);
  Argument AddOption(const std::string& names, const std::function<void(const std::string&)>& take,
                     const std::string& help);
  Argument AddFlag(const std::string& names, bool& value, const std::string& help);
  Argument AddFlag(const std::string& names, const std::function<void(bool)>& take,
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

  struct Described {
    std::vector<std::string> flags;  // "--output", "-o"; empty: an argument by place
    std::string type;                // empty: it takes no value
  };
  std::vector<Described> Arguments() const;
  std::string Help() const;

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_
