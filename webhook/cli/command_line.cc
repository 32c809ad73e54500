#include "webhook/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/wire/text_table.h"

namespace truce {
namespace {

constexpr std::size_t kColumn = 36;  // where the help's explanations begin

// The library's form of help; explanations are wrapped, and a value's type alone is behind its
// flag.
class HelpForm final : public CLI::Formatter {
 public:
  HelpForm() { label("Positionals", "Arguments"); }

  std::string make_option(const CLI::Option* option, bool by_place) const override {
    std::string out = "  " + make_option_name(option, by_place);
    const std::string type = option->get_type_name();
    const bool shows_type = !by_place || type.find('|') != std::string::npos;
    if (shows_type && !type.empty()) out.append(" ").append(type);
    const bool fits = out.size() + 2 <= kColumn;
    if (!fits) out += '\n';
    out.append(fits ? kColumn - out.size() : kColumn, ' ');
    AppendWrapped(option->get_description(), kColumn, out);
    return out;
  }
};

// FILE of "--token-file"; TYPE of an argument TYPE.
CLI::Option* Named(CLI::Option* option) {
  const auto& flags = option->get_lnames();
  std::string name = flags.empty() ? option->get_single_name() : flags.front();
  name.erase(0, name.rfind('-') + 1);
  std::transform(name.begin(), name.end(), name.begin(), Upper);
  return option->type_name(name);
}

// The library's words for programmers as words of ours, on one line.
std::string WrongIn(const CLI::ParseError& error) {
  std::string text = error.what();
  text.resize(std::min(text.find('\n'), text.size()));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  return text.substr(0, text.find(':')) +
         (text.ends_with(" missing") ? ": needs a value" : ": is given more than once; keep one");
}

// The library throws std::invalid_argument, which is none of its errors, for `--flag=maybe`, and
// takes any number.
CLI::Option* OfTruth(CLI::Option* flag) {
  return flag->check([](const std::string& given) {
    static constexpr std::array<std::string_view, 8> kTruths = {"true",  "yes", "on",  "1",
                                                                "false", "no",  "off", "0"};
    return std::ranges::find(kTruths, given) != kTruths.end()
               ? std::string()
               : Quoted(given) + " is neither true nor false";
  });
}

}  // namespace

Argument& Argument::Type(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Argument& Argument::OneOf(const std::vector<std::string>& words) {
  option_->check([words](const std::string& given) {
    const bool is_one = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.ends_with('=') ? given.starts_with(word) : given == word;
    });
    return is_one ? std::string()
                  : Quoted(given) + " is not one of " + CLI::detail::join(words, ", ");
  });
  return Type(CLI::detail::join(words, "|"));
}

Argument& Argument::Between(std::int64_t least, std::int64_t most) {
  option_->check([least, most](const std::string& given) {
    std::int64_t number = 0;
    const char* const end = given.data() + given.size();
    const auto read = std::from_chars(given.data(), end, number);
    const bool fits =
        read.ec == std::errc() && read.ptr == end && number >= least && number <= most;
    return fits ? std::string()
                : Quoted(given) + " is not a number from " + std::to_string(least) + " to " +
                      std::to_string(most);
  });
  return Type("NUMBER");
}

Argument& Argument::Group(const char* heading) {
  option_->group(heading);
  return *this;
}

Argument& Argument::Required() {
  option_->required();
  return *this;
}

Argument& Argument::Excludes(const std::string& name) {
  option_->excludes(name);
  return *this;
}

Argument& Argument::Needs(const std::string& name) {
  option_->needs(name);
  return *this;
}

Argument& Argument::SplitAt(char separator) {
  option_->delimiter(separator);
  return *this;
}

CommandLine::CommandLine(std::string_view name, std::string_view summary)
    : app_(std::make_unique<CLI::App>(std::string(summary), "truce " + std::string(name))) {
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  app_->formatter(std::make_shared<HelpForm>());
}

CommandLine::~CommandLine() = default;

template <typename Value>
Argument CommandLine::AddOption(const std::string& names, Value& value, const std::string& help) {
  CLI::Option* const option = Named(app_->add_option(names, value, help));
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    // A flag has one value: the next word is not its own.
    option->allow_extra_args(option->get_positional());
  }
  return Argument(option);
}

template Argument CommandLine::AddOption(const std::string&, std::string&, const std::string&);
template Argument CommandLine::AddOption(const std::string&, std::size_t&, const std::string&);
template Argument CommandLine::AddOption(const std::string&, std::vector<std::string>&,
                                         const std::string&);

Argument CommandLine::AddOption(const std::string& names,
                                const std::function<void(const std::string&)>& take,
                                const std::string& help) {
  return Argument(Named(app_->add_option_function<std::string>(names, take, help)));
}

Argument CommandLine::AddFlag(const std::string& names, bool& value, const std::string& help) {
  return Argument(OfTruth(app_->add_flag(names, value, help)));
}

Argument CommandLine::AddFlag(const std::string& names, const std::function<void(bool)>& take,
                              const std::string& help) {
  const auto count = [take](std::int64_t times) { take(times > 0); };
  return Argument(OfTruth(app_->add_flag_function(names, count, help)));
}

void CommandLine::Footer(const std::string& text) { app_->footer(text); }

CommandLine::Reading CommandLine::Read(std::span<const std::string> arguments) {
  // The library takes its arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app_->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {Outcome::kHelp, Help(), {}};
  } catch (const CLI::ParseError& error) {
    return {Outcome::kRefused, WrongIn(error), app_->remaining()};
  }
  return {};
}

std::vector<CommandLine::Described> CommandLine::Arguments() const {
  std::vector<Described> out;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    Described& described = out.emplace_back();
    for (const std::string& name : option->get_lnames()) described.flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) described.flags.push_back("-" + name);
    described.type = option->get_type_name();
  }
  return out;
}

std::string CommandLine::Help() const { return app_->help(); }

}  // namespace truce
