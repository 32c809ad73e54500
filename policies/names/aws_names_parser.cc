#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "policies/names/aws_names.h"
#include "registry/base/counted.h"
#include "registry/base/text.h"

namespace truce {
namespace {

using Kind = AwsNameCheck::Kind;

enum class Argument : std::uint8_t { kNone, kTexts, kCharacters, kField, kNumber };

struct CheckName {
  std::string_view name;
  Kind kind;
  Argument argument;
};

constexpr std::array kCheckNames = {
    CheckName{"no", Kind::kContains, Argument::kCharacters},
    CheckName{"no-prefix", Kind::kPrefix, Argument::kTexts},
    CheckName{"no-suffix", Kind::kSuffix, Argument::kTexts},
    CheckName{"not", Kind::kWord, Argument::kTexts},
    CheckName{"no-end", Kind::kEnd, Argument::kCharacters},
    CheckName{"no-chars", Kind::kCharacters, Argument::kCharacters},
    CheckName{"apart", Kind::kApart, Argument::kCharacters},
    CheckName{"not-ipv4", Kind::kIpv4, Argument::kNone},
    CheckName{"not-digits", Kind::kDigits, Argument::kNone},
    CheckName{"labels", Kind::kLabels, Argument::kNone},
    CheckName{"dns", Kind::kDns, Argument::kNone},
    CheckName{"dns-wildcard", Kind::kDnsWildcard, Argument::kNone},
    CheckName{"fifo", Kind::kFifo, Argument::kField},
    CheckName{"depth", Kind::kDepth, Argument::kNumber},
    CheckName{"no-path-prefix", Kind::kPathPrefix, Argument::kTexts},
    CheckName{"secret-suffix", Kind::kSecretSuffix, Argument::kNone},
};

constexpr std::array<std::string_view, 5> kColumns = {"type", "abbreviation", "certainty", "checks",
                                                      "source"};
constexpr std::string_view kNone = "-";

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t at = text.find(separator);
    out.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

// ';' joins checks, but is also a character that one may forbid: no-chars takes the rest of the
// cell.
std::vector<std::string> SplitChecks(std::string_view cell) {
  std::vector<std::string> out;
  while (!cell.empty()) {
    const bool takes_rest = cell.starts_with("no-chars=");
    const std::size_t at = takes_rest ? std::string_view::npos : cell.find(';');
    out.emplace_back(cell.substr(0, at));
    cell = at == std::string_view::npos ? std::string_view() : cell.substr(at + 1);
  }
  return out;
}

// The fault in the text of a check, or empty.
std::string ReadArgument(const CheckName& name, std::string_view argument, AwsNameCheck& check) {
  switch (name.argument) {
    case Argument::kNone: return argument.empty() ? "" : "takes no value";
    case Argument::kTexts:
      check.texts = Split(argument, '|');
      if (std::find(check.texts.begin(), check.texts.end(), "") != check.texts.end()) {
        return "has an empty alternative; write A|B";
      }
      return "";
    case Argument::kCharacters:
    case Argument::kField:
      check.texts = {std::string(argument)};
      return argument.empty() ? "needs a value after '='" : "";
    case Argument::kNumber: {
      const auto [end, error] =
          std::from_chars(argument.data(), argument.data() + argument.size(), check.number);
      const bool whole = error == std::errc() && end == argument.data() + argument.size();
      return whole && check.number > 0 ? "" : "needs a whole number after '='";
    }
  }
  return "";
}

// One file; errors name the line that is read.
class Reader {
 public:
  explicit Reader(std::string_view file_name) : file_name_(file_name) {}

  Result<std::vector<AwsNameRow>> Read(std::string_view text) {
    bool headed = false;
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.empty() || line.starts_with('#')) continue;
      const std::vector<std::string> cells = Split(line, '\t');
      if (!headed) {
        headed = true;
        if (!std::equal(cells.begin(), cells.end(), kColumns.begin(), kColumns.end())) {
          return Fault("header",
                       "must name the columns type, abbreviation, certainty, checks and "
                       "source");
        }
        continue;
      }
      TRUCE_RETURN_IF_ERROR(Row(cells));
    }
    return std::move(rows_);
  }

 private:
  Error Fault(std::string_view column, std::string_view what) const {
    return Error{ErrorCode::kInvalidArgument,
                 std::string(file_name_).append(":").append(std::to_string(line_)).append(": ") +
                     std::string(column).append(": ").append(what)};
  }

  Result<void> Row(const std::vector<std::string>& cells) {
    if (cells.size() != kColumns.size()) {
      return Fault("row", "has " + Counted(cells.size(), "cell") + "; " +
                              std::to_string(kColumns.size()) +
                              " are needed, one tab between them");
    }
    AwsNameRow row;
    row.type = cells[0];
    if (!seen_.insert(row.type).second) return Fault("type", "stands in a row above already");
    if (cells[1] != kNone) row.abbreviation = cells[1];
    if (!std::all_of(row.abbreviation.begin(), row.abbreviation.end(), IsLowerOrDigit)) {
      return Fault("abbreviation", "must be of a-z and 0-9, which every type allows");
    }
    if (cells[2] != "researched" && cells[2] != "judged") {
      return Fault("certainty", "must be researched or judged");
    }
    row.researched = cells[2] == "researched";
    if (cells[3] != kNone) {
      for (const std::string& text : SplitChecks(cells[3])) {
        TRUCE_ASSIGN_OR_RETURN(AwsNameCheck check, Check(text));
        row.checks.push_back(std::move(check));
      }
    }
    if (cells[4].empty() || cells[4] == kNone) {
      return Fault("source", "is missing; say where AWS states the rule");
    }
    rows_.push_back(std::move(row));
    return {};
  }

  Result<AwsNameCheck> Check(std::string_view text) const {
    AwsNameCheck check;
    check.warns = text.starts_with("warn:");
    if (check.warns) text.remove_prefix(5);
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const auto found = std::find_if(kCheckNames.begin(), kCheckNames.end(),
                                    [&](const CheckName& other) { return other.name == name; });
    if (found == kCheckNames.end()) {
      return Fault("checks", "no check is called '" + std::string(name) +
                                 "'; the head of the file lists all");
    }
    check.kind = found->kind;
    const std::string_view argument =
        equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
    const std::string wrong = ReadArgument(*found, argument, check);
    if (!wrong.empty()) return Fault("checks", "'" + std::string(name) + "' " + wrong);
    return check;
  }

  std::string_view file_name_;
  std::size_t line_ = 0;
  std::set<std::string> seen_;
  std::vector<AwsNameRow> rows_;
};

}  // namespace

Result<std::vector<AwsNameRow>> ParseAwsNames(std::string_view text, std::string_view file_name) {
  return Reader(file_name).Read(text);
}

}  // namespace truce
