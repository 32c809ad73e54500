// The subject of a rule and the remedy for its findings, for tools that show both beside a finding.
#ifndef TRUCE_WEBHOOK_CHECK_RULE_HELP_H_
#define TRUCE_WEBHOOK_CHECK_RULE_HELP_H_

#include <string_view>

namespace truce {

struct RuleHelp {
  std::string_view about;  // one line, without full stop
  std::string_view why;    // sentences: the harm otherwise
  std::string_view help;   // sentences: the ways out
};

// Of a rule of RuleList, or of the check itself ("plain-scalar"). Texts without `why` for an
// unknown rule, from a later server. Thread-safe.
RuleHelp HelpOf(std::string_view rule);

}  // namespace truce

#endif  // TRUCE_WEBHOOK_CHECK_RULE_HELP_H_
