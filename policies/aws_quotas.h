// AWS's limit for a type unless more was asked for: hints (schema/aws-quotas.tsv).
#ifndef TRUCE_POLICIES_AWS_QUOTAS_H_
#define TRUCE_POLICIES_AWS_QUOTAS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace truce {

// One row of the file; the views live as long as the program.
struct AwsQuota {
  std::string_view type;    // "s3/Bucket"
  bool per_region = false;  // of each region of an account, else of the account
  std::uint64_t max = 0;
  std::string_view source;  // a URL
  std::string_view read;    // when it was last read: 2026-11-23
};

// All rows, by type. A row that cannot be read is left out: no decision rests on a hint.
const std::vector<AwsQuota>& AwsQuotas();

// The row of `type`, or null.
const AwsQuota* AwsQuotaOf(std::string_view type);

// The file as it was built in.
std::string_view AwsQuotasText();

}  // namespace truce

#endif  // TRUCE_POLICIES_AWS_QUOTAS_H_
