#include "webhook/publish/ownership_checks.h"

#include <algorithm>
#include <iterator>

#include "policies/check_judgement.h"
#include "policies/finding.h"
#include "policies/ownership_check.h"
#include "registry/base/counted.h"
#include "webhook/check/manifest_reader.h"
#include "webhook/findings/event_queue.h"

namespace truce {
namespace {

constexpr std::chrono::seconds kJudgeTime{5};
constexpr std::chrono::seconds kDeleteTime{5};
constexpr std::chrono::minutes kLookAgain{1};
constexpr std::chrono::seconds kTryAgain{2};
constexpr std::size_t kMessageMax = 4096;
constexpr std::size_t kAdmittedMax = 10'000;  // between two looks there are a few
constexpr std::size_t kDeletedAtOnceMax = 100;
constexpr std::string_view kVersion = "v1alpha1";

const ServedKind& CheckKind() {
  static const ServedKind kKind{OwnershipCheckKind().group, std::string(kVersion),
                                OwnershipCheckKind().kind, "ownershipchecks", true};
  return kKind;
}

OwnVerdict Unknown(std::string why) {
  return {false, OneLine("not judged yet: " + std::move(why), kMessageMax), "unknown"};
}

YamlNode Mapping(std::vector<std::pair<std::string, YamlNode>> members) {
  YamlNode node;
  node.kind = YamlNode::Kind::kMapping;
  for (auto& member : members) {
    node.keys.push_back({std::move(member.first), {}});
    node.children.push_back(std::move(member.second));
  }
  return node;
}

// The object as far as a check is read.
YamlNode WholeOf(const OwnObject& object) {
  const auto text = [](const std::string& value) { return YamlNode::Scalar(value, true); };
  return Mapping({{"metadata", Mapping({{"name", text(object.name)},
                                        {"namespace", text(object.ns)},
                                        {"uid", text(object.uid)}})},
                  {"spec", object.spec}});
}

OwnVerdict VerdictOf(const CheckJudgement& judgement) {
  std::vector<Finding> refused;
  std::vector<Finding> warned;
  for (const Finding& finding : judgement.findings()) {
    if (finding.mode == Mode::kEnforce) refused.push_back(finding);
    if (finding.mode == Mode::kWarn) warned.push_back(finding);
  }
  if (!refused.empty()) return {false, EventNote(DenialText(refused), kMessageMax), "denied"};
  const std::size_t count = judgement.declared();
  std::string message = Counted(count, "declaration");
  message.append(" checked, nothing prevents ").append(NumberedBy(count, "it", "them"));
  for (const Finding& finding : warned) message += "; warning: " + finding.cause;
  return {true, OneLine(message, kMessageMax), "allowed"};
}

}  // namespace

std::vector<ServedKind> OwnershipChecks::kinds() const { return {CheckKind()}; }

bool OwnershipChecks::IsOld(const OwnObject& object) const {
  const std::optional<Timestamp> created = ParseTimestamp(object.created);
  return created.has_value() && *created + kOwnershipCheckLife < ports_.clock.Now();
}

OwnVerdict OwnershipChecks::Judge(const OwnObject& object, bool was_asked) const {
  if (!ports_.is_ready()) return Unknown("the server is starting");
  const std::shared_ptr<const AdmissionPolicy> policy = ports_.policy.Current();
  const YamlNode whole = WholeOf(object);
  const Document document = ReadDocument(whole);
  const AskedObject asked{.review = object.uid,
                          .group = object.kind.group,
                          .kind = object.kind.kind,
                          .ns = object.ns,
                          .object = document.root()};
  Result<std::vector<ReviewCase>> parts = QuestionsOf(asked, *policy);
  if (!parts.ok()) return {false, parts.error().message, "denied"};
  CheckJudgement judgement(std::move(parts).value(), *policy, ports_.clock.Now());
  const auto look = [&](const Facts& facts) { judgement.Judge(facts, ids_); };
  const Result<void> read = ports_.store.Read(look, std::chrono::steady_clock::now() + kJudgeTime);
  if (!read.ok()) return Unknown(read.error().message);
  // Only a review names its asker.
  if (!was_asked && !judgement.other_namespaces().empty()) {
    return {false, "nothing, as it asks about other namespaces than its own", "denied"};
  }
  if (!judgement.unlisted().empty()) {
    return Unknown("no complete list yet of the kinds of " + judgement.unlisted());
  }
  return VerdictOf(judgement);
}

OwnVerdict OwnershipChecks::VerdictFor(const OwnObject& object) {
  if (object.said && !object.said->outcome.empty() && object.said->outcome != "unknown") {
    return *object.said;
  }
  const bool was_asked = admitted_.With(
      [&](const Admitted& admitted) { return admitted.uids.contains(Uid{object.uid}); });
  if (!was_asked && ports_.heard_within.count() > 0) {
    const Timestamp now = ports_.clock.Now();
    const Timestamp since = open_since_.try_emplace(Uid{object.uid}, now).first->second;
    if (now < since + ports_.heard_within) return Unknown("another server may have been asked");
  }
  OwnVerdict verdict = Judge(object, was_asked);
  if (was_asked || verdict.outcome == "unknown") return verdict;
  return {false,
          EventNote("Truce was not asked when this check was created: its webhook configuration is "
                    "missing or leaves checks out, or Truce was restarted that moment; "
                    "create the check again. What it would say: " +
                        verdict.message,
                    kMessageMax),
          "unverified"};
}

void OwnershipChecks::NoteAdmitted(const Uid& uid) {
  admitted_.With([&](Admitted& admitted) {
    if (!admitted.uids.insert(uid).second) return;
    admitted.order.push_back(uid);
    if (admitted.order.size() <= kAdmittedMax) return;
    admitted.uids.erase(admitted.order.front());
    admitted.order.pop_front();
  });
}

std::vector<OwnVerdict> OwnershipChecks::Take(std::span<const OwnObject> objects) {
  std::map<Version, OwnVerdict> reported;
  std::vector<OwnVerdict> verdicts;
  std::set<Uid> open;
  waits_ = false;
  for (const OwnObject& object : objects) {
    const Version version{object.uid, object.generation};
    const auto before = reported_.find(version);
    OwnVerdict verdict = before != reported_.end() ? before->second : VerdictFor(object);
    const bool is_known = verdict.outcome != "unknown";
    waits_ = waits_ || !is_known;
    if (is_known) {
      reported.emplace(version, verdict);
    } else {
      open.insert(Uid{object.uid});
    }
    verdicts.push_back(std::move(verdict));
  }
  reported_ = std::move(reported);
  std::erase_if(open_since_, [&](const auto& each) { return !open.contains(each.first); });
  DeleteOld(objects);
  return verdicts;
}

// The next look tries those again that cannot be deleted now.
void OwnershipChecks::DeleteOld(std::span<const OwnObject> objects) const {
  std::size_t left = kDeletedAtOnceMax;
  for (const OwnObject& object : objects) {
    if (!IsOld(object) || left == 0) continue;
    --left;
    const Deadline deadline = std::chrono::steady_clock::now() + kDeleteTime;
    const auto deleted = ports_.api.Delete(object.kind, object.ns, object.name, deadline);
    if (!deleted.ok() && deleted.error().kind != ApiErrorKind::kNoSuchObject) return;
  }
}

std::optional<std::chrono::milliseconds> OwnershipChecks::again() const {
  if (waits_) return kTryAgain;
  return kLookAgain;
}

}  // namespace truce
