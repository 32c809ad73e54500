#include "policies/check_judgement.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "registry/ownership/facts.h"
#include "registry/ownership/review.h"

namespace truce {

CheckJudgement::CheckJudgement(std::vector<ReviewCase> parts, const AdmissionPolicy& policy,
                               Timestamp now) {
  parts_.reserve(parts.size());
  for (ReviewCase& part : parts) parts_.emplace_back(std::move(part), policy, now);
}

void CheckJudgement::Judge(const Facts& facts, const IdSource& ids) {
  allowed_ = true;
  findings_.clear();
  AskedOwnerships asked;
  for (Judgement& part : parts_) {
    part.AskAfter(&asked);
    const Decision decision = part.Judge(facts, ids);
    part.AddAskedTo(asked);
    part.AskAfter(nullptr);
    allowed_ = allowed_ && decision.allowed;
    std::vector<Finding> found = part.FindingsOf(decision);
    std::move(found.begin(), found.end(), std::back_inserter(findings_));
  }
  CompareWithItself();
}

std::string CheckJudgement::unlisted() const {
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [](const Judgement& part) { return !part.unlisted().empty(); });
  return found == parts_.end() ? std::string() : found->unlisted();
}

std::set<std::string> CheckJudgement::other_namespaces() const {
  std::set<std::string> out;
  for (const Judgement& part : parts_) out.insert(part.request().object.slot.ns);
  out.erase(parts_.front().request().object.slot.ns);
  out.erase("");
  return out;
}

std::size_t CheckJudgement::declared() const {
  std::size_t count = 0;
  for (const Judgement& part : parts_) count += part.request().object.resources.size();
  return count;
}

// Two objects of one deployment that declare one resource: admission would refuse the second. The
// manifests may repeat the declarations.
void CheckJudgement::CompareWithItself() {
  twice_.Forget();
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const std::size_t count = parts_[part].request().object.resources.size();
    for (std::size_t resource = 0; resource < count; ++resource) CompareOne(part, resource);
    if (part == 0) twice_.Forget();
  }
}

void CheckJudgement::CompareOne(std::size_t part, std::size_t resource) {
  const ReviewRequest& request = parts_[part].request();
  const DeclaredResource& declared = request.object.resources[resource];
  // One manifest may say the same twice; each declaration is an object of its own.
  const auto first = twice_.FirstOf(declared, {part, part == 0 ? resource : 0});
  if (!first) return;
  const Mode mode = std::min(request.modes[resource], DeclaredTwice::WorstOf(declared));
  if (mode == Mode::kOff) return;
  const std::string who =
      part == 0 ? "twice in this check"
                : DeclaredTwice::By(request.object.slot, parts_[first->part].request().object.slot);
  allowed_ = allowed_ && mode != Mode::kEnforce;
  findings_.push_back(DeclaredTwice::FindingOf(declared, mode, who));
}

}  // namespace truce
