#include "webhook/admission/service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>

#include "policies/check_judgement.h"
#include "policies/judge.h"
#include "policies/ownership_check.h"
#include "policies/people.h"
#include "policies/rule_list.h"
#include "registry/ownership/review.h"
#include "registry/ownership/rows.h"
#include "registry/store/store.h"
#include "webhook/admission/composition_guard.h"
#include "webhook/admission/hints.h"
#include "webhook/admission/reroll_guard.h"
#include "webhook/admission/review_case.h"

namespace truce {
namespace {

constexpr int kDeniedCode = 403;                      // of a denial in the review's answer
constexpr std::chrono::milliseconds kLookTime{1000};  // for all objects of one review

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

// An update between equal versions, as each look of the composite controller causes one: its
// declarations were there before, so no rule has anything to say. Objects without a name or uid are
// left to the judgement, which refuses them.
bool IsUnchanged(const AdmissionRequest& review) {
  if (review.operation != ReviewOperation::kUpdate) return false;
  const Value metadata = review.object.Child("metadata");
  const auto has = [&](std::string_view name) {
    const Value value = metadata.Child(name);
    return value.is_string() && !value.text().empty();
  };
  return has("uid") && has("name") && review.object.Equals(review.old_object);
}

// Terminating objects are exempt: they may keep an invalid spec.
bool ChangesSpec(const AdmissionRequest& review) {
  return review.operation == ReviewOperation::kUpdate &&
         review.object.Child("metadata").Child("deletionTimestamp").text().empty() &&
         !review.object.Child("spec").Equals(review.old_object.Child("spec"));
}

// A stranger to a namespace gets no answer in its name (I8).
Error Stranger(std::string_view path, std::string_view user, std::string_view ns) {
  std::string text(path);
  text.append(": ").append(user).append(" does not speak for namespace ").append(ns);
  text += "; leave out what belongs there, or have it granted: kubectl create rolebinding NAME ";
  // A manifest says it: nobody has looked yet whether it is a word for a shell.
  text.append("--clusterrole=edit --user=USER -n ").append(IsPlainWord(ns) ? ns : "NAMESPACE");
  text += ", or any role with verb create on checks.truce.dev";
  return {ErrorCode::kInvalidArgument, std::move(text)};
}

AdmissionAnswer Unfit(const Error& error) {
  return {.verdict = Verdict::kDenied,
          .code = kDeniedCode,
          .message = OneLine(error.message, kMessageBytesMax)};
}

bool Refuses(const Finding& finding) { return finding.mode == Mode::kEnforce; }

// As a question, for one who asks before anything is created.
AskedObject AskedOf(const AdmissionRequest& request) {
  return {.review = request.uid,
          .group = request.kind.group,
          .kind = request.kind.kind,
          .ns = request.ns,
          .user = request.user,
          .object = request.object};
}

// A judgement lent to the store, which may still run it when the caller's time is over.
struct Shared {
  explicit Shared(Judgement&& lent) : judgement(std::move(lent)) {}

  Judgement judgement;
  Decision decision;  // without its changes, which the store has
  bool wrote = false;
};

// As the record of the review tells them.
std::string JudgedKeys(const ObjectFacts& object, const Decision& decision) {
  constexpr std::size_t kNamedMax = 16;
  constexpr std::size_t kUsualBytes = 128;
  const std::size_t count = decision.added.size();
  std::string out;
  out.reserve(kUsualBytes);
  for (std::size_t i = 0; i < std::min(count, kNamedMax); ++i) {
    out.append(i == 0 ? "" : " ").append(object.resources[decision.added[i]].key().text);
  }
  if (count > kNamedMax) {
    out.append(" and ").append(std::to_string(count - kNamedMax)).append(" more");
  }
  return out;
}

// One review from begin to end: its record, and its answer. External synchronization.
class Call final : public std::enable_shared_from_this<Call> {
 public:
  Call(AdmissionPorts& ports, RefusalMemory& memory, std::shared_ptr<const AdmissionPolicy> policy,
       bool ready, const IncomingReview& incoming)
      : ports_(ports),
        memory_(memory),
        policy_(std::move(policy)),
        ready_(ready),
        endpoint_(incoming.endpoint),
        begun_(incoming.begun),
        deadline_(incoming.deadline) {}

  // Nothing: the answer comes by `later`. Never throws.
  std::optional<AdmissionAnswer> Run(const Result<AdmissionRequest>& request,
                                     const AnswerLater& later) {
    MaybeAnswer answer = Reported([&] { return AnswerTo(request, later); });
    return answer && stands_ && KeepBack(*answer, later) ? std::nullopt : std::move(answer);
  }

 private:
  using MaybeAnswer = std::optional<AdmissionAnswer>;

  // Crossplane asks the same again as soon as it is answered.
  bool KeepBack(const AdmissionAnswer& answer, const AnswerLater& later) {
    if (answer.verdict != Verdict::kDenied) return false;
    const Deadline half = begun_ + (deadline_ - begun_) / 2;
    try {
      return memory_.late.Keep(answer, std::min(half, begun_ + kLatenessMax), later);
    } catch (const std::exception&) {  // no memory for it
      return false;
    }
  }

  // The one place where exceptions end: allocation failure, or a library's.
  template <typename Answer>
  MaybeAnswer Reported(const Answer& answer) {
    MaybeAnswer out;
    try {
      out = answer();
      if (out) out->uid = record_.uid;
    } catch (const std::exception& e) {
      out = Unknown(UnknownCause::kException, e.what());
    } catch (...) {
      out = Unknown(UnknownCause::kException, "unknown exception");
    }
    if (out) Report(*out);
    return out;
  }

  void Report(const AdmissionAnswer& answer) {
    record_.elapsed = std::chrono::steady_clock::now() - begun_;
    record_.verdict = answer.verdict;
    record_.code = answer.code;
    record_.findings = findings_;
    record_.keys = keys_;
    record_.prove = decision_.prove;
    record_.detail = detail_;
    record_.composite = composite_ ? &*composite_ : nullptr;
    if (!decision_.root.kind.empty()) record_.root = &decision_.root;
    if (answer.verdict == Verdict::kDenied) record_.denial = answer.message;
    for (ReviewSink* sink : ports_.sinks) Tell(*sink);
  }

  // Without memory for it there is no note; the answer is worth more.
  void Tell(ReviewSink& sink) {
    try {
      sink.OnReview(record_);
    } catch (const std::exception&) {
      return;
    }
  }

  MaybeAnswer AnswerTo(const Result<AdmissionRequest>& request, const AnswerLater& later) {
    if (!request.ok()) {
      return request.error().code == ErrorCode::kInvalidArgument
                 ? BadRequest(request.error().message)
                 : Unknown(UnknownCause::kException, request.error().message);
    }
    const AdmissionRequest& review = request.value();
    Describe(review);
    switch (endpoint_) {
      case Endpoint::kDeclarations: return Judge(review, later);
      case Endpoint::kDeletions:
        return review.operation == ReviewOperation::kDelete ? Judge(review, later) : Allowed();
      case Endpoint::kChecks:
      case Endpoint::kPolicies: return JudgeOwn(review);
      case Endpoint::kStatus: return JudgeStatusOf(review);
      case Endpoint::kCompositions: return JudgeCompositionOf(review);
    }
    return Unknown(UnknownCause::kInternal, "no such endpoint");
  }

  // Requests of other kinds or operations, by a wider registration, are allowed.
  AdmissionAnswer JudgeOwn(const AdmissionRequest& review) {
    const GroupKind& check = OwnershipCheckKind();
    if (review.kind.group != check.group || !review.sub_resource.empty()) {
      return Allowed();
    }
    const bool is_creation = review.operation == ReviewOperation::kCreate;
    if (review.kind.kind != check.kind) {
      const bool is_new = is_creation || ChangesSpec(review);
      return is_new ? AdmitOwn(review) : Allowed();
    }
    const bool asks = is_creation && endpoint_ == Endpoint::kChecks;
    return asks ? JudgeCheck(review) : Allowed();
  }

  // Needs no registry, so it is answered whether or not there is one.
  AdmissionAnswer JudgeStatusOf(const AdmissionRequest& review) {
    const std::optional<StatusCase> status = StatusCaseOf(review, *policy_);
    if (!status) return Allowed();
    findings_ = JudgeStatus(*status, *policy_, ports_.clock.Now());
    const bool denies = std::any_of(findings_.begin(), findings_.end(), Refuses);
    return denies ? Denied(kDeniedCode) : Allowed();
  }

  // Only tells.
  AdmissionAnswer JudgeCompositionOf(const AdmissionRequest& review) {
    if (!ready_ || IsUnchanged(review)) return Allowed();
    findings_ = JudgeChange(review, *policy_, {ports_.store, ports_.clock.Now(), deadline_});
    return Allowed();
  }

  AdmissionAnswer JudgeCheck(const AdmissionRequest& review) {
    if (!ready_) return Unknown(UnknownCause::kNotReady, {});
    Result<std::vector<ReviewCase>> parts = QuestionsOf(AskedOf(review), *policy_);
    if (!parts.ok()) return Unfit(parts.error());
    CheckJudgement judgement(std::move(parts).value(), *policy_, ports_.clock.Now());
    for (const std::string& ns : judgement.other_namespaces()) {
      const Result<bool> speaks =
          ports_.speaks_for ? ports_.speaks_for(review, ns, deadline_) : Result<bool>(false);
      if (!speaks.ok()) return Unknown(CauseOf(speaks.error().code), speaks.error().message);
      if (!speaks.value()) return Unfit(Stranger("spec.manifests", review.user, ns));
    }
    const auto look = [&](const Facts& facts) { judgement.Judge(facts, ports_.ids); };
    const Result<void> read = ports_.store.Read(look, deadline_);
    if (!read.ok()) return Unknown(CauseOf(read.error().code), read.error().message);
    if (!judgement.unlisted().empty()) return Unlisted(judgement.unlisted());
    findings_ = judgement.findings();
    if (!judgement.allowed()) return Denied(kDeniedCode);
    return AdmitOwn(review);
  }

  AdmissionAnswer AdmitOwn(const AdmissionRequest& review) {
    if (!ports_.admit_own) return Allowed();
    const Result<void> tried = ports_.admit_own(review);
    if (tried.ok()) return Allowed();
    if (tried.error().code == ErrorCode::kInvalidArgument) return Unfit(tried.error());
    return Unknown(CauseOf(tried.error().code), tried.error().message);
  }

  MaybeAnswer Judge(const AdmissionRequest& review, const AnswerLater& later) {
    if (!review.sub_resource.empty() || review.operation == ReviewOperation::kConnect) {
      return Allowed();
    }
    if (ready_ && IsUnchanged(review)) return Allowed();
    if (ready_ && memory_.repeated.any() && IsReroll(review)) return Denied(kDeniedCode);
    ReviewCase asked;
    const Result<void> filled = FillReviewCase(review, *policy_, asked);
    if (!filled.ok()) return BadRequest(filled.error().message);
    const ReviewRequest& request = asked.request;
    if (review.operation == ReviewOperation::kCreate && !policy_->unseen.empty()) {
      beside_ = JudgeCreation(request.object.slot, request.requester, *policy_, ports_.clock.Now());
      findings_ = beside_;
    }
    if (!ConcernsRegistry(request)) return Allowed();
    Judgement judgement(std::move(asked), *policy_, ports_.clock.Now());
    const bool must_know = judgement.must_be_known();
    if (!ready_) return must_know ? Unknown(UnknownCause::kNotReady, {}) : Allowed();
    if (must_know && WritesAtOnce(review, judgement.request())) {
      Write(std::move(judgement), later);
      return std::nullopt;
    }
    bool writes = false;
    const auto look = [&](const Facts& facts) {
      // An answer that may have to come late is decided before it would be written: answered once.
      writes =
          !MayRepeat(judgement.request()) && ProbablyWrites(review, judgement.request(), facts);
      if (!writes) decision_ = judgement.Judge(facts, ports_.ids);
    };
    Result<void> read = ports_.store.Read(Hints(judgement), look, deadline_);
    if (read.ok() && !writes && !judgement.to_look_at().empty() && LookAt(judgement)) {
      read = ports_.store.Read(Hints(judgement), look, deadline_);
    }
    // No rule is configured that this deletion would have to wait for (I10).
    if (!read.ok() && !must_know) return Allowed();
    if (!read.ok()) return Unknown(CauseOf(read.error().code), read.error().message);
    // A read may show changes that are not durable yet: an answer that rests on them waits as a
    // write does.
    const Changes& changes = decision_.changes;
    writes = writes ||
             (decision_.allowed && (!changes.empty() || changes.repeatable) && !review.dry_run);
    if (!judgement.unlisted().empty()) return Unlisted(std::string(judgement.unlisted()));
    if (!writes) return Answer(judgement);
    Write(std::move(judgement), later);
    return std::nullopt;
  }

  // Rule rerolled-names. Findings that do not refuse are reported with the rest.
  bool IsReroll(const AdmissionRequest& review) {
    RerollJudgement found = JudgeRerolls(
        review, *policy_,
        {memory_.repeated, ports_.store, ports_.clock, ports_.ids, ports_.read_live}, deadline_);
    beside_ = std::move(found.findings);
    if (std::none_of(beside_.begin(), beside_.end(), Refuses)) return false;
    findings_ = beside_;
    record_.repetition = found.repetition;
    decision_.root = std::move(found.root);
    return true;
  }

  // No rule refuses by what the watch showed: it may lag. False: nobody can look.
  bool LookAt(Judgement& judgement) {
    if (!ports_.read_live) return false;
    const Deadline now = std::chrono::steady_clock::now();
    const Deadline half = now + (deadline_ - now) / 2;
    const ReviewRequest& asked = judgement.request();
    const std::string& ns = asked.object.slot.ns;
    judgement.SetLive(ports_.read_live(ns.empty() ? asked.requester.user : ns,
                                       judgement.to_look_at(), std::min(half, now + kLookTime)));
    return true;
  }

  AdmissionAnswer Unlisted(const std::string& type) {
    decision_ = {};
    return Unknown(UnknownCause::kUnlisted, "no complete list yet of the kinds of " + type);
  }

  // Decides inside the transaction; that decision counts. Answered when it is durable (I3).
  void Write(Judgement&& judgement, const AnswerLater& later) {
    decision_ = {};
    KeepDescription();
    const Locks locks = Hints(judgement);
    const auto shared = std::make_shared<Shared>(std::move(judgement));
    DecideFn decide = DecisionOf(shared);
    // While the store still has the judgement it is not looked at.
    const auto late = [self = shared_from_this()] {
      return *self->Reported([&] {
        return self->Unknown(UnknownCause::kDeadline,
                             "the deadline passed before the commit was done");
      });
    };
    auto done = [self = shared_from_this(), shared,
                 resume = later(deadline_, late, AnswerWait::kCommit)](Result<void> written) {
      resume([self, shared, written = std::move(written)] {
        return *self->Reported([&] { return self->Written(shared, written); });
      });
    };
    ports_.store.Submit(locks, std::move(decide), deadline_, std::move(done));
  }

  // A store whose calls cost no round trips ignores them.
  Locks Hints(const Judgement& judgement) const {
    return ports_.store.is_remote() ? HintsOf(judgement, *policy_) : Locks{};
  }

  // A creation that would take more round trips if it were read beforehand.
  bool WritesAtOnce(const AdmissionRequest& review, const ReviewRequest& request) const {
    return ports_.store.is_remote() && !review.dry_run &&
           review.operation == ReviewOperation::kCreate && !request.object.lineage.composite &&
           !MayRepeat(request);
  }

  // The policy lives as long as the judgement that points into it.
  DecideFn DecisionOf(const std::shared_ptr<Shared>& shared) const {
    return [shared, policy = policy_, ids = ports_.ids](const Facts& facts) {
      shared->decision = shared->judgement.Judge(facts, ids);
      Changes changes = std::exchange(shared->decision.changes, {});
      // An unknown answer writes nothing.
      if (!shared->judgement.unlisted().empty()) changes = {};
      shared->wrote = !changes.empty();
      return changes;
    };
  }

  AdmissionAnswer Written(const std::shared_ptr<Shared>& kept, Result<void> written) {
    Shared& shared = *kept;
    // Without a read beforehand no object was looked at beforehand.
    const bool looks = written.ok() && !shared.decision.allowed && ports_.store.is_remote() &&
                       !shared.judgement.to_look_at().empty() && LookAt(shared.judgement);
    if (looks) {
      written = ports_.store.Apply(Hints(shared.judgement), DecisionOf(kept), deadline_);
    }
    if (!written.ok()) return Unknown(CauseOf(written.error().code), written.error().message);
    if (!shared.judgement.unlisted().empty()) return Unlisted(shared.judgement.unlisted());
    decision_ = std::move(shared.decision);
    record_.wrote = shared.wrote;
    return Answer(shared.judgement);
  }

  AdmissionAnswer Answer(const Judgement& judgement) {
    if (TRUCE_NEVER(!decision_.allowed && (record_.wrote || !decision_.changes.empty()))) {
      return Unknown(UnknownCause::kInternal, "a denial with changes");
    }
    findings_ = judgement.FindingsOf(decision_);
    findings_.insert(findings_.end(), beside_.begin(), beside_.end());
    record_.override_reason = judgement.override_reason();
    keys_ = JudgedKeys(judgement.request().object, decision_);
    service_ = DeclaredService(judgement.request().object);
    record_.service = service_;
    const Requester& requester = judgement.request().requester;
    record_.acts_as_provider = !requester.provider && !requester.restorer &&
                               !requester.composite_controller &&
                               ActsAsProvider(judgement.request());
    if (decision_.allowed) return Allowed();
    const ReviewRequest& request = judgement.request();
    const bool is_composed =
        request.requester.composite_controller && request.operation != Operation::kDelete;
    if (is_composed && request.object.lineage.controller) {
      composite_ = *request.object.lineage.controller;
      NoteRefusal(judgement.review());
    }
    const bool is_forbidden = std::any_of(
        findings_.begin(), findings_.end(),
        [](const Finding& finding) { return Refuses(finding) && SpecOf(finding.rule).forbids; });
    // A composite's other resources go on behind a 422; behind a 403 Crossplane stops.
    return Denied(is_composed && !is_forbidden ? policy_->composite_denial_code : kDeniedCode);
  }

  // Something was refused to its composite lately.
  bool MayRepeat(const ReviewRequest& request) const {
    const auto& controller = request.object.lineage.controller;
    return memory_.repeated.any() && request.requester.composite_controller && controller &&
           memory_.repeated.IsKnown(controller->uid);
  }

  // Of a composed resource.
  void NoteRefusal(const ReviewCase& asked) {
    const ObjectFacts& object = asked.request.object;
    record_.made_up = HasMadeUpName(object);
    const bool is_try = record_.operation == Name(ReviewOperation::kCreate) && !record_.dry_run &&
                        endpoint_ == Endpoint::kDeclarations;
    if (!is_try) return;
    const RefusalTopic topic = TopicOf(decision_.root, object, findings_);
    const auto repetition =
        memory_.repeated.Note({*composite_, object.slot, topic, asked}, ports_.clock.Now());
    record_.repetition = repetition.count;
    stands_ = repetition.stands;
  }

  // By the findings in mode enforce.
  AdmissionAnswer Denied(int code) {
    std::vector<Finding> some;
    std::span<const Finding> refused = findings_;
    if (!std::all_of(findings_.begin(), findings_.end(), Refuses)) {
      std::copy_if(findings_.begin(), findings_.end(), std::back_inserter(some), Refuses);
      refused = some;
    }
    if (TRUCE_NEVER(refused.empty())) {
      return Unknown(UnknownCause::kInternal, "a denial without reason");
    }
    // Warnings come with a denial: a developer mends everything in one go.
    return {.verdict = Verdict::kDenied,
            .code = code,
            .message = DenialText(refused),
            .warnings = WarningsOf(Mode::kWarn, Mode::kWarn)};
  }

  AdmissionAnswer Allowed() const { return {.warnings = WarningsOf(Mode::kWarn, Mode::kEnforce)}; }

  AdmissionAnswer Unknown(UnknownCause cause, std::string_view detail) {
    record_.unknown = cause;
    detail_ = detail;
    return {.verdict = Verdict::kUnknown, .code = 503, .message = std::string(Explain(cause))};
  }

  AdmissionAnswer BadRequest(std::string_view detail) {
    detail_ = detail;
    return {
        .verdict = Verdict::kBadRequest, .code = 400, .message = OneLine(detail, kMessageBytesMax)};
  }

  // Of the findings in modes from `least` to `most`.
  std::vector<std::string> WarningsOf(Mode least, Mode most) const {
    std::vector<Finding> shown;
    std::copy_if(findings_.begin(), findings_.end(), std::back_inserter(shown),
                 [&](const Finding& f) { return f.mode >= least && f.mode <= most; });
    return Warnings(shown);
  }

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

  // Copies the texts of the record out of the request, which ends before the report.
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
  RefusalMemory& memory_;
  const std::shared_ptr<const AdmissionPolicy> policy_;
  const bool ready_;
  const Endpoint endpoint_;
  const Deadline begun_;
  const Deadline deadline_;
  Decision decision_;
  std::vector<Finding> findings_;
  std::vector<Finding> beside_;  // of rules that ask nothing of the registry
  ReviewRecord record_;
  std::string kept_;
  std::string keys_;
  std::string service_;
  std::string detail_;
  std::optional<ObjectRef> composite_;
  bool stands_ = false;  // the refusal: its answer comes late
};

}  // namespace

AdmissionService::AdmissionService(AdmissionPorts ports,
                                   std::shared_ptr<const AdmissionPolicy> policy)
    : ports_(std::move(ports)), policy_(std::move(policy)) {}

std::optional<AdmissionAnswer> AdmissionService::Answer(const IncomingReview& incoming,
                                                        const AnswerLater& later) {
  return std::make_shared<Call>(ports_, memory_, policy(), ready(), incoming)
      ->Run(incoming.request, later);
}

}  // namespace truce
