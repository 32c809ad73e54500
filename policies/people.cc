#include "policies/people.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace truce {
namespace {

// How people write the services whose short name is not simply a word or an acronym.
constexpr std::array<std::pair<std::string_view, std::string_view>, 44> kServices = {{
    {"account", "account"},
    {"apigateway", "API Gateway"},
    {"apigatewayv2", "API Gateway v2"},
    {"appautoscaling", "Application Auto Scaling"},
    {"athena", "Athena"},
    {"autoscaling", "Auto Scaling"},
    {"backup", "Backup"},
    {"batch", "Batch"},
    {"bedrock", "Bedrock"},
    {"cloudformation", "CloudFormation"},
    {"cloudfront", "CloudFront"},
    {"cloudtrail", "CloudTrail"},
    {"cloudwatch", "CloudWatch"},
    {"cloudwatchevents", "EventBridge"},
    {"cloudwatchlogs", "CloudWatch Logs"},
    {"codebuild", "CodeBuild"},
    {"codepipeline", "CodePipeline"},
    {"cognitoidentity", "Cognito identity"},
    {"cognitoidp", "Cognito"},
    {"configservice", "Config"},
    {"docdb", "DocumentDB"},
    {"dynamodb", "DynamoDB"},
    {"ecrpublic", "public ECR"},
    {"elasticache", "ElastiCache"},
    {"elbv2", "ELB v2"},
    {"firehose", "Firehose"},
    {"glue", "Glue"},
    {"grafana", "Grafana"},
    {"kafka", "MSK"},
    {"kinesis", "Kinesis"},
    {"lambda", "Lambda"},
    {"memorydb", "MemoryDB"},
    {"neptune", "Neptune"},
    {"opensearch", "OpenSearch"},
    {"organizations", "Organizations"},
    {"redshift", "Redshift"},
    {"route53", "Route 53"},
    {"route53resolver", "Route 53 Resolver"},
    {"s3control", "S3"},
    {"secretsmanager", "Secrets Manager"},
    {"servicediscovery", "Cloud Map"},
    {"sfn", "Step Functions"},
    {"sesv2", "SES"},
    {"transfer", "Transfer"},
}};

bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
char Upper(char c) { return IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c; }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string ServiceForPeople(std::string_view service) {
  constexpr std::size_t kAcronymMax = 4;  // "sqs", "iam", "ec2", "wafv"
  const auto found = std::find_if(kServices.begin(), kServices.end(),
                                  [&](const auto& entry) { return entry.first == service; });
  if (found != kServices.end()) return std::string(found->second);
  std::string out(service);
  if (service.size() <= kAcronymMax) std::transform(out.begin(), out.end(), out.begin(), Upper);
  return out;
}

}  // namespace

std::string TypeForPeople(std::string_view type) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos) return std::string(type);
  std::string out = ServiceForPeople(type.substr(0, slash));
  const std::string_view kind = type.substr(slash + 1);
  for (std::size_t i = 0; i < kind.size(); ++i) {
    const char c = kind[i];
    const bool after_lower = i > 0 && !IsUpper(kind[i - 1]);
    const bool before_lower = i + 1 < kind.size() && IsLower(kind[i + 1]);
    // A word begins at an upper-case letter, unless it is within an acronym: DB|Instance,
    // VPC|Endpoint.
    const bool begins = i == 0 || (IsUpper(c) && (after_lower || before_lower));
    if (begins) out += ' ';
    out += (begins && before_lower) ? Lower(c) : c;
  }
  return out;
}

std::string ObjectForPeople(const Slot& slot) {
  std::string out = slot.kind;
  out += ' ';
  if (!slot.ns.empty()) {
    out += slot.ns;
    out += '/';
  }
  out += slot.name;
  return out;
}

}  // namespace truce
