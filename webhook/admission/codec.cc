#include "webhook/admission/codec.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/base/result.h"
#include "webhook/admission/usual_body.h"
#include "webhook/wire/json_scan.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr NameTable<ReviewOperation::kConnect> kReviewOperations("CREATE", "UPDATE", "DELETE",
                                                                 "CONNECT");

// `text` as an error message may show it: printable ASCII, cut.
std::string Shown(std::string_view text) {
  constexpr std::size_t kShownMax = 64;
  std::string out;
  for (const char c : text.substr(0, kShownMax)) out += (c >= ' ' && c <= '~') ? c : '?';
  if (text.size() > kShownMax) out += "...";
  return out;
}

// Why `scan` refused what it read last.
Error Refusal(const JsonScan& scan) {
  switch (scan.fault()) {
    case JsonScan::Fault::kEmpty: return InvalidArgument("the body is empty");
    case JsonScan::Fault::kUtf8: return InvalidArgument("the body is not valid UTF-8");
    case JsonScan::Fault::kNumber:
      return InvalidArgument("the body is not JSON: a malformed number");
    case JsonScan::Fault::kText: return InvalidArgument("the body is not JSON: a malformed string");
    case JsonScan::Fault::kKeyTwice:
      return InvalidArgument("the key \"" + Shown(scan.twice()) + "\" appears twice in one object");
    case JsonScan::Fault::kNone:
    case JsonScan::Fault::kOther: break;
  }
  return InvalidArgument("the body is not JSON");
}

// A member of `object` that must be a string, or null, which counts as empty. Its name in messages
// is `where` and its key together.
Result<std::string_view> Text(Value object, std::string_view where, std::string_view key) {
  const Value value = object.Child(key);
  if (value.is_string() || value.empty()) return value.text();
  return InvalidArgument(std::string(where).append(key) + " is not a string");
}

// A member of the request that must be an object; null counts as missing.
Result<Value> Member(Value request, std::string_view key) {
  const Value value = request.Child(key);
  if (value.empty()) return Value();
  if (value.is_object()) return value;
  return InvalidArgument("request." + std::string(key) + " is not an object");
}

Result<GroupVersionKind> ReadKind(Value kind, std::string_view where) {
  GroupVersionKind out;
  TRUCE_ASSIGN_OR_RETURN(out.group, Text(kind, where, "group"));
  TRUCE_ASSIGN_OR_RETURN(out.version, Text(kind, where, "version"));
  TRUCE_ASSIGN_OR_RETURN(out.kind, Text(kind, where, "kind"));
  return out;
}

Result<void> ReadUser(Value user, AdmissionRequest& out) {
  TRUCE_ASSIGN_OR_RETURN(out.user, Text(user, "request.userInfo.", "username"));
  const Value groups = user.Child("groups");
  if (groups.empty()) return {};
  if (!groups.is_array()) return InvalidArgument("request.userInfo.groups is not a list");
  out.groups.reserve(groups.size());
  for (Value group = groups.first(); group.exists(); group = groups.next(group)) {
    if (!group.is_string() && !group.empty()) {
      return InvalidArgument("request.userInfo.groups is not a string");
    }
    out.groups.push_back(group.text());
  }
  return {};
}

std::optional<ReviewOperation> OperationFromName(std::string_view name) {
  for (const auto operation : {ReviewOperation::kCreate, ReviewOperation::kUpdate,
                               ReviewOperation::kDelete, ReviewOperation::kConnect}) {
    if (Name(operation) == name) return operation;
  }
  return std::nullopt;
}

// The request's fields but for its objects.
Result<void> ReadEnvelope(Value request, AdmissionRequest& out) {
  constexpr std::string_view kRequest = "request.";
  TRUCE_ASSIGN_OR_RETURN(out.uid, Text(request, kRequest, "uid"));
  if (out.uid.empty()) return InvalidArgument("request.uid is missing");
  if (out.uid.size() > kReviewUidBytesMax)
    return InvalidArgument("request.uid is longer than 128 bytes");
  TRUCE_ASSIGN_OR_RETURN(const auto name, Text(request, kRequest, "operation"));
  const auto operation = OperationFromName(name);
  if (!operation) {
    return InvalidArgument("request.operation \"" + Shown(name) +
                           "\" is not CREATE, UPDATE, DELETE or CONNECT");
  }
  out.operation = *operation;
  TRUCE_ASSIGN_OR_RETURN(const Value kind, Member(request, "kind"));
  TRUCE_ASSIGN_OR_RETURN(out.kind, ReadKind(kind, "request.kind."));
  if (out.kind.kind.empty()) return InvalidArgument("request.kind is missing");
  TRUCE_ASSIGN_OR_RETURN(const Value request_kind, Member(request, "requestKind"));
  out.request_kind = out.kind;
  if (request_kind.exists()) {
    TRUCE_ASSIGN_OR_RETURN(out.request_kind, ReadKind(request_kind, "request.requestKind."));
  }
  TRUCE_ASSIGN_OR_RETURN(const Value resource, Member(request, "resource"));
  TRUCE_ASSIGN_OR_RETURN(out.resource, Text(resource, "request.resource.", "resource"));
  TRUCE_ASSIGN_OR_RETURN(out.sub_resource, Text(request, kRequest, "subResource"));
  TRUCE_ASSIGN_OR_RETURN(out.name, Text(request, kRequest, "name"));
  TRUCE_ASSIGN_OR_RETURN(out.ns, Text(request, kRequest, "namespace"));
  TRUCE_ASSIGN_OR_RETURN(const Value user, Member(request, "userInfo"));
  TRUCE_RETURN_IF_ERROR(ReadUser(user, out));
  const Value dry_run = request.Child("dryRun");
  if (!dry_run.empty() && dry_run.kind() != Document::Kind::kBool) {
    return InvalidArgument("request.dryRun is not true or false");
  }
  out.dry_run = dry_run.is_true();
  return {};
}

// The request of the review that `review` is, or why it is none.
Result<Value> RequestIn(Value review) {
  if (!review.is_object()) return InvalidArgument("the body is not an object");
  TRUCE_ASSIGN_OR_RETURN(const auto version, Text(review, {}, "apiVersion"));
  TRUCE_ASSIGN_OR_RETURN(const auto kind, Text(review, {}, "kind"));
  if (kind != "AdmissionReview")
    return InvalidArgument("kind \"" + Shown(kind) + "\" is not AdmissionReview");
  if (version != "admission.k8s.io/v1") {
    return InvalidArgument("apiVersion \"" + Shown(version) + "\" is not admission.k8s.io/v1");
  }
  const Value request = review.Child("request");
  if (request.empty()) return InvalidArgument("request is missing");
  if (!request.is_object()) return InvalidArgument("request is not an object");
  return request;
}

// The object must be the one that the request names: then the judged one is the stored one.
Result<void> CheckObject(Value root, const AdmissionRequest& request, std::string_view where) {
  const std::string_view version = root.Child("apiVersion").text();
  const auto slash = version.find('/');
  const auto group = slash == std::string_view::npos ? "" : version.substr(0, slash);
  const auto plain = slash == std::string_view::npos ? version : version.substr(slash + 1);
  if (root.Child("kind").text() != request.kind.kind || group != request.kind.group ||
      plain != request.kind.version) {
    return InvalidArgument(std::string(where) + " is not of the kind that request.kind says");
  }
  const std::string_view ns = root.Child("metadata").Child("namespace").text();
  if (!ns.empty() && !request.ns.empty() && ns != request.ns) {
    return InvalidArgument(std::string(where) +
                           " is not in the namespace that request.namespace says");
  }
  return {};
}

bool IsJudged(const AdmissionRequest& request) {
  const bool is_read = request.sub_resource.empty() || request.sub_resource == "status";
  return is_read && request.operation != ReviewOperation::kConnect;
}

// The objects that the operation brings. `twins`: the old one is the same as the other.
Result<void> ReadObjects(Value request, bool twins, AdmissionRequest& out) {
  TRUCE_ASSIGN_OR_RETURN(Value object, Member(request, "object"));
  TRUCE_ASSIGN_OR_RETURN(Value old_object, Member(request, "oldObject"));
  if (twins) old_object = object;
  if (!IsJudged(out)) return {};
  if (out.operation == ReviewOperation::kDelete) object = {};
  if (out.operation == ReviewOperation::kCreate) old_object = {};
  if (out.operation != ReviewOperation::kDelete && !object.exists()) {
    return InvalidArgument("request.object is missing");
  }
  if (out.operation == ReviewOperation::kUpdate && !old_object.exists()) {
    return InvalidArgument("request.oldObject is missing");
  }
  if (object.exists()) TRUCE_RETURN_IF_ERROR(CheckObject(object, out, "request.object"));
  if (old_object.exists() && !twins) {
    TRUCE_RETURN_IF_ERROR(CheckObject(old_object, out, "request.oldObject"));
  }
  out.object = object;
  out.old_object = old_object;
  return {};
}

std::string_view ReasonOf(int code) { return code == 422 ? "Invalid" : "Forbidden"; }

}  // namespace

std::string_view Name(ReviewOperation operation) { return kReviewOperations.Of(operation); }

struct ReviewReader::Impl {
  UsualBody usual;
  JsonScan scan{JsonScan::Keys::kOnce};  // of other bodies
  Document document;                     // of the body read last

  // Builds the document of a usual body. False: it is another one.
  bool BuildUsual(std::string_view body) {
    if (body.size() > kBuiltBytes) return false;
    Builder builder(std::move(document));
    if (!usual.Read(body, builder)) return false;
    document = builder.Finish();
    return true;
  }

  // Builds the document of any body.
  Result<void> Build(std::string_view body) {
    Builder builder(std::move(document));
    if (!scan.Read(body, {}, builder)) return Refusal(scan);
    document = builder.Finish();
    return {};
  }
};

ReviewReader::ReviewReader() : impl_(std::make_unique<Impl>()) {}
ReviewReader::~ReviewReader() = default;
ReviewReader::ReviewReader(ReviewReader&&) noexcept = default;
ReviewReader& ReviewReader::operator=(ReviewReader&&) noexcept = default;

Result<AdmissionRequest> ReviewReader::Read(std::string& body) try {
  if (body.starts_with("\xEF\xBB\xBF"))
    return InvalidArgument("the body begins with a byte order mark");
  body.reserve(body.size() + kScanPadding);
  if (body.size() > kReviewBytesMax) return InvalidArgument("the body is larger than 8 MiB");
  const bool is_usual = impl_->BuildUsual(body);
  if (!is_usual) TRUCE_RETURN_IF_ERROR(impl_->Build(body));
  AdmissionRequest out;
  TRUCE_ASSIGN_OR_RETURN(const Value request, RequestIn(impl_->document.root()));
  TRUCE_RETURN_IF_ERROR(ReadEnvelope(request, out));
  TRUCE_RETURN_IF_ERROR(ReadObjects(request, is_usual && impl_->usual.twins(), out));
  return out;
} catch (const std::bad_alloc&) {
  return Error{ErrorCode::kResourceExhausted, "out of memory"};
}

// By hand, in one pass, without a tree.
std::string WriteReview(const AdmissionAnswer& answer) {
  const bool allowed = answer.verdict == Verdict::kAllowed;
  std::string out;
  std::size_t room = 256 + answer.uid.size() + answer.message.size() + answer.message.size() / 8;
  for (const auto& warning : answer.warnings) room += warning.size() + 8;
  out.reserve(room);
  out += R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":)";
  AppendJsonString(answer.uid, out);
  out += allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  if (!allowed) {
    std::array<char, 12> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), answer.code).ptr;
    out += R"(,"status":{"status":"Failure","message":)";
    AppendJsonString(answer.message, out);
    out += R"(,"reason":")";
    out += ReasonOf(answer.code);
    out += R"(","code":)";
    out.append(digits.data(), end);
    out += '}';
  }
  if (!answer.warnings.empty()) {
    out += R"(,"warnings":[)";
    bool first = true;
    for (const auto& warning : answer.warnings) {
      if (!first) out += ',';
      first = false;
      AppendJsonString(warning, out);
    }
    out += ']';
  }
  out += "}}";
  return out;
}

}  // namespace truce
