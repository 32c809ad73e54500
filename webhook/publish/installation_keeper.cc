#include "webhook/publish/installation_keeper.h"

#include <algorithm>
#include <array>
#include <utility>

#include "certs/self_signed.h"
#include "registry/base/file.h"
#include "registry/base/text.h"
#include "webhook/wire/endpoints.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kStepTime{10};
// Between two looks, however often it is woken: whoever else writes the configuration is not fought
// in a loop, and a lost bundle is still back within a second.
constexpr std::chrono::milliseconds kBreath{200};
// Others that changed authority or path so often, with no more than kPeace between, do it again:
// from then on they are put right once in kPause.
constexpr int kForeignMax = 3;
constexpr std::chrono::minutes kPause{1};
constexpr std::chrono::minutes kPeace{10};
// After something changed under our hands.
constexpr std::chrono::milliseconds kAgain{500};

ServedKind SecretKind() { return {"", "v1", "Secret", "secrets", true}; }

// 32 hex digits and a line end, as the file of the path's secret has them.
std::string FirstLine(std::string text) {
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

}  // namespace

Worker::Rest InstallationKeeper::Turn() {
  const Result<void> kept = Step(In(kStepTime));
  if (!kept.ok()) ports_.on_event({KeeperEvent::Kind::kTrouble, kept.error().message});
  return {In(kBreath + (again_ ? kAgain : options_.every)), In(kBreath)};
}

Result<void> InstallationKeeper::Step(Deadline deadline) {
  const std::lock_guard<std::mutex> step(step_mutex_);
  trouble_.clear();
  again_ = false;
  OwnedSecret local;
  local.certificates = ReadSelfMade(options_.directory);
  if (!options_.path_secret_file.empty()) {
    TRUCE_ASSIGN_OR_RETURN(local.path_secret, ReadSmallFile(options_.path_secret_file));
    local.path_secret = FirstLine(std::move(local.path_secret));
  }
  const std::optional<OwnedSecret> stored = Fetch(deadline);
  if (!stored) {
    // The cluster does not answer: the local certificates go on, and are made where there are none.
    SettleTrouble();
    if (IsCompleteSelfMade(local.certificates)) return {};
    TRUCE_ASSIGN_OR_RETURN(const OwnedSecret made, Renew(local));
    return WriteLocal(made);
  }
  // The cluster's Secret wins; local values fill its gaps.
  OwnedSecret present = *stored;
  if (!IsCompleteSelfMade(present.certificates)) present.certificates = local.certificates;
  if (present.path_secret.empty()) present.path_secret = local.path_secret;
  TRUCE_RETURN_IF_ERROR(TakePathSecret(present.path_secret));
  TRUCE_ASSIGN_OR_RETURN(OwnedSecret wanted, Renew(present));
  if (MustRotate(*stored)) {
    TRUCE_ASSIGN_OR_RETURN(wanted.path_secret, NewPathSecret());
    TRUCE_RETURN_IF_ERROR(TakePathSecret(wanted.path_secret));
  }
  // Nothing is published or served that the Secret does not hold.
  if (wanted == *stored || Store(wanted, deadline)) {
    const bool is_new = wanted.path_secret != stored->path_secret;
    if (is_new || !rotated_) rotated_ = ports_.clock.Now();
    Publish(wanted, deadline);
    TRUCE_RETURN_IF_ERROR(WriteLocal(wanted));
  } else if (!IsCompleteSelfMade(local.certificates)) {
    TRUCE_RETURN_IF_ERROR(WriteLocal(wanted));
  }
  SettleTrouble();
  return {};
}

// How long ago `past` was. A clock that is set back takes it along: nothing waits for years.
std::chrono::milliseconds InstallationKeeper::Since(Timestamp& past) const {
  const Timestamp now = ports_.clock.Now();
  past = std::min(past, now);
  return now - past;
}

// A Secret without one was made a moment ago, with what is here.
bool InstallationKeeper::MustRotate(const OwnedSecret& stored) {
  if (options_.path_secret_file.empty() || stored.path_secret.empty()) return false;
  return !rotated_ || Since(*rotated_) >= options_.rotate_every;
}

Result<void> InstallationKeeper::TakePathSecret(const std::string& root) {
  if (options_.path_secret_file.empty() || root.empty()) return {};
  TRUCE_ASSIGN_OR_RETURN(std::string present, ReadSmallFile(options_.path_secret_file));
  if (FirstLine(std::move(present)) == root) return {};
  TRUCE_RETURN_IF_ERROR(ReplaceFile(options_.path_secret_file, root + "\n", 0600));
  ports_.on_event({KeeperEvent::Kind::kPathSecret});
  return {};
}

Result<OwnedSecret> InstallationKeeper::Renew(const OwnedSecret& present) {
  TRUCE_ASSIGN_OR_RETURN(
      SelfMadeRenewal renewal,
      RenewSelfMade(present.certificates, options_.rules, Trusted(), ports_.clock.Now()));
  OwnedSecret wanted = present;
  wanted.certificates = std::move(renewal.certificates);
  return wanted;
}

std::optional<std::string_view> InstallationKeeper::Trusted() {
  if (!published_.configured) return std::nullopt;
  if (Since(published_.since) < options_.settle) return std::string_view();
  return published_.bundle;
}

std::optional<OwnedSecret> InstallationKeeper::Fetch(Deadline deadline) {
  const ApiResult<std::string> got =
      ports_.api.Get(SecretKind(), options_.secret_namespace, options_.secret_name, deadline);
  if (!got.ok()) {
    if (got.error().kind == ApiErrorKind::kNoSuchObject) return OwnedSecret();
    Trouble("read its Secret", got.error());
    return std::nullopt;
  }
  Result<OwnedSecret> secret = ReadOwnedSecret(got.value());
  if (secret.ok()) return std::move(secret).value();
  Trouble("read its Secret", {ApiErrorKind::kMalformed, 200, secret.error().message, std::nullopt});
  return std::nullopt;
}

bool InstallationKeeper::Store(OwnedSecret& wanted, Deadline deadline) {
  const bool exists = !wanted.resource_version.empty();
  const std::string& ns = options_.secret_namespace;
  const std::string& name = options_.secret_name;
  const ApiResult<std::string> written =
      exists ? ports_.api.Patch({SecretKind(), ns, name, ""}, PatchOfOwnedSecret(wanted), deadline)
             : ports_.api.Create(SecretKind(), ns, NewOwnedSecret(wanted, name), deadline);
  if (!written.ok()) {
    const ApiErrorKind kind = written.error().kind;
    again_ = kind == ApiErrorKind::kConflict || kind == ApiErrorKind::kAlreadyExists;
    if (!again_) Trouble(exists ? "write its Secret" : "create its Secret", written.error());
    return false;
  }
  Done("certificates stored in Secret " + ns + "/" + name);
  return true;
}

void InstallationKeeper::Publish(const OwnedSecret& secret, Deadline deadline) {
  const ApiResult<std::string> got =
      ports_.api.Get(WebhookConfigurationKind(), "", options_.webhook, deadline);
  if (!got.ok()) {
    published_.configured = got.error().kind != ApiErrorKind::kNoSuchObject;
    if (published_.configured) Trouble("read its webhook configuration", got.error());
    return;
  }
  published_.configured = true;
  PublishedWebhook wanted;
  wanted.bundle = secret.certificates.authorities;
  if (!options_.path_secret_file.empty()) wanted.path_secret = secret.path_secret;
  FollowedPolicy followed = ports_.followed();
  wanted.groups = std::move(followed.mapped.groups);
  wanted.groups_complete = followed.mapped.complete;
  wanted.status = std::move(followed.status);
  const Result<WebhookRepair> repair = RepairWebhook(got.value(), wanted);
  if (!repair.ok()) {
    Trouble("read its webhook configuration",
            {ApiErrorKind::kMalformed, 200, repair.error().message, std::nullopt});
    return;
  }
  NotePublished(repair.value().bundle);
  if (repair.value().patch.empty()) {
    NoteRight(secret);
    ports_.on_event({KeeperEvent::Kind::kPathPublished});
    return;
  }
  if (!MayRepair(repair.value(), secret)) return;
  const ApiResult<std::string> patched = ports_.api.Patch(
      {WebhookConfigurationKind(), "", options_.webhook, ""}, repair.value().patch, deadline);
  if (!patched.ok()) {
    again_ = patched.error().kind == ApiErrorKind::kConflict;
    if (!again_) Trouble("write its webhook configuration", patched.error());
    return;
  }
  repairs_.Add();
  NoteRight(secret);
  NotePublished(wanted.bundle);
  ports_.on_event({KeeperEvent::Kind::kPathPublished});
  Done("webhook configuration put right: " + Joined(repair.value().changes));
}

// Whether what is wrong is to be put right now: not at once where others keep writing it.
bool InstallationKeeper::MayRepair(const WebhookRepair& repair, const OwnedSecret& wanted) {
  const std::pair<std::string, std::string> now_wanted{wanted.certificates.authorities,
                                                       wanted.path_secret};
  if (!repair.is_of_clients || right_ != now_wanted) return true;  // what is wanted is new
  NotePeace();
  if (foreign_ >= kForeignMax) {
    SetRival(repair.other_writer.empty() ? "unknown" : repair.other_writer);
    if (Since(repaired_) < kPause) return false;
  }
  ++foreign_;
  repaired_ = ports_.clock.Now();
  return true;
}

void InstallationKeeper::NoteRight(const OwnedSecret& wanted) {
  right_.emplace(wanted.certificates.authorities, wanted.path_secret);
  NotePeace();
}

void InstallationKeeper::NotePeace() {
  if (foreign_ == 0 || Since(repaired_) < kPeace) return;
  foreign_ = 0;
  SetRival({});
}

void InstallationKeeper::SetRival(const std::string& rival) {
  rival_.With([&](std::string& present) { present = rival; });
}

void InstallationKeeper::NotePublished(const std::string& bundle) {
  if (bundle == published_.bundle) return;
  published_.bundle = bundle;
  published_.since = ports_.clock.Now();
}

Result<void> InstallationKeeper::WriteLocal(const OwnedSecret& secret) {
  const SelfMadeCertificates before = ReadSelfMade(options_.directory);
  const auto end = AuthorityEnd(secret.certificates.authorities);
  if (end) {
    authority_end_ =
        std::chrono::duration_cast<std::chrono::seconds>(end->time_since_epoch()).count();
  }
  if (before == secret.certificates) return {};
  TRUCE_RETURN_IF_ERROR(WriteSelfMade(options_.directory, secret.certificates));
  if (before.authority_key != secret.certificates.authority_key) new_authorities_.Add();
  if (before.certificate != secret.certificates.certificate) new_leaves_.Add();
  ports_.on_event({KeeperEvent::Kind::kCertificates});
  return {};
}

void InstallationKeeper::Done(const std::string& what) const {
  ports_.on_event({KeeperEvent::Kind::kDone, what});
}

void InstallationKeeper::Trouble(const std::string& what, const ApiError& error) {
  if (!trouble_.empty()) return;
  trouble_ = "cannot " + what + " (Secret " + options_.secret_namespace + "/" +
             options_.secret_name + ", webhook configuration " + options_.webhook +
             "): " + std::string(Name(error.kind)) + ": " + error.message;
}

// Each trouble is told once, and its end.
void InstallationKeeper::SettleTrouble() {
  if (const std::string rival = Rival(); !rival.empty() && trouble_.empty()) {
    trouble_ = "somebody else (" + rival + ") keeps writing what Truce writes into webhook " +
               "configuration " + options_.webhook + "; it is put right once a minute";
  }
  in_trouble_ = !trouble_.empty();
  if (trouble_ == reported_trouble_) return;
  if (trouble_.empty()) {
    ports_.on_event({KeeperEvent::Kind::kTroubleOver, "Secret and webhook configuration are kept"});
  } else {
    ports_.on_event({KeeperEvent::Kind::kTrouble, trouble_});
  }
  reported_trouble_ = trouble_;
}

void InstallationKeeper::WriteMetrics(MetricWriter& writer) const {
  writer.Family("truce_certificate_authority_expiry_timestamp_seconds");
  writer.Sample(static_cast<double>(authority_end_.load()));
  writer.Family("truce_certificate_renewals_total");
  using Label = std::array<std::pair<std::string_view, std::string_view>, 1>;
  writer.Sample(Label{{{"what", "leaf"}}}, static_cast<double>(new_leaves_.value()));
  writer.Sample(Label{{{"what", "authority"}}}, static_cast<double>(new_authorities_.value()));
  writer.Family("truce_webhook_repairs_total");
  writer.Sample(static_cast<double>(repairs_.value()));
  writer.Family("truce_self_management_trouble");
  writer.Sample(in_trouble_.load() ? 1 : 0);
}

}  // namespace truce
