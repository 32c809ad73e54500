#include "webhook/upkeep/audit_keeper.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "registry/base/file.h"
#include "registry/ownership/ledger.h"
#include "webhook/api/described.h"

namespace truce {
namespace {

constexpr char kLetGo[] = "audit.let-go";  // see schema/sqlite: writing it lets lines go

std::string Digits(std::uint64_t number) {
  std::string text = std::to_string(number);
  return std::string(12 - std::min<std::size_t>(text.size(), 12), '0') + text;
}

// 0 where there is none.
std::uint64_t NumberOf(const std::optional<std::string>& text) {
  std::uint64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

Result<void> MakeFolder(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (!problem && ::access(folder.c_str(), W_OK | X_OK) != 0) {
    problem.assign(errno, std::generic_category());
  }
  if (!problem) return {};
  return Error{ErrorCode::kUnavailable, "auditExportDir: " + folder + ": " + problem.message() +
                                            "; nothing is let go before it can be written"};
}

std::string TextOf(const std::vector<AuditLine>& lines) {
  JsonWriter json;
  std::string text;
  for (const AuditLine& line : lines) {
    text.append(json.Put(line).Take()).append("\n");
  }
  return text;
}

}  // namespace

Result<bool> AuditKeeper::Step(const AuditRetention& retention, Deadline deadline) {
  if (retention.age_max.count() == 0 && retention.lines_max == 0) return false;
  // Told today, not in the months until something is due.
  if (!folder_.empty()) TRUCE_RETURN_IF_ERROR(MakeFolder(folder_));
  // Three lines tell whether anything is due: it is asked each second.
  std::uint64_t first = 0;
  std::uint64_t newest = 0;
  std::optional<AuditEntry> end;  // the last line of the oldest segment
  const auto look = [&](const AllFacts& facts) {
    const auto number_of = [&](const AuditRange& range) {
      const std::vector<AuditLine> lines = facts.AuditLines(range, 1);
      return lines.empty() ? 0 : lines.front().place.number;
    };
    end.reset();
    first = number_of({.from = 1});
    newest = number_of({.newest_first = true});
    std::vector<AuditLine> lines = facts.AuditLines({.from = first + kSegmentLines - 1}, 1);
    if (!lines.empty()) end = std::move(lines.front().entry);
  };
  TRUCE_RETURN_IF_ERROR(store_.Read(look, deadline));
  const std::uint64_t last = first + kSegmentLines - 1;
  // The newest line always stays.
  if (!end || last >= newest) return false;
  const Timestamp now = clock_.Now();
  const bool is_old = retention.age_max.count() > 0 && end->at < now - retention.age_max;
  const bool is_long =
      retention.lines_max > 0 && newest - last >= static_cast<std::uint64_t>(retention.lines_max);
  if (!is_old && !is_long) return false;
  std::size_t exported = 0;
  const std::string name = "audit-" + Digits(first) + "-" + Digits(last) + ".ndjson";
  std::string cause = "audit log exported to " + name;
  if (folder_.empty()) {
    cause = "audit log let go up to line " + std::to_string(last);
  } else {
    std::vector<AuditLine> segment;
    const auto read = [&](const AllFacts& facts) {
      segment = facts.AuditLines({.until = last + 1}, kSegmentLines);
    };
    TRUCE_RETURN_IF_ERROR(store_.Read(read, deadline));
    // Whole under its name, and there after a power cut, or not there.
    TRUCE_RETURN_IF_ERROR(ReplaceFile(folder_ + "/" + name, TextOf(segment), S_IRUSR | S_IWUSR));
    exported = segment.size();
  }
  bool is_done = false;
  const auto decide = [&](const AllFacts& facts) {
    Changes changes;
    // Another server was faster.
    is_done = NumberOf(facts.Setting(kLetGo)) >= last;
    if (is_done) return changes;
    // One that wrote beside the look may have shown a line of this segment since: the next step
    // exports it too.
    if (!folder_.empty() && store_.is_remote() &&
        facts.AuditLines({.until = last + 1}, kSegmentLines + 1).size() != exported) {
      return changes;
    }
    is_done = true;
    changes.put_settings.emplace_back(kLetGo, std::to_string(last));
    changes.audit.push_back(
        {.at = now, .action = AuditAction::kAdministered, .cause = cause, .actor = "retention"});
    return changes;
  };
  TRUCE_RETURN_IF_ERROR(store_.Apply({}, decide, deadline));
  return is_done;
}

}  // namespace truce
