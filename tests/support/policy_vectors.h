// The cases of policies/vectors: read from YAML, as their README describes them.
#ifndef TRUCE_TESTS_SUPPORT_POLICY_VECTORS_H_
#define TRUCE_TESTS_SUPPORT_POLICY_VECTORS_H_

#include <optional>
#include <string>
#include <vector>

#include "registry/base/clock.h"
#include "registry/base/result.h"
#include "webhook/wire/yaml.h"

namespace truce {

struct ExpectedFinding {
  std::string rule;
  std::string mode;
  std::vector<std::string> says;
};

struct PolicyVector {
  std::string id;
  std::string place;   // "policies/vectors/aws-s3.yaml:12"
  std::string policy;  // configuration as YAML text
  Timestamp at{};
  YamlNode object;                 // a whole Kubernetes object
  std::optional<YamlNode> before;  // UPDATE
  std::vector<ExpectedFinding> expect;
};

// All cases of all files of `folder`, in order of file names. Errors name file and line.
Result<std::vector<PolicyVector>> ReadPolicyVectors(const std::string& folder);

}  // namespace truce

#endif  // TRUCE_TESTS_SUPPORT_POLICY_VECTORS_H_
