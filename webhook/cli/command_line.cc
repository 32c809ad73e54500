#include "webhook/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <system_error>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "webhook/wire/text_table.h"

namespace truce {

struct ArgumentEntry {
  CLI::Option* option;
  std::string place = {};               // its name by place; empty: it has none
  std::vector<std::string> flags = {};  // "-o", "--output"
  std::string help;
  std::string type = {};  // of the value, for people; empty: it takes none
  std::string group = "Flags";
  Values values = Values::kNone;
  std::vector<std::string> words = {};
  bool takes_many = false;

  bool is_flag() const { return !flags.empty(); }
};

namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kHelpHead = "-h, --help";
// Longer heads stand on a line of their own.
constexpr std::size_t kHeadMax = 32;

// What the value of a flag or place of that name is, in whichever command.
struct Usual {
  std::string_view name;
  const char* type;
  Values values;
};
constexpr std::array<Usual, 37> kUsual = {{
    {"--namespace", "NAMESPACE", Values::kNamespaces},
    {"--with", "NAMESPACE", Values::kNamespaces},
    {"--to", "NAMESPACE", Values::kNamespaces},
    {"--service", "SERVICE", Values::kServices},
    {"--type", "TYPE", Values::kTypes},
    {"--account", "ACCOUNT", Values::kNone},
    {"--region", "REGION", Values::kNone},
    {"--for", "DURATION", Values::kNone},
    {"--until", "TIME", Values::kNone},
    {"--since", "TIME", Values::kNone},
    {"--name", "NAME", Values::kNone},
    {"--file", "FILE", Values::kFiles},
    {"--values", "FILE", Values::kFiles},
    {"--types", "FILE", Values::kFiles},
    {"--id", "ID", Values::kNone},
    {"--end", "ID", Values::kNone},
    {"--accept", "ID", Values::kNone},
    {"--decline", "ID", Values::kNone},
    {"--withdraw", "ID", Values::kNone},
    {"--explain", "ID", Values::kNone},
    {"--mute", "ID", Values::kNone},
    {"--unmute", "ID", Values::kNone},
    {"--arn", "ARN", Values::kNone},
    {"--key", "KEY", Values::kNone},
    {"--cluster", "CLUSTER", Values::kNone},
    {"--to-cluster", "CLUSTER", Values::kNone},
    {"--rule", "RULE", Values::kNone},
    {"--actor", "ACTOR", Values::kNone},
    {"--group", "GROUP", Values::kNone},
    {"--object", "NAME", Values::kNone},
    {"--kind", "KIND.GROUP", Values::kNone},
    {"--with-object", "KIND.GROUP/NAME", Values::kNone},
    {"--to-object", "KIND.GROUP/NAME", Values::kNone},
    {"--source", "NAME", Values::kNone},
    {"FILE", "", Values::kFiles},
    {"TYPE", "", Values::kTypes},
    {"RESOURCE", "", Values::kResources},
}};

std::vector<std::string> Parted(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string JoinedBy(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (const std::string& part : parts) out.append(out.empty() ? "" : between).append(part);
  return out;
}

// "-o, --output table|json".
std::string HeadOf(const ArgumentEntry& entry) {
  if (!entry.is_flag()) return entry.place;
  std::string head = JoinedBy(entry.flags, ", ");
  if (!entry.type.empty()) head.append(" ").append(entry.type);
  return head;
}

bool IsLowerWord(std::string_view text) { return std::all_of(text.begin(), text.end(), IsLower); }

}  // namespace

struct CommandLine::Parser {
  Parser(std::string_view name_of, std::string_view summary_of)
      : app(std::string(summary_of), std::string(name_of)), name(name_of), summary(summary_of) {}

  ArgumentEntry& Add(CLI::Option* option, const std::string& names, const std::string& help,
                     const char* type) {
    ArgumentEntry entry{.option = option, .help = help};
    std::string usual;
    for (std::string& each : Parted(names, ',')) {
      for (const Usual& row : kUsual) {
        if (row.name != each) continue;
        usual = row.type;
        entry.values = row.values;
      }
      if (each.starts_with("-")) {
        entry.flags.push_back(std::move(each));
      } else {
        entry.place = std::move(each);
      }
    }
    const bool takes_text = std::string_view(type) == "TEXT";
    entry.type = takes_text && !usual.empty() ? usual : type;
    entries.push_back(std::move(entry));
    return entries.back();
  }

  CLI::App app;
  std::string name;
  std::string summary;
  std::string footer;
  std::deque<ArgumentEntry> entries;  // they stay where they are
};

namespace {

// The library's words for programmers as words of ours.

std::string FirstLine(const CLI::ParseError& error) {
  std::string text = error.what();
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::string WhatIsWrong(const CLI::ArgumentMismatch& error) {
  const std::string text = FirstLine(error);
  const bool is_missing = text.ends_with(" missing");
  return text.substr(0, text.find(':')) +
         (is_missing ? ": needs a value" : ": is given more than once; keep one");
}

std::string WhatIsWrong(const CLI::ConversionError& error) {
  constexpr std::string_view kBefore = "Could not convert: ";
  std::string text = FirstLine(error);
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kBefore) || equals == std::string::npos) return text;
  return text.substr(kBefore.size(), equals - kBefore.size()) + ": " +
         Quoted(text.substr(equals + 3)) + " is not a number";
}

}  // namespace

Argument& Argument::Type(const std::string& name) {
  entry_->type = name;
  if (name.find('|') != std::string::npos) {
    entry_->values = Values::kWords;
    entry_->words = Parted(name, '|');
  } else if (IsLowerWord(name)) {
    std::transform(name.begin(), name.end(), entry_->type.begin(),
                   [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  }
  const bool is_file = entry_->type == "FILE" || entry_->type == "DIRECTORY";
  if (is_file) entry_->values = Values::kFiles;
  return *this;
}

Argument& Argument::OneOf(const std::vector<std::string>& words) {
  entry_->words = words;
  entry_->values = Values::kWords;
  entry_->option->check([words = entry_->words](const std::string& given) {
    const bool is_one = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.ends_with('=') ? given.starts_with(word) : given == word;
    });
    return is_one ? std::string() : Quoted(given) + " is not one of " + JoinedBy(words, ", ");
  });
  if (entry_->is_flag()) entry_->type = JoinedBy(entry_->words, "|");
  return *this;
}

Argument& Argument::Offers(Values values) {
  entry_->values = values;
  return *this;
}

Argument& Argument::Group(const char* heading) {
  entry_->group = heading;
  return *this;
}

Argument& Argument::Between(std::int64_t least, std::int64_t most) {
  entry_->option->check([least, most](const std::string& given) {
    std::int64_t number = 0;
    const char* const end = given.data() + given.size();
    const auto read = std::from_chars(given.data(), end, number);
    const bool fits =
        read.ec == std::errc() && read.ptr == end && number >= least && number <= most;
    return fits ? std::string()
                : Quoted(given) + " is not a number from " + std::to_string(least) + " to " +
                      std::to_string(most);
  });
  entry_->values = Values::kNone;
  return *this;
}

Argument& Argument::Required() {
  entry_->option->required();
  return *this;
}

Argument& Argument::Excludes(const Argument& other) {
  entry_->option->excludes(other.entry_->option);
  return *this;
}

Argument& Argument::Excludes(const std::string& flag) {
  entry_->option->excludes(flag);
  return *this;
}

Argument& Argument::Needs(const Argument& other) {
  entry_->option->needs(other.entry_->option);
  return *this;
}

Argument& Argument::Repeats() {
  entry_->option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Argument& Argument::RepeatsSingly() {
  entry_->option->allow_extra_args(false);
  return Repeats();
}

Argument& Argument::SplitAt(char separator) {
  entry_->option->delimiter(separator);
  return *this;
}

CommandLine::CommandLine(std::string_view name, std::string_view summary)
    : parser_(std::make_unique<Parser>(name, summary)) {
  parser_->app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

CommandLine::~CommandLine() = default;

Argument CommandLine::AddOption(const std::string& names, std::string& value,
                                const std::string& help) {
  return Argument(parser_->Add(parser_->app.add_option(names, value), names, help, "TEXT"));
}

Argument CommandLine::AddOption(const std::string& names, std::vector<std::string>& values,
                                const std::string& help) {
  ArgumentEntry& entry = parser_->Add(parser_->app.add_option(names, values), names, help, "TEXT");
  entry.takes_many = true;
  return Argument(entry);
}

Argument CommandLine::AddOption(const std::string& names, int& value, const std::string& help) {
  return Argument(parser_->Add(parser_->app.add_option(names, value), names, help, "NUMBER"));
}

Argument CommandLine::AddOption(const std::string& names, std::size_t& value,
                                const std::string& help) {
  return Argument(parser_->Add(parser_->app.add_option(names, value), names, help, "NUMBER"));
}

Argument CommandLine::AddOption(const std::string& names,
                                const std::function<void(const std::string&)>& take,
                                const std::string& help) {
  return Argument(parser_->Add(parser_->app.add_option_function<std::string>(names, take), names,
                               help, "TEXT"));
}

Argument CommandLine::AddFlag(const std::string& names, bool& value, const std::string& help) {
  return Argument(parser_->Add(parser_->app.add_flag(names, value), names, help, ""));
}

Argument CommandLine::AddFlag(const std::string& names, std::function<void(bool)> take,
                              const std::string& help) {
  const auto count = [take = std::move(take)](std::int64_t times) { take(times > 0); };
  return Argument(parser_->Add(parser_->app.add_flag_function(names, count), names, help, ""));
}

void CommandLine::Footer(const std::string& text) { parser_->footer = text; }

CommandLine::Reading CommandLine::Read(std::span<const std::string> arguments) {
  // The library takes its arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    parser_->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return {Outcome::kHelp, Help(), {}};
  } catch (const CLI::ArgumentMismatch& error) {
    return {Outcome::kRefused, WhatIsWrong(error), parser_->app.remaining()};
  } catch (const CLI::ConversionError& error) {
    return {Outcome::kRefused, WhatIsWrong(error), parser_->app.remaining()};
  } catch (const CLI::ParseError& error) {
    return {Outcome::kRefused, FirstLine(error), parser_->app.remaining()};
  }
  return {};
}

std::vector<std::string> CommandLine::Flags() const {
  std::vector<std::string> flags = {"--help", "-h"};
  for (const ArgumentEntry& entry : parser_->entries) {
    if (!entry.is_flag()) continue;
    flags.insert(flags.end(), entry.flags.begin(), entry.flags.end());
  }
  return flags;
}

CommandLine::Expected CommandLine::ExpectedAfter(std::span<const std::string> before) const {
  const auto named = [this](const std::string& word) -> const ArgumentEntry* {
    for (const ArgumentEntry& entry : parser_->entries) {
      const auto& flags = entry.flags;
      if (std::find(flags.begin(), flags.end(), word) != flags.end()) return &entry;
    }
    return nullptr;
  };
  const auto expected = [](const ArgumentEntry& entry) {
    return Expected{entry.values, entry.words};
  };
  std::size_t places = 0;  // that are filled
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].starts_with("-") || before[i] == "-") {
      ++places;
      continue;
    }
    const ArgumentEntry* flag = named(before[i]);
    const bool takes_next = flag != nullptr && !flag->type.empty();
    if (!takes_next) continue;
    if (i + 1 == before.size()) return expected(*flag);
    ++i;
  }
  for (const ArgumentEntry& entry : parser_->entries) {
    if (entry.place.empty()) continue;
    if (places == 0 || entry.takes_many) return expected(entry);
    --places;
  }
  return {Values::kNone};
}

std::string CommandLine::Help() const {
  std::string places;
  std::vector<std::string> groups = {"Arguments", "Flags"};
  std::size_t width = std::string_view(kHelpHead).size();
  for (const ArgumentEntry& entry : parser_->entries) {
    if (!entry.place.empty()) {
      const bool must = entry.option->get_required();
      places.append(must ? " " : " [").append(entry.place).append(must ? "" : "]");
      if (entry.takes_many) places += "…";
    }
    const std::size_t size = HeadOf(entry).size();
    if (size <= kHeadMax) width = std::max(width, size);
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end()) {
      groups.push_back(entry.group);
    }
  }
  std::string out = parser_->summary + "\n\nUsage: truce " + parser_->name + places + " [FLAGS]\n";
  const auto line = [&](const std::string& head, const std::string& help) {
    out.append(kIndent, ' ').append(head);
    const std::size_t column = kIndent + width + 2;
    if (head.size() > kHeadMax) {
      out.append("\n").append(column, ' ');
    } else {
      out.append(width + 2 - head.size(), ' ');
    }
    AppendWrapped(help, column, out);
  };
  for (const std::string& group : groups) {
    const bool is_places = group == "Arguments";
    std::size_t count = 0;
    for (const ArgumentEntry& entry : parser_->entries) {
      const bool is_here = entry.is_flag() ? entry.group == group : is_places;
      if (!is_here) continue;
      if (count++ == 0) out.append("\n").append(group).append(":\n");
      line(HeadOf(entry), entry.help);
    }
    if (group != "Flags") continue;
    if (count == 0) out += "\nFlags:\n";
    line(kHelpHead, "Print this help");
  }
  if (!parser_->footer.empty()) {
    out.append("\n").append(parser_->footer);
    if (!out.ends_with('\n')) out += '\n';
  }
  return out;
}

}  // namespace truce
