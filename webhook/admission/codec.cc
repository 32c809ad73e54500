#include "webhook/admission/codec.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "registry/base/name_table.h"
#include "registry/base/result.h"
#include "webhook/admission/twins.h"
#include "webhook/admission/unread_fields.h"
#include "webhook/wire/json_reader.h"
#include "webhook/wire/json_writer.h"

namespace truce {
namespace {

constexpr NameTable<ReviewOperation::kConnect> kReviewOperations("CREATE", "UPDATE", "DELETE",
                                                                 "CONNECT");

namespace dom = simdjson::dom;

// managedFields can be most of a body, and no rule reads it: what stands in it refuses nothing
// (R4).
constexpr std::array<std::string_view, 1> kUnread = {"managedFields"};
// The number of nobody's: what a body says of itself in this place is something else.
std::uint64_t NewMark() {
  std::random_device random;
  return std::uint64_t{1} << 63U | std::uint64_t{random()} << 32U | random();
}
// Bytes of body for which a new reader has room.
constexpr std::size_t kCapacityMin = 16 * 1024;
// Readers of larger bodies read one and end.
constexpr std::size_t kUsualCapacity = 64 * 1024;

// `text` as it may stand in an error message: printable ASCII, cut.
std::string Shown(std::string_view text) {
  constexpr std::size_t kShownMax = 64;
  std::string out;
  for (const char c : text.substr(0, kShownMax)) out += (c >= ' ' && c <= '~') ? c : '?';
  if (text.size() > kShownMax) out += "...";
  return out;
}

Error ParseFailure(simdjson::error_code code) {
  switch (static_cast<int>(code)) {
    case simdjson::EMPTY: return InvalidArgument("the body is empty");
    case simdjson::UTF8_ERROR: return InvalidArgument("the body is not valid UTF-8");
    case simdjson::DEPTH_ERROR:
      return InvalidArgument("the body is nested deeper than " + std::to_string(kReviewDepthMax) +
                             " levels");
    case simdjson::CAPACITY: return InvalidArgument("the body is larger than 8 MiB");
    case simdjson::NUMBER_ERROR:
      return InvalidArgument("the body is not JSON: a number out of range or malformed");
    case simdjson::STRING_ERROR:
    case simdjson::UNESCAPED_CHARS:
    case simdjson::UNCLOSED_STRING:
      return InvalidArgument("the body is not JSON: a malformed string");
    case simdjson::MEMALLOC: return Error{ErrorCode::kResourceExhausted, "out of memory"};
    default: return InvalidArgument("the body is not JSON");
  }
}

// By value: a range of a temporary result would dangle.
dom::object AsObject(dom::element value) {
  dom::object object;
  TRUCE_ASSERT(value.get_object().get(object) == simdjson::SUCCESS);
  return object;
}

// The words of the parser's tree: what kReviewWeightMax is about.
std::size_t WeightOf(const dom::document& document) {
  return document.tape[0] & simdjson::internal::JSON_VALUE_MASK;
}

// Why `walk` refused what it read last.
Error Refusal(const TreeWalk& walk) {
  if (!walk.twice()) return ParseFailure(simdjson::DEPTH_ERROR);
  return InvalidArgument("the key \"" + Shown(*walk.twice()) + "\" appears twice in one object");
}

// Members of the request that this codec reads.
struct Envelope {
  std::optional<dom::element> twin;  // both objects, which the frame is without
  dom::element kind;
  dom::element resource;
  dom::element request_kind;
  dom::element user_info;
  dom::element object;
  dom::element old_object;
  std::string_view operation;
  bool has_kind = false;
  bool has_resource = false;
  bool has_request_kind = false;
  bool has_user_info = false;
  bool has_object = false;
  bool has_old_object = false;
};

// A member that must be a string, or null, which counts as empty. Its name in messages is `where`
// and `key` together.
Result<std::string_view> Text(dom::element value, std::string_view where,
                              std::string_view key = {}) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS || value.is_null()) return text;
  return InvalidArgument(std::string(where).append(key) + " is not a string");
}

// A member of the request that must be an object, or null: false.
Result<bool> Member(dom::element value, std::string_view key, dom::element& out) {
  if (value.is_null()) return false;
  if (!value.is_object())
    return InvalidArgument("request." + std::string(key) + " is not an object");
  out = value;
  return true;
}

Result<GroupVersionKind> ReadKind(dom::element value, std::string_view where) {
  GroupVersionKind out;
  for (const auto field : AsObject(value)) {
    std::string_view* to = nullptr;
    if (field.key == "group") to = &out.group;
    if (field.key == "version") to = &out.version;
    if (field.key == "kind") to = &out.kind;
    if (to == nullptr) continue;
    TRUCE_ASSIGN_OR_RETURN(*to, Text(field.value, where));
  }
  return out;
}

Result<void> ReadUser(dom::element value, AdmissionRequest& out) {
  for (const auto field : AsObject(value)) {
    if (field.key == "username") {
      TRUCE_ASSIGN_OR_RETURN(out.user, Text(field.value, "request.userInfo.username"));
    } else if (field.key == "groups" && !field.value.is_null()) {
      dom::array groups;
      if (field.value.get_array().get(groups) != simdjson::SUCCESS) {
        return InvalidArgument("request.userInfo.groups is not a list");
      }
      out.groups.reserve(groups.size());
      for (const dom::element group : groups) {
        TRUCE_ASSIGN_OR_RETURN(const auto text, Text(group, "request.userInfo.groups"));
        out.groups.push_back(text);
      }
    }
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

// The mark that stands for both objects; an error only says that they are not there.
Result<void> ReadTwins(std::string_view key, dom::element value, Envelope& envelope) {
  TRUCE_ASSIGN_OR_RETURN(const std::string_view mark, Text(value, key));
  if (key != "object" || mark != kTwinMark) return InvalidArgument("not the twins");
  envelope.object = envelope.old_object = *envelope.twin;
  envelope.has_object = envelope.has_old_object = true;
  return {};
}

// Reads one member of the request into `out` or `envelope`.
Result<void> ReadMember(std::string_view key, dom::element value, Envelope& envelope,
                        AdmissionRequest& out) {
  const auto text = [&](std::string_view& to) -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(to, Text(value, "request.", key));
    return {};
  };
  const auto member = [&](bool& has, dom::element& to) -> Result<void> {
    TRUCE_ASSIGN_OR_RETURN(has, Member(value, key, to));
    return {};
  };
  if (envelope.twin && (key == "object" || key == "oldObject")) {
    return ReadTwins(key, value, envelope);
  }
  if (key == "uid") return text(out.uid);
  if (key == "operation") return text(envelope.operation);
  if (key == "subResource") return text(out.sub_resource);
  if (key == "name") return text(out.name);
  if (key == "namespace") return text(out.ns);
  if (key == "kind") return member(envelope.has_kind, envelope.kind);
  if (key == "resource") return member(envelope.has_resource, envelope.resource);
  if (key == "requestKind") return member(envelope.has_request_kind, envelope.request_kind);
  if (key == "userInfo") return member(envelope.has_user_info, envelope.user_info);
  if (key == "object") return member(envelope.has_object, envelope.object);
  if (key == "oldObject") return member(envelope.has_old_object, envelope.old_object);
  if (key == "dryRun" && !value.is_null()) {
    if (value.get_bool().get(out.dry_run) != simdjson::SUCCESS) {
      return InvalidArgument("request.dryRun is not true or false");
    }
  }
  return {};
}

// The request's fields but for its objects.
Result<Envelope> ReadEnvelope(dom::object request, std::optional<dom::element> twin,
                              AdmissionRequest& out) {
  Envelope envelope{.twin = twin};
  for (const auto field : request) {
    TRUCE_RETURN_IF_ERROR(ReadMember(field.key, field.value, envelope, out));
  }
  if (out.uid.empty()) return InvalidArgument("request.uid is missing");
  if (out.uid.size() > kReviewUidBytesMax)
    return InvalidArgument("request.uid is longer than 128 bytes");
  const auto operation = OperationFromName(envelope.operation);
  if (!operation) {
    return InvalidArgument("request.operation \"" + Shown(envelope.operation) +
                           "\" is not CREATE, UPDATE, DELETE or CONNECT");
  }
  out.operation = *operation;
  if (envelope.has_kind) {
    TRUCE_ASSIGN_OR_RETURN(out.kind, ReadKind(envelope.kind, "request.kind"));
  }
  if (out.kind.kind.empty()) return InvalidArgument("request.kind is missing");
  out.request_kind = out.kind;
  if (envelope.has_request_kind) {
    TRUCE_ASSIGN_OR_RETURN(out.request_kind,
                           ReadKind(envelope.request_kind, "request.requestKind"));
  }
  if (envelope.has_resource) {
    for (const auto field : AsObject(envelope.resource)) {
      if (field.key != "resource") continue;
      TRUCE_ASSIGN_OR_RETURN(out.resource, Text(field.value, "request.resource"));
    }
  }
  if (envelope.has_user_info) TRUCE_RETURN_IF_ERROR(ReadUser(envelope.user_info, out));
  return envelope;
}

// The review that `root` is, or why it is none; gives its request.
Result<dom::object> ReadFrame(dom::element root) {
  dom::object review;
  if (root.get_object().get(review) != simdjson::SUCCESS)
    return InvalidArgument("the body is not an object");
  std::string_view version;
  std::string_view kind;
  std::optional<dom::element> request;
  for (const auto field : review) {
    if (field.key == "apiVersion") {
      TRUCE_ASSIGN_OR_RETURN(version, Text(field.value, "apiVersion"));
    } else if (field.key == "kind") {
      TRUCE_ASSIGN_OR_RETURN(kind, Text(field.value, "kind"));
    } else if (field.key == "request" && !field.value.is_null()) {
      request = field.value;
    }
  }
  if (kind != "AdmissionReview")
    return InvalidArgument("kind \"" + Shown(kind) + "\" is not AdmissionReview");
  if (version != "admission.k8s.io/v1") {
    return InvalidArgument("apiVersion \"" + Shown(version) + "\" is not admission.k8s.io/v1");
  }
  if (!request) return InvalidArgument("request is missing");
  dom::object out;
  if (request->get_object().get(out) != simdjson::SUCCESS)
    return InvalidArgument("request is not an object");
  return out;
}

// An object must be what the request says it is: what decides and what is stored are then the same.
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

// Which of the two objects the operation must bring.
Result<void> CheckPresence(const Envelope& envelope, const AdmissionRequest& request) {
  if (!IsJudged(request)) return {};
  if (request.operation != ReviewOperation::kDelete && !envelope.has_object) {
    return InvalidArgument("request.object is missing");
  }
  if (request.operation == ReviewOperation::kUpdate && !envelope.has_old_object) {
    return InvalidArgument("request.oldObject is missing");
  }
  return {};
}

std::string_view ReasonOf(int code) { return code == 422 ? "Invalid" : "Forbidden"; }

}  // namespace

std::string_view Name(ReviewOperation operation) { return kReviewOperations.Of(operation); }

struct ReviewReader::Impl {
  dom::parser parser{kReviewBytesMax};
  dom::document document;  // of the body, or of its twin
  // Of a body with twins.
  std::string frame_text;
  dom::document frame;
  // Of what is parsed without its managedFields.
  const std::uint64_t mark = NewMark();
  const std::string mark_text = std::to_string(mark);
  std::string cut_text;
  TreeWalk walk{{.depth_max = kReviewDepthMax,
                 .metadata_depth = 4,  // review > request > object > metadata
                 .left_out = kUnread,
                 .mark = mark}};
  // Of the request read last.
  Document object;
  Document old_object;

  // Makes room for a body of `size` bytes. Sizes are rounded up, so that reviews that grow a little
  // do not allocate anew each time.
  bool Reserve(std::size_t size) {
    std::size_t capacity = kCapacityMin;
    while (capacity < size) capacity *= 2;
    capacity = std::max({capacity, parser.capacity(), document.capacity()});
    if (document.capacity() < capacity && document.allocate(capacity) != simdjson::SUCCESS) {
      return false;
    }
    // The parser lets an innermost empty list or object pass at one more level: the walk does not.
    return parser.allocate(capacity, kReviewDepthMax + 1) == simdjson::SUCCESS;
  }

  // Of a large body, with room at once: its pages cost nothing before they are written to.
  Builder BuilderIn(Document& used) const {
    Builder builder(std::move(used));
    if (parser.capacity() > kUsualCapacity) builder.Reserve(WeightOf(document));
    return builder;
  }

  // Checks the whole body, building the objects that are judged on the way.
  Result<void> ReadTree(dom::element root, const Envelope& envelope, AdmissionRequest& out) {
    const bool judged = IsJudged(out);
    const bool create = out.operation == ReviewOperation::kCreate;
    const bool remove = out.operation == ReviewOperation::kDelete;
    const dom::object review = AsObject(root);
    if (!walk.CheckKeys(review)) return Refusal(walk);
    for (const auto field : review) {
      if (field.key != "request") {
        if (!walk.Read(field.value, 2, nullptr)) return Refusal(walk);
        continue;
      }
      const dom::object request = AsObject(field.value);
      if (!walk.CheckKeys(request)) return Refusal(walk);
      for (const auto member : request) {
        if (envelope.twin && member.key == "object") {
          TRUCE_RETURN_IF_ERROR(ReadObject(*envelope.twin, object, out.object));
          out.old_object = out.object;
          continue;
        }
        const bool is_object = judged && !remove && member.key == "object";
        const bool is_old = judged && !create && member.key == "oldObject";
        if ((!is_object && !is_old) || !member.value.is_object()) {
          if (!walk.Read(member.value, 3, nullptr)) return Refusal(walk);
          continue;
        }
        TRUCE_RETURN_IF_ERROR(is_object ? ReadObject(member.value, object, out.object)
                                        : ReadObject(member.value, old_object, out.old_object));
      }
    }
    return {};
  }

  Result<AdmissionRequest> ReadRequest(dom::element root, std::optional<dom::element> twin) {
    AdmissionRequest out;
    TRUCE_ASSIGN_OR_RETURN(const dom::object request, ReadFrame(root));
    TRUCE_ASSIGN_OR_RETURN(const Envelope envelope, ReadEnvelope(request, twin, out));
    TRUCE_RETURN_IF_ERROR(CheckPresence(envelope, out));
    TRUCE_RETURN_IF_ERROR(ReadTree(root, envelope, out));
    if (out.object.exists()) {
      TRUCE_RETURN_IF_ERROR(CheckObject(out.object, out, "request.object"));
    }
    if (out.old_object.exists() && !twin) {
      TRUCE_RETURN_IF_ERROR(CheckObject(out.old_object, out, "request.oldObject"));
    }
    return out;
  }

  // The request of an update whose objects are the same bytes. Nothing: to be read as any other
  // body is, which says what is wrong with it.
  std::optional<AdmissionRequest> ReadTwins(std::string_view body) {
    const std::optional<Twins> twins = FindTwins(body);
    if (!twins) return std::nullopt;
    WriteFrame(*twins, frame_text);
    frame_text.reserve(frame_text.size() + simdjson::SIMDJSON_PADDING);
    const bool fits = frame_text.size() <= kCapacityMin &&
                      (frame.capacity() > 0 || frame.allocate(kCapacityMin) == simdjson::SUCCESS);
    dom::element root;
    dom::element twin;
    const Cut cut = CutOf(twins->twin);
    if (!fits || !Parse(frame_text, frame, root) || !Parse(cut.text, document, twin)) {
      return std::nullopt;
    }
    // The frame has a mark where the body has a key; each root weighs two.
    const std::size_t weight = WeightOf(frame) + 2 * (WeightOf(document) - 2);
    if (!twin.is_object() || weight > kReviewWeightMax) return std::nullopt;
    Result<AdmissionRequest> request = ReadRequest(root, twin);
    const bool good =
        walk.TakeMarks() == cut.count && request.ok() && request.value().old_object.exists() &&
        request.value().operation == ReviewOperation::kUpdate && IsJudged(request.value());
    return good ? std::optional(std::move(request).value()) : std::nullopt;
  }

  struct Cut {
    std::string_view text;
    std::size_t count;
  };
  // Of a usual body, whose weight cannot be too much; it has room behind it.
  Cut CutOf(std::string_view text) {
    walk.TakeMarks();
    if (text.size() > kUsualCapacity) return {text, 0};
    const std::size_t count = CutUnread(text, mark_text, cut_text);
    if (count == 0) return {text, 0};
    cut_text.reserve(cut_text.size() + simdjson::SIMDJSON_PADDING);
    return {cut_text, count};
  }

  // The request of a body that has managedFields where nothing reads them, and nowhere else.
  // Nothing: as above.
  std::optional<AdmissionRequest> ReadWithoutUnread(std::string_view body) {
    const Cut cut = CutOf(body);
    dom::element root;
    if (cut.count == 0 || !Parse(cut.text, document, root)) return std::nullopt;
    Result<AdmissionRequest> request = ReadRequest(root, std::nullopt);
    const bool good = walk.TakeMarks() == cut.count && request.ok();
    return good ? std::optional(std::move(request).value()) : std::nullopt;
  }

  bool Parse(std::string_view text, dom::document& to, dom::element& out) {
    return parser.parse_into_document(to, text.data(), text.size(), false).get(out) ==
           simdjson::SUCCESS;
  }

  // `value`, which is an object of the request, as `to` and its root.
  Result<void> ReadObject(dom::element value, Document& to, Value& out) {
    Builder builder = BuilderIn(to);
    if (!walk.Read(value, 3, &builder)) return Refusal(walk);
    to = builder.Finish();
    out = to.root();
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
  body.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  if (body.size() > kReviewBytesMax) return ParseFailure(simdjson::CAPACITY);
  if (!impl_->Reserve(body.size())) return Error{ErrorCode::kResourceExhausted, "out of memory"};
  if (auto request = impl_->ReadTwins(body)) return *std::move(request);
  if (auto request = impl_->ReadWithoutUnread(body)) return *std::move(request);
  dom::element root;
  const auto code =
      impl_->parser.parse_into_document(impl_->document, body.data(), body.size(), false).get(root);
  if (code != simdjson::SUCCESS) return ParseFailure(code);
  if (WeightOf(impl_->document) > kReviewWeightMax) {
    return InvalidArgument("the body has too many values: more than " +
                           std::to_string(kReviewWeightMax) +
                           ", numbers, lists and objects counted twice");
  }
  return impl_->ReadRequest(root, std::nullopt);
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
