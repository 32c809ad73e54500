#include "tests/support/admission_fixture.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "policies/ownership_check.h"
#include "tests/support/validate_now.h"
#include "webhook/admission/codec.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

std::string Text(std::string_view text) {
  std::string out;
  AppendJsonString(text, out);
  return out;
}

std::string ObjectOf(const Sent& sent, const std::string& metadata, const std::string& spec,
                     const std::string& status) {
  std::string out = R"({"apiVersion":)" + Text(sent.group + "/" + sent.version) + R"(,"kind":)" +
                    Text(sent.kind) + R"(,"metadata":{"name":)" + Text(sent.name);
  if (!sent.ns.empty()) out += R"(,"namespace":)" + Text(sent.ns);
  if (!sent.uid.empty()) out += R"(,"uid":)" + Text(sent.uid);
  return out + R"(,"resourceVersion":"7","creationTimestamp":"2026-11-21T07:59:00Z")" + metadata +
         R"(},"spec":)" + spec + (status.empty() ? "" : R"(,"status":)" + status) + "}";
}

MappingRules TourMapping(const Catalogue& catalogue) {
  MappingRule rule;
  rule.kind = {"platform.example.org", "ObjectStorage"};
  MappedResource bucket;
  bucket.type = "s3/Bucket";
  const TypeSpec* type = catalogue.FindType("s3/Bucket");
  PartSource name;
  name.path = FieldPath::Parse("spec.parameters.name", FieldPath::Root::kObject).value();
  bucket.parts[type->parts.front().name] = std::move(name);
  rule.declares.push_back(std::move(bucket));
  std::vector<MappingRule> rules;
  rules.push_back(std::move(rule));
  return MappingRules::Create(std::move(rules), catalogue).value();
}

}  // namespace

void RecordingSink::OnReview(const ReviewRecord& record) {
  Reported out{.verdict = record.verdict,
               .unknown = record.unknown,
               .operation = std::string(record.operation),
               .kind = std::string(record.kind),
               .ns = std::string(record.ns),
               .name = std::string(record.name),
               .user = std::string(record.user),
               .override_reason = std::string(record.override_reason),
               .detail = std::string(record.detail),
               .keys = std::string(record.keys),
               .wrote = record.wrote,
               .findings = {},
               .told = {record.findings.begin(), record.findings.end()},
               .repetition = record.repetition,
               .acts_as_provider = record.acts_as_provider};
  for (const Finding& finding : record.findings) {
    out.findings.push_back(std::string(Name(finding.rule)) + " " + std::string(Name(finding.mode)));
  }
  records_.With([&](auto& records) { records.push_back(std::move(out)); });
}

Sent QueueOf(const std::string& ns, const std::string& name, const std::string& config,
             const std::string& region) {
  Sent sent = Managed("sqs", "Queue", name, "{}");
  sent.group = "sqs.aws.m.upbound.io";
  sent.ns = ns;
  sent.uid = "uid-" + ns + "-" + name;
  sent.review = "review-" + sent.uid;
  sent.spec = R"({"forProvider":{"region":")" + region + R"(","name":")" + name +
              R"("},"managementPolicies":["*"],"providerConfigRef":{"kind":"ProviderConfig",)" +
              R"("name":")" + config + R"("}})";
  return sent;
}

std::string AdmissionFixture::Found() const {
  std::string out;
  for (const std::string& finding : sink_.last().findings) {
    out.append(out.empty() ? "" : ", ").append(finding);
  }
  return out;
}

Finding AdmissionFixture::OnlyFinding() const {
  const std::vector<Finding> told = sink_.last().told;
  EXPECT_EQ(told.size(), 1U) << Found();
  return told.size() == 1 ? told[0] : Finding{};
}

std::string BodyOf(const Sent& sent) {
  const std::string kind = R"({"group":)" + Text(sent.group) + R"(,"version":)" +
                           Text(sent.version) + R"(,"kind":)" + Text(sent.kind) + "}";
  const std::string object = ObjectOf(sent, sent.metadata, sent.spec, sent.status);
  const bool is_update = sent.operation == "UPDATE";
  const bool is_delete = sent.operation == "DELETE";
  std::string old = "null";
  if (is_delete) old = object;
  if (is_update) {
    old = ObjectOf(sent, sent.old_metadata, sent.old_spec.empty() ? sent.spec : sent.old_spec,
                   sent.old_status);
  }
  std::string out = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)";
  out += R"("uid":)" + Text(sent.review) + R"(,"kind":)" + kind + R"(,"requestKind":)" + kind;
  out += R"(,"name":)" + Text(sent.name);
  if (!sent.ns.empty()) out += R"(,"namespace":)" + Text(sent.ns);
  if (!sent.sub_resource.empty()) out += R"(,"subResource":)" + Text(sent.sub_resource);
  out += R"(,"operation":)" + Text(sent.operation) + R"(,"userInfo":{"username":)" +
         Text(sent.user) + R"(,"groups":["system:authenticated"]},"object":)" +
         (is_delete ? "null" : object) + R"(,"oldObject":)" + old + R"(,"dryRun":)" +
         (sent.dry_run ? "true" : "false") + R"(,"options":null}})";
  return out;
}

Sent Claim(std::string_view ns, std::string_view name, std::string_view bucket,
           std::string_view service) {
  Sent sent;
  sent.group = "platform.example.org";
  sent.version = "v1alpha1";
  sent.kind = "ObjectStorage";
  sent.ns = ns;
  sent.name = name;
  sent.uid = "uid-" + std::string(ns) + "-" + std::string(name);
  sent.review = "review-" + sent.uid;
  sent.spec = R"({"parameters":{"name":)" + Text(bucket) + R"(,"region":"us-west-2"}})";
  sent.metadata = R"(,"labels":{"app.kubernetes.io/part-of":)" + Text(service) + "}";
  return sent;
}

Sent Managed(std::string_view service, std::string_view kind, std::string_view name,
             std::string_view for_provider) {
  Sent sent;
  sent.group = std::string(service) + ".aws.upbound.io";
  sent.version = "v1beta1";
  sent.kind = kind;
  sent.name = name;
  sent.uid = "uid-" + std::string(name);
  sent.review = "review-" + sent.uid;
  sent.spec = R"({"deletionPolicy":"Delete","forProvider":)" + std::string(for_provider) +
              R"(,"managementPolicies":["*"],"providerConfigRef":{"name":"prod"}})";
  return sent;
}

Sent Bucket(std::string_view name, std::string_view bucket) {
  Sent sent = Managed("s3", "Bucket", name, R"({"region":"us-west-2"})");
  sent.metadata = R"(,"annotations":{"crossplane.io/external-name":)" + Text(bucket) + "}";
  return sent;
}

AdmissionPolicy AdmissionFixture::DefaultPolicy() {
  AdmissionPolicy policy;
  policy.catalogue = std::make_shared<const Catalogue>(Catalogue::BuiltIn());
  policy.identity.cluster = "local";
  policy.identity.catalogue = policy.catalogue.get();
  policy.identity.mappings = TourMapping(*policy.catalogue);
  policy.providers = {"system:serviceaccount:crossplane-system:provider-*"};
  policy.composite_controllers = {std::string(kCrossplane)};
  return policy;
}

AdmissionFixture::AdmissionFixture()
    : present_(DefaultPolicy()),
      service_({store_,
                clock_,
                [this] {
                  std::string number = std::to_string(++ids_);
                  for (char& digit : number) digit = static_cast<char>(digit - '0' + 'b');
                  return PublicId{std::string(13 - number.size(), 'a') + number};
                },
                {&sink_},
                [this](const AdmissionRequest& review, std::string_view ns, Deadline) {
                  asked_for_.push_back(std::string(review.user) + " " + std::string(ns));
                  return speaks_;
                },
                [this](const AdmissionRequest& review) -> Result<void> {
                  if (review.kind.kind != OwnershipCheckKind().kind) return own_objects_;
                  const Value uid = review.object.Child("metadata").Child("uid");
                  if (!review.dry_run) admitted_checks_.push_back(Uid{std::string(uid.text())});
                  return {};
                },
                [this](std::string_view asker, std::span<const Slot> slots, Deadline) {
                  return live_.Read(asker, slots);
                }},
               std::make_shared<const AdmissionPolicy>(present_)) {
  service_.SetReady(true);
}

LiveObjects ToldLiveObjects::Read(std::string_view by, std::span<const Slot> slots) {
  LiveObjects out;
  asker = by;
  for (const Slot& slot : slots) {
    asked.push_back(slot);
    if (silent) continue;
    const auto found = objects.find(slot);
    out[slot] = found == objects.end() ? std::nullopt : found->second;
  }
  return out;
}

void AdmissionFixture::ChangePolicy(const std::function<void(AdmissionPolicy&)>& change) {
  change(present_);
  service_.SetPolicy(std::make_shared<const AdmissionPolicy>(present_));
}

namespace {

HttpRequest RequestOf(std::string path, std::string body, std::string timeout) {
  HttpRequest request;
  request.method = "POST";
  request.path = std::move(path);
  request.query.emplace_back("timeout", std::move(timeout));
  request.body = std::move(body);
  return request;
}

Answered AnswerOf(const HttpResponse& response) {
  Answered out;
  out.status = response.status;
  out.body = response.body;
  for (const auto& [name, value] : response.headers) {
    if (name == "Retry-After") out.retry_after = value;
  }
  if (response.content_type != "application/json") return out;
  const auto json = nlohmann::json::parse(response.body).at("response");
  out.uid = json.at("uid").get<std::string>();
  out.allowed = json.at("allowed").get<bool>();
  if (json.contains("status")) {
    out.code = json["status"].at("code").get<int>();
    out.reason = json["status"].at("reason").get<std::string>();
    out.message = json["status"].at("message").get<std::string>();
  }
  if (json.contains("warnings")) out.warnings = json["warnings"].get<std::vector<std::string>>();
  return out;
}

}  // namespace

Answered Ask(AdmissionService& service, Endpoint endpoint, std::string body, std::string timeout) {
  HttpRequest request =
      RequestOf(std::string(PathOf(endpoint)), std::move(body), std::move(timeout));
  return AnswerOf(ValidateNow(service, request, endpoint));
}

Answered AdmissionFixture::Post(std::string body, std::string timeout) {
  return Ask(service_, Endpoint::kDeclarations, std::move(body), std::move(timeout));
}

Answered AdmissionFixture::Check(const Sent& sent) {
  return Ask(service_, Endpoint::kChecks, BodyOf(sent));
}

Answered AdmissionFixture::Deletion(std::string body) {
  return Ask(service_, Endpoint::kDeletions, std::move(body));
}

Answered AdmissionFixture::Composition(const Sent& sent) {
  return Ask(service_, Endpoint::kCompositions, BodyOf(sent));
}

Answered AdmissionFixture::Status(const Sent& sent) {
  return Ask(service_, Endpoint::kStatus, BodyOf(sent));
}

}  // namespace truce
