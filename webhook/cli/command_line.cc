#include "webhook/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <utility>

namespace truce {

struct CommandLine::Parser {
  Parser(std::string_view name, std::string_view summary)
      : app(std::string(summary), std::string(name)) {}

  CLI::App app;
};

Argument& Argument::Type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument& Argument::OneOf(std::initializer_list<const char*> words) {
  option_->check(CLI::IsMember(std::vector<std::string>(words.begin(), words.end())));
  return *this;
}

Argument& Argument::Between(std::int64_t least, std::int64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Argument& Argument::Required() {
  option_->required();
  return *this;
}

Argument& Argument::Excludes(const Argument& other) {
  option_->excludes(other.option_);
  return *this;
}

Argument& Argument::Excludes(const std::string& flag) {
  option_->excludes(flag);
  return *this;
}

Argument& Argument::Needs(const Argument& other) {
  option_->needs(other.option_);
  return *this;
}

Argument& Argument::Repeats() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Argument& Argument::RepeatsSingly() {
  option_->allow_extra_args(false);
  return Repeats();
}

Argument& Argument::SplitAt(char separator) {
  option_->delimiter(separator);
  return *this;
}

CommandLine::CommandLine(std::string_view name, std::string_view summary)
    : parser_(std::make_unique<Parser>(name, summary)) {
  parser_->app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

CommandLine::~CommandLine() = default;

Argument CommandLine::AddOption(const std::string& names, std::string& value,
                                const std::string& help) {
  return Argument(*parser_->app.add_option(names, value, help));
}

Argument CommandLine::AddOption(const std::string& names, std::vector<std::string>& values,
                                const std::string& help) {
  return Argument(*parser_->app.add_option(names, values, help));
}

Argument CommandLine::AddOption(const std::string& names, int& value, const std::string& help) {
  return Argument(*parser_->app.add_option(names, value, help));
}

Argument CommandLine::AddOption(const std::string& names, std::size_t& value,
                                const std::string& help) {
  return Argument(*parser_->app.add_option(names, value, help));
}

Argument CommandLine::AddOption(const std::string& names,
                                std::function<void(const std::string&)> take,
                                const std::string& help) {
  return Argument(*parser_->app.add_option_function<std::string>(names, std::move(take), help));
}

Argument CommandLine::AddFlag(const std::string& names, bool& value, const std::string& help) {
  return Argument(*parser_->app.add_flag(names, value, help));
}

Argument CommandLine::AddFlag(const std::string& names, std::function<void(bool)> take,
                              const std::string& help) {
  const auto count = [take = std::move(take)](std::int64_t times) { take(times > 0); };
  return Argument(*parser_->app.add_flag_function(names, count, help));
}

void CommandLine::Footer(const std::string& text) { parser_->app.footer(text); }

CommandLine::Reading CommandLine::Read(std::span<const std::string> arguments) {
  // The library takes its arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {Outcome::kHelp, parser_->app.help("truce"), {}};
  } catch (const CLI::ParseError& error) {
    std::string message = error.what();
    message.resize(std::min(message.find('\n'), message.size()));
    return {Outcome::kRefused, std::move(message), parser_->app.remaining()};
  }
  return {};
}

std::vector<std::string> CommandLine::Flags() const {
  std::vector<std::string> flags;
  for (const CLI::Option* option : std::as_const(parser_->app).get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

}  // namespace truce
