// ThrottledCall: the message that providers write on their objects when AWS refuses calls because
// there are too many: an error code of schema/aws-throttling.tsv, in the SDK's form ("api error
// ThrottlingException: …") or the older one ("Throttling: Rate exceeded").
//
// False alarms: LimitExceededException is most often a quota, and counts only with "rate exceeded";
// a name or a description that quotes an error is none, since the code must follow "api error " or
// come before ": ".
#ifndef TRUCE_WEBHOOK_FINDINGS_THROTTLED_CALL_H_
#define TRUCE_WEBHOOK_FINDINGS_THROTTLED_CALL_H_

#include <optional>
#include <string>
#include <string_view>

namespace truce {

struct ThrottledCall {
  std::string code;     // as in the table: "ThrottlingException"
  std::string service;  // as the SDK calls it: "EFS"; empty: not said
  std::string api;      // "DescribeFileSystemPolicy"; empty: not said

  bool operator==(const ThrottledCall&) const = default;
};

// Nothing for every other error. Reads the first 4 KiB.
std::optional<ThrottledCall> ReadThrottledCall(std::string_view message);

// The content of schema/aws-throttling.tsv.
std::string_view ThrottlingText();

}  // namespace truce

#endif  // TRUCE_WEBHOOK_FINDINGS_THROTTLED_CALL_H_
