// CheckReport: the findings of a check of manifests or values, and the forms in which it is
// printed.
#ifndef TRUCE_WEBHOOK_CHECK_REPORT_H_
#define TRUCE_WEBHOOK_CHECK_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "webhook/wire/yaml.h"

namespace truce {

enum class CheckSeverity : std::uint8_t { kError, kWarning, kNote };
// "error", "warning", "note".
std::string_view Name(CheckSeverity severity);

// A place in the input.
struct CheckLocation {
  std::string file;    // as given; "stdin"
  std::string source;  // the chart's template, by Helm's comment above; or empty
  YamlLocation at;
};
// "deploy/bucket.yaml:12", "stdin:12 (chart/templates/bucket.yaml)".
std::string ForPeople(const CheckLocation& location);

// All texts are one line.
struct CheckFinding {
  CheckSeverity severity = CheckSeverity::kError;
  std::string rule;  // "duplicate-ownership"
  CheckLocation location;
  // The same in the repository, for reviews of a change (InRepository); no file: it is not there.
  CheckLocation in_repository;
  std::string object;  // "ObjectStorage team-a/artifacts"; empty for the input as a whole
  std::string resource;
  std::string cause;
  std::string remedy;
  std::string link;
  std::string key;
};

// One declared resource.
struct CheckedDeclaration {
  CheckLocation location;
  std::string object;
  std::string type;
  std::string name;
  std::string key;
  std::string intent;
};

struct CheckReport {
  std::size_t documents = 0;
  std::vector<CheckedDeclaration> declarations;
  std::string registry;      // the one that was asked; empty: none (--offline)
  std::string unreachable;   // why it did not answer; empty: it did
  bool turned_away = false;  // it did not, because it refuses to answer this caller
  bool unread = false;  // input or settings are wrong, as the first findings say (UnreadFinding)
  std::vector<CheckFinding> findings;  // in order of input
  std::size_t unknown_objects = 0;     // of kinds that Truce does not know; never Kubernetes' own

  std::size_t Count(CheckSeverity severity) const;
};

// The result of the report. Unread counts most, since not everything was judged; refused more than
// unknown.
enum class CheckVerdict : std::uint8_t { kClean, kWarned, kRefused, kUnknown, kUnread };
std::string_view Name(CheckVerdict verdict);  // "clean", "warned", "refused", "unknown", "unread"
CheckVerdict VerdictOf(const CheckReport& report);

// A finding of `message` about `file`, at its place where it begins with it, "deploy/bucket.yaml:3:
// …". No file: it is about settings.
CheckFinding UnreadFinding(const std::string& message, const std::string& file);

// "the registry did not answer", or "refused to answer", and why.
std::string SilenceOf(const CheckReport& report);

// One line that makes sense alone: the refusals and their places, or that nothing was refused.
std::string Headline(const CheckReport& report);

// "5 documents, 4 declared resources: 2 errors, 2 warnings; asked https://truce.example.org".
std::string CountsOf(const CheckReport& report);

std::string TextReport(const CheckReport& report);
std::string JsonReport(const CheckReport& report);   // kind CheckReport of truce.dev/v1alpha1
std::string JunitReport(const CheckReport& report);  // a test case per object, and per finding
std::string SarifReport(const CheckReport& report);  // 2.1.0, with the help of each rule
// Workflow commands of GitHub: an annotation per finding, and one of severity `silence` where the
// registry did not answer; then the counts.
std::string GithubReport(const CheckReport& report, CheckSeverity silence);
// A comment for a pull request: at most 65,536 characters, the rest is counted. No text in it is
// markup, or calls anybody.
std::string MarkdownReport(const CheckReport& report);

// For /dev/termination-log: the headline, then the errors; at most 4096 bytes, which is what
// Kubernetes keeps.
std::string TerminationMessage(const CheckReport& report);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_REPORT_H_
