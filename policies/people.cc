#include "policies/people.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "registry/base/one_line.h"
#include "registry/base/text.h"
#include "registry/identity/evidence.h"
#include "registry/identity/successors.h"
#include "registry/ownership/agreements.h"
#include "registry/ownership/rows.h"

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

void AppendService(std::string_view service, std::string& out) {
  constexpr std::size_t kAcronymMax = 4;  // "sqs", "iam", "ec2", "wafv"
  const auto found = std::find_if(kServices.begin(), kServices.end(),
                                  [&](const auto& entry) { return entry.first == service; });
  if (found != kServices.end()) {
    out += found->second;
  } else if (service.size() <= kAcronymMax) {
    std::transform(service.begin(), service.end(), std::back_inserter(out), Upper);
  } else {
    out += service;
  }
}

// " DB instance": each word behind a blank.
void AppendKind(std::string_view kind, std::string& out) {
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
}

}  // namespace

void AppendType(std::string_view type, std::string& out) {
  const auto slash = type.find('/');
  if (slash == std::string_view::npos) {
    out += type;
    return;
  }
  if (type == "elbv2/LB") {
    out += "ELB load balancer";
    return;
  }
  AppendService(type.substr(0, slash), out);
  AppendKind(type.substr(slash + 1), out);
}

std::string KindForPeople(std::string_view type) {
  if (type == "elbv2/LB") return "load balancer";
  std::string out;
  AppendKind(type.substr(type.find('/') + 1), out);
  return out.substr(std::min<std::size_t>(1, out.size()));
}

std::string TypeForPeople(std::string_view type) {
  std::string out;
  AppendType(type, out);
  return out;
}

void AppendObject(const Slot& slot, std::string& out) {
  out += slot.kind;
  out += ' ';
  if (!slot.ns.empty()) {
    out += slot.ns;
    out += '/';
  }
  out += slot.name;
}

std::string ObjectForPeople(const Slot& slot) {
  std::string out;
  out.reserve(slot.kind.size() + slot.ns.size() + slot.name.size() + 2);
  AppendObject(slot, out);
  return out;
}

bool OnlyGroupsDiffer(const Slot& a, const Slot& b) {
  return a.group != b.group && a.name == b.name && a.kind == b.kind && a.ns == b.ns;
}

std::string ObjectBeside(const Slot& slot, const Slot& other) {
  return OnlyGroupsDiffer(slot, other) ? ForPeople(slot) : ObjectForPeople(slot);
}

void AppendSaid(std::string_view text, std::string& out) {
  const std::size_t begin = out.size();
  AppendLine(text, kShownTextBytesMax, out);
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(), '`', '\'');
}

std::string Said(std::string_view text) {
  std::string out;
  AppendSaid(text, out);
  return out;
}

bool IsPlainWord(std::string_view text) {
  static constexpr ByteSet kPlain = AlnumAnd("-_./:");
  if (text.empty() || text.front() == '-') return false;
  TakeBytes(kPlain, text);
  return text.empty();
}

namespace {

constexpr std::string_view kRelease = "truce release ";
constexpr std::string_view kReason = " --reason '…'";
constexpr int kAccountField = 2;
constexpr int kRegionField = 3;

// The fields of a key, or of a name: space|partition|account|region|part=value.
std::string_view KeyField(const KeyText& key, int index) {
  std::string_view rest = key.text;
  for (; index > 0; --index) {
    const std::size_t bar = rest.find('|');
    if (bar == std::string_view::npos) return {};
    rest.remove_prefix(bar + 1);
  }
  return rest.substr(0, rest.find('|'));
}

}  // namespace

std::string WordOf(const Owner& owner) {
  const bool is_plain = IsPlainWord(owner.name) && IsPlainWord(owner.identity.type);
  const bool is_local = IsNameSpace(owner.identity.partition) ||
                        !KeyField(owner.key, kAccountField).empty() ||
                        !KeyField(owner.key, kRegionField).empty();
  if (!owner.id.empty() && (!is_plain || is_local)) return owner.id.text;
  return is_plain ? owner.identity.type + "/" + owner.name : "RESOURCE";
}

std::string ReleaseCommand(const Owner& owner) {
  const ResourceIdentity& identity = owner.identity;
  const bool is_of_account = !KeyField(owner.key, kAccountField).empty();
  const bool is_known = !is_of_account || IsAccount(identity.account);
  if (!is_known || IsNameSpace(identity.partition) || !IsPlainWord(owner.name) ||
      !IsPlainWord(identity.type)) {
    return ReleaseCommand(owner.id);
  }
  std::string out(kRelease);
  out.append(identity.type).append(" ").append(owner.name);
  if (is_of_account) out.append(" --account ").append(identity.account);
  if (!KeyField(owner.key, kRegionField).empty() && IsPlainWord(identity.region)) {
    out.append(" --region ").append(identity.region);
  }
  return out.append(kReason);
}

std::string ReleaseCommand(const ResourceId& id) {
  return std::string(kRelease).append("--id ").append(id.empty() ? "ID" : id.text).append(kReason);
}

namespace {

void AppendKubectlKind(const Slot& slot, std::string& out) {
  // The kind's name in small letters is one by which every API server knows it.
  std::transform(slot.kind.begin(), slot.kind.end(), std::back_inserter(out), Lower);
  if (!slot.group.empty()) out.append(".").append(slot.group);
}

// Whether KIND and NAME, and NAMESPACE where the object is in one, may be part of a command.
bool IsPlain(const Slot& slot) {
  return IsPlainWord(slot.kind) && (slot.group.empty() || IsPlainWord(slot.group)) &&
         IsPlainWord(slot.name) && (slot.ns.empty() || IsPlainWord(slot.ns));
}

void AppendSuccessor(const Slot& root, bool with_group, std::string& out) {
  if (!IsPlain(root)) {
    out += root.ns.empty() ? "KIND.GROUP/NAME" : "KIND/NAMESPACE/NAME";
    return;
  }
  out += root.kind;
  // Cluster-scoped objects of one kind and name in two groups are strangers to each other.
  if ((with_group || root.ns.empty()) && !root.group.empty()) out.append(".").append(root.group);
  out.append("/").append(root.ns).append(root.ns.empty() ? "" : "/").append(root.name);
}

constexpr std::string_view kTransferTo = "truce.dev/transfer-to=";

}  // namespace

std::string KubectlKind(const Slot& slot) {
  std::string out;
  out.reserve(slot.kind.size() + 1 + slot.group.size());
  AppendKubectlKind(slot, out);
  return out;
}

std::string KubectlTarget(const Slot& slot) {
  if (!IsPlain(slot)) return slot.ns.empty() ? "KIND NAME" : "KIND NAME -n NAMESPACE";
  std::string out = KubectlKind(slot) + " " + slot.name;
  if (!slot.ns.empty()) out.append(" -n ").append(slot.ns);
  return out;
}

std::string KeepCommand(const Slot& slot) {
  return "kubectl patch " + KubectlTarget(slot) + " --type merge -p '" +
         std::string(FlavourFor(slot.group).keeping_patch) + "'";
}

std::string LetGoCommand(const Slot& slot) {
  return KeepCommand(slot) + " && kubectl delete " + KubectlTarget(slot);
}

std::string ForcedTransferCommand(std::string_view word, const Slot& successor) {
  std::string out = "`truce transfer ";
  out += word;
  if (!IsPlain(successor)) {
    out += " --to NAMESPACE --successor KIND/NAMESPACE/NAME";
  } else if (successor.ns.empty()) {
    out.append(" --to-object ").append(SuccessorWord(successor));
  } else {
    out.append(" --to ").append(successor.ns).append(" --successor ");
    out += SuccessorWord(successor);
  }
  return out.append(" --force --reason '…'`");
}

std::string SuccessorWord(const Slot& root) {
  std::string out;
  AppendSuccessor(root, false, out);
  return out;
}

namespace {

// Says the cluster where it is not the owner's (registry/identity/successors.h).
void AppendWord(const Slot& owner, const Slot& successor, std::string& out) {
  out += kTransferTo;
  if (owner.cluster != successor.cluster) {
    out.append(IsPlainWord(successor.cluster) ? successor.cluster : "CLUSTER").append(":");
  }
  AppendSuccessor(successor, OnlyGroupsDiffer(owner, successor), out);
}

}  // namespace

std::string TransferAnnotation(const Slot& owner, const Slot& successor) {
  std::string out;
  AppendWord(owner, successor, out);
  return out;
}

void AppendTransferCommand(const Slot& owner, const Slot& successor, std::string& out) {
  const bool is_plain = IsPlain(owner);
  out += "kubectl ";
  if (!owner.ns.empty()) out.append("-n ").append(is_plain ? owner.ns : "NAMESPACE").append(" ");
  out += "annotate --overwrite ";
  if (is_plain) {
    AppendKubectlKind(owner, out);
    out.append(" ").append(owner.name);
  } else {
    out += "KIND NAME";
  }
  out += ' ';
  AppendWord(owner, successor, out);
}

std::string TransferCommand(const Slot& owner, const Slot& successor) {
  std::string out;
  AppendTransferCommand(owner, successor, out);
  return out;
}

}  // namespace truce
