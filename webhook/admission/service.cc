#include "webhook/admission/service.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "policies/check_judgement.h"
#include "policies/judge.h"
#include "webhook/admission/codec.h"
#include "webhook/admission/ownership_check.h"
#include "webhook/admission/review_case.h"

namespace truce {
namespace {

constexpr int kDeniedCode = 403;                        // of a denial in the review's answer
constexpr std::chrono::milliseconds kReplyMargin{100};  // for the way back through TLS and queues
constexpr std::chrono::seconds kTimeoutDefault{10};     // of the API server
constexpr std::chrono::seconds kTimeoutMax{30};         // an API server allows no more
// Bodies up to this size share their thread's reader; larger ones get one of their own, so that no
// thread keeps the buffers of the largest body it ever saw.
constexpr std::size_t kSharedReaderBytesMax = 64 * 1024;

UnknownCause CauseOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable: return UnknownCause::kStoreUnavailable;
    case ErrorCode::kResourceExhausted: return UnknownCause::kStoreFull;
    case ErrorCode::kDeadlineExceeded: return UnknownCause::kDeadline;
    case ErrorCode::kDataLoss: return UnknownCause::kStoreDamaged;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kInternal: break;
  }
  return UnknownCause::kInternal;
}

// Why nothing can be said, in words that the API server shows its user.
std::string_view Explain(UnknownCause cause) {
  switch (cause) {
    case UnknownCause::kNotReady: return "truce is not ready yet, try again";
    case UnknownCause::kStoreUnavailable: return "truce cannot use its store now, try again";
    case UnknownCause::kStoreFull: return "truce has too much to write now, try again";
    case UnknownCause::kStoreDamaged: return "truce's store is damaged; see its log";
    case UnknownCause::kDeadline: return "truce had too little time to answer, try again";
    case UnknownCause::kOverload: return "truce has too much to do now, try again";
    case UnknownCause::kUnlisted:
      return "truce has not seen all objects of these kinds yet, try again";
    case UnknownCause::kException:
    case UnknownCause::kInternal: break;
  }
  return "truce failed; see its log";
}

// The seconds of `timeout=5s`; nothing when it is not of that form.
std::optional<std::chrono::seconds> TimeoutOf(const HttpRequest& request) {
  std::string_view text = request.Query("timeout").value_or(std::string_view());
  if (!text.ends_with('s')) return std::nullopt;
  text.remove_suffix(1);
  int seconds = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (code != std::errc() || end != text.data() + text.size() || seconds < 1) return std::nullopt;
  return std::min(std::chrono::seconds(seconds), kTimeoutMax);
}

bool Refuses(const Finding& finding) { return finding.mode == Mode::kEnforce; }

// A judgement lent to the store, which may still run it when the caller's time is over.
struct Shared {
  explicit Shared(Judgement&& lent) : judgement(std::move(lent)) {}

  Judgement judgement;
  Decision decision;  // without its changes, which the store has
  bool wrote = false;
};

// The rule about attachments reads their parents' owners, which must not change meanwhile.
void LockParents(const ObjectFacts& object, const Catalogue& catalogue,
                 std::vector<KeyText>& keys) {
  for (const DeclaredResource& resource : object.resources) {
    const TypeSpec* type = catalogue.FindType(resource.identity.type);
    if (type == nullptr || !type->attachment) continue;
    if (auto parent = ParentKeyOf(resource.identity, *type, catalogue)) {
      keys.push_back(*std::move(parent));
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

// As the record of the review tells them.
std::string JudgedKeys(const ObjectFacts& object, const Decision& decision) {
  constexpr std::size_t kNamedMax = 16;
  constexpr std::size_t kUsualBytes = 128;
  const std::size_t count = decision.added.size();
  std::string out;
  out.reserve(kUsualBytes);
  for (std::size_t i = 0; i < std::min(count, kNamedMax); ++i) {
    out.append(i == 0 ? "" : " ").append(object.resources[decision.added[i]].key.text);
  }
  if (count > kNamedMax) {
    out.append(" and ").append(std::to_string(count - kNamedMax)).append(" more");
  }
  return out;
}

// One call from begin to end: what it says of itself, and its answer. External synchronization.
class Call final : public std::enable_shared_from_this<Call> {
 public:
  // About declarations `deferral` is used by Run; about anything else it may be null.
  Call(AdmissionPorts& ports, std::shared_ptr<const AdmissionPolicy> policy, Endpoint topic,
       HttpDeferral* deferral = nullptr)
      : ports_(ports), policy_(std::move(policy)), deferral_(deferral), topic_(topic) {}

  // Nothing: the answer comes by `deferral`. Never throws.
  std::optional<HttpResponse> Run(HttpRequest& request, bool ready) {
    return Reported([&]() -> std::optional<HttpResponse> {
      static thread_local ReviewReader shared;
      if (request.body.size() <= kSharedReaderBytesMax) return Read(request, shared, ready);
      ReviewReader own;
      return Read(request, own, ready);
    });
  }

 private:
  // The one place where exceptions end: allocation failure, or a library's.
  template <typename Answer>
  std::optional<HttpResponse> Reported(const Answer& answer) {
    std::optional<HttpResponse> response;
    try {
      response = answer();
    } catch (const std::exception& e) {
      response = Unknown(UnknownCause::kException, e.what());
    } catch (...) {
      response = Unknown(UnknownCause::kException, "unknown exception");
    }
    if (response.has_value()) Report(std::chrono::steady_clock::now() - begin_);
    return response;
  }

  HttpResponse Unknown(UnknownCause cause, std::string_view detail) {
    record_.verdict = Verdict::kUnknown;
    record_.unknown = cause;
    record_.code = 503;
    SetDetail(detail);
    HttpResponse response = PlainText(record_.code, Explain(cause));
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }

  void Report(std::chrono::nanoseconds elapsed) {
    record_.elapsed = elapsed;
    record_.findings = findings_;
    record_.keys = keys_;
    record_.prove = decision_.prove;
    record_.detail = detail_;
    record_.composite = composite_ ? &*composite_ : nullptr;
    record_.denial = denial_;
    for (ReviewSink* sink : ports_.sinks) sink->OnReview(record_);
  }

  std::optional<HttpResponse> Read(HttpRequest& request, ReviewReader& reader, bool ready) {
    Result<AdmissionRequest> parsed = reader.Read(request.body);
    if (!parsed.ok()) {
      if (parsed.error().code != ErrorCode::kInvalidArgument) {
        return Unknown(UnknownCause::kException, parsed.error().message);
      }
      return BadRequest(parsed.error().message);
    }
    const AdmissionRequest& review = parsed.value();
    Describe(review);
    std::optional<HttpResponse> response;
    switch (topic_) {
      case Endpoint::kDeclarations: response = Judge(review, BudgetOf(request), ready); break;
      case Endpoint::kDeletions:
        response = review.operation == ReviewOperation::kDelete
                       ? Judge(review, BudgetOf(request), ready)
                       : Allowed(review.uid);
        break;
      case Endpoint::kChecks:
      case Endpoint::kPolicies: response = JudgeOwn(review, BudgetOf(request), ready); break;
      case Endpoint::kStatus: response = JudgeStatusOf(review); break;
    }
    // The record's views end with the reader's next document, not before the report.
    KeepDescription();
    return response;
  }

  // Whoever registered it for other kinds or operations is answered that nothing stands against it.
  HttpResponse JudgeOwn(const AdmissionRequest& review, Deadline deadline, bool ready) {
    const GroupKind& check = OwnershipCheckKind();
    if (review.kind.group != check.group || !review.sub_resource.empty()) {
      return Allowed(review.uid);
    }
    const bool is_creation = review.operation == ReviewOperation::kCreate;
    if (review.kind.kind != check.kind) {
      const bool is_new = is_creation || ChangesSpec(review);
      return is_new ? JudgeOther(review) : Allowed(review.uid);
    }
    const bool asks = is_creation && topic_ == Endpoint::kChecks;
    return asks ? JudgeCheck(review, deadline, ready) : Allowed(review.uid);
  }

  // Needs no registry, so it is answered whether or not there is one.
  HttpResponse JudgeStatusOf(const AdmissionRequest& review) {
    const std::optional<StatusCase> status = StatusCaseOf(review, *policy_);
    if (!status) return Allowed(review.uid);
    findings_ = JudgeStatus(*status, *policy_, ports_.clock.Now());
    const bool denies = std::any_of(findings_.begin(), findings_.end(), Refuses);
    return denies ? Denied(review.uid, kDeniedCode) : Allowed(review.uid);
  }

  HttpResponse JudgeCheck(const AdmissionRequest& review, Deadline deadline, bool ready) {
    if (!ready) return Unknown(UnknownCause::kNotReady, {});
    Result<std::vector<ReviewCase>> parts = QuestionsOf(review, *policy_);
    if (!parts.ok()) return Unfit(review.uid, parts.error());
    CheckJudgement judgement(std::move(parts).value(), *policy_, ports_.clock.Now());
    for (const std::string& ns : judgement.other_namespaces()) {
      const Result<bool> speaks =
          ports_.speaks_for ? ports_.speaks_for(review, ns, deadline) : Result<bool>(false);
      if (!speaks.ok()) return Unknown(CauseOf(speaks.error().code), speaks.error().message);
      if (!speaks.value()) return Unfit(review.uid, Stranger(review.user, ns));
    }
    const auto look = [&](const Facts& facts) { judgement.Judge(facts, ports_.ids); };
    const Result<void> read = ports_.store.Read(look, deadline);
    if (!read.ok()) return Unknown(CauseOf(read.error().code), read.error().message);
    if (!judgement.unlisted().empty()) return Unlisted(judgement.unlisted());
    findings_ = judgement.findings();
    if (!judgement.allowed()) return Denied(review.uid, kDeniedCode);
    if (!review.dry_run && ports_.on_check_admitted) {
      const Value uid = review.object.Child("metadata").Child("uid");
      ports_.on_check_admitted(Uid{std::string(uid.text())});
    }
    return Allowed(review.uid);
  }

  // Told nothing in the name of another party (I8).
  static Error Stranger(std::string_view user, const std::string& ns) {
    return {ErrorCode::kInvalidArgument,
            "spec.manifests: " + std::string(user) + " does not speak for namespace " + ns +
                "; leave out what belongs there, or have it granted: kubectl create rolebinding "
                "NAME --clusterrole=edit --user=USER -n " +
                ns + ", or any role with verb create on checks.truce.dev"};
  }

  HttpResponse JudgeOther(const AdmissionRequest& review) {
    if (!ports_.try_own_object) return Allowed(review.uid);
    const Result<void> tried = ports_.try_own_object(review);
    if (tried.ok()) return Allowed(review.uid);
    if (tried.error().code == ErrorCode::kInvalidArgument) return Unfit(review.uid, tried.error());
    return Unknown(CauseOf(tried.error().code), tried.error().message);
  }

  // Terminating objects are exempt: they may keep an invalid spec.
  static bool ChangesSpec(const AdmissionRequest& review) {
    return review.operation == ReviewOperation::kUpdate &&
           review.object.Child("metadata").Child("deletionTimestamp").text().empty() &&
           !review.object.Child("spec").Equals(review.old_object.Child("spec"));
  }

  HttpResponse Unfit(std::string_view uid, const Error& error) {
    record_.verdict = Verdict::kDenied;
    record_.code = kDeniedCode;
    return Json(WriteReview(uid, {.allowed = false,
                                  .code = record_.code,
                                  .message = OneLine(error.message, kMessageBytesMax),
                                  .warnings = {}}));
  }

  std::optional<HttpResponse> Judge(const AdmissionRequest& review, Deadline deadline, bool ready) {
    if (!review.sub_resource.empty() || review.operation == ReviewOperation::kConnect) {
      return Allowed(review.uid);
    }
    if (ready && IsUnchanged(review)) return Allowed(review.uid);
    Result<ReviewCase> asked = ReviewCaseOf(review, *policy_);
    if (!asked.ok()) return BadRequest(asked.error().message);
    if (!ConcernsRegistry(asked.value().request)) return Allowed(review.uid);
    Judgement judgement(std::move(asked).value(), *policy_, ports_.clock.Now());
    const bool must_know = judgement.must_be_known();
    if (!ready) return must_know ? Unknown(UnknownCause::kNotReady, {}) : Allowed(review.uid);
    bool writes = false;
    const auto look = [&](const Facts& facts) {
      writes = ProbablyWrites(review, judgement.request(), facts);
      if (!writes) decision_ = judgement.Judge(facts, ports_.ids);
    };
    const Result<void> read = ports_.store.Read(look, deadline);
    if (!read.ok() && !must_know) return Allowed(review.uid);
    if (!read.ok()) return Unknown(CauseOf(read.error().code), read.error().message);
    writes = writes || (decision_.allowed && !decision_.changes.empty() && !review.dry_run);
    if (!judgement.unlisted().empty()) return Unlisted(std::string(judgement.unlisted()));
    if (!writes) return Answer(review.uid, judgement);
    Write(std::move(judgement), deadline);
    return std::nullopt;
  }

  HttpResponse Unlisted(const std::string& type) {
    decision_ = {};
    return Unknown(UnknownCause::kUnlisted, "no complete list yet of the kinds of " + type);
  }

  // An update between equal versions, as each look of the composite controller causes one: what it
  // declares was there before, so no rule has anything to say. Objects that lack what every object
  // has are left to the judgement, which refuses them.
  static bool IsUnchanged(const AdmissionRequest& review) {
    if (review.operation != ReviewOperation::kUpdate) return false;
    const Value metadata = review.object.Child("metadata");
    const auto has = [&](std::string_view name) {
      const Value value = metadata.Child(name);
      return value.is_string() && !value.text().empty();
    };
    return has("uid") && has("name") && review.object.Equals(review.old_object);
  }

  // A creation none of whose keys has an owner: deciding it beforehand would be done twice, and on
  // a snapshot, whose caches each commit empties. Reads only what a store keeps in memory.
  static bool ProbablyWrites(const AdmissionRequest& review, const ReviewRequest& request,
                             const Facts& facts) {
    if (review.dry_run || review.operation != ReviewOperation::kCreate) return false;
    const auto& resources = request.object.resources;
    return std::none_of(resources.begin(), resources.end(), [&](const DeclaredResource& resource) {
      const auto taken = [&](const KeyText& name) {
        return !name.empty() && (facts.HasOwner(name) || facts.FurtherName(name).has_value());
      };
      return taken(resource.key) ||
             std::any_of(resource.further.begin(), resource.further.end(),
                         [&](const FurtherName& name) { return taken(name.text); });
    });
  }

  // Decides inside the transaction; that decision counts. Answered when it is durable (I3).
  void Write(Judgement&& judgement, Deadline deadline) {
    decision_ = {};
    Locks locks = LocksOf(judgement.request());
    LockParents(judgement.request().object, *policy_->catalogue, locks.keys);
    const auto shared = std::make_shared<Shared>(std::move(judgement));
    // The policy lives as long as the judgement that points into it.
    auto decide = [shared, policy = policy_, ids = ports_.ids](const Facts& facts) {
      shared->decision = shared->judgement.Judge(facts, ids);
      Changes changes = std::exchange(shared->decision.changes, {});
      if (!shared->judgement.unlisted().empty()) changes = {};
      shared->wrote = !changes.empty();
      return changes;
    };
    // While the store still has the judgement it is not looked at.
    const auto late = [self = shared_from_this()] {
      return *self->Reported([&] {
        return self->Unknown(UnknownCause::kDeadline,
                             "the deadline passed before the commit was done");
      });
    };
    const std::shared_ptr<HttpDeferred> deferred = deferral_->Defer(deadline, late);
    auto done = [self = shared_from_this(), shared, deferred](Result<void> written) {
      deferred->Resume([self, shared, written = std::move(written)] {
        return *self->Reported([&] { return self->Written(*shared, written); });
      });
    };
    ports_.store.Submit(locks, std::move(decide), deadline, std::move(done));
  }

  HttpResponse Written(Shared& shared, const Result<void>& written) {
    if (!written.ok()) return Unknown(CauseOf(written.error().code), written.error().message);
    if (!shared.judgement.unlisted().empty()) return Unlisted(shared.judgement.unlisted());
    decision_ = std::move(shared.decision);
    record_.wrote = shared.wrote;
    return Answer(record_.uid, shared.judgement);
  }

  HttpResponse Answer(std::string_view uid, const Judgement& judgement) {
    if (TRUCE_NEVER(!decision_.allowed && (record_.wrote || !decision_.changes.empty()))) {
      return Unknown(UnknownCause::kInternal, "a denial with changes");
    }
    findings_ = judgement.FindingsOf(decision_);
    record_.override_reason = judgement.override_reason();
    keys_ = JudgedKeys(judgement.request().object, decision_);
    service_ = DeclaredService(judgement.request().object);
    record_.service = service_;
    if (decision_.allowed) return Allowed(uid);
    const ReviewRequest& request = judgement.request();
    const bool is_composed = request.requester.composite_controller;
    HttpResponse response = Denied(uid, is_composed ? policy_->composite_denial_code : kDeniedCode);
    if (is_composed && request.object.lineage.controller) {
      composite_ = *request.object.lineage.controller;
    }
    return response;
  }

  // By the findings in mode enforce.
  HttpResponse Denied(std::string_view uid, int code) {
    std::vector<Finding> some;
    std::span<const Finding> refused = findings_;
    if (!std::all_of(findings_.begin(), findings_.end(), Refuses)) {
      std::copy_if(findings_.begin(), findings_.end(), std::back_inserter(some), Refuses);
      refused = some;
    }
    if (TRUCE_NEVER(refused.empty())) {
      return Unknown(UnknownCause::kInternal, "a denial without reason");
    }
    record_.verdict = Verdict::kDenied;
    record_.code = code;
    denial_ = DenialText(refused);
    // What only warns is told too: a developer mends everything in one go.
    const std::vector<std::string> warnings = WarningsOf(Mode::kWarn, Mode::kWarn);
    return Json(WriteReview(
        uid, {.allowed = false, .code = record_.code, .message = denial_, .warnings = warnings}));
  }

  HttpResponse Allowed(std::string_view uid) {
    const std::vector<std::string> warnings = WarningsOf(Mode::kWarn, Mode::kEnforce);
    return Json(WriteReview(uid, {.warnings = warnings}));
  }

  // Of the findings in modes from `least` to `most`.
  std::vector<std::string> WarningsOf(Mode least, Mode most) const {
    std::vector<Finding> shown;
    std::copy_if(findings_.begin(), findings_.end(), std::back_inserter(shown),
                 [&](const Finding& f) { return f.mode >= least && f.mode <= most; });
    return Warnings(shown);
  }

  HttpResponse BadRequest(std::string_view detail) {
    record_.verdict = Verdict::kBadRequest;
    record_.code = 400;
    SetDetail(detail);
    return PlainText(record_.code, OneLine(detail, kMessageBytesMax));
  }

  static HttpResponse Json(std::string body) {
    return {.content_type = "application/json", .body = std::move(body)};
  }

  void SetDetail(std::string_view detail) { detail_ = detail; }

  void Describe(const AdmissionRequest& review) {
    record_.operation = Name(review.operation);
    record_.uid = review.uid;
    record_.group = review.kind.group;
    record_.kind = review.kind.kind;
    record_.sub_resource = review.sub_resource;
    record_.ns = review.ns;
    record_.name = review.name;
    record_.user = review.user;
    record_.dry_run = review.dry_run;
  }

  // Copies what the record shows out of a reader that ends before the report.
  void KeepDescription() {
    std::array<std::string_view*, 7> views = {&record_.uid,          &record_.group, &record_.kind,
                                              &record_.sub_resource, &record_.ns,    &record_.name,
                                              &record_.user};
    std::size_t bytes = 0;
    for (const std::string_view* view : views) bytes += view->size();
    kept_.reserve(bytes);
    for (std::string_view* view : views) {
      const std::size_t begin = kept_.size();
      kept_ += *view;
      *view = std::string_view(kept_).substr(begin);
    }
  }

  AdmissionPorts& ports_;
  std::shared_ptr<const AdmissionPolicy> policy_;
  HttpDeferral* const deferral_ = nullptr;
  const Endpoint topic_ = Endpoint::kDeclarations;
  const Deadline begin_ = std::chrono::steady_clock::now();
  Decision decision_;
  std::vector<Finding> findings_;
  ReviewRecord record_;
  std::string kept_;
  std::string keys_;
  std::string service_;
  std::string detail_;
  std::optional<ObjectRef> composite_;
  std::string denial_;
};

}  // namespace

AdmissionService::AdmissionService(AdmissionPorts ports,
                                   std::shared_ptr<const AdmissionPolicy> policy)
    : ports_(std::move(ports)), policy_(std::move(policy)) {}

std::optional<HttpResponse> AdmissionService::Validate(HttpRequest& request,
                                                       HttpDeferral& deferral) {
  return std::make_shared<Call>(ports_, policy(), Endpoint::kDeclarations, &deferral)
      ->Run(request, ready());
}

std::optional<HttpResponse> AdmissionService::ValidateDeletion(HttpRequest& request,
                                                               HttpDeferral& deferral) {
  return std::make_shared<Call>(ports_, policy(), Endpoint::kDeletions, &deferral)
      ->Run(request, ready());
}

HttpResponse AdmissionService::ValidateCheck(HttpRequest& request) {
  return *std::make_shared<Call>(ports_, policy(), Endpoint::kChecks)->Run(request, ready());
}

HttpResponse AdmissionService::ValidatePolicy(HttpRequest& request) {
  return *std::make_shared<Call>(ports_, policy(), Endpoint::kPolicies)->Run(request, ready());
}

HttpResponse AdmissionService::ValidateStatus(HttpRequest& request) {
  return *std::make_shared<Call>(ports_, policy(), Endpoint::kStatus)->Run(request, ready());
}

void AdmissionService::SetPolicy(std::shared_ptr<const AdmissionPolicy> policy) {
  policy_.With([&](auto& present) { present = std::move(policy); });
}

std::shared_ptr<const AdmissionPolicy> AdmissionService::policy() const {
  return policy_.With([](const auto& present) { return present; });
}

Deadline BudgetOf(const HttpRequest& request) {
  const std::chrono::milliseconds timeout = TimeoutOf(request).value_or(kTimeoutDefault);
  const std::chrono::milliseconds rounding =
      std::min<std::chrono::milliseconds>(std::chrono::seconds(1), timeout / 2);
  const Deadline begin =
      request.arrival == Deadline{} ? std::chrono::steady_clock::now() : request.arrival;
  const Deadline budget = begin + timeout - rounding - kReplyMargin;
  return request.deadline == Deadline{} ? budget : std::min(budget, request.deadline);
}

}  // namespace truce
