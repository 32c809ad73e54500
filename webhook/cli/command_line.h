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

namespace truce {

// What a shell offers as the value of an argument.
enum class Values : std::uint8_t {
  kFiles,  // what the shell itself knows
  kNone,
  kWords,       // of Argument::OneOf
  kTypes,       // of the catalogue, as s3/Bucket
  kNamespaces,  // of owners; of the server
  kResources,   // as s3/Bucket/prod-artifacts; of the server
  kServices,    // that own something; of the server
  kCommands,
};

struct ArgumentEntry;

// One argument or flag, to say more of it. Valid as long as its CommandLine.
class Argument final {
 public:
  explicit Argument(ArgumentEntry& entry) : entry_(&entry) {}

  // What its value is called in the help text.
  Argument& Type(const std::string& name);
  // Only these, and whatever begins with one that ends with "="; offered by completion.
  Argument& OneOf(const std::vector<std::string>& words);
  // What completion offers; without it files, or nothing for what takes none.
  Argument& Offers(Values values);
  // Its heading in the help; default "Flags".
  Argument& Group(const char* heading);
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
  ArgumentEntry* entry_;
};

// Names of flags begin with '-' and are joined by commas, "-o,--output"; other names are those of
// arguments by place. The parser writes given values to the variable, which must outlive it.
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
  Argument AddOption(const std::string& names, const std::function<void(const std::string&)>& take,
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

  // "--server", "-o": all flags that are no secret, as the user writes them.
  std::vector<std::string> Flags() const;
  // The words that can follow `before`: the values of the flag that is their last one, or of the
  // next argument by place.
  struct Expected {
    Values values = Values::kFiles;
    std::vector<std::string> words = {};  // of kWords
  };
  Expected ExpectedAfter(std::span<const std::string> before) const;
  // The help, no line of it over 100 columns where it can be broken.
  std::string Help() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CLI_COMMAND_LINE_H_
