// Rule quota: an account, region, namespace or service has no more resources of a type than
// configuration allows.
//
// Spec: each ownership that a review brings, which nobody had before, finds a place in every quota
// that counts it; the counts are those of the transaction that reserves it, so that of two requests
// for the last place one gets it. A resource that exists is never refused: a warning comes instead,
// as for a request that fills a quota beyond `warnAt`. Resources whose account is unknown count for
// no account; a warning says so.
// Parameters: quotas; mode of the type. Vectors: tests/unit/quota_test.cc.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "policies/people.h"
#include "policies/policy.h"
#include "policies/question.h"
#include "policies/quotas.h"
#include "policies/rule_case.h"
#include "registry/identity/evidence.h"
#include "registry/ownership/facts.h"
#include "registry/ownership/names.h"
#include "registry/ownership/review.h"

namespace truce {
namespace {

// An ownership that the review brings.
struct NewOwnership {
  Place place;
  std::string_view name;  // of the resource
  const KeyText* key;
};

// As an admission makes them: an owner of a resource that had none.
std::vector<NewOwnership> Granted(const RuleCase& c) {
  std::vector<NewOwnership> out;
  for (const Owner& owner : c.decision->changes.put_owners) {
    if (!c.facts->OwnerOf(owner.id)) out.push_back({PlaceOf(owner), owner.name, &owner.key});
  }
  return out;
}

// As a question would make them.
std::vector<NewOwnership> Asked(const RuleCase& c) {
  std::vector<NewOwnership> out;
  for (const std::size_t index : c.decision->added) {
    const DeclaredResource& resource = c.object->resources[index];
    const bool is_asked = c.question->before != nullptr && c.question->before->Has(resource.key());
    const bool is_new = resource.intent != Intent::kObserves && !resource.key().empty() &&
                        !resource.partial && !is_asked && !OwnerByNames(resource, *c.facts);
    if (!is_new) continue;
    Owner owner;
    owner.root = *c.root;
    owner.identity = resource.identity;
    if (!IsAccount(owner.identity.account)) owner.identity.account = resource.further_account;
    out.push_back({PlaceOf(owner), resource.name, &resource.key()});
  }
  return out;
}

std::string ResourceOf(const NewOwnership& ownership) {
  std::string out = TypeForPeople(ownership.place.type);
  if (!ownership.name.empty()) out += " " + Quoted(ownership.name);
  return out;
}

// The present count, in words beside the type.
std::string CountOf(const QuotaReached& reached) {
  return "has " + std::to_string(reached.used) + " of " + std::to_string(reached.quota->max);
}

// The command that lists the resources that the quota counts, as far as it tells them apart.
std::string ListCommand(const QuotaReached& reached) {
  std::string out = "truce list --type " + reached.quota->type;
  const QuotaSpot& spot = reached.spot;
  const std::array<std::pair<std::string_view, const std::string*>, 3> filters = {
      {{" -n ", &spot.ns.second}, {" --account ", &spot.account}, {" --region ", &spot.region}}};
  for (const auto& [filter, word] : filters) {
    if (IsPlainWord(*word)) out.append(filter).append(*word);
  }
  return out;
}

void KeepOne(const RuleCase& c, const NewOwnership& ownership, Finding finding,
             std::vector<Finding>& out) {
  finding.key = *ownership.key;
  if (BringsWhatExists(c)) finding.mode = std::min(finding.mode, Mode::kWarn);
  Keep(c, std::move(finding), {.type = ownership.place.type, .name = ownership.name}, out);
}

}  // namespace

std::vector<Finding> JudgeQuotas(const RuleCase& c) {
  std::vector<Finding> out;
  // A denial brings no ownership.
  if (c.policy->quotas == nullptr || !c.decision->allowed) return out;
  const Quotas& quotas = *c.policy->quotas;
  const AskedOwnerships* before = c.question == nullptr ? nullptr : c.question->before;
  const std::vector<NewOwnership> added = c.question == nullptr ? Granted(c) : Asked(c);
  for (const NewOwnership& ownership : added) {
    bool is_reported = false;
    for (const std::size_t index : quotas.OfType(ownership.place.type)) {
      const Quota& quota = quotas.all()[index];
      const auto spot = quotas.SpotOf(quota, ownership.place);
      if (!spot && !is_reported && quotas.NeedsAccount(quota, ownership.place)) {
        KeepOne(c, ownership, NotCounted(ResourceOf(ownership)), out);
        // Once: every quota of an account would say the same.
        is_reported = true;
      }
      if (!spot) continue;
      const auto together = std::count_if(
          added.begin(), added.end(),
          [&](const NewOwnership& each) { return quotas.SpotOf(quota, each.place) == spot; });
      const QuotaReached reached{.resource = ResourceOf(ownership),
                                 .quota = &quota,
                                 .spot = *spot,
                                 .used = c.facts->CountOwned(quotas.RangeOf(quota, *spot)),
                                 .added = static_cast<std::uint64_t>(together),
                                 .before = before == nullptr ? 0 : before->CountOf(index, *spot)};
      if (auto finding = QuotaFull(reached)) KeepOne(c, ownership, *std::move(finding), out);
    }
  }
  return out;
}

std::vector<AskedOwnership> AskedBy(const RuleCase& c) {
  std::vector<AskedOwnership> out;
  for (NewOwnership& each : Asked(c)) out.push_back({*each.key, std::move(each.place)});
  return out;
}

std::optional<Finding> QuotaFull(const QuotaReached& reached) {
  const Quota& quota = *reached.quota;
  const std::uint64_t after = reached.used + reached.before + reached.added;
  if (after < WarnsFrom(quota) && after <= quota.max) return std::nullopt;
  const bool is_full = after > quota.max;
  const std::string where = InWords(reached.spot);
  const std::string before = reached.before == 0 ? std::string()
                                                 : " and the " + std::to_string(reached.before) +
                                                       " before it in this check";
  const std::string how_many =
      quota.type + ", with " +
      (reached.added == 1 ? std::string("this one")
                          : "the " + std::to_string(reached.added) + " of this object") +
      before + " " + std::to_string(after);
  Finding out{.rule = Rule::kQuota, .mode = is_full ? Mode::kEnforce : Mode::kWarn};
  out.at_most = out.mode;
  out.resource = reached.resource;
  out.cause = out.resource + (is_full ? " is beyond a quota: " : " nearly fills a quota: ") +
              where + " " + CountOf(reached) + " " + how_many + ".";
  out.remedy = (is_full ? "Ask your platform team for more (setting quotas)"
                        : "Ask your platform team for more in time (setting quotas)") +
               std::string(", or give up what nobody needs: `") + ListCommand(reached) +
               "` shows them, orphaned ones too.";
  out.warning = OneLine("truce: quota: " + where + " has " + std::to_string(reached.used) + " of " +
                            std::to_string(quota.max) + " " + quota.type,
                        kWarningBytesMax);
  return out;
}

Finding NotCounted(std::string resource) {
  Finding out{.rule = Rule::kQuota, .mode = Mode::kWarn, .at_most = Mode::kWarn};
  out.resource = std::move(resource);
  out.cause = out.resource +
              " counts for no quota of an account, because the account of its ProviderConfig is "
              "not known.";
  out.remedy = "Your platform team can name the account in providerConfigs.";
  out.warning = OneLine("truce: " + out.resource + ": no quota counts it: account not known",
                        kWarningBytesMax);
  return out;
}

}  // namespace truce
